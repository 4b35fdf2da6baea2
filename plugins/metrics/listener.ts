import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contentType } from './text.ts'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/

/**
 * Whether a client has asked for this machine by name. A page in a browser on it reaches the port by a name of its own that it lets
 * point here (DNS rebinding), and would read the metrics as its own origin.
 */
const isLoopbackHost = (host = '') => loopback.test(host.replace(/:\d+$/, ''))

/** Answers one path on a port of its own. Rejects where it cannot listen. */
export async function listenApart(
  at: { readonly port: number; readonly host: string; readonly path: string },
  text: () => Promise<string>,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const isLoopback = loopback.test(at.host)
  const server: Server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (req, res) => {
    if (isLoopback && !isLoopbackHost(req.headers.host)) {
      res.writeHead(403).end()
      return
    }
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
