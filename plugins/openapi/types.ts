import type { RouteOptions } from '../../kernel/index.ts'
import type { DocumentService, Extensible } from '../shared/descriptions/document-service.ts'
import type { DescribedRoute, SecurityRequirement, StatesSecurity } from '../shared/descriptions/security.ts'

export type { DescribedRoute } from '../shared/descriptions/security.ts'

/** JSON Schema 2020-12, which OpenAPI 3.1 uses; references refer to `#/components/schemas/…`. */
export type OpenApiSchema = boolean | { readonly [keyword: string]: unknown }

/** A reference to another place in the document (OpenAPI 3.1.1 section 4.8.23). */
export interface OpenApiReference {
  /** A JSON pointer: `#/components/schemas/User`. */
  readonly $ref: string
}

/** The name of the API, and who is responsible for it (OpenAPI 3.1.1 section 4.8.2). */
export interface OpenApiInfo extends Extensible {
  /** The name of the API. */
  title: string
  /** The version of the API, not of OpenAPI. */
  version: string
  /** What it does, in a few words. */
  summary?: string
  /** A longer description, in Markdown. */
  description?: string
  /** The URL of the terms of use. */
  termsOfService?: string
  /** Whom to contact: `name`, `url` of a page, `email`. */
  contact?: { name?: string; url?: string; email?: string }
  /** The `name` of the licence, with its SPDX `identifier` or the `url` of its text. */
  license?: { name: string; identifier?: string; url?: string }
}

/** An address of the API (OpenAPI 3.1.1 section 4.8.5). */
export interface OpenApiServer extends Extensible {
  /** The address that precedes the paths, with variables in braces; it may be relative to that of the document. */
  url: string
  /** What this server is for, in Markdown. */
  description?: string
  /** The variables of the address by name: `default`, the allowed values as `enum`, and a `description`. */
  variables?: { [name: string]: { default: string; enum?: string[]; description?: string } }
}

/** A tag by which pages group operations (OpenAPI 3.1.1 section 4.8.22). */
export interface OpenApiTag extends Extensible {
  /** The name of the tag. */
  name: string
  /** What it stands for, in Markdown. */
  description?: string
  /** A link to more information. */
  externalDocs?: OpenApiExternalDocs
}

/** A link to further documentation (OpenAPI 3.1.1 section 4.8.11). */
export interface OpenApiExternalDocs extends Extensible {
  /** The address. */
  url: string
  /** What is found there, in Markdown. */
  description?: string
}

/** Names of security schemes that are required together, each with its scopes. */
export type OpenApiSecurity = SecurityRequirement

/** One parameter of an operation (OpenAPI 3.1.1 section 4.8.12). */
export interface OpenApiParameter extends Extensible {
  /** Its name; for headers in upper or lower case. */
  readonly name: string
  /** Where in the request it is. */
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  /** What it is for, in Markdown. */
  readonly description?: string
  /** Whether a request must include it; always true in a path. */
  readonly required?: boolean
  /** Whether callers should no longer send it. */
  readonly deprecated?: boolean
  /** How lists and objects are written: `form`, `deepObject` … */
  readonly style?: string
  /** Whether each element of a list is a parameter of its own: `a=1&a=2`. */
  readonly explode?: boolean
  /** The schema of its value. */
  readonly schema?: OpenApiSchema
}

/** The form of a body in one media type (OpenAPI 3.1.1 section 4.8.14). */
export interface OpenApiMediaType extends Extensible {
  /** The schema of the body. */
  readonly schema?: OpenApiSchema
}

/** The body that is sent to an operation (OpenAPI 3.1.1 section 4.8.13). */
export interface OpenApiRequestBody extends Extensible {
  /** What it is for, in Markdown. */
  readonly description?: string
  /** Whether a request must have a body. */
  readonly required?: boolean
  /** The forms that the body may have, by media type. */
  readonly content: { readonly [mediaType: string]: OpenApiMediaType }
}

/** The response of an operation with one status (OpenAPI 3.1.1 section 4.8.17). */
export interface OpenApiResponse extends Extensible {
  /** What the status means here, in Markdown. */
  readonly description: string
  /** The headers of the response by name. */
  readonly headers?: { readonly [name: string]: object }
  /** The forms that the body may have, by media type; left out for a response without a body. */
  readonly content?: { readonly [mediaType: string]: OpenApiMediaType }
}

/** One method of one path (OpenAPI 3.1.1 section 4.8.10). */
export interface OpenApiOperation extends Extensible {
  /** The name of the operation, unique in the document: generated clients use it for a method. */
  readonly operationId: string
  /** The tags by which pages group it. */
  readonly tags?: readonly string[]
  /** What it does, in a few words. */
  readonly summary?: string
  /** A longer description, in Markdown. */
  readonly description?: string
  /** A link to more information. */
  readonly externalDocs?: OpenApiExternalDocs
  /** The parameters of path, query, headers and cookies. */
  readonly parameters?: readonly OpenApiParameter[]
  /** The body that it accepts; left out if it does not accept any. */
  readonly requestBody?: OpenApiRequestBody
  /** The responses by status, `2XX` or `default`. */
  readonly responses: { readonly [status: string]: OpenApiResponse | OpenApiReference }
  /** Whether callers should no longer use it. */
  readonly deprecated?: boolean
  /** The security requirements, one of which must be met; an empty list: nothing is required. */
  readonly security?: readonly OpenApiSecurity[]
  /** Where this operation is served, if it is not where all others are. */
  readonly servers?: readonly OpenApiServer[]
}

/** The operations of one path, by method in lower case. */
export type OpenApiPathItem = {
  // OpenAPI 3.1 has no QUERY; an unknown method is an extension.
  readonly [Method in 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options' | 'x-query']?: OpenApiOperation
}

/** The parts of a description to which others refer. */
export interface OpenApiComponents extends Extensible {
  /** Schemas by name. */
  readonly schemas?: { readonly [name: string]: OpenApiSchema }
  /** Responses by name. */
  readonly responses?: { readonly [name: string]: object }
  /** Parameters by name. */
  readonly parameters?: { readonly [name: string]: object }
  /** Examples by name. */
  readonly examples?: { readonly [name: string]: object }
  /** Bodies of requests by name. */
  readonly requestBodies?: { readonly [name: string]: object }
  /** Headers of responses by name. */
  readonly headers?: { readonly [name: string]: object }
  /** The ways in which clients authenticate, by the name that requirements use. */
  readonly securitySchemes?: { readonly [name: string]: object }
  /** Links from responses to operations, by name. */
  readonly links?: { readonly [name: string]: object }
  /** Requests that the server sends to its clients, by name. */
  readonly callbacks?: { readonly [name: string]: object }
  /** Operations of a path to which others refer, by name. */
  readonly pathItems?: { readonly [name: string]: object }
}

/** An OpenAPI 3.1.1 document: plain JSON, in which no object occurs in two places. */
export interface OpenApiDocument extends Extensible {
  /** The version of the specification. */
  readonly openapi: '3.1.1'
  /** The name of the API, and its version. */
  readonly info: OpenApiInfo
  /** The addresses of the API. Default: the host that served the document. */
  readonly servers?: readonly OpenApiServer[]
  /** The operations by path, with parameters in braces: `/users/{id}`. */
  readonly paths: { readonly [path: string]: OpenApiPathItem }
  /** The parts to which other places refer. */
  readonly components?: OpenApiComponents
  /** The security requirements of operations that do not name any. */
  readonly security?: readonly OpenApiSecurity[]
  /** Descriptions of the tags, in the order in which pages show them. */
  readonly tags?: readonly OpenApiTag[]
  /** A link to further documentation. */
  readonly externalDocs?: OpenApiExternalDocs
}

/** Describes one server: the service `openapi`. */
export interface ApiDescription extends DocumentService<OpenApiDocument> {
  /**
   * Returns the current description of the routes. It is the same object until they change, so modify only a copy.
   *
   * @throws OpenApiBeforeBootError before `setup`.
   * @example
   * import { writeFileSync } from 'node:fs'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { openapi: true } })
   * await server.ready()
   * writeFileSync('openapi.json', JSON.stringify(server.services.get('openapi').document(), null, 2))
   */
  document(): OpenApiDocument
}

/** Data that a plugin adds to the API description. */
export interface OpenApiFragment extends StatesSecurity {
  /** Descriptions of tags: `name` and `description`. */
  readonly tags?: readonly { name: string; description?: string }[]
  /** Components that are merged into those of the document. */
  readonly components?: { readonly [kind: string]: { readonly [name: string]: object } }
  /**
   * Translates the plugin's own route options into options that the description knows: schemas (`body`, `query`,
   * …, `responses`) and `apidoc`. Called for each route that the plugin reaches.
   */
  describe?(options: RouteOptions): readonly RouteOptions[]
  /**
   * Describes the responses that the plugin sends instead of the handler: names of responses by status, either the framework's own (`BadRequest`,
   * `Unauthorized`, `PayloadTooLarge`, `UnsupportedMediaType`, `ValidationError`, `TooManyRequests`) or of
   * `components.responses`; one without `content` gets the default body of failures, `{ code, message }`. Called for
   * each route that the plugin reaches.
   */
  failures?(route: DescribedRoute): { readonly [status: string]: string | undefined }
}
