import { systemClock } from '../support/clock.ts'
import { safely } from '../support/safely.ts'
import { within } from '../support/within.ts'
import type { Adapter, Address, ListenOptions, RequestHandler } from './adapter.ts'
import { type Activity, busiestMoment } from './drain-moments.ts'
import { listenError } from './listen-errors.ts'
import { fetchHandler } from './web/fetch.ts'
import { type HeaderLines, overSockets, type Phase } from './web/fetch-context.ts'

type WebRequest = globalThis.Request
type WebResponse = globalThis.Response

/** The part of Deno's server that is used here; its own types would be a dependency of every application. */
interface DenoServer {
  readonly addr: { port: number }
  readonly finished: Promise<void>
  shutdown(): Promise<void>
}

interface DenoRuntime {
  serve(
    options: Record<string, unknown>,
    handler: (request: WebRequest, info: unknown) => WebResponse | Promise<WebResponse>,
  ): DenoServer
}

/** How long connections that were taken over have to end before they are cut. */
const lastFramesMs = 500
/** How soon a port is reopened after no connection could be accepted on it. */
const reopenMs = 100
/** How long such failures count as one, which is reported once. */
const deafMs = 10_000

/**
 * The adapter on `Deno.serve`. It does not end connections for being slow: a late body is answered, and its
 * connection is kept while reading it is pending. Where clients are not trusted, use `adapter: 'node'`.
 */
export class DenoAdapter implements Adapter {
  readonly name = 'deno'
  /**
   * Cuts the connections of the open listener. Once Deno has closed it, aborting throws "Bad resource ID" in a listener of Deno's own, where
   * nothing can catch it, and the process ends.
   */
  #abort: AbortController | undefined
  #server: DenoServer | undefined
  readonly #activity: Activity = { count: 0, working: 0 }
  /** Requests that were not answered immediately. */
  readonly #pending = new Set<WebRequest>()
  #isStopping = false
  /** When accepting a connection last failed. */
  #deafAt = Number.NEGATIVE_INFINITY
  #options: ListenOptions | undefined
  #giveUp: () => void = () => {}
  readonly #givenUp = new Promise<void>((resolve) => {
    this.#giveUp = resolve
  })

  async listen(options: ListenOptions, handler: RequestHandler): Promise<Address> {
    const { port, host, https, share, upgrades, onWarning } = options
    this.#options = options
    const answer = fetchHandler(handler, {
      ...overSockets(options),
      linesOf: headerLines(),
      // The signal is not read for every request: once read, it stays in memory as long as its connection.
      connection: (request) => ({
        runtime: 'deno',
        request,
        isLeft: this.#pending.has(request) && request.signal.aborted,
      }),
      activity: this.#activity,
      phase: (request: WebRequest, phase: Phase) => {
        if (phase === 'working') {
          this.#pending.add(request)
          // A signal that has not been read does not report a client that leaves before the response.
          if (upgrades.length > 0 && request.headers.has('upgrade')) void request.signal
        } else this.#pending.delete(request)
      },
    })
    const open = (at: number) => {
      this.#abort = new AbortController()
      return (globalThis as unknown as { Deno: DenoRuntime }).Deno.serve(
        {
          port: at,
          hostname: host,
          ...(share !== undefined && { reusePort: true }),
          signal: this.#abort.signal,
          onListen: () => {},
          // Also called for a stream that broke off, which has already been reported.
          onError: () => new Response(null, { status: 500 }),
          ...(https && { key: String(Buffer.from(https.key)), cert: String(Buffer.from(https.cert)) }),
        },
        answer,
      )
    }
    try {
      const server = open(share === undefined ? port : await share(host, port))
      const { port: bound } = server.addr
      this.#watch(server, () => open(bound), onWarning)
      return { host, port: bound }
    } catch (error) {
      throw listenError(error, host, port)
    }
  }

  #watch(server: DenoServer, open: () => DenoServer, onWarning: ListenOptions['onWarning']): void {
    this.#server = server
    server.finished.catch((error: unknown) => this.#reopen(error, open, onWarning))
  }

  /**
   * Deno stops listening permanently when it cannot accept one connection (too many open files), and the process would end
   * without an error. So the port is reopened until connections can be accepted.
   */
  #reopen(error: unknown, open: () => DenoServer, onWarning: ListenOptions['onWarning']): void {
    if (this.#isStopping) return
    this.#server = undefined
    this.#abort = undefined
    const now = performance.now()
    if (now - this.#deafAt > deafMs) onWarning('the server cannot accept connections; it opens the port again', error)
    this.#deafAt = now
    setTimeout(() => {
      if (this.#isStopping) return
      try {
        this.#watch(open(), open, onWarning)
      } catch (next) {
        this.#reopen(next, open, onWarning)
      }
    }, reopenMs)
  }

  /** Deno does not report how many connections are open: 1 stands for any number of them. */
  connections(): number {
    return this.#activity.count > 0 ? Math.max(1, this.#pending.size) : 0
  }

  cut(): number {
    const open = this.#pending.size
    this.#abort?.abort()
    this.#giveUp()
    return open
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await busiestMoment(this.#activity)
    // `shutdown` cuts connections that were taken over, even those whose last frame is being sent.
    const ended = Promise.all(this.#options?.upgrades.map((one) => one.ended?.()) ?? [])
    await Promise.race([within(ended, lastFramesMs, () => {}, systemClock), this.#givenUp])
    this.#abort = undefined
    await Promise.race([this.#server?.shutdown(), this.#server?.finished, this.#givenUp])
  }
}

/**
 * Reads all header lines of a request, bypassing `request.headers` where this version of Deno allows it.
 *
 * Once code has read `request.headers`, Deno 2.9 answers through a promise and copies all lines first, and iterating over them
 * sorts them: 1 µs of 9 for a request with one header and 3 for one with eleven; the underlying list takes 0.2 and 0.9. That list
 * is not documented. So the first request that has headers is read both ways; if the results differ, or there is no list, the
 * documented way is kept. A request without headers would prove nothing: an empty list may be filled later.
 */
export function headerLines(): (request: WebRequest) => HeaderLines {
  let read = (request: WebRequest): HeaderLines => {
    const lines = documented(request)
    if (lines.length === 0) return lines
    read = chosenFor(request)
    return read(request)
  }
  return (request) => read(request)
}

function chosenFor(request: WebRequest): (request: WebRequest) => HeaderLines {
  const symbol = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'request')
  if (symbol === undefined) return documented
  // A request without a list would otherwise fail before it can be answered.
  const direct = (one: WebRequest) =>
    (one as unknown as Record<symbol, { headerList?: HeaderLines } | undefined>)[symbol]?.headerList ?? documented(one)
  return agrees(direct, request) ? direct : documented
}

function documented(request: WebRequest): HeaderLines {
  return [...request.headers]
}

function agrees(direct: (request: WebRequest) => HeaderLines, request: WebRequest): boolean {
  const joined = safely(() => [...new Headers(direct(request) as [string, string][])])
  return JSON.stringify(joined) === JSON.stringify(documented(request))
}
