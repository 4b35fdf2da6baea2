import type { Reply } from '../http/raw.ts'
import { toReply } from '../http/response/reply.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import type { LifeState } from '../support/life-state.ts'
import { isPromise } from '../support/within.ts'
import { trusted } from './chain.ts'
import { ErrorHandling, routeOf } from './handle-error.ts'

const openingFile = { task: 'opening the file of the response' }

/** Does the work after a chain has run: hooks, encoding, passing the response on. */
export class Answers extends ErrorHandling {
  readonly #state: LifeState
  readonly #done: () => void

  /** `done` is called once for each request, when its response has been passed to the runtime. */
  constructor(state: LifeState, done: () => void) {
    super()
    this.#state = state
    this.#done = done
  }

  /**
   * Continues when a chain has ended, or the `onSend` hook before `from` has, or when the request's
   * time is over.
   */
  await(pending: Promise<unknown>, res: KernelResponse, from = 0): void {
    const limit = this.limits.start(res)
    const { overs } = limit
    pending.then(
      () => {
        if (limit.overs === overs) this.finish(res, from)
      },
      (error: unknown) => {
        if (limit.overs !== overs) return
        if (from === 0) this.fail(error, res)
        else this.failSending(error, res, routeOf(res).onSend[from - 1]!)
      },
    )
  }

  finish(res: KernelResponse, from = 0): void {
    const { request: req, opening } = res
    const { onError, onSend } = routeOf(res)
    if (res.kind === 'none' && opening !== undefined) {
      res.opening = undefined
      req.current = openingFile
      this.await(opening, res)
      return
    }
    if (res.kind === 'none') {
      res.answer('empty', undefined)
      res.isDefault = true
    }
    if (from === 0 && onError.length > 0) this.notifyReported(res)
    for (let i = from; i < onSend.length; i++) {
      const hook = onSend[i]!
      if (this.hasFailed(hook, res)) continue
      let result: unknown
      try {
        result = hook.run(req, res)
        if (!isPromise(result)) continue
      } catch (error) {
        this.failSending(error, res, hook)
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
      if (res.failed) this.answerBare(error, res)
      else this.fail(error, res)
      return
    }
    this.#respond(reply, res)
  }

  protected sendAsIs(res: KernelResponse): void {
    this.#respond(toReply(res, this.#state.draining), res)
  }

  #respond(reply: Reply, res: KernelResponse): void {
    const { request: req, started } = res
    const { onResponse } = routeOf(res)
    this.limits.end(req)
    try {
      res.sent = true
      if (!req.raw.respond(reply)) res.aborted = true
    } catch (error) {
      req.log.error({ err: error }, `the response to ${req.method} ${req.path} could not be sent`)
    }
    if (onResponse.length > 0) {
      res.left = reply.body
      this.notify(onResponse, (run) => run(req, res, performance.now() - started), req)
    }
    this.#done()
  }
}
