import { madeIn } from '../../shared/values/memoize.ts'
import { type OpenTransport, refused, type Transport, type TransportEvents } from './contract.ts'

/** The part of Bun's socket that is used here, which is itself a transport: that saves an object for each. Without its second argument, `send` compresses nothing. */
interface BunSocket extends Transport {
  readonly data: TransportEvents
}

interface BunServer {
  upgrade(request: globalThis.Request, options: { headers: [string, string][]; data: TransportEvents }): boolean
}

/** Options of `Bun.serve`: one set of handlers and one limit for all websockets of a server. */
export interface BunHandlers {
  maxPayloadLength: number
  perMessageDeflate: boolean
  readonly [member: string]: unknown
}

const ofServer = new WeakMap<object, BunHandlers>()

/** The handlers of a server: a single object, however many scopes have the plugin, because `Bun.serve` accepts only one. */
export function bunHandlers(server: object, maxMessageSize: number, compression: boolean): BunHandlers {
  const handlers = madeIn(ofServer, server, newHandlers)
  handlers.maxPayloadLength = Math.max(handlers.maxPayloadLength, maxMessageSize)
  handlers.perMessageDeflate ||= compression
  return handlers
}

function newHandlers(): BunHandlers {
  return {
    maxPayloadLength: 0,
    perMessageDeflate: false,
    // The plugin's own pings find dead clients; a silent client that responds to them stays.
    idleTimeout: 0,
    sendPings: false,
    // Slow readers are handled where messages are sent.
    backpressureLimit: 0xffff_ffff,
    closeOnBackpressureLimit: false,
    open: (socket: BunSocket) => socket.data.opened(socket),
    message: (socket: BunSocket, message: string | Uint8Array) => socket.data.received(message),
    ping: (socket: BunSocket) => socket.data.controlled('ping'),
    pong: (socket: BunSocket) => socket.data.controlled('pong'),
    drain: (socket: BunSocket) => socket.data.relieved(),
    close: (socket: BunSocket, code: number, reason: string) => socket.data.closed(code, reason),
  }
}

/** Opens a websocket of `Bun.serve`. */
export const openBun: OpenTransport = (connection, headers, { protocol }, events) => {
  if (connection.runtime !== 'bun') return undefined
  // Without this header Bun would choose the first protocol that the client offers; it omits an empty one.
  const lines: [string, string][] = [['sec-websocket-protocol', protocol]]
  for (let i = 0; i < headers.length; i += 2) lines.push([headers[i]!, headers[i + 1]!])
  if ((connection.server as BunServer).upgrade(connection.request, { headers: lines, data: events })) return undefined
  // The client has left, or Bun refused its handshake.
  return refused(events)
}
