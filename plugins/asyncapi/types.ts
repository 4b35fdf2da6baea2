import type { Kernel } from '../../kernel/index.ts'
import type { DescribedRoute, OpenApiInfo, OpenApiReference, OpenApiTag } from '../openapi/index.ts'
import type { DocumentService, Extensible } from '../shared/descriptions/document-service.ts'
import type { SecurityRequirement } from '../shared/descriptions/security.ts'

/** A JSON Schema of draft 7, of which AsyncAPI's schemas are a superset; references point to `#/components/schemas/…`. */
export type AsyncApiSchema = boolean | { readonly [keyword: string]: unknown }

/** A reference to another place in the document (AsyncAPI 3.0.0, «Reference Object»). */
export type AsyncApiReference = OpenApiReference

/** The name of the application, and who is responsible for it (AsyncAPI 3.0.0, «Info Object»). */
export interface AsyncApiInfo extends Omit<OpenApiInfo, 'summary' | 'license'> {
  /** The `name` of the licence and the `url` of its text. */
  license?: { name: string; url?: string }
}

/** A word by which documentation pages group channels and operations (AsyncAPI 3.0.0, «Tag Object»). */
export type AsyncApiTag = OpenApiTag

/** Where messages are exchanged (AsyncAPI 3.0.0, «Server Object»). */
export interface AsyncApiServer extends Extensible {
  /** The host, with a port if it is not the default port of the protocol: `api.example.com:8443`. */
  readonly host: string
  /** `ws`, `wss`, `mqtt`, `mqtts`, `http` … */
  readonly protocol: string
  /** The path that precedes the addresses of the channels. */
  readonly pathname?: string
  /** The purpose of this server, in Markdown. */
  readonly description?: string
  /** The variables in braces in the host and the path, by name. */
  readonly variables?: { readonly [name: string]: object }
}

/** One kind of message (AsyncAPI 3.0.0, «Message Object»). */
export interface AsyncApiMessageObject extends Extensible {
  /** The name of the message; if it has a `type`, the value of that. */
  readonly name?: string
  /** The purpose of the message, in a few words. */
  readonly summary?: string
  /** The purpose of the message at length, in Markdown. */
  readonly description?: string
  /** The media type of the payload. Default: the document's `defaultContentType`. */
  readonly contentType?: string
  /** The schema of the payload. */
  readonly payload?: AsyncApiSchema
}

/** A place where messages are exchanged, such as a websocket or a topic (AsyncAPI 3.0.0, «Channel Object»). */
export interface AsyncApiChannelObject extends Extensible {
  /** The path or the topic, with parameters in braces. */
  readonly address: string
  /** The name of the channel on documentation pages. */
  readonly title?: string
  /** The purpose of the channel, in a few words. */
  readonly summary?: string
  /** The purpose of the channel at length, in Markdown. */
  readonly description?: string
  /** The servers that have the channel. Default: all. */
  readonly servers?: readonly AsyncApiReference[]
  /** The parameters of the address by name, each with a `description` and the values that it may have (`enum`). */
  readonly parameters?: { readonly [name: string]: { readonly description?: string; readonly enum?: string[] } }
  /** The messages that are exchanged here, in both directions, by name. */
  readonly messages: { readonly [name: string]: AsyncApiMessageObject }
  /** The words by which documentation pages group the channel. */
  readonly tags?: readonly AsyncApiTag[]
  /** A link to further information. */
  readonly externalDocs?: object
  /** Information specific to a protocol, by protocol: for example, the query of a websocket. */
  readonly bindings?: { readonly [protocol: string]: object }
}

/** What the server does with messages of a channel (AsyncAPI 3.0.0, «Operation Object»). */
export interface AsyncApiOperation extends Extensible {
  /** The action from the server's point of view: it receives messages from clients and others, and sends the messages that they receive. */
  readonly action: 'send' | 'receive'
  /** The channel, as a reference. */
  readonly channel: AsyncApiReference
  /** The messages of the channel to which the operation applies, as references. */
  readonly messages: readonly AsyncApiReference[]
  /** The security schemes, one of which has to be met, as references. */
  readonly security?: readonly AsyncApiReference[]
  /** Security requirements in the form of OpenAPI, if a list of schemes cannot express them. */
  readonly 'x-security'?: readonly SecurityRequirement[]
  /** Information specific to a protocol, by protocol: for example, the quality of service of MQTT. */
  readonly bindings?: { readonly [protocol: string]: object }
}

/** An AsyncAPI 3.0.0 document: plain JSON, in which no object occurs in two places. */
export interface AsyncApiDocument extends Extensible {
  /** The version of the specification. */
  readonly asyncapi: '3.0.0'
  /** Information about the application; its `tags` and `externalDocs` apply to the whole document. */
  readonly info: AsyncApiInfo & { readonly tags?: readonly AsyncApiTag[]; readonly externalDocs?: object }
  /** The media type of payloads that do not specify one. */
  readonly defaultContentType: 'application/json'
  /** The servers by name. */
  readonly servers?: { readonly [name: string]: AsyncApiServer }
  /** The channels, by an id to which operations refer. */
  readonly channels: { readonly [id: string]: AsyncApiChannelObject }
  /** The operations, by an id that remains the same from one start to the next. */
  readonly operations: { readonly [id: string]: AsyncApiOperation }
  /** Parts to which other places refer: `schemas` and `securitySchemes`, by name. */
  readonly components?: {
    readonly schemas?: { readonly [name: string]: AsyncApiSchema }
    readonly securitySchemes?: { readonly [name: string]: object }
  }
}

/** Describes the messages of one server: the service `asyncapi`. */
export interface MessageDescription extends DocumentService<AsyncApiDocument> {
  /**
   * Returns the current description of the messages. It is the same object until they change, so modify only a copy.
   *
   * @throws AsyncApiBeforeBootError before `setup`.
   * @example
   * import { writeFileSync } from 'node:fs'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { asyncapi: true } })
   * await server.ready()
   * writeFileSync('asyncapi.json', JSON.stringify(server.services.get('asyncapi').document(), null, 2))
   */
  document(): AsyncApiDocument
}

/** One kind of message. Without `payload` and `data`, its content may be anything. */
export interface AsyncApiMessage {
  /** The name of the message; if `data` is given, also the value of the message's member `type`. */
  readonly name: string
  /** The purpose of the message, in a few words. */
  readonly summary?: string
  /** The purpose of the message at length, in Markdown. */
  readonly description?: string
  /** The schema of the whole message, of any kind. */
  readonly payload?: object
  /** Instead of `payload`, the schema of the data of a message `{ type, data }`, whose type is `name`. */
  readonly data?: object
  /** Whether the data may be omitted. */
  readonly optional?: boolean
  /** Whether the message is left out if other plugins describe the same side of the channel. */
  readonly fallback?: boolean
}

/** The messages that a server exchanges over one protocol in one place. */
export interface AsyncApiExchange {
  /** `ws`, `mqtt`, `sqs` or another name in the AsyncAPI registry; for a protocol that is not in it, a name of your own. */
  readonly protocol: string
  /** The messages that the server receives. */
  readonly receive?: readonly AsyncApiMessage[]
  /** The messages that the server sends. */
  readonly send?: readonly AsyncApiMessage[]
  /** Sub-protocols of a websocket, one of which the client must offer. */
  readonly subprotocols?: readonly string[]
  /** Bindings of the channel, by protocol. */
  readonly bindings?: { readonly [protocol: string]: object }
  /** Bindings of the channel's operations, by protocol. */
  readonly operationBindings?: { readonly [protocol: string]: object }
}

/** A channel that is not a route: a topic, a queue, a room. */
export interface AsyncApiChannel
  extends AsyncApiExchange,
    Pick<AsyncApiChannelObject, 'address' | 'title' | 'summary' | 'description' | 'parameters'>,
    Extensible {}

/** Data that a plugin adds to the description of messages. */
export interface AsyncApiFragment {
  /**
   * Describes the messages of a route whose connections change to another protocol, such as a websocket; `undefined` for other
   * routes. Called for each route that the plugin reaches; several descriptions of the same route and protocol become one channel.
   */
  exchange?(route: DescribedRoute): AsyncApiExchange | undefined
  /**
   * Returns the channels that are not routes. Called whenever the document is requested; the document is rebuilt when they have
   * changed, so an unchanged channel must return the same schema objects each time.
   */
  channels?(plugin: { readonly server: Kernel; readonly settings: unknown }): readonly AsyncApiChannel[]
}
