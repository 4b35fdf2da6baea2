import { ArgumentsError, type Logger } from '../../kernel/index.ts'
import type { Read, Write } from './messages.ts'
import type { WebsocketSettings } from './options.ts'
import type { AnyHandlers, Message, MessageSchemas, ServerSocket } from './types.ts'

/** Counters of all websockets of a plugin. */
export interface SocketCounts {
  /** Sockets that are open. */
  open: number
  /** Sockets that were opened since the start. */
  opened: number
  /** Messages of clients that a handler received. */
  received: number
  /** Messages of clients that were not valid. */
  invalid: number
  /** Messages that were sent to clients. */
  sent: number
  /** Messages that were dropped because of slow readers. */
  dropped: number
}

/** All sockets of a plugin, as one of them sees them. */
export interface AllSockets {
  readonly counts: SocketCounts
  /** @internal Calls back when the connection of a socket has ended and its messages are handled. */
  whenOver(socket: object, callback: () => void): void
  /** @internal The socket has come so far. */
  over(socket: object): void
  /** Forgets a socket that has ended. */
  delete(socket: object): void
}

/** The data that all sockets of one route share: its own limits, and the settings of the plugin. */
export interface SocketRoute extends Omit<WebsocketSettings, 'maxSockets' | 'maxSocketsPerAddress'> {
  readonly path: string
  /** The plugin that has registered it, or `application`. */
  readonly plugin: string
  readonly server: object
  readonly handlers: AnyHandlers
  readonly incoming: MessageSchemas | undefined
  read: Read
  /** The messages of another plugin. */
  extension: { received(socket: ServerSocket, message: Message): unknown } | undefined
  readonly write: Write
  readonly protocols: readonly string[] | undefined
  /** Whether sizes must be measured here: the runtime has one limit for all routes of a server, and lets longer messages through. */
  readonly measures: boolean
  /** With more waiting bytes than this, a socket is closed. */
  readonly bufferLimit: number
  readonly sockets: AllSockets
  readonly log: Logger
}

/** What a socket keeps of its request. */
export type Opening = Readonly<Pick<ServerSocket, 'data' | 'params' | 'ip' | 'protocol'>>

/** How a connection ends: the code of RFC 6455 section 7.4, and the reason. */
export interface Closing {
  readonly code: number
  readonly reason: string
}

/** @throws ArgumentsError for a code or a reason that a close frame cannot carry. */
export function checkClose(code: number, reason: string): void {
  const isCode =
    code === 1000 ||
    (code >= 1001 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
    (code >= 3000 && code <= 4999)
  if (!Number.isInteger(code) || !isCode)
    throw ArgumentsError(
      'socket.close',
      'a code of RFC 6455 section 7.4: 1000 to 1014 without 1004 to 1006, or 3000 to 4999',
    )
  if (Buffer.byteLength(reason) > 123) throw ArgumentsError('socket.close', 'a reason of at most 123 bytes')
}
