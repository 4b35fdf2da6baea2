// The names that `framework` has as well.
import type { ApiDoc } from './apidoc.ts'
import type { ApiDescription, OpenApiFragment } from './types.ts'

export type { ApiDoc } from './apidoc.ts'
export type { DescriptionOptions, OpenApiOptions, OpenApiRoute } from './options.ts'
export type {
  ApiDescription,
  DescribedRoute,
  OpenApiDocument,
  OpenApiFragment,
  OpenApiOperation,
  OpenApiSchema,
} from './types.ts'

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The plugin's part of the API description. */
    readonly openapi?: OpenApiFragment
  }
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** The API description of the route, in addition to the parts from the other options; `false`: the route is left out. */
    apidoc?: ApiDoc | false
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Describes the routes of the server. */
    openapi: ApiDescription
  }
}
