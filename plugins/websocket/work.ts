import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { WebsocketMessageTrace, WebsocketOpenTrace, WebsocketSendTrace } from './message-trace.ts'

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
