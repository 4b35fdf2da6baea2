import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, clock, virtualClock } from './clock.ts'

/** A timer keeps the context it is set in: that of one request would stay in memory for the time limits of all that follow it. */
const outside = AsyncLocalStorage.snapshot()

/**
 * An entry with a time limit, as a link in a list: a timer for each entry cost a tenth of a small asynchronous request, and
 * a set of entries nearly as much.
 */
export abstract class Running {
  until = 0
  previous: Running | undefined = undefined
  next: Running | undefined = undefined

  abstract giveUp(): void
}

/** One time limit for many entries that run at the same time; one timer checks all of them. */
export class Deadlines {
  readonly #ms: number
  readonly #clock: Clock
  /** All entries have the same time, so the one that began first is due first. */
  #first: Running | undefined
  #last: Running | undefined
  /** Whether a timer is set. It may fire too early: its entry may have ended since. */
  #isTimed = false
  /** The test clock that has the timer: it is gone when that is restored. */
  #timedBy = virtualClock()

  /** `by` is the clock of the machine for bytes that a socket waits for. */
  constructor(ms: number, by: Clock = clock) {
    this.#ms = ms
    this.#clock = by
  }

  /** Calls the entry's `giveUp` when the time is over, unless {@link end} was called before. */
  add(running: Running): void {
    running.until = this.#clock.monotonic() + this.#ms
    running.previous = this.#last
    running.next = undefined
    if (this.#last === undefined) this.#first = running
    else this.#last.next = running
    this.#last = running
    if (!this.#isTimed || this.#timedBy !== virtualClock()) this.#setTimer(this.#ms)
  }

  end(running: Running): void {
    const { previous, next } = running
    if (previous !== undefined) previous.next = next
    else if (this.#first === running) this.#first = next
    else return
    if (next === undefined) this.#last = previous
    else next.previous = previous
    running.previous = undefined
    running.next = undefined
  }

  #setTimer(ms: number): void {
    this.#isTimed = true
    this.#timedBy = virtualClock()
    outside(() => this.#clock.setTimeout(this.#look, ms).unref())
  }

  readonly #look = (): void => {
    this.#isTimed = false
    const now = this.#clock.monotonic()
    const due: Running[] = []
    while (this.#first !== undefined && this.#first.until <= now) {
      due.push(this.#first)
      this.end(this.#first)
    }
    if (this.#first !== undefined) this.#setTimer(Math.ceil(this.#first.until - now))
    for (const running of due) running.giveUp()
  }
}
