import type { Reply } from '../http/raw.ts'
import type { KernelRequest } from '../http/request/request.ts'
import { TimeLimit } from '../http/request/time-limit.ts'
import { toReply } from '../http/response/reply.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import type { ErrorHandler, Hook, Thrown } from '../plugin/hooks.ts'
import { Deadlines } from '../support/deadlines.ts'
import { RequestTimeoutError, withCause } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { isPromise, trusted } from './chain.ts'
import type { CompiledRoute } from './compiled-route.ts'
import { type Current, describeCurrent } from './current.ts'
import { failureBody, isAnsweredByFramework, legible, takeReported } from './failure.ts'
import { missingMember } from './missing-members.ts'

const openingFile = { task: 'opening the file of the answer' }
const handlingError = { task: 'the error handler' }

/** What comes after a chain has run: hooks, encoding, handing over; and deciding who answers a failure. */
export class Answers {
  readonly #state: LifeState
  readonly #done: () => void
  #requestDeadlines: Deadlines | undefined
  /** The `onSend` hooks that failed over an answer: what takes its place does not pass them. */
  readonly #failedHooks = new WeakMap<KernelResponse, Set<Hook<'onSend'>>>()

  /** `done` is called once for each request, when its answer was handed to the runtime. */
  constructor(state: LifeState, done: () => void) {
    this.#state = state
    this.#done = done
  }

  /** Goes on when a chain has come to its end, or when the time of the request is over. */
  await(
    chain: Promise<unknown>,
    compiled: CompiledRoute,
    req: KernelRequest,
    res: KernelResponse,
    started: number,
  ): void {
    const limit = this.#limit(compiled, req, res, started)
    const { overs } = limit
    chain.then(
      () => {
        if (limit.overs === overs) this.finish(compiled, req, res, started)
      },
      (error: unknown) => {
        if (limit.overs === overs) this.fail(error, compiled, req, res, started)
      },
    )
  }

  finish(compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number, from = 0): void {
    const { opening } = res
    if (!res.answered && opening !== undefined) {
      res.opening = undefined
      req.current = openingFile
      this.await(opening, compiled, req, res, started)
      return
    }
    if (!res.answered) {
      res.answer('empty', undefined)
      res.isDefault = true
    }
    if (from === 0 && compiled.onError.length > 0) this.#tellReported(compiled, req, res)
    for (let i = from; i < compiled.onSend.length; i++) {
      const hook = compiled.onSend[i]!
      if (res.failed && this.#failedHooks.get(res)?.has(hook)) continue
      let result: unknown
      try {
        result = hook.run(req, res)
        if (!isPromise(result)) continue
      } catch (error) {
        this.#failSending(error, compiled, req, res, started, hook)
        return
      }
      req.current = hook
      const limit = this.#limit(compiled, req, res, started)
      const { overs } = limit
      trusted(result).then(
        () => {
          if (limit.overs === overs) this.finish(compiled, req, res, started, i + 1)
        },
        (error: unknown) => {
          if (limit.overs === overs) this.#failSending(error, compiled, req, res, started, hook)
        },
      )
      return
    }
    this.#send(compiled, req, res, started)
  }

  #send(compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number): void {
    let reply: Reply
    try {
      reply = toReply(res, req.method === 'HEAD', this.#state.draining, compiled.serialize)
    } catch (error) {
      if (res.failed) this.#answerBare(error, compiled, req, res, started)
      else this.fail(error, compiled, req, res, started)
      return
    }
    this.#respond(reply, compiled, req, res, started)
  }

  #respond(reply: Reply, compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number): void {
    const limit = req.timeLimit
    if (limit?.isRunning) {
      limit.isRunning = false
      this.#requestDeadlines?.end(limit)
    }
    try {
      res.sent = true
      req.raw.respond(reply)
    } catch (error) {
      req.log.error({ err: error }, `the answer to ${req.method} ${req.path} could not be sent`)
    }
    if (compiled.onResponse.length > 0)
      this.#notify(compiled.onResponse, (run) => run(req, res, performance.now() - started), req)
    this.#done()
  }

  // — the time of a request —

  /** Starts the clock of a request that waits for something. Whoever waits goes on only if `overs` is what it was. */
  #limit(compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number): TimeLimit {
    req.timeLimit ??= new TimeLimit()
    const limit = req.timeLimit
    if (limit.isRunning) return limit
    limit.isRunning = true
    limit.giveUp = () => this.#over(limit, compiled, req, res, started)
    this.#deadlines(req)?.add(limit)
    return limit
  }

  #deadlines({ server }: KernelRequest): Deadlines | undefined {
    const { requestTimeout } = server.settings
    if (requestTimeout === 0) return undefined
    this.#requestDeadlines ??= new Deadlines(requestTimeout)
    return this.#requestDeadlines
  }

  #over(limit: TimeLimit, compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number): void {
    const { extension } = limit
    // A body has a time of its own, `receiveTimeout`.
    if (req.raw.isReceiving) this.#deadlines(req)?.add(limit)
    else if (extension === 0) this.#giveUp(limit, compiled, req, res, started)
    else if (extension !== Number.POSITIVE_INFINITY) {
      const timer = setTimeout(() => limit.isRunning && limit.giveUp(), extension)
      req.raw.onSettled(() => clearTimeout(timer))
    }
  }

  #giveUp(limit: TimeLimit, compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, started: number): void {
    const current = req.current as Current
    const ms = req.server.settings.requestTimeout
    // Which middleware it was is for the log: its name tells a stranger how the application is made.
    const cause = new Error(describeCurrent(current, `${req.method} ${req.route ?? req.path}`, ms))
    const error = withCause(RequestTimeoutError(`the request was not answered within ${ms} ms`), cause)
    limit.isRunning = false
    limit.overs++
    req.abort(error)
    if (limit.overs > 1) {
      // What answers for it takes too long as well: nothing of the application runs any more.
      this.#logTimeout(error, req)
      res.reset()
      res.answer('json', failureBody(error), error.status)
      this.#respond(
        toReply(res, req.method === 'HEAD', this.#state.draining, compiled.serialize),
        compiled,
        req,
        res,
        started,
      )
    } else if (current !== undefined && 'entry' in current)
      this.#failSending(error, compiled, req, res, started, current)
    else this.fail(error, compiled, req, res, started)
  }

  #logTimeout(error: Error, req: KernelRequest): void {
    const detail = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    req.log.error({ err: error }, error.message + detail)
  }

  // — failures —

  /**
   * An `onSend` hook threw. A body that cannot be written is the handler's failure; with any other the hook has had its
   * turn, so that a store which is down is waited for once, and there is an end to it when all of them fail.
   */
  #failSending(
    error: unknown,
    compiled: CompiledRoute,
    req: KernelRequest,
    res: KernelResponse,
    started: number,
    hook: Hook<'onSend'>,
  ): void {
    if (error !== undefined && error === res.unencodable && !res.failed) {
      this.fail(error, compiled, req, res, started)
      return
    }
    const failed = this.#failedHooks.get(res) ?? new Set()
    this.#failedHooks.set(res, failed.add(hook))
    this.fail(error, compiled, req, res, started, hook.entry.name)
  }

  /**
   * Somebody threw: the framework answers its own failures, the nearest error handler the others, else 500 and no body.
   * `plugin` is whose hook it was, when the answer was to be sent.
   */
  fail(
    thrown: unknown,
    compiled: CompiledRoute,
    req: KernelRequest,
    res: KernelResponse,
    started: number,
    plugin?: string,
  ): void {
    const error = legible(thrown)
    const again = res.failed
    res.reset()
    res.failed = true
    if (compiled.onError.length > 0) this.#tellReported(compiled, req, res, error)
    this.#notify(compiled.onError, (run) => run(error as Thrown, req, res), req)
    if (isAnsweredByFramework(error)) {
      if (error.code === RequestTimeoutError.code && error.status === 503) this.#logTimeout(error, req)
      // The client asked for nothing wrong, and what the handler has done is not undone.
      else if (plugin !== undefined) this.#logFailure(error, req, { plugin })
      res.answer('json', failureBody(error), error.status)
      this.finish(compiled, req, res, started)
      return
    }
    // Whoever answers failures is asked once.
    const errorHandler = again ? undefined : compiled.errorHandler()
    if (errorHandler === undefined) {
      this.#logFailure(error, req, plugin === undefined ? undefined : { plugin })
      res.answer('empty', undefined, 500)
      this.finish(compiled, req, res, started)
      return
    }
    req.current = handlingError
    const limit = this.#limit(compiled, req, res, started)
    const { overs } = limit
    this.#callErrorHandler(errorHandler, error, req, res).then(
      () => {
        if (limit.overs === overs) this.finish(compiled, req, res, started)
      },
      (second: unknown) => {
        if (limit.overs === overs) this.#answerBare(second, compiled, req, res, started, error)
      },
    )
  }

  /** A failure that was answered where it was found is told once, also when the one who answers it throws it. */
  #tellReported(compiled: CompiledRoute, req: KernelRequest, res: KernelResponse, thrown?: unknown): void {
    const error = takeReported(res)
    if (error !== undefined && error !== thrown) this.#notify(compiled.onError, (run) => run(error, req, res), req)
  }

  async #callErrorHandler(
    handler: ErrorHandler,
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
      error as Thrown,
    )
    if (!res.answered) await res.opening
    if (res.answered) return
    if (value instanceof Error) throw value
    if (value !== undefined && value !== res && !passedOn) res.sendWith(value, 0)
    else {
      // Passed on, or simply not answered: then it counts as unhandled, and somebody must hear of it.
      this.#logFailure(error, req)
      res.answer('empty', undefined, 500)
    }
  }

  /** A failure while answering a failure: nothing of the application runs any more. */
  #answerBare(
    error: unknown,
    compiled: CompiledRoute,
    req: KernelRequest,
    res: KernelResponse,
    started: number,
    original?: unknown,
  ): void {
    res.reset()
    this.#logFailure(error, req, original === undefined ? undefined : { original })
    res.answer('empty', undefined, 500)
    this.#respond(toReply(res, true, this.#state.draining, compiled.serialize), compiled, req, res, started)
  }

  #logFailure(error: unknown, req: KernelRequest, more?: object): void {
    const err = legible(error)
    req.log.error(
      { err, ...more },
      `${req.method} ${req.path} failed with ${this.#describe(err)}${missingMember(req, err)}`,
    )
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
