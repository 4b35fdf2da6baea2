import type { KernelRequest } from '../http/request/request.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import { clock } from '../support/clock.ts'
import { Deadlines, Running } from '../support/deadlines.ts'

/**
 * The time limit of a request; only requests that wait have one.
 *
 * It refers to its response through a field: with a closure instead, which closes a cycle over the request, the young
 * generation of Node.js 24 and 26 kept a third of all requests until the next full collection (70 MB more, 1.5 times the CPU).
 */
export class TimeLimit extends Running {
  isRunning = false
  /** How often the time was over: work that began to wait before then no longer counts. */
  overs = 0
  #limits: TimeLimits | undefined = undefined
  #response: KernelResponse | undefined = undefined

  start(limits: TimeLimits, response: KernelResponse): void {
    this.isRunning = true
    this.#limits = limits
    this.#response = response
  }

  giveUp(): void {
    this.#limits?.timeIsOver(this, this.#response!)
  }
}

/** The option `requestTimeout` of one server, for its requests that wait. */
export class TimeLimits {
  readonly #giveUp: (res: KernelResponse, limit: TimeLimit) => void
  #deadlines: Deadlines | undefined

  /** `giveUp` answers a request whose time is over. */
  constructor(giveUp: (res: KernelResponse, limit: TimeLimit) => void) {
    this.#giveUp = giveUp
  }

  /** Starts the clock of a request that waits. Waiting work continues only if `overs` has not changed. */
  start(res: KernelResponse): TimeLimit {
    const { request: req } = res
    req.timeLimit ??= new TimeLimit()
    const limit = req.timeLimit as TimeLimit
    if (!limit.isRunning) this.#of(req)?.add(limit)
    limit.start(this, res)
    return limit
  }

  end(req: KernelRequest): void {
    const limit = req.timeLimit as TimeLimit | undefined
    if (!limit?.isRunning) return
    limit.isRunning = false
    this.#deadlines?.end(limit)
  }

  /** Gives up a request whose time is over, unless a plugin has given it more time. */
  timeIsOver(limit: TimeLimit, res: KernelResponse): void {
    const { request: req } = res
    const extension = Math.max(0, req.extendedTo - clock.monotonic())
    // A body has a time limit of its own, `receiveTimeout`.
    if (req.raw.isReceiving) this.#of(req)?.add(limit)
    else if (extension === 0) {
      limit.isRunning = false
      limit.overs++
      this.#giveUp(res, limit)
    } else if (extension !== Number.POSITIVE_INFINITY) {
      const timer = clock.setTimeout(() => limit.isRunning && limit.giveUp(), extension)
      req.raw.onSettled(() => clock.clear(timer))
    }
  }

  #of({ server }: KernelRequest): Deadlines | undefined {
    const { requestTimeout } = server.settings
    if (requestTimeout > 0) this.#deadlines ??= new Deadlines(requestTimeout)
    return this.#deadlines
  }
}
