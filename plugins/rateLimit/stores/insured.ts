import { Breaker } from '../../toolkit/breaker.ts'
import type { Hit, RateLimitStore } from './contract.ts'

/** Milliseconds for which a store that failed is not tried again. */
const restMs = 1_000

/**
 * A store that may fail, with a store in memory as its substitute: while it fails, this process counts by itself.
 *
 * Refusing all clients would turn the counter's failure into a failure of the whole service; allowing all would invite
 * attackers who can make the counter fail.
 */
export class InsuredStore implements RateLimitStore {
  readonly #store: RateLimitStore
  readonly #memory: RateLimitStore
  readonly #breaker: Breaker

  /** `onChange` is called once when the store begins to fail, and once when it works again. */
  constructor(store: RateLimitStore, memory: RateLimitStore, onChange: (isDown: boolean, error?: unknown) => void) {
    this.#store = store
    this.#memory = memory
    this.#breaker = new Breaker({ restMs, onChange })
  }

  hit(key: string, windowMs: number): Hit | Promise<Hit> {
    if (this.#breaker.isOpen) return this.#memory.hit(key, windowMs)
    let hit: Hit | Promise<Hit>
    try {
      hit = this.#store.hit(key, windowMs)
    } catch (error) {
      return this.#failed(error, key, windowMs)
    }
    if (hit instanceof Promise) {
      return hit.then(
        (settled) => this.#worked(settled),
        (error: unknown) => this.#failed(error, key, windowMs),
      )
    }
    return this.#worked(hit)
  }

  close(): void | Promise<void> {
    this.#breaker.stop()
    return this.#store.close?.()
  }

  #worked(hit: Hit): Hit {
    this.#breaker.worked()
    return hit
  }

  #failed(error: unknown, key: string, windowMs: number): Hit | Promise<Hit> {
    this.#breaker.failed(error)
    return this.#memory.hit(key, windowMs)
  }
}
