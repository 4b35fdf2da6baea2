import { LruMap } from '../../toolkit/lru.ts'
import type { Hit, RateLimitStore } from './contract.ts'

interface Window {
  count: number
  end: number
}

/** At most about 25 MB. The keys that have gone longest without a request are dropped first. */
export const maxKeys = 100_000

/**
 * Counts in this process.
 *
 * The memory limiter of rate-limiter-flexible is not used: it has a timer for each key and no bound. A million addresses,
 * which a single IPv6 network has many times over, took 490 MB.
 */
export class MemoryStore implements RateLimitStore {
  readonly #windows = new LruMap<Window>({ max: maxKeys })

  hit(key: string, windowMs: number): Hit {
    // Not the wall clock, which may be set back by an hour.
    const now = performance.now()
    const window = this.#windows.get(key)
    if (window === undefined || window.end <= now) {
      this.#windows.set(key, { count: 1, end: now + windowMs })
      return { count: 1, resetMs: windowMs }
    }
    window.count++
    return { count: window.count, resetMs: window.end - now }
  }
}
