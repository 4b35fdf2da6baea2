import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Timer } from '../../kernel/index.ts'
import { isLoopback, isLoopbackHost } from '../shared/development/loopback.ts'
import { contentType } from './text.ts'

/** Milliseconds between attempts to take over a port, and until a report: a closing worker keeps the port for as long as it works. */
const pause = 250
const reportedAfter = 10_000

export interface ListenerOptions {
  readonly port: number
  readonly host: string
  readonly path: string
  /** Whether the previous process may still have the port, so that the listener waits for it. */
  readonly takesOver: boolean
  text(): Promise<string>
  /** Called when it listens, with the port. */
  onListening(port: number): void
  /** Called when another process has kept the port for seconds, while the listener tries until it is free; or when a scrape has failed. */
  onFailure(what: 'port' | 'scrape', error: unknown): void
}

/** Serves one path on a port of its own. */
export class Listener {
  readonly #options: ListenerOptions
  #server: Server | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Starts listening; rejects if it cannot listen, but resolves if it has to wait for the port. */
  async open(): Promise<void> {
    try {
      await this.#listen()
    } catch (error) {
      if (!this.#options.takesOver || (error as { code?: unknown }).code !== 'EADDRINUSE') throw error
      this.#retry(1)
    }
  }

  #retry(attempt: number): void {
    if (this.#isClosed) return
    const onTaken = (error: unknown) => {
      if (attempt * pause === reportedAfter) this.#options.onFailure('port', error)
      this.#retry(attempt + 1)
    }
    this.#timer = systemClock.setTimeout(() => this.#listen().catch(onTaken), pause)
    this.#timer.unref()
  }

  async #listen(): Promise<void> {
    const { port, host, path, text, onListening, onFailure } = this.#options
    let isLocal = true
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (req, res) => {
      if (isLocal && !isLoopbackHost(req.headers.host)) return void res.writeHead(403).end()
      if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { allow: 'GET, HEAD' }).end()
      if (req.url?.split('?')[0] !== path) return void res.writeHead(404).end()
      text().then(
        (body) => res.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body),
        (error) => {
          onFailure('scrape', error)
          res.writeHead(500).end()
        },
      )
    })
    // A client that reads nothing for so long is not a working scraper, and keeps megabytes of text in memory.
    server.setTimeout(60_000)
    // The port is not shared with other workers: each has its own figures.
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
    const bound = server.address() as AddressInfo
    // By the bound address, whatever form the host was given in: `Localhost`, `127.1`, a name in the hosts file.
    isLocal = isLoopback(bound.address)
    this.#server = server
    if (this.#isClosed) await this.close()
    else onListening(bound.port)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    systemClock.clear(this.#timer)
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
}
