import { within } from '../../kernel/index.ts'

/**
 * Remembers whether something outside the process can be reached, and reports each change once: for a store that is down for an
 * hour, the log has one line, and one more when it is back.
 */
export class Availability {
  readonly #onChange: (isDown: boolean, error?: unknown) => void
  #isDown = false

  constructor(onChange: (isDown: boolean, error?: unknown) => void) {
    this.#onChange = onChange
  }

  get isDown(): boolean {
    return this.#isDown
  }

  works(): void {
    if (!this.#isDown) return
    this.#isDown = false
    this.#onChange(false)
  }

  fails(error: unknown): void {
    if (this.#isDown) return
    this.#isDown = true
    this.#onChange(true, error)
  }
}

/**
 * Settles as the promise does, or rejects if that takes longer than `ms` milliseconds: for calls to a service.
 *
 * @example
 * await answerWithin(pool.query('select 1'), 500)
 */
export function answerWithin<Value>(promise: PromiseLike<Value>, ms: number): Promise<Value> {
  return within(promise, ms, () => {
    throw new Error(`no answer within ${ms} ms`)
  })
}
