import { Trace, type TraceOutcome, TracePoint } from '../../kernel/index.ts'
import type { ServerSocket } from './types.ts'

/** The handling of a client's message. */
export interface WebsocketMessageTrace extends TraceOutcome {
  /** The websocket that the message came on. */
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  /** The message as the handler gets it: parsed and checked if the route has a schema. */
  readonly message: unknown
}

export const messageTrace = new Trace<WebsocketMessageTrace>('websocket.message')

/** A websocket that is opened, during the request that opens it. */
export interface WebsocketOpenTrace {
  /** The websocket, before its handshake is sent. */
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
}

export const openPoint = new TracePoint<WebsocketOpenTrace>('websocket.open')

/** A frame that is sent to a client. */
export interface WebsocketSendTrace {
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  readonly frame: string | Uint8Array
}

export const sendPoint = new TracePoint<WebsocketSendTrace>('websocket.send')
