import { RouteCollection, Server, type ServerSocket } from 'framework'
import { z } from 'zod'

const Said = z.object({ name: z.string(), text: z.string() })
type Said = z.infer<typeof Said>

export function makeServer(options: { port?: number; host?: string } = {}) {
  const sockets = new Set<ServerSocket<unknown, { type: 'said'; data: Said }>>()
  const routes = new RouteCollection()
  routes.ws(
    '/chat',
    // What does not match is refused with an error message; the handler sees only what it expects.
    { incoming: { say: Said.extend({ text: z.string().min(1).max(500) }) }, outgoing: { said: Said } },
    {
      open: (socket) => void sockets.add(socket),
      message(_socket, { data }) {
        for (const one of sockets) one.send({ type: 'said', data })
      },
      close: (socket) => void sockets.delete(socket),
    },
  )
  return new Server({
    ...options,
    router: routes,
    plugins: {
      helmet: true,
      websocket: { maxMessageSize: '4kb', messagesPerSecond: 10 },
      static: { root: new URL('public', import.meta.url) },
    },
  })
}
