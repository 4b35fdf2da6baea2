import { systemClock, type Timer } from '../../../kernel/index.ts'
import { Availability, answerWithin } from './availability.ts'

/** Milliseconds between two attempts to reach a service that failed. */
const restMs = 500

/** A service responds again, does not respond, or responds with a refusal, such as a Redis without memory. */
export type ServiceState = 'up' | 'down' | 'refused'

/** The service, and what is called when its state changes. */
export interface BreakerOptions {
  /** The service, for errors: `the Redis of the cache`. */
  readonly name: string
  /** Milliseconds for one call. Default: the calls have timeouts of their own. */
  readonly timeout?: number | undefined
  /** Asks the service something that changes nothing; rejects if it does not respond. */
  probe(): unknown
  /** Called once for each change; for refusals, once a minute at most. */
  onChange?(state: ServiceState, error?: unknown): void
}

/** A service outside the process does not respond, or refuses; the caller continues with its substitute, if it has one. */
export class ServiceDown extends Error {}

/**
 * Calls a service outside the process. While it does not respond, it is asked from time to time whether it does again, and not called:
 * otherwise each request would first have to wait for a timeout that another request has already suffered.
 */
export class Breaker {
  readonly #options: BreakerOptions
  readonly #later = new Set<() => unknown>()
  readonly #availability: Availability
  #isStopped = false
  #refusedAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined

  constructor(options: BreakerOptions) {
    this.#options = options
    this.#availability = new Availability((isDown, error) => options.onChange?.(isDown ? 'down' : 'up', error))
  }

  /** Rejects with {@link ServiceDown} if the call fails, and immediately while the service does not respond. */
  async run<Result>(call: () => Result | PromiseLike<Result>): Promise<Result> {
    const { name } = this.#options
    if (this.#availability.isDown) throw new ServiceDown(`${name} does not respond`)
    try {
      return await this.#ask(call)
    } catch (error) {
      if ((error as Error | undefined)?.name === 'ReplyError') this.#refused(error)
      else this.failed(error)
      throw new ServiceDown(`${name} failed: ${(error as Error | undefined)?.message}`, { cause: error })
    }
  }

  async #ask<Result>(call: () => Result | PromiseLike<Result>): Promise<Result> {
    const { timeout } = this.#options
    const response = call()
    return timeout === undefined ? response : answerWithin(Promise.resolve(response), timeout)
  }

  /** Rejects unless the service responds, for health checks. */
  async check(): Promise<void> {
    await this.run(() => this.#options.probe())
  }

  failed(error: unknown): void {
    // An earlier call may fail after the server has closed.
    if (this.#isStopped || this.#availability.isDown) return
    this.#availability.fails(error)
    this.#probeLater()
  }

  /** Runs an action when the service responds again; for calls that may have been executed although their responses were lost. */
  whenUp(action: () => unknown): void {
    if (this.#later.size < 1000) this.#later.add(action)
  }

  stop(): void {
    this.#isStopped = true
    systemClock.clear(this.#timer)
  }

  #refused(error: unknown): void {
    if (systemClock.monotonic() - this.#refusedAt < 60_000) return
    this.#refusedAt = systemClock.monotonic()
    this.#options.onChange?.('refused', error)
  }

  #probeLater(): void {
    this.#timer = systemClock.setTimeout(async () => {
      const responds = await this.#ask(() => this.#options.probe()).then(
        () => true,
        () => false,
      )
      if (this.#isStopped) return
      if (!responds) return this.#probeLater()
      this.#availability.works()
      for (const action of this.#later) action()
      this.#later.clear()
    }, restMs)
    this.#timer.unref?.()
  }
}
