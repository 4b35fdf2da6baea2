import { clock, described, OptionError, type Timer } from '../../kernel/index.ts'
import type { LockService } from '../locks/index.ts'
import type { QueueRef } from '../shared/engines/custom.ts'
import { knowsIds, type RepeatSettings, sqsTtl } from '../shared/engines/publish-options.ts'
import type { RepeatedTick } from '../shared/locks/contract.ts'
import { correctionMs, nextTime } from '../shared/schedule/calendar.ts'
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
 * with the same id, so that the engine keeps one of each. Where an engine knows no ids, the processes claim each tick from a lock.
 */
export class Repeats {
  readonly #engines: Engines
  readonly #running = new Map<string, AbortController>()

  constructor(engines: Engines) {
    this.#engines = engines
  }

  /** Publishes a message at each of the times from now on. */
  begin(queue: Repeated, when: RepeatSettings, publish: (tick: RepeatedTick) => Promise<unknown>): void {
    const nextAfter = timesOf(when)
    const key = keyOf(queue, when.key)
    this.end(queue, when.key)
    const ended = new AbortController()
    const { signal } = ended
    this.#running.set(key, ended)
    let timer: Timer
    signal.addEventListener('abort', () => clock.clear(timer))
    const wait = (time: number | undefined) => {
      if (time === undefined) return
      const look = () => {
        const now = clock.now()
        // With a clock that was set back far, there are times before that one again.
        if (now < time) return wait(time - nextAfter(now)! > correctionMs ? nextAfter(now) : time)
        const next = nextAfter(Math.max(time, now - 1))
        wait(next)
        const id = `${when.key} ${new Date(time).toISOString()}`
        return publish({ id, time, key: when.key, next, signal }).catch((error: unknown) => {
          if (signal.aborted) return
          const { log } = this.#engines
          const what = `the repetition "${when.key}" of the queue "${queue.name}"`
          log.error({ err: error, queue: queue.name, key: when.key }, `${what} could not be published`)
        })
      }
      timer = clock.setTimeout(look, Math.min(Math.max(time - clock.now(), 0), lookEvery))
      timer.unref()
    }
    wait(nextAfter(clock.now()))
  }

  /** The locks by which the processes agree, for a queue whose engine knows no ids. */
  locksFor(queue: QueueRef): LockService | undefined {
    if (knowsIds(queue.standsFor ?? queue, queue.name)) return undefined
    const locks = this.#engines.locks()
    if (locks !== undefined) return locks
    const takes = `nothing in the queue "${queue.name}", whose engine knows no ids, unless its server has the plugin "locks"`
    throw OptionError('publish.repeat', described('an object'), takes)
  }

  /** Ends a repetition; returns whether there was one. */
  end(queue: Repeated, key: string): boolean {
    this.#running.get(keyOf(queue, key))?.abort()
    return this.#running.delete(keyOf(queue, key))
  }

  endAll(): void {
    for (const ended of this.#running.values()) ended.abort()
    this.#running.clear()
  }
}

/** One name for a repetition, whether its queue names its engine or the configuration does. */
export const keyOf = ({ name, kind }: Repeated, key: string) => JSON.stringify([kind, name, key])

/** Returns the next time after another one, the same in every process. */
function timesOf({ every, pattern, tz }: RepeatSettings): (after: number) => number | undefined {
  if (every !== undefined) return (after) => Math.floor(after / every) * every + every
  const parsed = parsePattern(pattern!)
  const zone = zoneByName(tz ?? 'UTC')
  return (after) => nextTime(parsed, zone, after)
}
