import { Running } from '../../support/deadlines.ts'

// Bound before anybody can fake the clock.
const clock = performance.now.bind(performance)

/** The time that a request has. Made for those that wait for something. */
export class TimeLimit extends Running {
  isRunning = false
  /** How often it was over: whoever began to wait for something before is no longer listened to. */
  overs = 0
  #extendedTo = 0

  constructor() {
    super(nothing)
  }

  extend(ms: number | false): void {
    this.#extendedTo = ms === false ? Number.POSITIVE_INFINITY : clock() + ms
  }

  /** What is left of an extension. */
  get extension(): number {
    return Math.max(0, this.#extendedTo - clock())
  }
}

function nothing(): void {}
