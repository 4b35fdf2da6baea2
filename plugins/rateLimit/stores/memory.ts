import { clock } from '../../../kernel/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import type { Hit } from './contract.ts'

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

  takeBack(key: string): void {
    const window = this.#windows.get(key)
    // A window that has begun since then has not counted it.
    if (window !== undefined && window.end > clock.monotonic() && window.own > 0) window.own--
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
}
