import { systemClock } from '../../../kernel/index.ts'
import { isUnreachable } from '../stores/unreachable.ts'
import { deferred, unlessAborted } from '../values/promises.ts'
import type { Consumer, DriverHost } from './contract.ts'

/** How to poll an engine. */
export interface PollerOptions {
  readonly topic: string
  readonly concurrency: number
  /** Milliseconds between two polls while there is no message; 0 where the engine itself waits. */
  readonly idle: number
  /** Whether the engine waits for too long to be awaited when the consumer stops: `take` then gives back messages that come later. */
  readonly isSlow?: boolean
  /** Takes up to `max` messages, each as a function that handles and settles it and never rejects. */
  take(max: number, signal: AbortSignal): Promise<readonly (() => Promise<void>)[]>
  readonly host: DriverHost
}

/** A consumer that polls for as many messages as it has free workers. */
export class Poller implements Consumer {
  readonly ended: Promise<void>
  readonly #options: PollerOptions
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #wake: (() => void) | undefined
  /** Whether it was woken since the last poll began, whose result may be older. */
  #isWoken = false
  #asked: Promise<unknown> | undefined
  #isRefused = false

  constructor(options: PollerOptions) {
    this.#options = options
    this.ended = this.#loop()
  }

  /** Waits for a poll in progress, but not for handlers: one of them may be the caller. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    if (this.#options.isSlow !== true) await this.#asked
  }

  /** There are messages: poll now. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async #loop(): Promise<void> {
    const { concurrency, idle, take, host, isSlow = false } = this.#options
    let failures = 0
    while (!this.#stop.signal.aborted) {
      const free = concurrency - this.#running.size
      if (free === 0) {
        await this.#pause(undefined)
        continue
      }
      this.#isWoken = false
      try {
        const asked = take(free, this.#stop.signal)
        this.#asked = asked.catch(() => {})
        const jobs = await (isSlow ? unlessAborted(asked, this.#stop.signal, () => []) : asked)
        host.up()
        failures = 0
        this.#isRefused = false
        for (const job of jobs) this.#run(job)
        if (jobs.length === 0 && idle > 0 && !this.#isWoken) await this.#pause(idle)
      } catch (error) {
        if (this.#stop.signal.aborted) break
        this.#reportFailure(error)
        await this.#pause(Math.min(100 * 2 ** failures++, 2000))
      }
    }
    await Promise.all(this.#running)
  }

  /** An unavailable engine concerns all of its queues; a refusal only this one, and is reported once. */
  #reportFailure(error: unknown): void {
    const { host, topic } = this.#options
    if (isUnreachable(error)) host.down(error)
    else if (!this.#isRefused) {
      this.#isRefused = true
      host.warn(`the queue "${topic}" is stopped: its engine refuses to deliver messages`, error)
    }
  }

  #run(job: () => Promise<void>): void {
    const running = job().finally(() => {
      this.#running.delete(running)
      this.#wake?.()
    })
    this.#running.add(running)
  }

  /** Waits for an event, or this many milliseconds. */
  async #pause(ms: number | undefined): Promise<void> {
    if (this.#stop.signal.aborted) return
    const { promise, resolve } = deferred()
    const timer = ms === undefined ? undefined : systemClock.setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    systemClock.clear(timer)
    this.#wake = undefined
  }
}
