import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { peer } from '../../shared/environment/optional-package.ts'
import { compressedFrom, type OpenTransport, type Transport, type TransportEvents } from './contract.ts'

/** Close codes for the refusals of `ws`, which sends them itself but reports 1006. */
const codes: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
}

/** Loads `ws`, which implements the protocol on a connection of `node:http`. */
export async function openNode(): Promise<OpenTransport> {
  const ws = await peer('ws', () => import('ws'), 'the websocket plugin')
  // One server for each combination of options: here, a server of `ws` is an object without a socket.
  const servers = new Map<string, WebSocketServer>()
  /** `ws` closes by itself when the client has closed or broken the protocol: it reports no event, and waits 30 seconds. */
  class Reporting extends ws.WebSocket {
    override close(code?: number, reason?: string | Buffer): void {
      super.close(code, reason)
      ;(this as unknown as Partial<Attended>)[reports]?.closing()
    }
  }
  let chosen = ''

  function serverOf(maxPayload: number, compression: boolean): WebSocketServer {
    const key = `${maxPayload} ${compression}`
    let server = servers.get(key)
    if (server === undefined) {
      server = new ws.WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload,
        WebSocket: Reporting,
        // Without context takeover: with it, each socket would keep the state of zlib between messages.
        perMessageDeflate: compression && {
          threshold: compressedFrom,
          serverNoContextTakeover: true,
          clientNoContextTakeover: true,
        },
        handleProtocols: () => (chosen === '' ? false : chosen),
      })
      server.on('headers', (lines: string[]) => lines.push(...handshake))
      // With this listener, `ws` leaves the response to it.
      server.on('wsClientError', () => {
        isDeclined = true
      })
      servers.set(key, server)
    }
    return server
  }
  let handshake: string[] = []
  let isDeclined = false

  return (connection, headers, { maxMessageSize, compression, protocol }, events) => {
    if (connection.runtime !== 'node') return undefined
    const { message, socket, head } = connection
    // `handleUpgrade` calls both before it returns.
    chosen = protocol
    handshake = []
    for (let i = 0; i < headers.length; i += 2) handshake.push(`${headers[i]}: ${headers[i + 1]}`)
    if (!socket.readable || !socket.writable) {
      // The client left while its request was handled, and no further event reports that.
      socket.destroy()
      events.closed(1006, '')
      return undefined
    }
    // The header may be a list (RFC 9110 section 7.8), which `ws` cannot read.
    message.headers.upgrade = 'websocket'
    let isOpen = false
    const onLeft = () => !isOpen && events.closed(1006, '')
    socket.once('close', onLeft)
    const upgrade = () =>
      serverOf(maxMessageSize, compression).handleUpgrade(message, socket, head, (socketOfWs) => {
        isOpen = true
        socket.off('close', onLeft)
        attend(socketOfWs, socket, events)
      })
    isDeclined = false
    upgrade()
    if (!isDeclined) return undefined
    // An unacceptable offer of compression is declined (RFC 7692 section 5.1); `ws` would refuse the client.
    delete message.headers['sec-websocket-extensions']
    isDeclined = false
    upgrade()
    // For any other refusal of `ws`: no connection is left without a response.
    if (isDeclined) socket.destroy()
    return undefined
  }
}

/** A socket of `ws` with its event handlers, where listeners find them: closures instead would cost memory for each socket. */
type Attended = WebSocket & { [reports]: TransportEvents; [refusal]: number }
const reports = Symbol('events')
const refusal = Symbol('refusal')

function attend(socket: WebSocket, stream: Duplex, events: TransportEvents): void {
  Object.assign(socket, { [reports]: events, [refusal]: 0 })
  // For a client that has ended its side and reads nothing, `ws` waits for ever.
  stream.once('end', onEnd.bind(socket))
  socket.on('message', onMessage)
  socket.on('ping', onPing)
  socket.on('pong', onPong)
  socket.on('error', onError)
  socket.on('close', onClose)
  events.opened(new NodeWire(socket, stream, events))
}

function onEnd(this: WebSocket): void {
  ;(this as Attended)[reports].closing()
}

function onMessage(this: WebSocket, data: unknown, isBinary: boolean): void {
  const bytes = data as Buffer
  ;(this as Attended)[reports].received(isBinary ? bytes : bytes.toString())
}

function onPing(this: WebSocket): void {
  ;(this as Attended)[reports].controlled('ping')
}

function onPong(this: WebSocket): void {
  ;(this as Attended)[reports].controlled('pong')
}

function onError(this: WebSocket, error: Error & { code?: string }): void {
  if (error.code?.startsWith('WS_ERR_')) (this as Attended)[refusal] = codes[error.code] ?? 1002
}

function onClose(this: WebSocket, code: number, reason: Buffer): void {
  const { [reports]: events, [refusal]: refusedWith } = this as Attended
  events.closed(refusedWith || code, reason.toString())
}

class NodeWire implements Transport {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #events: TransportEvents
  #isWatched = false

  constructor(socket: WebSocket, stream: Duplex, events: TransportEvents) {
    this.#socket = socket
    this.#stream = stream
    this.#events = events
  }

  watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    this.#stream.once('drain', () => {
      this.#isWatched = false
      this.#events.relieved()
    })
  }

  getBufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(message: string | Uint8Array): void {
    this.#socket.send(message)
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  ping(): void {
    this.#socket.ping()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }
}
