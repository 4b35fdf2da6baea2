import type { Kernel } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'

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
export interface AsyncApiChannel extends AsyncApiExchange {
  /** The address, with its parameters in braces: `sensors/{room}/temperature`. */
  readonly address: string
  /** The name of the channel on documentation pages. */
  readonly title?: string
  /** The purpose of the channel, in a few words. */
  readonly summary?: string
  /** The purpose of the channel at length, in Markdown. */
  readonly description?: string
  /** Descriptions of the parameters of the address. */
  readonly parameters?: { readonly [name: string]: { readonly description?: string; readonly enum?: string[] } }
  readonly [extension: `x-${string}`]: unknown
}

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
