import type { Logger, Response, RouteRequest } from '../../kernel/index.ts'
import type { InputOf, OutputOf } from '../shared/schema/from-schema.ts'

/** Schemas of messages by their type: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export interface MessageSchemas {
  readonly [type: string]: object
}

/** A JSON message with a type, as schemas of messages describe it. */
export interface Message<Type extends string = string, Data = unknown> {
  /** The type, which selects the schema of the message. */
  readonly type: Type
  /** The payload. */
  readonly data: Data
}

type Received<Schemas> = {
  [Type in keyof Schemas & string]: Message<Type, OutputOf<Schemas[Type]>>
}[keyof Schemas & string]

type Sendable<Schemas> = {
  [Type in keyof Schemas & string]: undefined extends InputOf<Schemas[Type]>
    ? { readonly type: Type; readonly data?: InputOf<Schemas[Type]> }
    : Message<Type, InputOf<Schemas[Type]>>
}[keyof Schemas & string]

/** The messages that a handler receives: typed by the schemas of `incoming`; without them a string, or the bytes of a binary message. */
export type IncomingOf<Options> = Options extends { readonly incoming: infer Schemas }
  ? Received<Schemas>
  : string | Uint8Array

/** What is sent as JSON: not a `Map`, a `Set` or a promise, of which JSON would leave `{}`. */
type JsonMessage = { readonly [name: string]: unknown } | (object & { readonly [Symbol.toStringTag]?: undefined })
type AnyMessage = string | ArrayBufferLike | ArrayBufferView | JsonMessage

/** The messages that a socket sends: typed by the schemas of `outgoing`; without them a string, bytes, or an object that is sent as JSON. */
export type OutgoingOf<Options> = Options extends { readonly outgoing: infer Schemas } ? Sendable<Schemas> : AnyMessage

/** The call of a handler with a message. */
export interface MessageCall {
  /** Aborts when the connection ends, and when the handler has reached its `timeout`. */
  readonly signal: AbortSignal
}

/** One client of a websocket. */
export interface ServerSocket<Data = unknown, Outgoing = AnyMessage, Params = object> {
  /** A random UUID, unique over all instances. */
  readonly id: string
  /** The result of the handler `data` for the request. */
  data: Data
  /** The parameters of the path. */
  readonly params: Params
  /** The address of the client: `req.ip` of the opening request. */
  readonly ip: string
  /** The chosen sub-protocol, `''` for none. */
  readonly protocol: string
  /** Whether messages can be sent: false once either side has begun to close. */
  readonly isOpen: boolean
  /** The server that accepted the socket. */
  readonly server: object
  /** Bytes that were sent but have not left this process yet. */
  readonly buffered: number
  /** The server's logger with the id of this websocket. */
  readonly log: Logger
  /**
   * Sends a message: strings and bytes as they are, any other object as JSON. Returns whether it was sent: not if the socket is not open,
   * nor to a slow reader if `slowReaders` is `drop` or `close`.
   *
   * @throws OutgoingMessageError for a message that the schemas of `outgoing` refuse, or that JSON cannot represent, such as a `Map`.
   */
  send(message: Outgoing): boolean
  /** Resolves when at most `maxBuffered` bytes are waiting for the client, or the socket is closed. */
  drained(): Promise<void>
  /** Closes with a code of 1000 or above (RFC 6455 section 7.4) and a reason of at most 123 bytes. Default 1000. */
  close(code?: number, reason?: string): void
  /** Ends the connection without a close frame. */
  terminate(): void
}

/**
 * The handlers of a websocket. Each call is awaited before the next message of the same socket is handled, so messages keep their
 * order.
 */
export interface WebsocketHandlers<Req, Data, Incoming, Outgoing, Params> {
  /**
   * Returns what the socket keeps of the request, which itself is not kept: the user, a session id. Called after every check, before
   * the connection is opened; its errors become responses like those of any route.
   */
  data?(req: Req, res: Response): Data | Promise<Data>
  /** Called when the connection is open. Messages wait until the handler has settled. */
  open?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>): unknown
  /** Called with each message: text, bytes, or the result of the route's schemas. The next one waits until the handler has settled. */
  message?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, message: Incoming, call: MessageCall): unknown
  /** Called when the connection has ended, with the code of RFC 6455 section 7.4: 1005 if the client sent none, 1006 if it broke off. */
  close?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, code: number, reason: string): unknown
  /** Called with what `open`, `message` or `close` throws. Without it the failure is logged and the socket is closed with 1011. */
  error?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, error: unknown): unknown
}

/** The handlers of a route, typed by its options. */
export type HandlersOf<Path extends string, Extension, Options, Data> = WebsocketHandlers<
  RouteRequest<Path, Extension, Options>,
  Data,
  IncomingOf<Options>,
  OutgoingOf<Options>,
  RouteRequest<Path, Extension, Options>['params']
>

/** The handlers of any websocket, for the option `websocket` of a route. */
export interface AnyHandlers {
  /** Makes `socket.data` from the opening request, before it is accepted; errors become responses. */
  data?(req: never, res: never): unknown
  /** Called when the connection is open. */
  open?(socket: never): unknown
  /** Called with each message. */
  message?(socket: never, message: never, call: MessageCall): unknown
  /** Called when the connection has ended. */
  close?(socket: never, code: number, reason: string): unknown
  /** Called when one of the other handlers has thrown. */
  error?(socket: never, error: unknown): unknown
}
