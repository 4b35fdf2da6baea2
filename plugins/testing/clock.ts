import { AsyncLocalStorage } from 'node:async_hooks'
// Not the globals: a runner may fake them.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import {
  type Clock,
  isPromise,
  quoted,
  sleepBy,
  systemClock,
  type Timer,
  useClock,
  type VirtualClock,
} from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { parseDuration } from '../shared/values/duration.ts'

/** Options of a test clock. */
export interface TestClockOptions {
  /**
   * How many real milliseconds the clock stands still, at one moment, for work that does not end: a handler may wait for something that the
   * test does only later. Default 1000.
   */
  readonly patience?: number
}

/** The time of the process, as long as a test uses it: it stands still until one of these methods moves it. */
export interface TestClock extends Clock {
  /**
   * Moves forward by a time such as `'30 days'`, `'90 s'` or a number of milliseconds. Timers, jobs and messages that fall due on the way run at
   * their time and in order, and at each moment the clock stands still until the work that began there is over. Work that waits for the clock itself
   * does not stop it.
   *
   * @throws (as a rejection) a TypeError for anything else; an Error while the clock is already moving.
   */
  advance(duration: number | string): Promise<void>
  /** Moves forward to an instant, as `advance` does. */
  advanceTo(time: Date | string | number): Promise<void>
  /**
   * Jumps to another time, as when the clock of the machine is set: nothing runs on the way, cron jobs look at the new time, and timers
   * wait as long as before.
   */
  set(time: Date | string | number): Promise<void>
  /** Gives the process back the clock of the machine. Timers that are still waiting never run. */
  restore(): void
  /** The same, for `using clock = testClock()`. */
  [Symbol.dispose](): void
}

/**
 * Takes the clock of the process: whatever the framework and its plugins do by time (expiry of sessions and cache entries, rate limits, cron jobs,
 * delays, retries and time limits of jobs, spacing of emails, signed addresses, pings) happens when the test moves it, and no sooner.
 *
 * Create it before the server: timers that run already stay on the clock of the machine. So do timers of the application itself, unless
 * it uses `clock` of `framework/kernel`; and so do other programs, such as Redis or Postgres.
 *
 * @param start the time that it shows; default: now.
 * @throws an Error while another one is in use.
 * @example
 * const clock = testClock('2026-03-28T00:00:00Z')
 * const server = new Server()
 * await clock.advance('30 days')
 * await server.close()
 * clock.restore()
 */
export function testClock(start?: Date | string | number, options?: TestClockOptions): TestClock {
  const { patience } = clockOptions.parse(options, 'testClock')
  return new MovedClock(start === undefined ? systemClock.now() : instantOf(start), patience)
}

const clockOptions = option.shape({ patience: option.ms().default(1000) })

/** A timer that waits, or a caller that wants to know when the wall clock shows a time. */
class Waiting implements Timer {
  readonly run: () => unknown
  readonly order: number
  /** When it is due: by the monotonic clock, or by the wall clock for an alarm. */
  due: number
  /** Milliseconds between two calls of an interval. */
  readonly every: number | undefined
  isCancelled = false
  /** Runs a function in the asynchronous context of the code that set the timer, as timers of the machine do. */
  readonly inContext = AsyncLocalStorage.snapshot()

  constructor(run: () => unknown, order: number, due: number, every?: number) {
    this.run = run
    this.order = order
    this.due = due
    this.every = every
  }

  unref(): this {
    return this
  }
}

/** Waiting timers, the next one last. */
class Schedule {
  readonly #all: Waiting[] = []

  get next(): Waiting | undefined {
    return this.#all.at(-1)
  }

  add(one: Waiting): Waiting {
    this.#all.splice(this.#indexOf(one), 0, one)
    return one
  }

  delete(one: Waiting): void {
    one.isCancelled = true
    const index = this.#indexOf(one)
    if (this.#all[index] === one) this.#all.splice(index, 1)
  }

  /** Removes all, and returns them in their order. */
  take(): Waiting[] {
    return this.#all.splice(0).reverse()
  }

  /** Where it is, or belongs: 10 000 jobs have as many timers, which a search through all of them would make slow. */
  #indexOf({ due, order }: Waiting): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#all[middle]!
      if (other.due > due || (other.due === due && other.order > order)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Work in progress, which stops the clock. */
interface Held {
  readonly around: Held | undefined
  /** How many of its parts wait for the clock, so that it must not wait for them. */
  sleeping: number
}

/** Shared by all clocks: in Node.js before 24, each storage that was ever used makes every later promise of the process slower by 0.1 µs. */
const running = new AsyncLocalStorage<Held>()

/** A clock that a test moves. */
export class MovedClock implements VirtualClock, TestClock {
  readonly #patience: number
  readonly #timers = new Schedule()
  readonly #alarms = new Schedule()
  readonly #held = new Set<Held>()
  #now: number
  // A whole number, so that its sums with whole milliseconds are exact.
  #monotonic = Math.ceil(systemClock.monotonic())
  #order = 0
  isMoving = false
  #isRestored = false
  #hasWarned = false
  /** Of timers; the call that moves the clock rejects with the first. */
  readonly #failures: unknown[] = []
  #changed = () => {}
  readonly restore: () => void

  /** Takes the clock of the process. */
  constructor(now: number, patience: number) {
    this.#now = now
    this.#patience = patience
    const restore = useClock(this)
    this.restore = () => {
      this.#isRestored = true
      restore()
      this.#timers.take()
      this.#alarms.take()
      this.#throwFailures()
    }
  }

  [Symbol.dispose](): void {
    this.restore()
  }

  now(): number {
    return this.#now
  }

  get work(): VirtualClock['work'] {
    for (const { sleeping } of this.#held) if (sleeping === 0) return 'running'
    return this.#held.size > 0 ? 'asleep' : 'over'
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimeout(run: () => unknown, ms: number): Timer {
    return this.#timers.add(new Waiting(run, this.#order++, this.#monotonic + delayOf(ms)))
  }

  setInterval(run: () => unknown, ms: number): Timer {
    const every = delayOf(ms)
    return this.#timers.add(new Waiting(run, this.#order++, this.#monotonic + every, every))
  }

  at(time: number, wake: () => unknown): () => void {
    const alarm = this.#alarms.add(new Waiting(wake, this.#order++, time))
    return () => this.#alarms.delete(alarm)
  }

  clear(timer: Timer | undefined): void {
    if (timer instanceof Waiting) this.#timers.delete(timer)
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const work = running.getStore()
    this.#sleep(work, 1)
    await sleepBy(this, ms, signal).finally(() => this.#sleep(work, -1))
  }

  #sleep(work: Held | undefined, by: number): void {
    for (let one = work; one !== undefined; one = one.around) one.sleeping += by
    this.#changed()
  }

  hold<Result>(work: () => Result, isApart = false): Result {
    const one: Held = { around: isApart ? undefined : running.getStore(), sleeping: 0 }
    const result = running.run(one, work)
    if (!isPromise(result)) return result
    this.#held.add(one)
    this.#changed()
    const end = () => {
      this.#held.delete(one)
      this.#changed()
    }
    result.then(end, end)
    return result
  }

  async advance(duration: number | string): Promise<void> {
    const ms = typeof duration === 'string' ? parseDuration(duration) : duration
    // With a time that is not a number, there would always be another timer.
    if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0)
      throw new TypeError(
        `advance takes milliseconds, or one time with its unit (ms, s, min, h, days, weeks, years) such as "30 days", not ${quoted(duration)}`,
      )
    await this.#move(() => this.#advanceTo(this.#now + ms))
  }

  async advanceTo(time: Date | string | number): Promise<void> {
    const end = instantOf(time)
    if (end < this.#now)
      throw new TypeError(`advanceTo goes forward: ${quoted(time)} is before the time of the clock. Use set to go back`)
    await this.#move(() => this.#advanceTo(end))
  }

  async set(time: Date | string | number): Promise<void> {
    const now = instantOf(time)
    await this.#move(async () => {
      this.#now = now
      for (const alarm of this.#alarms.take()) if (!alarm.isCancelled) await this.#run(alarm)
    })
  }

  async #move(how: () => Promise<void>): Promise<void> {
    if (this.#isRestored) throw new Error('this test clock is restored, so nothing follows it: make another one')
    if (this.isMoving)
      throw new Error(
        'the test clock is already moving: await advance, advanceTo or set before the next call, and move it in no handler',
      )
    const work = running.getStore()
    if (work !== undefined && this.#held.has(work))
      throw new Error('a handler cannot move the test clock, which waits for that handler: move it in the test')
    this.isMoving = true
    try {
      await this.#settle()
      this.#throwFailures()
      await how()
      await this.#settle()
      this.#throwFailures()
    } finally {
      this.isMoving = false
    }
  }

  async #advanceTo(end: number): Promise<void> {
    for (;;) {
      const [timer, alarm] = [this.#timers.next, this.#alarms.next]
      const untilTimer = timer === undefined ? Number.POSITIVE_INFINITY : timer.due - this.#monotonic
      const untilAlarm = alarm === undefined ? Number.POSITIVE_INFINITY : alarm.due - this.#now
      const next = untilAlarm < untilTimer ? alarm : timer
      const ms = Math.max(0, Math.min(untilTimer, untilAlarm))
      if (next === undefined || this.#now + ms > end) break
      this.#pass(ms)
      if (next === alarm) this.#alarms.delete(next)
      else this.#timers.delete(next)
      if (next.every !== undefined) {
        next.due += next.every
        this.#timers.add(next)
      }
      await this.#run(next)
    }
    this.#pass(Math.max(0, end - this.#now))
  }

  #pass(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }

  /** Runs what is due. Its failure, which no one else receives, is that of the call that moves the clock, or of the next one. */
  async #run({ run, inContext }: Waiting): Promise<void> {
    const running = async () => await run()
    inContext(() => this.hold(running, true)).catch((error: unknown) => this.#failures.push(error))
    await this.#settle()
    this.#throwFailures()
  }

  #throwFailures(): void {
    for (const failure of this.#failures.splice(0, 1)) throw failure
  }

  /** Lets everything run that waits neither for the clock nor, longer than the patience, for anything else. */
  async #settle(): Promise<void> {
    let isOver = false
    for (;;) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      const open = [...this.#held].filter((work) => work.sleeping === 0)
      if (open.length === 0) break
      if (isOver) {
        // Waited for only once: a handler that hangs would otherwise take the whole patience again at each further moment.
        for (const work of open) this.#held.delete(work)
        const warning = `the test clock has moved on, although work had not ended after ${this.#patience} ms. If that work is slow, raise it: testClock(start, { patience })`
        if (!this.#hasWarned) process.emitWarning(warning)
        this.#hasWarned = true
        break
      }
      // Begins again whenever work begins or ends: patience is for what hangs, and not for a long queue.
      let patience: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#changed = resolve
        patience = setTimeout(() => {
          isOver = true
          resolve()
        }, this.#patience)
      })
      clearTimeout(patience)
    }
  }
}

/** As timers of the machine: with 0, one that sets itself again would keep the clock at one moment for ever. */
const delayOf = (ms: number) => (ms >= 1 ? ms : 1)

function instantOf(time: Date | string | number): number {
  const instant = new Date(time).getTime()
  if (Number.isNaN(instant)) throw new TypeError(`${quoted(time)} is not a time`)
  return instant
}
