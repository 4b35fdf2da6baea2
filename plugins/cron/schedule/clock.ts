// Not the globals, which a test may fake.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

/** The clock that gives jobs the time and wakes them. */
export interface CronClock {
  /** The time, in milliseconds since 1970. */
  now(): number
  /**
   * Calls `wake` at a time, or earlier if the clock was set back, so `wake` must check `now()`; its promise resolves when the run that it
   * has begun is over. Returns a function that cancels the call.
   */
  at(time: number, wake: () => void | Promise<void>): () => void
  /** Called when the jobs of a service have stopped. */
  close?(): void
}

/** A clock that stands still until one of its methods moves it. */
export interface MemoryClock extends CronClock {
  /**
   * Moves forward by milliseconds, and wakes the jobs that are due on the way, in order. At each tick the clock stands still until the runs
   * that begin there are over. It waits for a second at most: a run that waits for something that the test does later continues meanwhile.
   */
  advance(ms: number): Promise<void>
  /** Moves forward to an instant, and wakes jobs on the way as `advance` does. */
  advanceTo(time: Date | string | number): Promise<void>
  /** Jumps to another time, as when a machine has slept or its clock was set: jobs are woken only there, not on the way. */
  set(time: Date | string | number): Promise<void>
}

/** Milliseconds for which the clock stands still for one run. */
const patience = 1_000

/** Lets everything run that does not wait for a timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Waits for a run, but not for ever: the test that waits for the clock may be the one that has to end the run. */
async function over(run: void | Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience)
  })
  await Promise.race([run, late])
  clearTimeout(timer)
  await settle()
}

interface Waiting {
  readonly time: number
  readonly wake: () => void | Promise<void>
}

/**
 * Creates a clock for tests, in which an hour passes in no time.
 *
 * @example
 * const clock = memoryClock('2026-03-28T00:00:00Z')
 * const service = await CronService.run({ crons: [], clock })
 * await clock.advance(24 * 3_600_000)
 * await service.stop()
 */
export function memoryClock(start: Date | string | number = Date.now()): MemoryClock {
  let now = instantOf(start)
  const waiting = new Set<Waiting>()
  const wake = async (one: Waiting) => {
    waiting.delete(one)
    await over(one.wake())
  }
  const advanceTo = async (end: number) => {
    await settle()
    for (;;) {
      const next = [...waiting].sort((a, b) => a.time - b.time)[0]
      if (next === undefined || next.time > end) break
      now = Math.max(now, next.time)
      await wake(next)
    }
    now = Math.max(now, end)
    await settle()
  }
  return {
    now: () => now,
    at(time, run) {
      const one = { time, wake: run }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    async advance(ms) {
      // With a time that is not a number, there would always be another tick.
      if (!Number.isFinite(ms) || ms < 0) throw new TypeError(`advance takes milliseconds, not ${String(ms)}`)
      await advanceTo(now + ms)
    },
    advanceTo: (time) => advanceTo(instantOf(time)),
    async set(time) {
      now = instantOf(time)
      for (const one of [...waiting]) if (waiting.has(one)) await wake(one)
    },
  }
}

function instantOf(time: Date | string | number): number {
  const instant = new Date(time).getTime()
  if (Number.isNaN(instant)) throw new TypeError(`${String(time)} is not a time`)
  return instant
}
