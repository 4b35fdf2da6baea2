import { systemClock } from '../../../kernel/index.ts'
import { safely } from '../../shared/values/safely.ts'
import { type OpenTransport, refused, type Transport, type TransportEvents } from './contract.ts'

interface DenoRuntime {
  upgradeWebSocket(
    request: globalThis.Request,
    options: { protocol?: string; idleTimeout: number },
  ): { socket: globalThis.WebSocket; response: globalThis.Response }
}

/** Milliseconds for opening a connection: nothing reports that its client left before the response. */
const openWithinMs = 2000

/** Opens a websocket of `Deno.serve`. Deno sends pings itself, and limits the size of a message only after it has read it. */
export const openDeno: OpenTransport = (connection, headers, { protocol, silence, maxMessageSize, hold }, events) => {
  if (connection.runtime !== 'deno') return undefined
  // If a connection that is gone were upgraded, `Deno.serve` would never end.
  if (connection.isLeft) return refused(events)
  const { Deno } = globalThis as unknown as { Deno: DenoRuntime }
  const options = { ...(protocol !== '' && { protocol }), idleTimeout: Math.ceil(silence / 1000) }
  const upgraded = safely(() => Deno.upgradeWebSocket(connection.request, options))
  if (upgraded === undefined) return refused(events)
  const { socket, response } = upgraded
  for (let i = 0; i < headers.length; i += 2) response.headers.append(headers[i]!, headers[i + 1]!)
  socket.binaryType = 'arraybuffer'
  const unopened = systemClock.setTimeout(() => events.closed(1006, ''), openWithinMs)
  socket.onopen = () => {
    systemClock.clear(unopened)
    events.opened(new DenoWire(socket, events, hold))
  }
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    const message = typeof data === 'string' ? data : new Uint8Array(data)
    // A string takes at most three bytes for each UTF-16 unit, so most need not be measured.
    const isShort = message.length * 3 <= maxMessageSize
    const size = isShort ? 0 : typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength
    if (size > maxMessageSize) {
      socket.close(1009, 'the message is too long')
      events.closing()
    } else events.received(message)
  }
  // A 'close' event follows, with all details.
  socket.onerror = (event) => event.preventDefault()
  socket.onclose = ({ code, reason }) => {
    systemClock.clear(unopened)
    events.closed(code === 0 ? 1006 : code, reason)
  }
  return response
}

class DenoWire implements Transport {
  readonly #socket: globalThis.WebSocket
  readonly #events: TransportEvents
  readonly #hold: () => () => void

  constructor(socket: globalThis.WebSocket, events: TransportEvents, hold: () => () => void) {
    this.#socket = socket
    this.#events = events
    this.#hold = hold
  }

  getBufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(message: string | Uint8Array): void {
    if (this.#socket.readyState !== 1) return
    this.#socket.send(message as Uint8Array<ArrayBuffer>)
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState < 2) this.#socket.close(code, reason)
  }

  /** Deno cannot end a connection that has not responded to its close frame: its socket has ended, but it keeps its place until it is gone. */
  terminate(): void {
    const socket = this.#socket
    if (socket.onmessage === null) return
    if (socket.readyState < 2) socket.close()
    socket.onmessage = null
    if (socket.readyState < 3) socket.onclose = this.#hold()
    this.#events.closed(1006, '')
  }
}
