import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import { peer } from '../../shared/environment/optional-package.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import { compressedFrom, type OpenTransport, type Transport, type TransportEvents } from './contract.ts'

/** Close codes for the refusals of `ws`, which sends them itself but reports 1006. */
const codes: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
}

/** Makes the class of the sockets of `ws`, each of which is the transport itself: that saves an object for each. */
const classOf = (ws: typeof import('ws')) =>
  class NodeSocket extends ws.WebSocket implements Transport {
    #events: TransportEvents | undefined
    #stream: Duplex | undefined
    #refusedWith = 0
    #isWatched = false

    attend(stream: Duplex, events: TransportEvents): void {
      this.#events = events
      this.#stream = stream
      // For a client that has ended its side and reads nothing, `ws` waits for ever.
      stream.once('end', () => events.closing())
      events.opened(this)
    }

    /** `ws` reports all events here: listeners would cost memory for each socket. */
    override emit(name: string | symbol, ...[first, second]: unknown[]): boolean {
      const events = this.#events
      if (events === undefined) return false
      if (name === 'message') events.received(second === true ? (first as Buffer) : String(first))
      else if (name === 'ping' || name === 'pong') events.controlled(name)
      else if (name === 'close') events.closed(this.#refusedWith || (first as number), String(second))
      else if (name === 'error') {
        const { code } = first as { readonly code?: string }
        if (code?.startsWith('WS_ERR_')) this.#refusedWith = codes[code] ?? 1002
      }
      return true
    }

    /** `ws` closes by itself when the client has closed or broken the protocol: it reports no event, and waits 30 seconds. */
    override close(code?: number, reason?: string | Buffer): void {
      super.close(code, reason)
      this.#events?.closing()
    }

    override send(message: string | Uint8Array): void {
      super.send(message)
    }

    getBufferedAmount(): number {
      return this.bufferedAmount
    }

    watch(): void {
      if (this.#isWatched) return
      this.#isWatched = true
      this.#stream!.once('drain', () => {
        this.#isWatched = false
        this.#events!.relieved()
      })
    }
  }

/** Loads `ws`, which implements the protocol on a connection of `node:http`. */
export async function openNode(): Promise<OpenTransport> {
  const ws = await peer('ws', () => import('ws'), 'the websocket plugin')
  // One server for each combination of options: here, a server of `ws` is an object without a socket.
  const servers = new Map<string, WebSocketServer>()
  const NodeSocket = classOf(ws)
  let chosen = ''

  const serverOf = (maxPayload: number, compression: boolean) =>
    madeIn(servers, `${maxPayload} ${compression}`, () => {
      const server = new ws.WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload,
        WebSocket: NodeSocket,
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
      return server
    })

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
        // The class that the server was made with.
        ;(socketOfWs as InstanceType<typeof NodeSocket>).attend(socket, events)
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
