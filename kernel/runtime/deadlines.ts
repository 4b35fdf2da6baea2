// Not the global: that of Deno gives a number, which cannot be told to let the process end.
import { clearInterval, setInterval } from 'node:timers'

const sweepMs = 1000

// Bound before anybody can fake the clock.
const clock = performance.now.bind(performance)

/** Something that must be over by then. */
interface Running {
  readonly until: number
  readonly giveUp: () => void
}

/**
 * One limit for many things that run at the same time, kept to the second: one timer looks after all of them, and there is
 * none while nothing runs.
 */
export class Deadlines {
  readonly #ms: number
  /** All have the same time, so whoever began first is due first. */
  readonly #running = new Set<Running>()
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Calls `giveUp` when the time is over, unless the function that is returned was called before. */
  begin(giveUp: () => void): () => void {
    const running = { until: clock() + this.#ms, giveUp }
    this.#running.add(running)
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
    return () => void this.#running.delete(running)
  }

  #sweep(): void {
    const now = clock()
    for (const running of this.#running) {
      if (running.until > now) return
      this.#running.delete(running)
      running.giveUp()
    }
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
