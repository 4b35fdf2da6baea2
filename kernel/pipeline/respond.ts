import type { Reply } from '../http/raw.ts'
import type { KernelRequest } from '../http/request/request.ts'
import { sendFailure } from '../http/response/error-body.ts'
import { toReply } from '../http/response/reply.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import type { ErrorHandler, Thrown } from '../plugin/hooks.ts'
import type { Hook } from '../plugin/scope.ts'
import { isFrameworkError, RequestTimeoutError, withCause } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { safely } from '../support/safely.ts'
import { isPromise } from '../support/within.ts'
import { Downstream, type Link, trusted } from './chain.ts'
import type { CompiledRoute } from './compiled-route.ts'
import { type TimeLimit, TimeLimits } from './time-limit.ts'
import { errorPoint } from './traces.ts'

const reported = new WeakMap<object, Error>()

/**
 * Lets `onError` hooks see a failure that is answered where it occurs and therefore not thrown, such as an invalid request.
 * They see it before its response is sent.
 *
 * @example
 * router.post('/orders', (req, res) => {
 *   reportFailure(res, new Error('the order has no items'))
 *   return res.status(422).json({ error: 'no items' })
 * })
 */
export function reportFailure(res: object, error: Error): void {
  // Every response is a KernelResponse.
  reported.set((res as KernelResponse).request, error)
}

/** The thrown value, or, where it cannot be inspected (such as a revoked proxy), an error that describes it. */
function legible(thrown: unknown): unknown {
  try {
    void (isFrameworkError(thrown) || thrown instanceof Error)
    return thrown
  } catch (cause) {
    return new Error('the thrown value cannot be read', { cause })
  }
}

/**
 * Whether the framework answers this failure itself: one that it raised for the client (400, 404, 413, 503 …). A 500 that it
 * raises, such as for a stopped chain, is a mistake in the application and is treated like any thrown error.
 */
function isAnsweredByFramework(error: unknown): error is Error & { status: number; code: string } {
  return isFrameworkError(error) && error.status !== 500
}

/** What a request is working on: a step, the steps after its `next()`, a hook or another named task; `undefined` is the handler. */
type Current = Link | Downstream | Hook<'onSend'> | { readonly task: string } | undefined

const handlingError = { task: 'the error handler' }
const openingFile = { task: 'opening the file of the response' }

/** The route as the pipeline has compiled it; requests see only part of it. */
const routeOf = (res: KernelResponse): CompiledRoute => res.request.compiled as CompiledRoute

/**
 * Does the work after a chain has run: hooks, encoding, passing the response on; and decides what answers a failure: the framework, the error
 * handler of the application, or the format of the server.
 */
export class Responder {
  readonly #limits = new TimeLimits((res, limit) => this.#giveUp(res, limit))
  /** The `onSend` hooks that failed for a request; they do not run for the response that replaces the one they failed for. */
  readonly #failedHooks = new WeakMap<KernelRequest, Set<Hook<'onSend'>>>()
  readonly #state: LifeState
  readonly #done: () => void

  /** `done` is called once for each request, when its response has been passed to the runtime. */
  constructor(state: LifeState, done: () => void) {
    this.#state = state
    this.#done = done
  }

  /**
   * Continues when a chain has ended, or the `onSend` hook before `from` has, or when the request's
   * time is over.
   */
  await(pending: Promise<unknown>, res: KernelResponse, from = 0): void {
    const limit = this.#limits.start(res)
    const { overs } = limit
    pending.then(
      () => {
        if (limit.overs === overs) this.finish(res, from)
      },
      (error: unknown) => {
        if (limit.overs !== overs) return
        if (from === 0) this.fail(error, res)
        else this.#failSending(error, res, routeOf(res).onSend[from - 1]!)
      },
    )
  }

  /** Continues with what was answered: hooks, encoding, sending. */
  finish(res: KernelResponse, from = 0): void {
    const { request: req, opening } = res
    const { onError, onSend } = routeOf(res)
    if (res.kind === 'none' && opening !== undefined) {
      res.opening = undefined
      req.current = openingFile
      this.await(opening, res)
      return
    }
    if (req.givenUp && res.origin === undefined) return void this.finish(res.succeed(), from)
    if (res.kind === 'none') {
      res.answer('empty', undefined)
      res.isDefault = true
    }
    if (from === 0 && onError.length > 0) this.#notifyReported(res)
    for (let i = from; i < onSend.length; i++) {
      const hook = onSend[i]!
      if (res.failed && this.#failedHooks.get(req)?.has(hook)) continue
      let result: unknown
      try {
        result = hook.run(req, res)
        if (!isPromise(result)) continue
      } catch (error) {
        this.#failSending(error, res, hook)
        return
      }
      req.current = hook
      this.await(trusted(result), res, i + 1)
      return
    }
    this.#send(res)
  }

  #send(res: KernelResponse): void {
    let reply: Reply
    try {
      reply = toReply(res, this.#state.draining)
    } catch (error) {
      if (res.failed) this.#answerBare(error, res)
      else this.fail(error, res)
      return
    }
    this.#respond(reply, res)
  }

  #respond(reply: Reply, res: KernelResponse): void {
    const { request: req, started } = res
    const { onResponse } = routeOf(res)
    this.#limits.end(req)
    try {
      res.sent = true
      if (res.origin !== undefined) Object.assign(res.origin, res)
      if (!req.raw.respond(reply)) (res.origin ?? res).aborted = res.aborted = true
    } catch (error) {
      req.log.error({ err: error }, `the response to ${req.method} ${req.path} could not be sent`)
    }
    if (onResponse.length > 0) {
      res.left = reply.body
      this.#notify(onResponse, (run) => run(req, res, performance.now() - started), req)
    }
    this.#done()
  }

  /** Answers 503 for a request whose time is over. */
  #giveUp(res: KernelResponse, limit: TimeLimit): void {
    const { request: req } = res
    const current = req.current as Current
    const ms = req.server.settings.requestTimeout
    // The log names the middleware but the response does not: the name would show a stranger how the application is built.
    const cause = new Error(`${describeCurrent(current, req)} within ${ms} ms`)
    const error = withCause(RequestTimeoutError(`the request was not answered within ${ms} ms`), cause)
    req.abort(error)
    if (limit.overs > 1) {
      // The error handler also takes too long: no more code of the application runs.
      this.#logTimeout(error, req)
      res.reset()
      sendFailure(req, res, error)
      this.#respond(toReply(res, this.#state.draining), res)
    } else if (current !== undefined && 'entry' in current) this.#failSending(error, res, current)
    else this.fail(error, res)
  }

  #logTimeout(error: Error, req: KernelRequest): void {
    const detail = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    req.log.error({ err: error }, error.message + detail)
  }

  /**
   * Handles what an `onSend` hook threw. A body that cannot be serialised is the handler's failure; after any other failure the hook
   * does not run again, so that a store that is down is awaited once, and the response is sent even when all hooks fail.
   */
  #failSending(error: unknown, res: KernelResponse, hook: Hook<'onSend'>): void {
    if (error !== undefined && error === res.unencodable && !res.failed) return void this.fail(error, res)
    const failed = this.#failedHooks.get(res.request) ?? new Set()
    this.#failedHooks.set(res.request, failed.add(hook))
    this.fail(error, res, hook.entry.name)
  }

  /**
   * Answers a thrown value: the framework answers its own failures, the nearest error handler the others; without a handler, the response is
   * the one that the error defines, or 500. `plugin` is the plugin whose hook failed when the response was about to be sent.
   */
  fail(thrown: unknown, given: KernelResponse, plugin?: string): void {
    const { request: req, failed: again } = given
    const res = req.givenUp ? given.succeed() : given
    const route = routeOf(res)
    const error = legible(thrown)
    res.reset()
    res.failed = true
    if (errorPoint.isOn) errorPoint.publish({ request: req, response: res, error: thrown })
    if (route.onError.length > 0) this.#notifyReported(res, error)
    this.#notify(route.onError, (run) => run(error as Thrown, req, res), req)
    const isFrameworks = isAnsweredByFramework(error)
    // The error handler is called only once.
    const errorHandler = again || isFrameworks ? undefined : route.errorHandler()
    if (errorHandler === undefined) {
      if (isFrameworks && error.code === RequestTimeoutError.code && error.status === 503) this.#logTimeout(error, req)
      // After a hook, the client's request was not wrong, and the handler's effects are not undone: this must be logged.
      else if (!isFrameworks || plugin !== undefined)
        this.#logFailure(error, req, plugin === undefined ? undefined : { plugin })
      sendFailure(req, res, error)
      this.finish(res)
      return
    }
    req.current = handlingError
    const limit = this.#limits.start(res)
    const { overs } = limit
    const isInTime = () => limit.overs === overs
    this.#callErrorHandler(errorHandler, error, res).then(
      () => void (isInTime() && this.finish(res)),
      (second: unknown) => void (isInTime() && this.#answerBare(second, res, { original: error })),
    )
  }

  /** Reports once a failure that was answered where it occurred, even if the handler that answers it also throws it. */
  #notifyReported(res: KernelResponse, thrown?: unknown): void {
    const { request: req } = res
    const error = reported.get(req)
    reported.delete(req)
    if (error !== undefined && error !== thrown) this.#notify(routeOf(res).onError, (run) => run(error, req, res), req)
  }

  async #callErrorHandler(handler: ErrorHandler, error: unknown, res: KernelResponse): Promise<void> {
    const { request: req } = res
    res.code = req.server.settings.errorFormat.of(error).status
    let passedOn = false
    const next = (other?: unknown) => {
      if (other !== undefined && other !== null) throw other
      passedOn = true
    }
    const value = await handler(req, res, next, error as Thrown)
    if (!res.answered) await res.opening
    if (res.answered) return
    if (value instanceof Error) throw value
    if (value !== undefined && value !== res && !passedOn) res.sendWith(value, 0)
    else {
      // The handler passed it on, or simply did not respond: it then counts as unhandled, and must be logged.
      this.#logFailure(error, req)
      sendFailure(req, res, error)
    }
  }

  /** Answers a failure that occurred while another one was answered: no more code of the application runs. */
  #answerBare(error: unknown, res: KernelResponse, more?: { original: unknown }): void {
    const { request: req } = res
    const err = legible(error)
    res.reset()
    this.#logFailure(err, req, more)
    // A framework error here is a mistake in the error handler.
    const failure = req.server.settings.errorFormat[isFrameworkError(err) ? 'mistake' : 'of'](err)
    sendFailure(req, res, err, failure)
    // An HttpError that an error handler throws is its response: the session is saved with it, as with any other.
    if (more !== undefined && !failure.unhandled) this.finish(res)
    else this.#respond(toReply(res, this.#state.draining), res)
  }

  /** `err` is legible. */
  #logFailure(err: unknown, req: KernelRequest, more?: { plugin?: string; original?: unknown }): void {
    const { errorFormat } = req.server.settings
    const failure = errorFormat.of(err)
    const { status, code } = failure
    const what = `${req.method} ${req.path} failed with ${describeFailure(err)}`
    // When an onSend hook refuses, the handler's response is taken back: that is logged as an error, whatever the status.
    if (status < 500 && more?.plugin === undefined) {
      // The stack is logged only for a failure with a cause: clients that ask for missing things decide how often this line is written.
      const original = more && describeFailure(more.original)
      const hasReason = (err as Error).cause !== undefined || (original !== undefined && isFrameworkError(err))
      req.log.info({ status, code, original, ...(hasReason && { err }) }, what)
    } else req.log.error({ err, ...more }, what + errorFormat.remark(failure, req))
  }

  /** Calls hooks that cannot change a response: their errors are logged, their promises are not awaited. */
  #notify<Run>(
    hooks: readonly { run: Run; entry: { name: string } }[],
    call: (run: Run) => unknown,
    req: KernelRequest,
  ): void {
    for (const { run, entry } of hooks) {
      const failed = (error: unknown) =>
        req.log.error({ err: legible(error) }, `a hook of the plugin "${entry.name}" failed`)
      try {
        const result = call(run)
        if (isPromise(result)) result.then(undefined, failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

/** Describes, for the log, what takes too long. */
function describeCurrent(current: Current, { method, route, path }: KernelRequest): string {
  if (current === undefined) return `the handler of ${method} ${route ?? path} did not answer`
  if (current instanceof Downstream) return `${current.name} did not end after next()`
  if ('entry' in current) return `an onSend hook of the plugin "${current.entry.name}" did not settle`
  if ('task' in current) return `${current.task} did not settle`
  return `${current.name} neither answered nor called next()`
}

const describeFailure = (error: unknown) =>
  safely(() => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)), 'an unreadable error')
