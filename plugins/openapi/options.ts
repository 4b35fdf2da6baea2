import { checkOptions, described, type Middleware, OptionError, quoted, type RouteOptions } from '../../kernel/index.ts'
import { componentKinds, isComponentName } from './components.ts'
import type {
  OpenApiComponents,
  OpenApiExternalDocs,
  OpenApiInfo,
  OpenApiSecurity,
  OpenApiServer,
  OpenApiTag,
} from './types.ts'

/** A route, for the decision whether it is described. */
export interface OpenApiRoute {
  readonly method: string
  /** As registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** The plugin that registered it; `application` for the application itself. */
  readonly plugin: string
  readonly options: RouteOptions
}

/** What is described, and what stands around it. */
export interface DescriptionOptions {
  /** Default: title `API`, version `1.0.0`. */
  info?: Partial<OpenApiInfo>
  servers?: readonly OpenApiServer[]
  /** What every operation asks for that says nothing else. */
  security?: readonly OpenApiSecurity[]
  /** Descriptions of tags, in the order in which the page shows them. */
  tags?: readonly OpenApiTag[]
  /** Merged over those of the routes; `securitySchemes` takes the place of the ones made for policies. */
  components?: OpenApiComponents
  externalDocs?: OpenApiExternalDocs
  /** Whether the answers of the framework itself are described: 400, 401, 413, 415, 422 and 429. Default true. */
  failures?: boolean
  /** Whether a route is described; default: all but those with `apidoc: false`. */
  include?: (route: OpenApiRoute) => boolean
}

/** Options of the API description. */
export interface OpenApiOptions extends DescriptionOptions {
  /** Where the page is; the document is below it, at `/json` and `/yaml`. Default `/docs`. */
  path?: string
  /** `false`: the document without the page. Default true. */
  ui?: boolean
  /** For the page and the document: whoever is let in by them. */
  middlewares?: readonly Middleware[]
  /** For the page and the document, as on any route. */
  policy?: RouteOptions['policy']
}

const descriptionNames = ['info', 'servers', 'security', 'tags', 'components', 'externalDocs', 'failures', 'include']
const infoNames = ['title', 'version', 'summary', 'description', 'termsOfService', 'contact', 'license']
const names = ['path', 'ui', 'middlewares', 'policy', ...descriptionNames]

/** The options of the plugin with every default in place, checked. */
export interface OpenApiSettings {
  readonly path: string
  readonly ui: boolean
  readonly routeOptions: RouteOptions
}

/** @throws OptionError naming what is wrong. */
export function settingsOf(options: OpenApiOptions = {}): OpenApiSettings {
  checkOptions('openapi', options, names)
  const { path = '/docs', ui = true, middlewares, policy } = options
  if (typeof path !== 'string' || !/^\/[^:*?#]*[^:*?#/]$/.test(path)) {
    throw OptionError('openapi.path', quoted(path), 'a path below "/" without parameters, "/docs" for example')
  }
  if (typeof ui !== 'boolean') throw OptionError('openapi.ui', quoted(ui), 'true or false')
  if (middlewares !== undefined && !(Array.isArray(middlewares) && middlewares.every(isFunction))) {
    throw OptionError('openapi.middlewares', middlewares, 'a list of middlewares')
  }
  checkDescription(options)
  // By name and not by value: of an `undefined` policy its plugin says so, and the document is not there for everybody.
  const own: RouteOptions = {
    ...(middlewares && { middlewares: options.middlewares }),
    ...('policy' in options && { policy }),
  }
  return { path, ui, routeOptions: { ...own, apidoc: false } }
}

const isFunction = (value: unknown) => typeof value === 'function'
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

function checkDescription(options: DescriptionOptions): void {
  for (const name of ['info', 'components', 'externalDocs'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && !isObject(value)) throw OptionError(`openapi.${name}`, value, 'an object')
  }
  for (const name of ['servers', 'security', 'tags'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && !(Array.isArray(value) && value.every(isObject))) {
      throw OptionError(`openapi.${name}`, value, 'a list of objects')
    }
  }
  const info = Object.entries(options.info ?? {}).filter(([name]) => !name.startsWith('x-'))
  checkOptions('openapi.info', Object.fromEntries(info), infoNames)
  for (const name of ['title', 'version'] as const) {
    const value: unknown = options.info?.[name]
    if (value !== undefined && typeof value !== 'string') throw OptionError(`openapi.info.${name}`, value, 'text')
  }
  for (const [kind, named] of Object.entries(options.components ?? {})) {
    if (kind.startsWith('x-')) continue
    if (!componentKinds.includes(kind)) checkOptions('openapi.components', { [kind]: named }, componentKinds)
    if (!isObject(named)) throw OptionError(`openapi.components.${kind}`, named, 'an object')
    const wrong = Object.keys(named as object).find((name) => !isComponentName(name))
    if (wrong !== undefined) {
      throw OptionError(`openapi.components.${kind}`, quoted(wrong), 'names of letters, digits, ".", "-" and "_"')
    }
  }
  if (options.servers?.some((server) => typeof server.url !== 'string')) {
    throw OptionError('openapi.servers', described('one without url'), 'objects { url, description }')
  }
  if (options.tags?.some((tag) => typeof tag.name !== 'string')) {
    throw OptionError('openapi.tags', described('one without name'), 'objects { name, description }')
  }
  if (options.failures !== undefined && typeof options.failures !== 'boolean') {
    throw OptionError('openapi.failures', quoted(options.failures), 'true or false')
  }
  if (options.include !== undefined && !isFunction(options.include)) {
    throw OptionError('openapi.include', options.include, 'a function of the route')
  }
}
