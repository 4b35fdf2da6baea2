import { clock, within } from '../../kernel/index.ts'
import { type Deferred, deferred } from '../shared/values/promises.ts'

interface Line {
  readonly waiting: Deferred<void>[]
  pause: AbortController | undefined
}

/**
 * The callers of this process that wait for a lock, in the order in which they came. Only the first of each line asks the store, so
 * many callers cost it no more than one.
 */
export class Lines {
  readonly #lines = new Map<string, Line>()

  has(key: string): boolean {
    return this.#lines.has(key)
  }

  /** The number of waiting callers by key, with the one that asks. */
  *counts(): Generator<readonly [key: string, count: number]> {
    for (const [key, { waiting }] of this.#lines) yield [key, waiting.length + 1]
  }

  /** Resolves when the caller is the first of its line, with `false` if that takes longer than `ms` milliseconds. */
  async enter(key: string, ms: number): Promise<boolean> {
    const line = this.#lines.get(key)
    if (line === undefined) {
      this.#lines.set(key, { waiting: [], pause: undefined })
      return true
    }
    const turn = deferred()
    line.waiting.push(turn)
    const isFirst = turn.promise.then(() => true)
    return within(isFirst, ms, () => {
      line.waiting.splice(line.waiting.indexOf(turn), 1)
      return false
    })
  }

  /** Lets the next caller be the first of the line. */
  leave(key: string): void {
    const next = this.#lines.get(key)?.waiting.shift()
    if (next === undefined) this.#lines.delete(key)
    else next.resolve()
  }

  /** Waits before the first of a line asks again; less long if `wake` is called. */
  async pause(key: string, ms: number): Promise<void> {
    const pause = new AbortController()
    this.#lines.get(key)!.pause = pause
    await clock.sleep(ms, pause.signal).catch(() => {})
  }

  /** Lets the first of the line ask at once, because the lock was released in this process. */
  wake(key: string): void {
    this.#lines.get(key)?.pause?.abort()
  }

  /** Ends all waiting: those that wait for their turn reject, and those that ask are woken. */
  close(reason: Error): void {
    for (const { waiting, pause } of this.#lines.values()) {
      for (const turn of waiting.splice(0)) turn.reject(reason)
      pause?.abort()
    }
  }
}
