import type { SecurityRequirement } from '../toolkit/description/security.ts'

/** Members named `x-…`, which AsyncAPI leaves to its users. */
interface Extensible {
  readonly [extension: `x-${string}`]: unknown
}

/** JSON Schema draft 7, of which that of AsyncAPI is a superset; references lead to `#/components/schemas/…`. */
export type AsyncApiSchema = boolean | { readonly [keyword: string]: unknown }

/** A reference to another place of the document (AsyncAPI 3.0.0, «Reference Object»). */
export interface AsyncApiReference {
  /** A JSON pointer: `#/channels/orders`. */
  readonly $ref: string
}

/** What the application is called, and who answers for it (AsyncAPI 3.0.0, «Info Object»). */
export interface AsyncApiInfo extends Extensible {
  /** The name of the application. */
  title: string
  /** The version of its interface, not that of AsyncAPI. */
  version: string
  /** What it does, in Markdown. */
  description?: string
  /** The URL of the terms of use. */
  termsOfService?: string
  /** Who can be asked: `name`, `url` of a page, `email`. */
  contact?: { name?: string; url?: string; email?: string }
  /** The `name` of the licence, and the `url` of its text. */
  license?: { name: string; url?: string }
}

/** A word by which pages sort channels and operations (AsyncAPI 3.0.0, «Tag Object»). */
export interface AsyncApiTag extends Extensible {
  /** The word. */
  name: string
  /** What it stands for, in Markdown. */
  description?: string
  /** A link to more about it: `url` and `description`. */
  externalDocs?: { url: string; description?: string }
}

/** Where messages are exchanged (AsyncAPI 3.0.0, «Server Object»). */
export interface AsyncApiServer extends Extensible {
  /** The host, with a port if it is not that of the protocol: `api.example.com:8443`. */
  readonly host: string
  /** `ws`, `wss`, `mqtt`, `mqtts`, `http` … */
  readonly protocol: string
  /** The path that stands before the addresses of the channels. */
  readonly pathname?: string
  /** What this server is for, in Markdown. */
  readonly description?: string
  /** The variables in braces in the host and the path, by name. */
  readonly variables?: { readonly [name: string]: object }
}

/** One kind of message (AsyncAPI 3.0.0, «Message Object»). */
export interface AsyncApiMessageObject extends Extensible {
  /** What the message is called; where it has a `type`, that. */
  readonly name?: string
  /** What it is for, in a few words. */
  readonly summary?: string
  /** The same at length, in Markdown. */
  readonly description?: string
  /** The media type of the payload. Default: that of the document. */
  readonly contentType?: string
  /** The schema of the payload. */
  readonly payload?: AsyncApiSchema
}

/** A place where messages are exchanged: a websocket, a topic (AsyncAPI 3.0.0, «Channel Object»). */
export interface AsyncApiChannelObject extends Extensible {
  /** The path or the topic, with parameters in braces. */
  readonly address: string
  /** What pages call it. */
  readonly title?: string
  /** What it is for, in a few words. */
  readonly summary?: string
  /** The same at length, in Markdown. */
  readonly description?: string
  /** The servers that have it. Default: all. */
  readonly servers?: readonly AsyncApiReference[]
  /** The parameters of the address by name, each with a `description` and the values that it may have, `enum`. */
  readonly parameters?: { readonly [name: string]: { readonly description?: string; readonly enum?: string[] } }
  /** The messages that are exchanged here, in both directions, by name. */
  readonly messages: { readonly [name: string]: AsyncApiMessageObject }
  /** The words by which pages sort it. */
  readonly tags?: readonly AsyncApiTag[]
  /** A link to more about it. */
  readonly externalDocs?: object
  /** What only one protocol knows, by protocol: the query of a websocket, for example. */
  readonly bindings?: { readonly [protocol: string]: object }
}

/** What is done with the messages of a channel (AsyncAPI 3.0.0, «Operation Object»). */
export interface AsyncApiOperation extends Extensible {
  /** The server's side: it receives the messages of clients and others, and sends those that they receive. */
  readonly action: 'send' | 'receive'
  /** The channel, as a reference. */
  readonly channel: AsyncApiReference
  /** The messages of the channel that this is about, as references. */
  readonly messages: readonly AsyncApiReference[]
  /** The security schemes of which one has to be met, as references. */
  readonly security?: readonly AsyncApiReference[]
  /** Security requirements in the form of OpenAPI, where a list of schemes cannot express them. */
  readonly 'x-security'?: readonly SecurityRequirement[]
  /** What only one protocol knows, by protocol: the quality of service of MQTT, for example. */
  readonly bindings?: { readonly [protocol: string]: object }
}

/** An AsyncAPI 3.0.0 document: plain JSON, without one object in two places. */
export interface AsyncApiDocument extends Extensible {
  /** The version of the specification. */
  readonly asyncapi: '3.0.0'
  /** What the application is called; its `tags` and `externalDocs` are those of the whole document. */
  readonly info: AsyncApiInfo & { readonly tags?: readonly AsyncApiTag[]; readonly externalDocs?: object }
  /** The media type of payloads that name none. */
  readonly defaultContentType: 'application/json'
  /** The servers by name. */
  readonly servers?: { readonly [name: string]: AsyncApiServer }
  /** The channels by an id that operations refer to. */
  readonly channels: { readonly [id: string]: AsyncApiChannelObject }
  /** The operations by an id that is the same from one start to the next. */
  readonly operations: { readonly [id: string]: AsyncApiOperation }
  /** What other places refer to: `schemas` and `securitySchemes` by name. */
  readonly components?: {
    readonly schemas?: { readonly [name: string]: AsyncApiSchema }
    readonly securitySchemes?: { readonly [name: string]: object }
  }
}
