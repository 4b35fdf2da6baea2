import { Trace, type TraceOutcome } from '../../kernel/index.ts'
import type { ServerSocket } from './types.ts'

/** A message of a client in the hands of its handler. */
export interface WebsocketMessageTrace extends TraceOutcome {
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  readonly message: unknown
}

export const messageTrace = new Trace<WebsocketMessageTrace>('websocket.message')
