import { Answers } from './answer.ts'
import { type CompiledRoutes, homeOf, type Lane, laneWithoutRoute } from './compile.ts'
import { isPromise, runChain } from './http/compose.ts'
import { failureBody } from './http/failure.ts'
import { isValidHost } from './http/host.ts'
import type { RawRequest } from './http/raw.ts'
import type { KernelRequest, Request } from './http/request.ts'
import type { Response } from './http/response.ts'
import type { KernelResponse } from './http/response-buffer.ts'
import { type Rewriter, rewriteRequest } from './http/rewrite.ts'
import { parseTarget, type Target } from './http/target.ts'
import type { Kernel } from './kernel.ts'
import type { Scope } from './plugin/scope.ts'
import type { RouteTable } from './routing/table.ts'
import { BadRequestError, MethodNotAllowedError, RouteNotFoundError, ServerClosingError } from './support/errors.ts'

/** Answers 404 and 405; the error tells which, the status is preset. */
export type NotFoundHandler = (req: Request, res: Response, error: Error & { code: string; status: number }) => unknown

/** Answers what no route answers at a path and below it; one that does not answer leaves the request to the next. */
export type FallbackHandler = (req: Request, res: Response) => void | Promise<void>

/** Where a fallback holds, and behind whose middlewares. */
export interface Fallback {
  readonly scope: Scope
  readonly plugin: string
  /** `''` for everything. */
  readonly path: string
  readonly run: FallbackHandler
}

const none: readonly string[] = []
const malformed: Target = { path: '/', sent: '/', query: '', match: '/' }

/** The request path from its top: match, run the chain; {@link Answers} does the rest. */
export class Dispatcher {
  readonly answers = new Answers(() => {
    if (--this.#inFlight === 0) this.#onIdle?.()
  })
  /** New requests are refused. */
  refusing = false
  notFoundHandler: NotFoundHandler | undefined
  readonly rewriters: Rewriter[] = []
  readonly fallbacks: Fallback[] = []

  readonly #kernel: Kernel
  readonly #routes: CompiledRoutes
  readonly #root: Scope
  readonly #misses = new Map<Scope, Lane>()
  #refuse!: Lane
  readonly #Request: typeof KernelRequest
  readonly #Response: typeof KernelResponse
  /** Requests that are being worked on. */
  #inFlight = 0
  #onIdle: (() => void) | undefined

  constructor(
    kernel: Kernel,
    routes: CompiledRoutes,
    root: Scope,
    classes: { Request: typeof KernelRequest; Response: typeof KernelResponse },
  ) {
    this.#kernel = kernel
    this.#routes = routes
    this.#Request = classes.Request
    this.#Response = classes.Response
    this.#root = root
  }

  /** Fixes the chain of what is refused, and the order of fallbacks; the root has all its middlewares and hooks by then. */
  compile(): void {
    this.fallbacks.sort((a, b) => b.path.length - a.path.length)
    this.#refuse = laneWithoutRoute(this.#root, (req) => {
      throw this.#refusalOf(req.raw)
    })
  }

  /** Resolves when no request is being worked on. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inFlight === 0) resolve()
      else this.#onIdle = resolve
    })
  }

  /** Takes one request from an adapter. Never throws. */
  readonly handle = (native: RawRequest): void => {
    this.#inFlight++
    const raw = this.rewriters.length === 0 ? native : rewriteRequest(native, this.rewriters)
    const target = parseTarget(raw.target)
    let lane: Lane
    let params: Record<string, string> | undefined
    let allowed: readonly string[] = none
    const isAcceptable = this.#isAcceptable(raw)
    // Who was asked, and where the next request begins, is anybody's guess (RFC 9112 section 3.2).
    if (!isAcceptable) raw.hangUp()
    if (target === undefined || this.refusing || !isAcceptable) lane = this.#refuse
    else {
      const table = this.#routes.current(this.#kernel.logger)
      const { method } = raw
      const match =
        table.match(method, target.match) ?? (method === 'HEAD' ? table.match('GET', target.match) : undefined)
      if (match === undefined) {
        allowed = table.allowed(target.match)
        lane = this.#missIn(this.scopeOfMiss(table, target.match, allowed))
      } else {
        lane = match.target
        params = match.params
      }
    }
    const req = new this.#Request(raw, this.#kernel, target ?? malformed, params ?? Object.create(null), lane)
    const res = new this.#Response(req)
    req.allowed = allowed
    const started = lane.onResponse.length === 0 ? 0 : performance.now()
    let result: unknown
    try {
      result = runChain(lane.steps, 0, lane.terminal, req, res)
    } catch (error) {
      this.answers.fail(error, lane, req, res, started)
      return
    }
    if (isPromise(result)) this.answers.await(result, lane, req, res, started)
    else this.answers.finish(lane, req, res, started)
  }

  /**
   * Whose middlewares a request meets that no route answers. For a 404 those of the root, or of the scope whose fallback it
   * may be; for a 405 those of the scope whose path it is, so that a scope's own cors answers preflights and its guards hold
   * for every method.
   */
  scopeOfMiss(table: RouteTable<Lane>, match: string, allowed: readonly string[]): Scope {
    const nearest = () => this.fallbacks.find(({ path }) => isWithin(path, match))?.scope
    return homeOf(table, match, allowed) ?? nearest() ?? this.#root
  }

  /** The fallbacks that a scope's requests are answered by, the longest path first; with a path, those it is within. */
  fallbacksIn(scope: Scope, match?: string): readonly Fallback[] {
    // One of another scope would be reached without the guards of that scope.
    const reachable = this.fallbacks.filter((one) => scope.lineage.includes(one.scope))
    return match === undefined ? reachable : reachable.filter(({ path }) => isWithin(path, match))
  }

  #missIn(scope: Scope): Lane {
    let lane = this.#misses.get(scope)
    if (lane === undefined) {
      const fallbacks = this.fallbacksIn(scope)
      lane = laneWithoutRoute(scope, (req, res) => this.#fallBack(fallbacks, 0, req, res))
      this.#misses.set(scope, lane)
    }
    return lane
  }

  #fallBack(fallbacks: readonly Fallback[], from: number, req: KernelRequest, res: KernelResponse): unknown {
    for (let i = from; i < fallbacks.length; i++) {
      const { path, run } = fallbacks[i]!
      if (!isWithin(path, req.target.match)) continue
      const result: unknown = run(req, res)
      if (isPromise(result)) return result.then(() => (res.answered ? res : this.#fallBack(fallbacks, i + 1, req, res)))
      if (res.answered) return res
    }
    return this.#answerMiss(req, res)
  }

  #isAcceptable(raw: RawRequest): boolean {
    const { host } = raw
    return (host === undefined ? raw.hostOptional : isValidHost(host)) && raw.refusal() === undefined
  }

  #refusalOf(raw: RawRequest): Error {
    if (this.refusing) return ServerClosingError()
    const { host } = raw
    if (host === undefined && !raw.hostOptional) return BadRequestError('the Host header is missing')
    if (host !== undefined && !isValidHost(host))
      return BadRequestError('the Host header, or the authority of the target, is not one host')
    return raw.refusal() ?? BadRequestError('the request target is malformed')
  }

  #answerMiss(req: KernelRequest, res: KernelResponse): unknown {
    const { method, path, allowed } = req
    const error = allowed.length === 0 ? RouteNotFoundError(method, path) : MethodNotAllowedError(method, path)
    res.code = error.status
    if (this.notFoundHandler !== undefined) return this.notFoundHandler(req, res, error)
    if (allowed.length > 0) res.setHeader('allow', allowed.join(', '))
    res.answer('json', failureBody(error))
    return undefined
  }
}

function isWithin(path: string, match: string): boolean {
  return match.startsWith(path) && (match.length === path.length || match[path.length] === '/')
}
