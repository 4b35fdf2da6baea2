import { LRUCache } from 'lru-cache'
import type { GuardedStore } from './store.ts'

/**
 * Keeps sessions in a store for as long as they last.
 *
 * Remembers for a minute which ones have ended: a slower request that had read such a session would write it back, and
 * whoever has logged out would be logged in again.
 */
export class SessionKeeper {
  readonly rolling: boolean
  readonly #store: GuardedStore
  readonly #ttl: number
  // Made with the first that ends: it takes its whole room at once.
  #ended: LRUCache<string, true> | undefined

  constructor(store: GuardedStore, ttl: number, rolling: boolean) {
    this.#store = store
    this.#ttl = ttl
    this.rolling = rolling
  }

  load(id: string): ReturnType<GuardedStore['get']> {
    return this.#store.get(id)
  }

  /** Whether the session still is one, and was written. */
  async set(id: string, data: object): Promise<boolean> {
    if (this.#hasEnded(id)) return false
    await this.#store.set(id, data, this.#ttl)
    return this.#confirm(id)
  }

  async touch(id: string): Promise<boolean> {
    if (this.#hasEnded(id)) return false
    await this.#store.touch(id, this.#ttl)
    return this.#confirm(id)
  }

  async destroy(id: string): Promise<void> {
    // First, so that nothing is written while the store is at it.
    this.#ended ??= new LRUCache({ max: 10_000, ttl: 60_000 })
    this.#ended.set(id, true)
    try {
      await this.#store.destroy(id)
    } catch (error) {
      this.#ended.delete(id)
      throw error
    }
  }

  #hasEnded(id: string): boolean {
    return this.#ended?.has(id) === true
  }

  /** It may have ended while it was being written. */
  async #confirm(id: string): Promise<boolean> {
    if (!this.#hasEnded(id)) return true
    await this.#store.destroy(id)
    return false
  }
}
