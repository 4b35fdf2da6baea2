import type { CompiledRoutes, Lane } from './compile.ts'
import { laneWithoutRoute } from './compile.ts'
import { type Pending, runChain } from './http/compose.ts'
import { failureBody, isAnsweredByFramework } from './http/failure.ts'
import { isValidHost } from './http/host.ts'
import type { RawRequest, Reply } from './http/raw.ts'
import { toReply } from './http/reply.ts'
import type { KernelRequest, Request } from './http/request.ts'
import type { KernelResponse, Response } from './http/response.ts'
import { parseTarget, type Target } from './http/target.ts'
import type { Kernel } from './kernel.ts'
import type { Scope } from './plugin/scope.ts'
import {
  BadRequestError,
  defineError,
  MethodNotAllowedError,
  RequestTimeoutError,
  RouteNotFoundError,
  ServerClosingError,
} from './support/errors.ts'

const ClientGoneError = defineError('ClientGoneError', 499, () => 'the client went away')

/** Answers 404 and 405; the error tells which, the status is preset. */
export type NotFoundHandler = (req: Request, res: Response, error: Error & { code: string; status: number }) => unknown

const malformed: Target = { path: '/', query: '', match: '/' }

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** The request path, top to bottom: match, run the chain, encode, hand over; and the same for every failure. */
export class Dispatcher {
  /** Answers carry `Connection: close`. */
  closing = false
  /** New requests are refused. */
  refusing = false
  notFoundHandler: NotFoundHandler | undefined
  /** Requests that are being worked on. */
  inFlight = 0
  onIdle: (() => void) | undefined

  readonly #kernel: Kernel
  readonly #routes: CompiledRoutes
  readonly #miss: Lane
  readonly #refuse: Lane
  readonly #Request: typeof KernelRequest
  readonly #Response: typeof KernelResponse
  readonly #pending: Pending

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
    this.#miss = laneWithoutRoute(root, (req, res) => this.#answerMiss(req, res))
    this.#refuse = laneWithoutRoute(root, (req) => {
      throw this.#refusalOf(req.raw)
    })
    this.#pending = { watch: (name, req, giveUp) => this.#watch(name, req, giveUp) }
  }

  /** Takes one request from an adapter. Never throws. */
  readonly handle = (raw: RawRequest): void => {
    this.inFlight++
    const target = parseTarget(raw.target)
    let lane: Lane
    let params: Record<string, string> | undefined
    if (target === undefined || this.refusing || !this.#isAcceptable(raw)) lane = this.#refuse
    else {
      const table = this.#routes.current(this.#kernel.logger)
      const { method } = raw
      const match =
        table.match(method, target.match) ?? (method === 'HEAD' ? table.match('GET', target.match) : undefined)
      lane = match === undefined ? this.#miss : match.target
      params = match?.params
    }
    const req = new this.#Request(raw, this.#kernel, target ?? malformed, params ?? Object.create(null))
    const res = new this.#Response(req)
    req.routePath = lane.path
    const started = lane.onResponse.length === 0 ? 0 : performance.now()
    let result: unknown
    try {
      result = runChain(lane.steps, 0, lane.terminal, req, res, this.#pending)
    } catch (error) {
      this.#fail(error, lane, req, res, started)
      return
    }
    if (isPromise(result)) {
      result.then(
        () => this.#finish(lane, req, res, started),
        (error: unknown) => this.#fail(error, lane, req, res, started),
      )
    } else this.#finish(lane, req, res, started)
  }

  #isAcceptable(raw: RawRequest): boolean {
    const { host } = raw
    return (host === undefined ? raw.hostOptional : isValidHost(host)) && raw.refusal() === undefined
  }

  #refusalOf(raw: RawRequest): Error {
    if (this.refusing) return ServerClosingError()
    const { host } = raw
    if (host === undefined && !raw.hostOptional) return BadRequestError('the Host header is missing')
    if (host !== undefined && !isValidHost(host)) return BadRequestError('the Host header is not one host')
    return raw.refusal() ?? BadRequestError('the request target is malformed')
  }

  #answerMiss(req: KernelRequest, res: KernelResponse): unknown {
    const { method, path, target } = req
    const allowed = this.#routes.current(this.#kernel.logger).allowed(target.match)
    const error = allowed.length === 0 ? RouteNotFoundError(method, path) : MethodNotAllowedError(method, path)
    res.code = error.status
    if (this.notFoundHandler !== undefined) return this.notFoundHandler(req, res, error)
    if (allowed.length > 0) res.setHeader('allow', allowed.join(', '))
    res.answer('json', failureBody(error))
    return undefined
  }

  #watch(name: string, req: KernelRequest, giveUp: (error: unknown) => void): () => void {
    const { requestTimeout } = this.#kernel.settings
    const timer = setTimeout(
      () => giveUp(RequestTimeoutError(`${name} neither answered nor called next() within ${requestTimeout} ms`)),
      requestTimeout,
    )
    req.raw.onAbort(() => giveUp(ClientGoneError()))
    return () => clearTimeout(timer)
  }

  // — the answer —

  #finish(lane: Lane, req: KernelRequest, res: KernelResponse, started: number, from = 0): void {
    if (!res.answered) res.answer('empty', undefined)
    for (let i = from; i < lane.onSend.length; i++) {
      let result: unknown
      try {
        result = lane.onSend[i]!.run(req, res)
      } catch (error) {
        this.#answerBare(error, lane, req, res, started)
        return
      }
      if (isPromise(result)) {
        result.then(
          () => this.#finish(lane, req, res, started, i + 1),
          (error: unknown) => this.#answerBare(error, lane, req, res, started),
        )
        return
      }
    }
    this.#send(lane, req, res, started)
  }

  #send(lane: Lane, req: KernelRequest, res: KernelResponse, started: number): void {
    let reply: Reply
    try {
      reply = toReply(res, req.method === 'HEAD', this.closing, lane.serialize)
    } catch (error) {
      if (res.failed) this.#answerBare(error, lane, req, res, started)
      else this.#fail(error, lane, req, res, started)
      return
    }
    this.#respond(reply, lane, req, res, started)
  }

  #respond(reply: Reply, lane: Lane, req: KernelRequest, res: KernelResponse, started: number): void {
    try {
      req.raw.respond(reply)
    } catch (error) {
      req.log.error({ err: error }, `the answer to ${req.method} ${req.path} could not be sent`)
    }
    if (lane.onResponse.length > 0)
      this.#notify(lane.onResponse, (run) => run(req, res, performance.now() - started), req)
    if (--this.inFlight === 0) this.onIdle?.()
  }

  // — failures —

  /** Somebody threw: the framework answers its own failures, the nearest error handler the others, else 500 and no body. */
  #fail(error: unknown, lane: Lane, req: KernelRequest, res: KernelResponse, started: number): void {
    res.reset()
    res.failed = true
    this.#notify(lane.onError, (run) => run(error, req, res), req)
    if (isAnsweredByFramework(error)) {
      if (error.code === RequestTimeoutError.code) req.log.error({ err: error }, error.message)
      res.answer('json', failureBody(error), error.status)
      this.#finish(lane, req, res, started)
      return
    }
    if (lane.errorHandler === undefined) {
      this.#logFailure(error, req)
      res.answer('empty', undefined, 500)
      this.#finish(lane, req, res, started)
      return
    }
    this.#callErrorHandler(lane.errorHandler, error, req, res).then(
      () => this.#finish(lane, req, res, started),
      (second: unknown) => this.#answerBare(second, lane, req, res, started, error),
    )
  }

  async #callErrorHandler(
    handler: NonNullable<Lane['errorHandler']>,
    error: unknown,
    req: KernelRequest,
    res: KernelResponse,
  ): Promise<void> {
    res.code = 500
    let passedOn = false
    const value = await handler(
      req,
      res,
      (other) => {
        if (other !== undefined && other !== null) throw other
        passedOn = true
      },
      error,
    )
    if (res.answered) return
    if (passedOn) {
      this.#logFailure(error, req)
      res.answer('empty', undefined, 500)
    } else if (value !== undefined && value !== res) res.sendWith(value, 0)
  }

  /** A failure while answering a failure: nothing of the application runs any more. */
  #answerBare(
    error: unknown,
    lane: Lane,
    req: KernelRequest,
    res: KernelResponse,
    started: number,
    original?: unknown,
  ): void {
    res.reset()
    this.#logFailure(error, req, original)
    res.answer('empty', undefined, 500)
    this.#respond(toReply(res, true, this.closing, lane.serialize), lane, req, res, started)
  }

  #logFailure(error: unknown, req: KernelRequest, original?: unknown): void {
    const fields = original === undefined ? { err: error } : { err: error, original }
    req.log.error(fields, `${req.method} ${req.path} failed with ${this.#describe(error)}`)
  }

  #describe(error: unknown): string {
    try {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    } catch {
      return 'an error that cannot be read'
    }
  }

  /** Hooks that may not change an answer: their errors are logged, their promises not waited for. */
  #notify<Run>(
    hooks: readonly { run: Run; entry: { name: string } }[],
    call: (run: Run) => unknown,
    req: KernelRequest,
  ): void {
    for (const { run, entry } of hooks) {
      const failed = (error: unknown) => req.log.error({ err: error }, `a hook of the plugin "${entry.name}" failed`)
      try {
        const result = call(run)
        if (isPromise(result)) result.then(undefined, failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}
