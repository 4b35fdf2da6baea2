import type { RouteOptions } from '../../kernel/index.ts'
import {
  type AccessOptions,
  commonMembers,
  componentsOfKind,
  extensible,
  infoWith,
  servedMembers,
  servedOf,
  server,
  text,
} from '../shared/descriptions/options.ts'
import { publicDescription } from '../shared/doctor/public-page.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type {
  OpenApiComponents,
  OpenApiExternalDocs,
  OpenApiInfo,
  OpenApiSecurity,
  OpenApiServer,
  OpenApiTag,
} from './types.ts'

/** A route, for deciding whether to describe it. */
export interface OpenApiRoute {
  /** The method of the route: `GET`. */
  readonly method: string
  /** The path as registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** The plugin that registered it; `application` for the application itself. */
  readonly plugin: string
  /** All options of the route. */
  readonly options: RouteOptions
}

/** The parts of a description, and which routes are in it. */
export interface DescriptionOptions {
  /** The name and version of the API, and more about it. Default: title `API`, version `1.0.0`. */
  info?: Partial<OpenApiInfo>
  /** The addresses of the API. Default: the host that served the document. */
  servers?: readonly OpenApiServer[]
  /** The security requirements of every operation that does not name any. */
  security?: readonly OpenApiSecurity[]
  /** Descriptions of tags, in the order in which the page shows them. */
  tags?: readonly OpenApiTag[]
  /** Components, merged over those of the routes; `securitySchemes` replaces those of the policies. */
  components?: OpenApiComponents
  /** A link to further documentation. */
  externalDocs?: OpenApiExternalDocs
  /** Whether the framework's own responses are described: 400, 401, 413, 415, 422 and 429. Default true. */
  failures?: boolean
  /** Decides whether a route is described; default: all routes except those with `apidoc: false`. */
  include?: (route: OpenApiRoute) => boolean
}

/** Options of the API description. */
export interface OpenApiOptions extends DescriptionOptions, AccessOptions {
  /** The path of the page; the document is below it, at `/json` and `/yaml`. Default `/docs`. */
  path?: string
  /** Whether there is a page; `false`: only the document. Default true. */
  ui?: boolean
}

/** The kinds of components that OpenAPI has. */
export const componentKinds: readonly string[] =
  'schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems'.split(' ')
type Kinds = Record<Exclude<keyof OpenApiComponents, `x-${string}`>, ReturnType<typeof componentsOfKind>>
const kinds = Object.fromEntries(componentKinds.map((kind) => [kind, componentsOfKind(kind)])) as Kinds

const description = {
  info: infoWith({ summary: text }, { identifier: text }),
  servers: option.list(server).says('a list of objects { url, description }'),
  ...commonMembers,
  components: extensible(kinds).says('an object').optional(),
  failures: option.flag().default(true),
  include: option.fn<(route: OpenApiRoute) => boolean>('a function of the route'),
}

export const descriptionOptions = option.shape(description).typed<DescriptionOptions>()

export type DescriptionSettings = SettingsOf<typeof descriptionOptions>

/** @internal */
export const openapiOptions = option
  .shape({ ...servedMembers('/docs'), ui: option.flag().default(true), ...description })
  .into(({ ui, ...given }) => ({ ui, ...servedOf(given) }))
  .typed<OpenApiOptions>()

/** The finding for a description that no option guards. @internal */
export const unguarded = publicDescription<SettingsOf<typeof openapiOptions>>('openapi', ({ path }) => [
  'the API description',
  path,
])
