import type { Logger } from '../../kernel/index.ts'
import type { Read, Write } from './messages.ts'
import type { SlowReaders } from './options.ts'
import type { Socket } from './socket.ts'
import type { Sockets } from './sockets.ts'
import type { AnyHandlers, Message } from './types.ts'

/** What another plugin adds to the websockets of a route: messages of its own. */
export interface SocketExtension {
  readonly types: readonly string[]
  /** Handles a message; later messages wait until its result has settled. */
  received(socket: Socket, message: Message): unknown
}

/** The data that all sockets of one route share. */
export interface SocketRoute {
  readonly path: string
  readonly server: object
  readonly handlers: AnyHandlers
  read: Read
  extension: SocketExtension | undefined
  readonly write: Write
  readonly origins: 'same' | 'any' | readonly string[]
  readonly maxMessageSize: number
  /** Whether sizes must be measured here: the runtime has one limit for all routes of a server, and lets longer messages through. */
  readonly measures: boolean
  readonly messagesPerSecond: number | false
  readonly maxBuffered: number
  /** With more waiting bytes than this, a socket is closed. */
  readonly mostBuffered: number
  readonly slowReaders: SlowReaders
  /** Whether large messages are compressed for the clients that support it. */
  readonly compression: boolean
  readonly sockets: Sockets
  readonly log: Logger
}

/** What a socket keeps of its request. */
export interface Opening {
  readonly data: unknown
  readonly params: object
  readonly ip: string
  readonly protocol: string
}

/** How a connection ends: the code of RFC 6455 section 7.4, and the reason. */
export interface Closing {
  readonly code: number
  readonly reason: string
}
