/** What shows jobs the time and wakes them. */
export interface CronClock {
  /** The time, in milliseconds since 1970. */
  now(): number
  /**
   * Wakes at a time, or earlier when the clock was set back: the function looks at `now()`. Returns what calls it off.
   */
  at(time: number, wake: () => void): () => void
  /** Called when the jobs of a service have stopped. */
  close?(): void
}

/** A clock that stands still until `advance` is called. */
export interface MemoryClock extends CronClock {
  /** Goes on by milliseconds, and wakes what is due on the way, in order. */
  advance(ms: number): Promise<void>
  /** Goes on to an instant, and wakes on the way as `advance` does. */
  advanceTo(time: Date | string | number): Promise<void>
  /** Shows another time at once, as when a machine has slept or its clock was set: no job wakes on the way. */
  set(time: Date | string | number): Promise<void>
}

const turn = setImmediate

/** Lets everything run that waits for no timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => turn(resolve))
}

interface Waiting {
  readonly time: number
  readonly wake: () => void
}

/**
 * The clock of tests: an hour takes no time.
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
    one.wake()
    await settle()
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
      // After a time that is not a number there would always be another tick.
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
