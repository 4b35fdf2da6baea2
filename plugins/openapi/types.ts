import type { SecurityRequirement } from '../toolkit/description/security.ts'

/** Members named `x-…`, which OpenAPI leaves to its users. */
interface Extensible {
  readonly [extension: `x-${string}`]: unknown
}

/** JSON Schema 2020-12, which OpenAPI 3.1 uses; references refer to `#/components/schemas/…`. */
export type OpenApiSchema = boolean | { readonly [keyword: string]: unknown }

export interface OpenApiReference {
  readonly $ref: string
}

export interface OpenApiInfo extends Extensible {
  title: string
  version: string
  summary?: string
  description?: string
  termsOfService?: string
  contact?: { name?: string; url?: string; email?: string }
  license?: { name: string; identifier?: string; url?: string }
}

export interface OpenApiServer extends Extensible {
  url: string
  description?: string
  variables?: { [name: string]: { default: string; enum?: string[]; description?: string } }
}

export interface OpenApiTag extends Extensible {
  name: string
  description?: string
  externalDocs?: OpenApiExternalDocs
}

export interface OpenApiExternalDocs extends Extensible {
  url: string
  description?: string
}

/** Names of security schemes that are required together, each with its scopes. */
export type OpenApiSecurity = SecurityRequirement

export interface OpenApiParameter extends Extensible {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly description?: string
  readonly required?: boolean
  readonly deprecated?: boolean
  readonly style?: string
  readonly explode?: boolean
  readonly schema?: OpenApiSchema
}

export interface OpenApiMediaType extends Extensible {
  readonly schema?: OpenApiSchema
}

export interface OpenApiRequestBody extends Extensible {
  readonly description?: string
  readonly required?: boolean
  readonly content: { readonly [mediaType: string]: OpenApiMediaType }
}

export interface OpenApiResponse extends Extensible {
  readonly description: string
  readonly headers?: { readonly [name: string]: object }
  readonly content?: { readonly [mediaType: string]: OpenApiMediaType }
}

export interface OpenApiOperation extends Extensible {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly externalDocs?: OpenApiExternalDocs
  readonly parameters?: readonly OpenApiParameter[]
  readonly requestBody?: OpenApiRequestBody
  readonly responses: { readonly [status: string]: OpenApiResponse | OpenApiReference }
  readonly deprecated?: boolean
  readonly security?: readonly OpenApiSecurity[]
  readonly servers?: readonly OpenApiServer[]
}

/** The operations of one path, by method in lower case. */
export type OpenApiPathItem = {
  // OpenAPI 3.1 has no QUERY; an unknown method is an extension.
  readonly [Method in 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options' | 'x-query']?: OpenApiOperation
}

/** The parts of a description that others refer to. */
export interface OpenApiComponents extends Extensible {
  readonly schemas?: { readonly [name: string]: OpenApiSchema }
  readonly responses?: { readonly [name: string]: object }
  readonly parameters?: { readonly [name: string]: object }
  readonly examples?: { readonly [name: string]: object }
  readonly requestBodies?: { readonly [name: string]: object }
  readonly headers?: { readonly [name: string]: object }
  readonly securitySchemes?: { readonly [name: string]: object }
  readonly links?: { readonly [name: string]: object }
  readonly callbacks?: { readonly [name: string]: object }
  readonly pathItems?: { readonly [name: string]: object }
}

/** An OpenAPI 3.1.1 document: plain JSON, without one object in two places. */
export interface OpenApiDocument extends Extensible {
  readonly openapi: '3.1.1'
  readonly info: OpenApiInfo
  readonly servers?: readonly OpenApiServer[]
  readonly paths: { readonly [path: string]: OpenApiPathItem }
  readonly components?: OpenApiComponents
  readonly security?: readonly OpenApiSecurity[]
  readonly tags?: readonly OpenApiTag[]
  readonly externalDocs?: OpenApiExternalDocs
}
