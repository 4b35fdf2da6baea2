import type { Hit, RateLimitStore } from './store.ts'

/** For how long a store that failed is left alone: a request must not wait for a time-out that the one before it has seen. */
const restMs = 1_000

/**
 * A store that may fail, insured by one in memory: while it does, this process counts for itself.
 *
 * Refusing everybody would make the counter's failure one of the whole service; letting everybody pass would invite
 * whoever can bring the counter down.
 */
export class InsuredStore implements RateLimitStore {
  readonly #store: RateLimitStore
  readonly #memory: RateLimitStore
  readonly #onChange: (isDown: boolean, error?: unknown) => void
  #isDown = false
  #restsUntil = 0

  /** `onChange` is called once when the store begins to fail, and once when it works again. */
  constructor(store: RateLimitStore, memory: RateLimitStore, onChange: (isDown: boolean, error?: unknown) => void) {
    this.#store = store
    this.#memory = memory
    this.#onChange = onChange
  }

  hit(key: string, windowMs: number): Hit | Promise<Hit> {
    if (this.#isDown && performance.now() < this.#restsUntil) return this.#memory.hit(key, windowMs)
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
    return this.#store.close?.()
  }

  #worked(hit: Hit): Hit {
    if (this.#isDown) {
      this.#isDown = false
      this.#onChange(false)
    }
    return hit
  }

  #failed(error: unknown, key: string, windowMs: number): Hit | Promise<Hit> {
    this.#restsUntil = performance.now() + restMs
    if (!this.#isDown) {
      this.#isDown = true
      this.#onChange(true, error)
    }
    return this.#memory.hit(key, windowMs)
  }
}
