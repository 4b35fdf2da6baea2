// Not the globals: those of Deno give a number, which cannot be told to let the process end; and those of a test may be faked,
// so that what is armed before never comes.
import { setTimeout } from 'node:timers'

// Bound before anyone can fake the clock.
const clock = performance.now.bind(performance)

/**
 * Something that must be over in time, as a link of a chain: a timer for each cost a tenth of a small asynchronous request, and
 * a set of them nearly as much.
 */
export abstract class Running {
  until = 0
  previous: Running | undefined = undefined
  next: Running | undefined = undefined

  abstract giveUp(): void
}

/** Decides what happens when the time of an answer is over. */
interface TimeKeeper<Answer> {
  timeIsOver(limit: TimeLimit<Answer>, answer: Answer): void
}

/**
 * The time that a request has. Made for those that wait for something.
 *
 * It refers to its answer by a field: with a closure in place of that, which closes a circle over the request, the young
 * generation of Node 24 and 26 kept a third of all requests until the next full collection (70 MB more, 1.5 times the CPU).
 */
export class TimeLimit<Answer = unknown> extends Running {
  isRunning = false
  /** How often it was over: what began to wait for something before that no longer counts. */
  overs = 0
  #keeper: TimeKeeper<Answer> | undefined = undefined
  #answer: Answer | undefined = undefined
  #extendedTo = 0

  start(keeper: TimeKeeper<Answer>, answer: Answer): void {
    this.isRunning = true
    this.#keeper = keeper
    this.#answer = answer
  }

  giveUp(): void {
    this.#keeper?.timeIsOver(this, this.#answer as Answer)
  }

  extend(ms: number | false): void {
    this.#extendedTo = ms === false ? Number.POSITIVE_INFINITY : clock() + ms
  }

  /** What is left of an extension. */
  get extension(): number {
    return Math.max(0, this.#extendedTo - clock())
  }
}

/** One limit for many things that run at the same time, all of which one timer looks after. */
export class Deadlines {
  readonly #ms: number
  /** All have the same time, so whoever began first is due first. */
  #first: Running | undefined
  #last: Running | undefined
  /** Whether a timer is set. It may be too early: who was first then may have ended since. */
  #isTimed = false

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Calls `giveUp` of it when the time is over, unless {@link end} was called before. */
  add(running: Running): void {
    running.until = clock() + this.#ms
    running.previous = this.#last
    running.next = undefined
    if (this.#last === undefined) this.#first = running
    else this.#last.next = running
    this.#last = running
    if (!this.#isTimed) this.#setTimer(this.#ms)
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
    setTimeout(this.#look, ms).unref()
  }

  readonly #look = (): void => {
    this.#isTimed = false
    const now = clock()
    const due: Running[] = []
    while (this.#first !== undefined && this.#first.until <= now) {
      due.push(this.#first)
      this.end(this.#first)
    }
    if (this.#first !== undefined) this.#setTimer(Math.ceil(this.#first.until - now))
    for (const running of due) running.giveUp()
  }
}
