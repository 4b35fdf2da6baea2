// `GET /send` sends one message to each websocket: with the framework, with `ws`, and with the servers of Bun and Deno.
import { createServer } from 'node:http'
import { port, scenario } from './routes.mjs'

const message = JSON.stringify({
  type: 'price',
  data: { id: 7, bid: 101.25, ask: 101.5, at: '2026-01-01T12:00:00.000Z' },
})
const hello = { hello: 'world' }
const host = '127.0.0.1'

/** @type {Record<string, () => unknown>} */
const scenarios = {
  async framework() {
    const { Server } = await import('framework')
    const server = new Server({ port, host, plugins: { websocket: true } })
    server.get('/', () => hello)
    server.ws('/socket', { message() {} })
    server.get('/send', () => {
      for (const socket of server.services.websockets) socket.send(message)
      return hello
    })
    await server.listen()
  },
  async ws() {
    const { WebSocketServer } = await import('ws')
    const server = createServer((request, response) => {
      if (request.url === '/send') for (const socket of sockets.clients) socket.send(message)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(hello))
    })
    const sockets = new WebSocketServer({ server, path: '/socket', maxPayload: 1024 * 1024, perMessageDeflate: false })
    sockets.on('connection', (socket) => socket.on('message', () => {}))
    server.listen(port, host)
  },
  bun() {
    const sockets = new Set()
    globalThis.Bun.serve({
      port,
      hostname: host,
      websocket: {
        open: (socket) => void sockets.add(socket),
        close: (socket) => void sockets.delete(socket),
        message() {},
      },
      fetch(request, server) {
        const { pathname } = new URL(request.url)
        if (pathname === '/socket' && server.upgrade(request)) return undefined
        if (pathname === '/send') for (const socket of sockets) socket.send(message)
        return Response.json(hello)
      },
    })
  },
  deno() {
    const sockets = new Set()
    globalThis.Deno.serve({ port, hostname: host, onListen() {} }, (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/socket') {
        const { socket, response } = globalThis.Deno.upgradeWebSocket(request)
        socket.onopen = () => sockets.add(socket)
        socket.onclose = () => sockets.delete(socket)
        socket.onmessage = () => {}
        return response
      }
      if (pathname === '/send') for (const socket of sockets) socket.send(message)
      return Response.json(hello)
    })
  },
}
await scenarios[scenario]()
