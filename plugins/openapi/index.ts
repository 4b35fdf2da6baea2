import type { ApiDoc } from './apidoc.ts'
import type { OpenApiFragment } from './fragment.ts'
import type { ApiDescription } from './service.ts'

export type { ApiDoc } from './apidoc.ts'
export { describeServer } from './document/describe.ts'
export type { DescribedRoute, OpenApiFragment } from './fragment.ts'
export type { DescriptionOptions, OpenApiOptions, OpenApiRoute } from './options.ts'
export { openapi } from './plugin.ts'
export type { ApiDescription } from './service.ts'
export type {
  OpenApiComponents,
  OpenApiDocument,
  OpenApiExternalDocs,
  OpenApiInfo,
  OpenApiMediaType,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiPathItem,
  OpenApiReference,
  OpenApiRequestBody,
  OpenApiResponse,
  OpenApiSchema,
  OpenApiSecurity,
  OpenApiServer,
  OpenApiTag,
} from './types.ts'

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** What the plugin adds to the API description. */
    readonly openapi?: OpenApiFragment
  }
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** What the API description says about the route beyond what follows from the other options; `false`: nothing at all. */
    apidoc?: ApiDoc | false
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Describes the routes of the server. */
    openapi: ApiDescription
  }
}
