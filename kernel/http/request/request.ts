import { clock } from '../../support/clock.ts'
import type { Logger } from '../../support/logger.ts'
import type { RawRequest } from '../raw.ts'
import type { Serialize } from '../response/json.ts'
import type { Response } from '../response/response.ts'
import { isValidHost } from './host.ts'
import type { Target } from './target.ts'

/**
 * The server that a request belongs to. The kernel, the top level, declares its members in `kernel.ts`, which no lower level
 * imports.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for the kernel
export interface HostServer {}

/** A parsed query: repeated names become arrays. */
export type Query = Record<string, string | string[]>

/**
 * One request as handlers and middlewares see it. Plugins add members by merging into this interface and installing
 * them with `ctx.decorate('request', …)`.
 */
export interface Request {
  /** The method as it was sent, such as `GET`; methods are case-sensitive (RFC 9110 section 9.1). */
  readonly method: string
  /** The absolute URL: scheme, validated host, path and query with the escapes that were sent; `new URL(req.url)` always works. */
  readonly url: string
  /**
   * The path alone, without dot segments and in one spelling: only characters that must be percent-encoded are encoded. So
   * two requests have the same path exactly when the router reads the same path, except for one trailing slash.
   */
  readonly path: string
  /** The decoded parameters of the path; their type comes from the path of the route. */
  params: { readonly [name: string]: string | undefined }
  /** The query, parsed when first read; repeated names become arrays. */
  query: Query
  /** The parsed body; `undefined` without a body or a parser. */
  body: unknown
  /** The headers, with lower-case names and repeated ones joined. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** The headers as web `Headers`. */
  readonly rawHeaders: Headers
  /** The id of the request: created for it, or the client's `x-request-id` with the option `trustRequestId`. */
  readonly id: string
  /** The address of the peer; with the plugin `trustProxy`, that of the client behind a proxy. */
  readonly ip: string
  /** The scheme: `https` when the connection is encrypted, or when a trusted proxy says so (plugin `trustProxy`). */
  readonly protocol: 'http' | 'https'
  /** Aborts when the client disconnects before the response is complete, and when the request is given up. */
  readonly signal: AbortSignal
  /** Gives up the request: aborts `signal` with the reason, and drops later responses. For timeouts, which respond by throwing. */
  abort(reason: Error): void
  /**
   * Gives the request this many milliseconds from now, instead of the server's `requestTimeout`; `false` for no limit.
   * For plugins that limit the time themselves.
   */
  extend(ms: number | false): void
  /** The server that received the request: its logger, its services and `explain`. */
  readonly server: HostServer
  /** The server's logger with the id of this request. */
  readonly log: Logger
  /** The path of the route that answers, as it was registered; `undefined` for 404 and 405. */
  readonly route: string | undefined
  /** The request as the runtime passed it: for body parsers, which read its bytes. */
  readonly raw: RawRequest
}

// A counter after a random prefix: unique across processes, and free (a UUID for each request costs 0.2 µs).
const prefix = Math.random().toString(36).slice(2, 10).padEnd(8, '0')
let count = 0

const trustedId = /^[\w.:-]{1,128}$/

/** What the request must know about the compiled route that answers it. */
export interface AnsweringRoute {
  readonly path: string | undefined
  /** What plugins keep for the route; missing where they keep nothing. */
  readonly values?: ReadonlyMap<object, unknown>
  readonly serialize: Serialize
}

/** How a request that matches no route may still be answered. */
export interface Miss {
  /** The methods that are registered for the path. */
  readonly allowed: readonly string[]
  readonly fallbacks: readonly { run(req: Request, res: Response): void | Promise<void> }[]
}

/** What answers a request, as far as its method and path decide it. */
export interface Routed {
  readonly target: AnsweringRoute
  readonly params: Record<string, string>
  /** Set where no route matches. */
  readonly miss?: Miss
}

export interface KernelRequest extends Request {}

/** The implementation of {@link Request}: reads everything from the raw request on first use. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: members that plugins merge into the interface arrive by decorate
export class KernelRequest {
  readonly raw: RawRequest
  readonly server: HostServer
  readonly method: string
  readonly target: Target
  body: unknown = undefined
  params: { readonly [name: string]: string | undefined }
  readonly compiled: AnsweringRoute
  /** Whether the request was given up: the handler's response is then ignored. */
  givenUp = false
  /** What the request is working on, when that takes time; the pipeline sets it. */
  current: object | undefined = undefined
  /** The time limit of a request that waits; the pipeline sets it. */
  timeLimit: object | undefined = undefined
  /** The time at which it must have ended, instead of the time limit of the server. */
  extendedTo = 0
  readonly miss: Miss | undefined

  #query: Query | undefined = undefined
  #headers: { readonly [name: string]: string | undefined } | undefined = undefined
  #id: string | undefined = undefined
  #log: Logger | undefined = undefined
  #abort: AbortController | undefined = undefined

  /** `method` is that of the raw request. */
  constructor(raw: RawRequest, server: HostServer, method: string, target: Target, routed: Routed) {
    this.raw = raw
    this.server = server
    this.method = method
    this.target = target
    this.params = routed.params
    this.compiled = routed.target
    this.miss = routed.miss
  }

  get path(): string {
    return this.target.path
  }

  get route(): string | undefined {
    return this.compiled.path
  }

  get protocol(): 'http' | 'https' {
    return this.raw.secure ? 'https' : 'http'
  }

  get url(): string {
    const { sent, query } = this.target
    const { host } = this.raw
    // Middlewares also run for a request that is refused for its host.
    const shown = host === undefined || !isValidHost(host) ? 'localhost' : host
    return `${this.protocol}://${shown}${sent}${query === '' ? '' : `?${query}`}`
  }

  get query(): Query {
    this.#query ??= this.server.settings.parseQuery(this.target.query)
    return this.#query
  }

  set query(value: Query) {
    this.#query = value
  }

  get headers(): { readonly [name: string]: string | undefined } {
    this.#headers ??= this.raw.headers()
    return this.#headers
  }

  get rawHeaders(): Headers {
    return new Headers(Object.entries(this.headers) as [string, string][])
  }

  get ip(): string {
    return this.raw.ip
  }

  get id(): string {
    if (this.#id === undefined) {
      const given = this.server.settings.trustRequestId ? this.raw.header('x-request-id') : undefined
      this.#id = given !== undefined && trustedId.test(given) ? given : `${prefix}-${(++count).toString(36)}`
    }
    return this.#id
  }

  get log(): Logger {
    if (this.#log === undefined) this.#log = this.server.safeLogger.child({ reqId: this.id })
    return this.#log
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      this.#abort = abort
      this.raw.onAbort(() => abort.abort(new DOMException('the client disconnected', 'AbortError')))
    }
    return this.#abort.signal
  }

  abort(reason: Error): void {
    this.givenUp = true
    void this.signal
    this.#abort!.abort(reason)
  }

  extend(ms: number | false): void {
    this.extendedTo = ms === false ? Number.POSITIVE_INFINITY : clock.monotonic() + ms
  }
}
