export { describeServer } from './document/describe.ts'
export { openapi } from './plugin.ts'
export * from './public.ts'
export type {
  OpenApiComponents,
  OpenApiExternalDocs,
  OpenApiInfo,
  OpenApiMediaType,
  OpenApiParameter,
  OpenApiPathItem,
  OpenApiReference,
  OpenApiRequestBody,
  OpenApiResponse,
  OpenApiSecurity,
  OpenApiServer,
  OpenApiTag,
} from './types.ts'
