import { Trace, type TraceOutcome, TracePoint } from '../../kernel/index.ts'
import type { ServerSocket } from './types.ts'

/** A message of a client that its handler processes. */
export interface WebsocketMessageTrace extends TraceOutcome {
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  readonly message: unknown
}

export const messageTrace = new Trace<WebsocketMessageTrace>('websocket.message')

/** A frame that is sent to a client. */
export interface WebsocketSendTrace {
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  readonly frame: string | Uint8Array
}

export const sendPoint = new TracePoint<WebsocketSendTrace>('websocket.send')
