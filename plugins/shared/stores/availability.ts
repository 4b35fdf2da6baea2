import { type Logger, systemClock, within } from '../../../kernel/index.ts'

/**
 * Remembers whether something outside the process can be reached, and reports each change once: for a store that is down for an
 * hour, the log has one line, and one more when it is back.
 */
export class Availability {
  readonly #onChange: (isDown: boolean, error?: unknown) => void
  /** Whether the last attempt failed. */
  isDown = false

  constructor(onChange: (isDown: boolean, error?: unknown) => void) {
    this.#onChange = onChange
  }

  works(): void {
    if (!this.isDown) return
    this.isDown = false
    this.#onChange(false)
  }

  fails(error: unknown): void {
    if (this.isDown) return
    this.isDown = true
    this.#onChange(true, error)
  }

  /** Does work, and notes whether it has failed; resolves with `undefined` then. */
  async watch<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work()
      this.works()
      return result
    } catch (error) {
      this.fails(error)
      return undefined
    }
  }
}

/** Reports to a log that something does not work, and that it works again; what is not given is not reported. */
export const reporting =
  (log: Logger, down: string, up = '', level: 'warn' | 'error' = 'warn') =>
  (isDown: boolean, err?: unknown): void => {
    if (isDown) log[level]({ err }, down)
    else if (up !== '') log.warn(up)
  }

/** In Deno, `setImmediate` alone may come before sockets are read; in Node.js, a timer alone may. */
const turnOfIo = () => new Promise<void>((resolve) => void systemClock.setTimeout(() => setImmediate(resolve), 0))

/**
 * Settles as the promise does, or rejects if that takes longer than `ms` milliseconds: for calls to a service.
 *
 * A response that has arrived in time counts, even if the event loop was blocked and could not read it: timers fire before sockets are read.
 *
 * @example
 * await answerWithin(pool.query('select 1'), 500)
 */
export function answerWithin<Value>(promise: PromiseLike<Value>, ms: number): Promise<Value> {
  const late = async () => {
    await turnOfIo()
    throw new Error(`no response within ${ms} ms`)
  }
  return within(promise, ms, () => Promise.race([promise, late()]), systemClock)
}
