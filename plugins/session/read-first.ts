import { LRUCache } from 'lru-cache'
import type { ExactStore, SessionStore } from './store.ts'

/**
 * A store that has no `update`: it is read before each write and each end.
 *
 * Which sessions have ended in this process is remembered for as long as a write may be under way, so that none is brought
 * back here. Another process may end a session between the reading and the writing, and nothing shows that.
 */
export class ReadFirstStore implements ExactStore {
  readonly touch?: SessionStore['touch']
  readonly #store: SessionStore
  // Made with the first that ends: it takes its whole room at once.
  #ended: LRUCache<string, Promise<boolean>> | undefined

  constructor(store: SessionStore) {
    this.#store = store
    if (store.touch !== undefined) this.touch = (id, ttl) => !this.#hasEnded(id) && store.touch!(id, ttl)
  }

  get(id: string): ReturnType<SessionStore['get']> {
    return this.#store.get(id)
  }

  set(id: string, data: object, ttl: number): ReturnType<SessionStore['set']> {
    return this.#store.set(id, data, ttl)
  }

  async update(id: string, data: object, ttl: number): Promise<boolean> {
    if (!(await this.#isThere(id))) return false
    await this.#store.set(id, data, ttl)
    if (!this.#hasEnded(id)) return true
    // It has ended while it was being written.
    await this.#store.destroy(id)
    return false
  }

  async destroy(id: string): Promise<boolean> {
    const before = this.#ended?.get(id)
    if (before !== undefined) {
      // Only when that has succeeded is this one told that the session is gone.
      await before
      return false
    }
    this.#ended ??= new LRUCache({ max: 10_000, ttl: 60_000 })
    const ending = this.#end(id)
    // At once, so that nothing is written while the store is at it.
    this.#ended.set(id, ending)
    try {
      return await ending
    } catch (error) {
      this.#ended.delete(id)
      throw error
    }
  }

  async #end(id: string): Promise<boolean> {
    const found = await this.#store.get(id)
    await this.#store.destroy(id)
    return found !== undefined && found !== null
  }

  async #isThere(id: string): Promise<boolean> {
    const found = await this.#store.get(id)
    return found !== undefined && found !== null && !this.#hasEnded(id)
  }

  #hasEnded(id: string): boolean {
    return this.#ended?.has(id) === true
  }
}
