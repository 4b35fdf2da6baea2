import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contentType } from './text.ts'

/** Answers one path on a port of its own. Rejects where it cannot listen. */
export async function listenApart(
  at: { readonly port: number; readonly host: string; readonly path: string },
  text: () => Promise<string>,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (req, res) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD'
    if (req.url?.split('?')[0] !== at.path || !isRead) {
      res.writeHead(isRead ? 404 : 405, isRead ? {} : { allow: 'GET, HEAD' }).end()
      return
    }
    text().then(
      (body) => res.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body),
      () => res.writeHead(500).end(),
    )
  })
  // Not shared with other workers: each has figures of its own.
  server.listen({ port: at.port, host: at.host, exclusive: true })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
