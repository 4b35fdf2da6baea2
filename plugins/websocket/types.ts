import type { Logger, Response, RouteOptions, RouteRequest } from '../../kernel/index.ts'
import type { InputOf, OutputOf } from '../toolkit/schema/from-schema.ts'

/** Schemas of messages by their type: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export interface MessageSchemas {
  readonly [type: string]: object
}

/** JSON with a type: what schemas of messages are about. */
export interface Message<Type extends string = string, Data = unknown> {
  /** Says which schema the message has. */
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

/** The messages that a socket sends: typed by the schemas of `outgoing`; without them a string, bytes, or a value that is sent as JSON. */
export type OutgoingOf<Options> = Options extends { readonly outgoing: infer Schemas }
  ? Sendable<Schemas>
  : string | Uint8Array | object

/** One client of a websocket. */
export interface ServerSocket<Data = unknown, Outgoing = string | Uint8Array | object, Params = object> {
  /** A random UUID, unique over all instances. */
  readonly id: string
  /** The result of the handler `data` for the request. */
  data: Data
  /** The parameters of the path. */
  readonly params: Params
  /** The address of the client, as `req.ip` was. */
  readonly ip: string
  /** The sub-protocol that was chosen, `''` for none. */
  readonly protocol: string
  /** Whether messages can be sent: false once either side has begun to close. */
  readonly isOpen: boolean
  /** The server that has accepted it. */
  readonly server: object
  /** Bytes that were sent and have not left this process. */
  readonly buffered: number
  /** The server's logger with the id of this websocket. */
  readonly log: Logger
  /**
   * Sends a message: strings and bytes as they are, anything else as JSON. Returns whether it was sent: not on a socket that is not open,
   * nor to a slow reader where `slowReaders` is `drop` or `close`.
   *
   * @throws OutgoingMessageError for a message that the schemas of `outgoing` refuse, or that cannot be written as JSON.
   */
  send(message: Outgoing): boolean
  /** Resolves when at most `maxBuffered` bytes are waiting for the client, or the socket is closed. */
  drained(): Promise<void>
  /** Closes with a code from 1000 on (RFC 6455 section 7.4) and a reason of at most 123 bytes. Default 1000. */
  close(code?: number, reason?: string): void
  /** Ends the connection without a close frame. */
  terminate(): void
}

/**
 * The handlers of a websocket. Each handler is awaited before the next message of the same socket is handled, so messages keep their
 * order.
 */
export interface WebsocketHandlers<Req, Data, Incoming, Outgoing, Params> {
  /**
   * The data of the request that the socket keeps, because the request itself is not kept: the user, a session id. Called after every check, before the connection
   * is opened; its errors are answered like a failure of any route.
   */
  data?(req: Req, res: Response): Data | Promise<Data>
  /** The connection is open. Messages wait until the handler has settled. */
  open?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>): unknown
  /** A message has arrived: text, bytes, or what the schemas of the route make of it. The next one waits until the handler has settled. */
  message?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, message: Incoming): unknown
  /** The connection has ended, with the code of RFC 6455 section 7.4: 1005 if the client sent none, 1006 if it broke off. */
  close?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, code: number, reason: string): unknown
  /** Receives what `open`, `message` or `close` throws. Without it the failure is logged and the socket closed with 1011. */
  error?(socket: ServerSocket<NoInfer<Data>, Outgoing, Params>, error: unknown): unknown
}

/** The handlers of a route, by its options. */
export type HandlersOf<Path extends string, Extension, Options, Data> = WebsocketHandlers<
  RouteRequest<Path, Extension, Options>,
  Data,
  IncomingOf<Options>,
  OutgoingOf<Options>,
  RouteRequest<Path, Extension, Options>['params']
>

/** The handlers of any websocket, for the option of a route. */
export interface AnyHandlers {
  /** Makes `socket.data` of the opening request, before it is accepted; what it throws is answered. */
  data?(req: never, res: never): unknown
  /** The connection is open. */
  open?(socket: never): unknown
  /** A message has arrived. */
  message?(socket: never, message: never): unknown
  /** The connection has ended. */
  close?(socket: never, code: number, reason: string): unknown
  /** One of the other handlers has thrown. */
  error?(socket: never, error: unknown): unknown
}

/** Options of a route that has a websocket. */
export type WebsocketRoute = RouteOptions
