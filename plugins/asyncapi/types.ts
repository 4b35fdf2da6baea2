import type { SecurityRequirement } from '../toolkit/description/security.ts'

/** Members named `x-…`, which AsyncAPI leaves to its users. */
interface Extensible {
  readonly [extension: `x-${string}`]: unknown
}

/** JSON Schema draft 7, of which that of AsyncAPI is a superset; references lead to `#/components/schemas/…`. */
export type AsyncApiSchema = boolean | { readonly [keyword: string]: unknown }

export interface AsyncApiReference {
  readonly $ref: string
}

export interface AsyncApiInfo extends Extensible {
  title: string
  version: string
  description?: string
  termsOfService?: string
  contact?: { name?: string; url?: string; email?: string }
  license?: { name: string; url?: string }
}

export interface AsyncApiTag extends Extensible {
  name: string
  description?: string
  externalDocs?: { url: string; description?: string }
}

export interface AsyncApiServer extends Extensible {
  readonly host: string
  readonly protocol: string
  readonly pathname?: string
  readonly description?: string
  readonly variables?: { readonly [name: string]: object }
}

export interface AsyncApiMessageObject extends Extensible {
  readonly name?: string
  readonly summary?: string
  readonly description?: string
  readonly contentType?: string
  readonly payload?: AsyncApiSchema
}

export interface AsyncApiChannelObject extends Extensible {
  readonly address: string
  readonly title?: string
  readonly summary?: string
  readonly description?: string
  readonly servers?: readonly AsyncApiReference[]
  readonly parameters?: { readonly [name: string]: { readonly description?: string; readonly enum?: string[] } }
  readonly messages: { readonly [name: string]: AsyncApiMessageObject }
  readonly tags?: readonly AsyncApiTag[]
  readonly externalDocs?: object
  readonly bindings?: { readonly [protocol: string]: object }
}

export interface AsyncApiOperation extends Extensible {
  /** The server's side: it receives the messages of clients and others, and sends those that they receive. */
  readonly action: 'send' | 'receive'
  readonly channel: AsyncApiReference
  readonly messages: readonly AsyncApiReference[]
  readonly security?: readonly AsyncApiReference[]
  /** Security requirements in the form of OpenAPI, where a list of schemes cannot express them. */
  readonly 'x-security'?: readonly SecurityRequirement[]
  readonly bindings?: { readonly [protocol: string]: object }
}

/** An AsyncAPI 3.0.0 document: plain JSON, without one object in two places. */
export interface AsyncApiDocument extends Extensible {
  readonly asyncapi: '3.0.0'
  readonly info: AsyncApiInfo & { readonly tags?: readonly AsyncApiTag[]; readonly externalDocs?: object }
  readonly defaultContentType: 'application/json'
  readonly servers?: { readonly [name: string]: AsyncApiServer }
  readonly channels: { readonly [id: string]: AsyncApiChannelObject }
  readonly operations: { readonly [id: string]: AsyncApiOperation }
  readonly components?: {
    readonly schemas?: { readonly [name: string]: AsyncApiSchema }
    readonly securitySchemes?: { readonly [name: string]: object }
  }
}
