import type { Kernel } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'

/** One kind of message. Without `payload` and `data` it is of any content. */
export interface AsyncApiMessage {
  /** The name of the message; where it has `data`, also the value of its member `type`. */
  readonly name: string
  /** What the message is for, in a few words. */
  readonly summary?: string
  /** The same at length, in Markdown. */
  readonly description?: string
  /** The schema of the whole message, of any kind. */
  readonly payload?: object
  /** In place of it the schema of the data of a message `{ type, data }`, whose type is `name`. */
  readonly data?: object
  /** Whether the data may be left out. */
  readonly optional?: boolean
  /** Whether it is left out where other plugins describe the same side of the channel. */
  readonly fallback?: boolean
}

/** The messages that a server exchanges over one protocol in one place. */
export interface AsyncApiExchange {
  /** `ws`, `mqtt`, `sqs` or another name of the registry of AsyncAPI; a name of your own for a protocol that is not in it. */
  readonly protocol: string
  /** The messages that the server receives. */
  readonly receive?: readonly AsyncApiMessage[]
  /** The messages that the server sends. */
  readonly send?: readonly AsyncApiMessage[]
  /** Sub-protocols of a websocket, of which the client offers one. */
  readonly subprotocols?: readonly string[]
  /** Bindings of the channel, by protocol. */
  readonly bindings?: { readonly [protocol: string]: object }
  /** Bindings of its operations, by protocol. */
  readonly operationBindings?: { readonly [protocol: string]: object }
}

/** A channel that is not a route: a topic, a queue, a room. */
export interface AsyncApiChannel extends AsyncApiExchange {
  /** The address, with its parameters in braces: `sensors/{room}/temperature`. */
  readonly address: string
  /** What pages call the channel. */
  readonly title?: string
  /** What the channel is for, in a few words. */
  readonly summary?: string
  /** The same at length, in Markdown. */
  readonly description?: string
  /** Descriptions of the parameters of the address. */
  readonly parameters?: { readonly [name: string]: { readonly description?: string; readonly enum?: string[] } }
  readonly [extension: `x-${string}`]: unknown
}

/** Data that a plugin adds to the description of messages. */
export interface AsyncApiFragment {
  /**
   * Describes the messages of a route whose connections are taken over for another protocol, such as a websocket; `undefined` for other
   * routes. Called for each route that the plugin reaches; several descriptions of one route and protocol become one channel.
   */
  exchange?(route: DescribedRoute): AsyncApiExchange | undefined
  /**
   * The channels that are not routes. Called whenever the document is requested; the document is rebuilt when they have
   * changed, so a channel that stays has the same schemas each time.
   */
  channels?(plugin: { readonly server: Kernel; readonly settings: unknown }): readonly AsyncApiChannel[]
}
