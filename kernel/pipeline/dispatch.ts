import type { RawRequest, Rewriter } from '../http/raw.ts'
import { hostMistake } from '../http/request/host.ts'
import { type HostServer, KernelRequest } from '../http/request/request.ts'
import { parseTarget, type Target } from '../http/request/target.ts'
import { KernelResponse } from '../http/response/response-buffer.ts'
import type { Scope } from '../plugin/scope.ts'
import { BadRequestError, ServerClosingError } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { isPromise } from '../support/within.ts'
import { runChain } from './chain.ts'
import { type CompiledRoute, type CompiledRoutes, compiledMiss } from './compiled-route.ts'
import { type FoundRoute, RouteFinder } from './find-route.ts'
import { Responder } from './respond.ts'
import { requestTrace, runTraced } from './traces.ts'

const malformed: Target = { path: '/', sent: '/', query: '', match: '/' }

function run(responder: Responder, { steps, terminal }: CompiledRoute, req: KernelRequest, res: KernelResponse): void {
  let result: unknown
  try {
    result = runChain(steps, 0, terminal, req, res)
  } catch (error) {
    responder.fail(error, res)
    return
  }
  if (isPromise(result)) responder.await(result, res)
  else responder.finish(res)
}

/** A function of its own: a closure in `handle` would put its variables on the heap for each request. */
function runFollowed(responder: Responder, compiled: CompiledRoute, req: KernelRequest, res: KernelResponse): void {
  runTraced(req, res, () => run(responder, compiled, req, res))
}

/** The start of the request path: finds the route and runs the chain; {@link Responder} does the rest. */
export class Dispatcher {
  readonly responder: Responder
  readonly rewriters: Rewriter[] = []
  readonly finder: RouteFinder

  readonly #kernel: HostServer
  readonly #state: LifeState
  readonly #root: Scope
  #refuse!: CompiledRoute
  // One subclass each for every server: members that plugins add to requests exist on this server only.
  readonly #Request: typeof KernelRequest = class Request extends KernelRequest {}
  readonly #Response: typeof KernelResponse = class Response extends KernelResponse {}
  readonly prototypes = { request: this.#Request.prototype, response: this.#Response.prototype }
  /** The number of requests received from an adapter whose responses have not been passed to it yet. */
  inFlight = 0
  #onIdle: (() => void) | undefined

  constructor(kernel: HostServer, state: LifeState, routes: CompiledRoutes, root: Scope) {
    this.#kernel = kernel
    this.#state = state
    this.responder = new Responder(state, () => {
      if (--this.inFlight === 0) this.#onIdle?.()
    })
    this.finder = new RouteFinder(routes, root)
    this.#root = root
  }

  /** Fixes the chain of refused requests and the order of fallbacks; by now the root has all its middlewares and hooks. */
  compile(): void {
    this.finder.compile()
    this.#refuse = compiledMiss(this.#root, (req) => {
      if (this.#state.refusing) throw ServerClosingError()
      const { raw } = req
      throw (
        hostMistake(raw.host, raw.hostOptional) ?? raw.refusal() ?? BadRequestError('the request target is malformed')
      )
    })
  }

  /** Resolves when no request is in progress. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.inFlight === 0) resolve()
      else this.#onIdle = resolve
    })
  }

  /** Receives one request from an adapter. Never throws. */
  readonly handle = (native: RawRequest): void => {
    this.inFlight++
    const raw = this.rewriters.length === 0 ? native : this.#kernel.settings.rewrite(native, this.rewriters)
    const refusal = raw.refusal()
    const { target: sent, method, hostOptional, host } = raw
    const isAcceptable = refusal === undefined && hostMistake(host, hostOptional) === undefined
    // It is uncertain which server was meant, and where the next request begins (RFC 9112 section 3.2).
    if (!isAcceptable) raw.hangUp()
    const target = parseTarget(sent)
    const isRouted = target !== undefined && isAcceptable && !this.#state.refusing
    const found: FoundRoute = isRouted
      ? this.finder.find(method, target.match, this.#kernel, raw)
      : { target: this.#refuse, params: Object.create(null) }
    const compiled = found.target
    const req = new this.#Request(raw, this.#kernel, method, target ?? malformed, found)
    const res = new this.#Response(req)
    if (compiled.onResponse.length > 0) res.started = performance.now()
    if (requestTrace.isOn) runFollowed(this.responder, compiled, req, res)
    else run(this.responder, compiled, req, res)
  }
}
