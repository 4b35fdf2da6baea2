import { clock } from '../../../kernel/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import type { Hit, StoreWindow, Taken } from './contract.ts'

/** At most about 25 MB. The keys that have gone longest without a request are dropped first. */
export const maxKeys = 100_000

/**
 * Counts in this process, alone or as the substitute of a shared store.
 *
 * The memory limiter of rate-limiter-flexible is not used: it has a timer for each key and no bound. A million addresses,
 * which a single IPv6 network has many times over, took 490 MB.
 */
export class MemoryStore {
  /** For each key the highest count that the shared store has reported, and the requests that only this process has counted. */
  readonly #windows = new LruMap<{ shared: number; own: number; end: number }>({ max: maxKeys })

  hit(key: string, windowMs: number): Hit {
    // Not the wall clock, which may be set back by an hour.
    const now = clock.monotonic()
    const window = this.#windows.get(key)
    if (window === undefined || window.end <= now) {
      this.#windows.set(key, { shared: 0, own: 1, end: now + windowMs })
      return { count: 1, resetMs: windowMs }
    }
    window.own++
    return { count: window.shared + window.own, resetMs: window.end - now }
  }

  /**
   * Remembers a count of the shared store, and adds the requests of the window that the store has not counted: a store that fails again and again
   * would otherwise let a client have the rest of its limit each time. `since` is when the store was asked, so that the window ends here first.
   */
  learn(key: string, hit: Hit, since: number): Hit {
    const { count, resetMs } = hit
    const window = this.#windows.get(key)
    if (window === undefined || window.end <= clock.monotonic()) {
      this.#windows.set(key, { shared: count, own: 0, end: since + resetMs })
      return hit
    }
    window.shared = Math.max(window.shared, count)
    return { count: count + window.own, resetMs }
  }

  /** For each key what is used of its windows: numbers of requests until `end`, or for a bucket the times when it is full again. */
  readonly #taken = new LruMap<Used[]>({ max: maxKeys })

  take(key: string, cost: number, windows: readonly StoreWindow[]): Taken {
    const now = clock.monotonic()
    const used = this.#usedOf(key, windows, now)
    const accepted = windows.every((one, i) => isWithin(one, levelOf(one, used[i]!, now) + cost))
    for (const [i, one] of accepted ? windows.entries() : []) {
      const window = used[i]!
      if (one.burst === undefined) window.own += cost
      else window.own = Math.max(window.own, now) + (cost * one.windowMs) / one.limit
    }
    return { accepted, windows: statesOf(windows, used, now) }
  }

  /** As `learn`: what only this process has counted adds to what the store says. */
  learnTaken(key: string, windows: readonly StoreWindow[], taken: Taken, since: number): Taken {
    const now = clock.monotonic()
    const used = this.#usedOf(key, windows, now)
    for (const [i, one] of windows.entries()) {
      const window = used[i]!
      const { count, resetMs } = taken.windows[i]!
      if (window.shared === 0) window.end = since + resetMs
      window.shared = Math.max(window.shared, one.burst === undefined ? count : since + resetMs)
    }
    // A bucket has refused at the time of the store: until its response is read, a request may have come back.
    if (!taken.accepted) return taken
    const accepted = windows.every((one, i) => isWithin(one, levelOf(one, used[i]!, now)))
    return { accepted, windows: statesOf(windows, used, now) }
  }

  #usedOf(key: string, windows: readonly StoreWindow[], now: number): Used[] {
    let used = this.#taken.get(key)
    if (used?.length !== windows.length) {
      used = windows.map(() => ({ shared: 0, own: 0, end: 0 }))
      this.#taken.set(key, used)
    }
    for (const [i, { windowMs, burst }] of windows.entries())
      if (burst === undefined && used[i]!.end <= now) used[i] = { shared: 0, own: 0, end: now + windowMs }
    return used
  }
}

/** What the shared store has reported, and what only this process has counted. */
interface Used {
  shared: number
  own: number
  end: number
}

/** What is used of a window, in requests. */
function levelOf({ limit, windowMs, burst }: StoreWindow, { shared, own }: Used, now: number): number {
  if (burst === undefined) return shared + own
  return ((Math.max(0, shared - now) + Math.max(0, own - now)) * limit) / windowMs
}

/** Allows for the fractions of a millisecond that are lost when times are added. */
const isWithin = ({ limit, windowMs, burst }: StoreWindow, level: number) =>
  burst === undefined ? level <= limit : level <= burst + (limit / windowMs) * 0.01

const statesOf = (windows: readonly StoreWindow[], used: readonly Used[], now: number): Taken['windows'] =>
  windows.map((one, i) => {
    const level = levelOf(one, used[i]!, now)
    return { count: level, resetMs: one.burst === undefined ? used[i]!.end - now : (level * one.windowMs) / one.limit }
  })
