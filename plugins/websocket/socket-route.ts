import type { Logger } from '../../kernel/index.ts'
import type { Read, Write } from './messages.ts'
import type { SlowReaders } from './options.ts'
import type { Sockets } from './sockets.ts'
import type { AnyHandlers } from './types.ts'

/** What all sockets of one route share. */
export interface SocketRoute {
  readonly path: string
  readonly handlers: AnyHandlers
  readonly read: Read
  readonly write: Write
  readonly maxMessageSize: number
  /** Whether the runtime lets longer messages through: one limit holds for all routes of its server. */
  readonly measures: boolean
  readonly messagesPerSecond: number | false
  readonly maxBuffered: number
  readonly slowReaders: SlowReaders
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
