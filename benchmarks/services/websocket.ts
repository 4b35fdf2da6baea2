import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { pair } from './pair.ts'

const message = JSON.stringify({
  type: 'said',
  data: { room: 7, text: 'a message of the usual length, which is not long' },
})
const readers = 100

/** Returns one masked text frame, as a client sends it. */
function frameOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  const mask = Buffer.from([1, 2, 3, 4])
  const hidden = bytes.map((byte, i) => byte ^ mask[i % 4]!)
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length]), mask, hidden])
}

/** A client that only counts bytes, so that it costs little compared with the server in the same process. */
async function clientOf(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  const client = new Client(socket)
  socket.write(
    'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await client.opened
  return client
}

class Client {
  readonly opened: Promise<void>
  readonly #socket: Socket
  #received = 0
  #expected = 0
  #onReceived: () => void = () => {}

  constructor(socket: Socket) {
    this.#socket = socket
    this.opened = new Promise((resolve) => {
      socket.once('data', (head) => {
        if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`the websocket was refused: ${head}`)
        socket.on('data', (data) => {
          this.#received += data.length
          if (this.#received >= this.#expected) this.#onReceived()
        })
        resolve()
      })
    })
  }

  send(frame: Buffer): void {
    this.#socket.write(frame)
  }

  /** Resolves when this many further bytes have arrived. */
  received(bytes: number): Promise<void> {
    this.#expected += bytes
    if (this.#received >= this.#expected) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onReceived = resolve
    })
  }
}

/** Sends a message there and back, and one message to a hundred clients. */
export async function websocketCases(built: Built): Promise<MicroCase[]> {
  const { RouteCollection, Server } = await built.door()
  const { WebSocketServer } = await import('ws')
  const frame = frameOf(message)
  // Without a mask, as a server sends it.
  const length = frame.length - 4

  const byHand = createServer()
  const all = new WebSocketServer({ server: byHand, maxPayload: 1024 * 1024, perMessageDeflate: false })
  all.on('connection', (socket) => socket.on('message', (data) => socket.send(data.toString())))
  await new Promise<void>((resolve) => byHand.listen(0, '127.0.0.1', resolve))

  const router = new RouteCollection()
  router.ws('/', { message: (socket, text) => void socket.send(text) })
  const server = new Server({
    router,
    port: 0,
    host: '127.0.0.1',
    plugins: { websocket: { messagesPerSecond: 10_000_000 } },
  })
  await server.listen()

  const ports = { 'by hand': (byHand.address() as AddressInfo).port, framework: server.port }
  const echo = async (port: number) => {
    const client = await clientOf(port)
    return () => {
      client.send(frame)
      return client.received(length)
    }
  }
  const broadcast = async (port: number, send: () => void) => {
    const clients = await Promise.all(Array.from({ length: readers }, () => clientOf(port)))
    return () => {
      send()
      return Promise.all(clients.map((client) => client.received(length)))
    }
  }
  const echoes = { 'by hand': await echo(ports['by hand']), framework: await echo(ports.framework) }
  const sockets = server.services.websockets
  const broadcasts = {
    'by hand': await broadcast(ports['by hand'], () => {
      for (const client of all.clients) client.send(message)
    }),
    framework: await broadcast(ports.framework, () => {
      for (const socket of sockets) socket.send(message)
    }),
  }
  return [...pair('websocket, echo', 1, echoes), ...pair(`websocket, broadcast to ${readers}`, 1, broadcasts)]
}
