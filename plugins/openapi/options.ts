import { type Middleware, type OptionPlace, quoted, type RouteOptions } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../toolkit/options/index.ts'
import { componentKinds, isAddress, isComponentName } from './components.ts'
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

const text = option.value<string>('text', (given) => typeof given === 'string')
const url = option.value<string>('an address', isAddress)

/** An object of a document: with these members, and those that begin with `x-`. */
function extensible<Fields extends option.Members>(members: Fields) {
  const known = Object.keys(members)
  return option.shape(members, (name, given, place): unknown => {
    return name.startsWith('x-') ? given : place.unknown(name, known)
  })
}

const externalDocs = extensible({ url: url.required(), description: text })

const info = extensible({
  title: text,
  version: text,
  summary: text,
  description: text,
  termsOfService: url,
  contact: extensible({ name: text, url, email: text }).optional(),
  license: extensible({ name: text.required(), identifier: text, url }).optional(),
})

const variable = extensible({ default: text.required(), enum: option.list(text), description: text })
const server = extensible({ url: url.required(), description: text, variables: option.record(variable) })
const tag = extensible({ name: text.required(), description: text, externalDocs: externalDocs.optional() })

const names = 'names of letters, digits, ".", "-" and "_"'

/** Notes names to which references could not be written. */
function checkNames(named: object, place: OptionPlace): void {
  const wrong = Object.keys(named).find((name) => !isComponentName(name))
  if (wrong !== undefined) place.wrong(quoted(wrong), names)
}

const requirement = option.record(option.list(text), 'an object of scopes by name').into((named, place) => {
  checkNames(named, place)
  return named
})

const componentsOfKind = option
  .record(option.value<object | boolean>('a component'), 'an object')
  .into((named, place) => {
    checkNames(named, place)
    return named
  })

type ComponentKind = Exclude<keyof OpenApiComponents, `x-${string}`>
// Of which TypeScript knows no more than that they are texts.
const kinds = Object.fromEntries(componentKinds.map((kind) => [kind, componentsOfKind])) as {
  readonly [Kind in ComponentKind]: typeof componentsOfKind
}

const description = {
  info: info.says('an object'),
  servers: option.list(server).says('a list of objects { url, description }'),
  security: option.list(requirement).says('a list of objects'),
  tags: option.list(tag).says('a list of objects { name, description }'),
  components: extensible(kinds).says('an object').optional(),
  externalDocs: externalDocs.says('an object').optional(),
  failures: option.flag().default(true),
  include: option.fn<(route: OpenApiRoute) => boolean>('a function of the route'),
}

export const descriptionOptions = option.shape(description).typed<DescriptionOptions>()

export type DescriptionSettings = SettingsOf<typeof descriptionOptions>

export const openapiOptions = option
  .shape({
    path: option
      .name(/^\/[^:*?#]*[^:*?#/]$/, 'a path below "/" without parameters, "/docs" for example')
      .default('/docs'),
    ui: option.flag().default(true),
    middlewares: option.list(option.fn<Middleware>('a middleware')).says('a list of middlewares').guard(),
    // What it names is for the plugin that reads it on every route.
    policy: option.value<RouteOptions['policy']>('a policy').guard(),
    ...description,
  })
  .into(({ path, ui, middlewares, policy, ...description }) => {
    // By whether it is given and not by what: `null` is for the plugin that reads it to refuse, and must not leave the page open.
    const own: RouteOptions = { ...(middlewares && { middlewares }), ...(policy !== undefined && { policy }) }
    return { path, ui, routeOptions: { ...own, apidoc: false } satisfies RouteOptions, description }
  })
  .typed<OpenApiOptions>()
