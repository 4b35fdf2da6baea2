import { Trace, type TraceOutcome, TracePoint } from '../../kernel/index.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { ServerSocket } from './types.ts'

/** The handling of a client's message. */
export interface WebsocketMessageTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The websocket that the message came on. */
  readonly socket: ServerSocket
  /** The path of the route. */
  readonly route: string
  /** The plugin that has registered the route, or `application`. */
  readonly plugin: string
  /** The message as the handler gets it: parsed and checked if the route has a schema. */
  readonly message: unknown
}

export const messageTrace = new Trace<WebsocketMessageTrace>('websocket.message')

/** Everything that is done for a socket, until it is handed over: handlers, and messages of another plugin. */
export const handlerTrace = new Trace<Pick<WebsocketMessageTrace, 'plugin' | 'server' | 'socket'>>('websocket.handler')

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

const list = { id: 'websocket', title: 'WebSockets' }

export const work: readonly WorkKind[] = [
  workKind<WebsocketMessageTrace>({
    channel: 'websocket.message',
    role: 'process',
    list,
    help: 'Messages of websockets',
    span: ({ route }) => `websocket ${route}`,
    title: ({ route }) => route,
    note: () => 'received',
    data: ({ socket, route, message }) => ({ socket: socket.id, route, message }),
    labels: { route: { attribute: 'http.route', of: ({ route }) => route } },
    // A connection may last for days, so each message is a trace of its own, linked to the request that opened the connection.
    isRoot: true,
    connection: ({ socket }) => socket,
  }),
  workKind<WebsocketOpenTrace>({
    channel: 'websocket.open',
    form: 'moment',
    // The inspector shows the request, and the plugin counts by itself.
    for: ['telemetry'],
    list,
    help: 'Websockets that were opened',
    span: () => 'websocket open',
    connection: ({ socket }) => socket,
    handlers: 'websocket.handler',
  }),
  workKind<WebsocketSendTrace>({
    channel: 'websocket.send',
    form: 'moment',
    // Telemetry and metrics would have an event for each frame; the plugin counts them by itself.
    for: ['inspector'],
    list,
    help: 'Frames that were sent to clients of websockets',
    span: () => 'websocket send',
    title: ({ route }) => route,
    note: () => 'sent',
    // A text is shown like the bytes of other messages: as JSON, if it is that.
    data: ({ socket, route, frame }) => ({ socket: socket.id, route, message: Buffer.from(frame) }),
  }),
]
