import type { Lane } from './compile.ts'
import { isPromise } from './http/compose.ts'
import { failureBody, isAnsweredByFramework, takeReported } from './http/failure.ts'
import type { Reply } from './http/raw.ts'
import { toReply } from './http/reply.ts'
import type { KernelRequest } from './http/request.ts'
import type { KernelResponse } from './http/response-buffer.ts'
import type { ErrorHandler } from './plugin/hooks.ts'
import { RequestTimeoutError } from './support/errors.ts'

/** What comes after a chain has run: hooks, encoding, handing over; and deciding who answers a failure. */
export class Answers {
  /** Answers carry `Connection: close`. */
  closing = false
  readonly #done: () => void

  /** `done` is called once for each request, when its answer was handed to the runtime. */
  constructor(done: () => void) {
    this.#done = done
  }

  finish(lane: Lane, req: KernelRequest, res: KernelResponse, started: number, from = 0): void {
    if (!res.answered) res.answer('empty', undefined)
    if (from === 0 && lane.onError.length > 0) this.#tellReported(lane, req, res)
    for (let i = from; i < lane.onSend.length; i++) {
      let result: unknown
      try {
        result = lane.onSend[i]!.run(req, res)
      } catch (error) {
        this.#failSending(error, lane, req, res, started)
        return
      }
      if (isPromise(result)) {
        result.then(
          () => this.finish(lane, req, res, started, i + 1),
          (error: unknown) => this.#failSending(error, lane, req, res, started),
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
      res.unencodable = error
      this.#failSending(error, lane, req, res, started)
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
    this.#done()
  }

  // — failures —

  /** A body that cannot be written is the handler's failure, wherever it was written; all else here is a hook's. */
  #failSending(error: unknown, lane: Lane, req: KernelRequest, res: KernelResponse, started: number): void {
    if (error === res.unencodable && error !== undefined && !res.failed) this.fail(error, lane, req, res, started)
    else this.#answerBare(error, lane, req, res, started)
  }

  /** Somebody threw: the framework answers its own failures, the nearest error handler the others, else 500 and no body. */
  fail(error: unknown, lane: Lane, req: KernelRequest, res: KernelResponse, started: number): void {
    res.reset()
    res.failed = true
    if (lane.onError.length > 0) this.#tellReported(lane, req, res, error)
    this.#notify(lane.onError, (run) => run(error, req, res), req)
    if (isAnsweredByFramework(error)) {
      if (error.code === RequestTimeoutError.code) req.log.error({ err: error }, error.message)
      res.answer('json', failureBody(error), error.status)
      this.finish(lane, req, res, started)
      return
    }
    const errorHandler = lane.errorHandler()
    if (errorHandler === undefined) {
      this.#logFailure(error, req)
      res.answer('empty', undefined, 500)
      this.finish(lane, req, res, started)
      return
    }
    this.#callErrorHandler(errorHandler, error, req, res).then(
      () => this.finish(lane, req, res, started),
      (second: unknown) => this.#answerBare(second, lane, req, res, started, error),
    )
  }

  /** A failure that was answered where it was found is told once, also when the one who answers it throws it. */
  #tellReported(lane: Lane, req: KernelRequest, res: KernelResponse, thrown?: unknown): void {
    const error = takeReported(res)
    if (error !== undefined && error !== thrown) this.#notify(lane.onError, (run) => run(error, req, res), req)
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
      error,
    )
    if (res.answered) return
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
