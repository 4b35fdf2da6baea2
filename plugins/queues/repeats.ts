import { clock, type Timer } from '../../kernel/index.ts'
import { type RepeatSettings, sqsTtl } from '../shared/engines/publish-options.ts'
import { nextTime } from '../shared/schedule/calendar.ts'
import { parsePattern } from '../shared/schedule/pattern.ts'
import { zoneByName } from '../shared/schedule/zone.ts'
import type { Engines } from './engines.ts'

/** Milliseconds for which a tick counts as published: far longer than the clocks of two processes differ. */
export const tickTtl = sqsTtl
/** The longest wait: a timer accepts no more, and a clock that was set is noticed. */
const lookEvery = 30_000

/** A queue as it was declared. */
interface Repeated {
  readonly name: string
  readonly kind: string | undefined
}

/**
 * The messages that a server publishes repeatedly. No engine does it: each would have times, patterns and an end of its own. Every process that has asked for a repetition publishes its ticks
 * with the same id, so that the engine keeps one of each: no lock is needed, and none can be lost.
 */
export class Repeats {
  readonly #engines: Engines
  readonly #running = new Map<string, Timer>()

  constructor(engines: Engines) {
    this.#engines = engines
  }

  /** Publishes a message at each of the times from now on; `publish` receives the id of a tick. */
  begin(queue: Repeated, when: RepeatSettings, publish: (id: string) => Promise<unknown>): void {
    const next = timesOf(when)
    const key = keyOf(queue, when.key)
    this.end(queue, when.key)
    const wait = (tick: number | undefined) => {
      if (tick === undefined) return
      const ms = Math.min(tick - clock.now(), lookEvery)
      const timer = clock.setTimeout(
        () => {
          if (clock.now() < tick) return wait(tick)
          wait(next(Math.max(tick, clock.now() - 1)))
          return publish(`${when.key} ${new Date(tick).toISOString()}`).catch((error: unknown) =>
            this.#engines.log.error(
              { err: error, queue: queue.name, key: when.key },
              `the repetition "${when.key}" of the queue "${queue.name}" could not be published`,
            ),
          )
        },
        Math.max(ms, 0),
      )
      timer.unref()
      this.#running.set(key, timer)
    }
    wait(next(clock.now()))
  }

  /** Ends a repetition; returns whether there was one. */
  end(queue: Repeated, key: string): boolean {
    clock.clear(this.#running.get(keyOf(queue, key)))
    return this.#running.delete(keyOf(queue, key))
  }

  endAll(): void {
    for (const timer of this.#running.values()) clock.clear(timer)
    this.#running.clear()
  }
}

const keyOf = ({ name, kind }: Repeated, key: string) => JSON.stringify([kind, name, key])

/** Returns the next time after another one, the same in every process. */
function timesOf({ every, pattern, tz }: RepeatSettings): (after: number) => number | undefined {
  if (every !== undefined) return (after) => Math.floor(after / every) * every + every
  const parsed = parsePattern(pattern!)
  const zone = zoneByName(tz ?? 'UTC')
  return (after) => nextTime(parsed, zone, after)
}
