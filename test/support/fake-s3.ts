import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface FakeS3 {
  readonly url: string
  /** `method path?query` of each request. */
  readonly asked: string[]
  readonly sockets: Set<Socket>
  answer: (req: IncomingMessage, res: ServerResponse) => void
  stop(): Promise<void>
}

/** A server with the responses of a test. */
export async function startFakeS3(): Promise<FakeS3> {
  const sockets = new Set<Socket>()
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    fake.answer(req, res)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fake: FakeS3 = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    sockets,
    answer: (_req, res) => res.end(),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}
