// Not the globals: Deno's return a number, which has no `unref`; and a runner may fake them, so that a timer set earlier never fires.
import { clearTimeout, setInterval, setTimeout } from 'node:timers'

/** A timer of a clock. */
export interface Timer {
  /** Lets the process end although the timer is waiting. */
  unref(): unknown
}

/**
 * The time, and everything that waits for a time. Services ask {@link clock} and never the process, so that a test can let a month
 * pass in an instant.
 */
export interface Clock {
  /** Returns the time, in milliseconds since 1970. */
  now(): number
  /** Returns milliseconds from some start, for the time between two moments; a machine whose clock is set does not change it. */
  monotonic(): number
  /** Calls a function once, after milliseconds; on the clock of the machine, after 2147483647 (24.8 days) at most. */
  setTimeout(run: () => unknown, ms: number): Timer
  /** Calls a function every so many milliseconds. */
  setInterval(run: () => unknown, ms: number): Timer
  /** Cancels a timer; does nothing for one that has fired, and without one. */
  clear(timer: Timer | undefined): void
  /**
   * Resolves after milliseconds.
   *
   * @throws (as a rejection) the reason of the signal, when that aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Does work, and returns its result. A clock that a test moves stands still until it is over, but for work that waits in `sleep`. So does
   * the work around it, unless this `isApart`, such as a worker that goes on when the caller has ended.
   */
  hold<Result>(work: () => Result, isApart?: boolean): Result
}

/** A clock that a test moves. */
export interface VirtualClock extends Clock {
  /** Whether the test is moving it. */
  readonly isMoving: boolean
  /** What becomes of the work that has begun: `running`, or `asleep` if all of it waits for this clock; `over` without any. */
  readonly work: 'running' | 'asleep' | 'over'
  /** Calls `wake` at a time, or when the clock is set to another time, even an earlier one. Returns a function that cancels the call. */
  at(time: number, wake: () => unknown): () => void
}

const monotonic = performance.now.bind(performance)

/**
 * The clock of the machine. Only for what a test must not stop: the duration of something that is measured, and patience with
 * sockets, other processes and closing, which a clock that stands still would let wait for ever. Everything else uses {@link clock}.
 *
 * @example
 * const start = systemClock.monotonic()
 * const ms = systemClock.monotonic() - start
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  // A longer one would fire at once.
  setTimeout: (run, ms) => setTimeout(run, Math.min(ms, 2_147_483_647)),
  setInterval: (run, ms) => setInterval(run, ms),
  clear(timer) {
    // Clears intervals as well, by the HTML standard and in every runtime.
    clearTimeout(timer as NodeJS.Timeout | undefined)
  },
  sleep: (ms, signal) => sleepBy(systemClock, ms, signal),
  hold: (work) => work(),
}

// In the process and not in this module: an application and its test may have two copies of the framework.
// In an object: a member of the global itself would be found by its name each time, six times for a message.
const place: unique symbol = Symbol.for('framework.clock') as never
// biome-ignore lint/suspicious/noAssignInExpressions: the first copy of the framework makes it
const used = ((globalThis as { [place]?: { inUse: VirtualClock | undefined } })[place] ??= { inUse: undefined })

/**
 * The time, for everything that a server does: expiry, delays, schedules, time limits of work. It is the clock of the machine, unless a
 * test has replaced it with `testClock`.
 *
 * @example
 * const until = clock.now() + 60_000
 * const timer = clock.setTimeout(() => console.log(clock.now() >= until), 60_000)
 * clock.clear(timer)
 */
export const clock: Clock = {
  now: () => (used.inUse ?? systemClock).now(),
  monotonic: () => (used.inUse === undefined ? monotonic() : used.inUse.monotonic()),
  setTimeout: (run, ms) => (used.inUse ?? systemClock).setTimeout(run, ms),
  setInterval: (run, ms) => (used.inUse ?? systemClock).setInterval(run, ms),
  clear(timer) {
    // A timer belongs to the clock that made it, which another may have replaced since.
    systemClock.clear(timer)
    used.inUse?.clear(timer)
  },
  sleep: (ms, signal) => (used.inUse ?? systemClock).sleep(ms, signal),
  hold: (work, isApart) => (used.inUse === undefined ? work() : used.inUse.hold(work, isApart)),
}

/**
 * Returns the clock of a test, if one is in use; for code that waits for a time of the wall clock and not for a duration.
 *
 * @example
 * const cancel = virtualClock()?.at(Date.parse('2030-01-01'), () => console.log('happy new year'))
 */
export const virtualClock = (): VirtualClock | undefined => used.inUse

/**
 * Uses a clock in place of the machine's, in the whole process. Returns a function that ends this.
 *
 * @throws an Error while another one is in use: both tests would move the time of the other.
 * @example
 * declare const virtual: VirtualClock
 * const restore = useClock(virtual)
 * restore()
 */
export function useClock(virtual: VirtualClock): () => void {
  if (used.inUse !== undefined)
    throw new Error('a test clock is already in use in this process: restore it before the next one is created')
  used.inUse = virtual
  return () => {
    if (used.inUse === virtual) used.inUse = undefined
  }
}

/**
 * Resolves when a timer of a clock fires, or rejects when a signal aborts.
 *
 * @example
 * await sleepBy(systemClock, 10)
 */
export function sleepBy(by: Pick<Clock, 'setTimeout' | 'clear'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      by.clear(timer)
      reject(signal!.reason)
    }
    const timer = by.setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
