import type { Adapter, Address, ListenOptions, RequestHandler } from './adapter.ts'
import { type Activity, busiestMoment, silence } from './drain-moments.ts'
import { listenError } from './listen-errors.ts'
import { fetchHandler } from './web/fetch.ts'
import { overSockets, type Phase } from './web/fetch-context.ts'

type WebRequest = globalThis.Request

/** The part of Bun's server that is used here; its own types would be a dependency of every application. */
interface BunServer {
  readonly port: number
  readonly pendingRequests: number
  readonly pendingWebSockets: number
  requestIP(request: WebRequest): { address: string } | null
  timeout(request: WebRequest, seconds: number): void
  stop(closeActive?: boolean): Promise<void>
}

interface BunRuntime {
  serve(options: Record<string, unknown>): BunServer
}

/** The longest idle timeout that Bun accepts; 0 means none. */
const longestSeconds = 255

/** Timeout of the response for a client whose request is not read to its end. Bun counts in units of four: a lower value could be zero. */
const leftSeconds = 5

/** The adapter on `Bun.serve`. */
export class BunAdapter implements Adapter {
  readonly name = 'bun'
  #server: BunServer | undefined
  readonly #activity: Activity = { count: 0, working: 0 }

  async listen(options: ListenOptions, handler: RequestHandler): Promise<Address> {
    const { port, host, limits, https, share, upgrades, onWarning } = options
    const idle = Math.min(Math.ceil(limits.keepAliveTimeout / 1000), longestSeconds)
    const answer = fetchHandler(handler, {
      ...overSockets(options),
      activity: this.#activity,
      connection: (request) => ({ runtime: 'bun', request, server: this.#server! }),
      // Bun's one idle timer also runs while a handler works, and bytes of a body do not restart it. With `Connection: close`
      // Bun would end the connection immediately, and a client that is still sending would not see its response (measured: half of them).
      phase: (request: WebRequest, phase: Phase) => {
        this.#server?.timeout(request, phase === 'working' ? 0 : phase === 'left' ? leftSeconds : idle)
      },
    })
    try {
      this.#server = (globalThis as unknown as { Bun: BunRuntime }).Bun.serve({
        port: share === undefined ? port : await share(host, port),
        hostname: host,
        development: false,
        // Outside development, Bun shares a port with any process that has it, and the conflict would go unnoticed.
        reusePort: share !== undefined,
        idleTimeout: idle,
        // The kernel counts while it reads, and sends its own response.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        ...(https && { tls: https }),
        ...Object.assign({}, ...upgrades.map(({ bun }) => bun)),
        fetch: answer,
        error: (error: unknown) => {
          onWarning('the server reported an error', error)
          return new Response(null, { status: 500 })
        },
      })
    } catch (error) {
      throw listenError(error, host, port)
    }
    return { host, port: this.#server.port }
  }

  /** Bun reports how many requests are open, not how many connections: 1 stands for any number of idle ones. */
  connections(): number {
    return this.#activity.count > 0 ? Math.max(1, this.#open) : 0
  }

  get #open(): number {
    return this.#server === undefined ? 0 : this.#server.pendingRequests + this.#server.pendingWebSockets
  }

  cut(): number {
    const open = this.#open
    void this.#server?.stop(true)
    return open
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (!server) return
    await busiestMoment(this.#activity)
    // The promise may never resolve, and Bun never ends connections that stay silent.
    void server.stop(false)
    if (this.#activity.count > 0) {
      do await silence(this.#activity)
      while (this.#open > 0)
    }
    void server.stop(true)
  }
}
