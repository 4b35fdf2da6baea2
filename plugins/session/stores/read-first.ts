import { LruMap } from '../../toolkit/lru.ts'
import type { ExactStore, SessionStore } from './contract.ts'

/**
 * A store without `update`: it is read before each write and each end.
 *
 * In this process no write begins once a session is being ended, and its end waits for those in progress, so that none
 * is restored here, however slow the store is. Another process may end a session between the reading and the writing,
 * unnoticed.
 */
export class ReadFirstStore implements ExactStore {
  readonly touch?: SessionStore['touch']
  readonly #store: SessionStore
  readonly #ended = new LruMap<Promise<boolean>>({ max: 10_000 })
  readonly #writing = new Map<string, Set<Promise<void>>>()

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
    const found = await this.#store.get(id)
    if (found === undefined || found === null || this.#hasEnded(id)) return false
    await this.#write(id, async () => this.#store.set(id, data, ttl))
    // Its end may have begun while it was being written.
    return !this.#hasEnded(id)
  }

  async destroy(id: string): Promise<boolean> {
    const before = this.#ended.get(id)
    if (before !== undefined) {
      // Only when that has succeeded does this one report that the session is gone.
      await before
      return false
    }
    const ending = this.#end(id)
    // At once, so that nothing is written while the store removes it.
    this.#ended.set(id, ending, 60_000)
    try {
      return await ending
    } catch (error) {
      this.#ended.delete(id)
      throw error
    }
  }

  async #end(id: string): Promise<boolean> {
    const found = await this.#store.get(id)
    await Promise.allSettled(this.#writing.get(id) ?? [])
    await this.#store.destroy(id)
    return found !== undefined && found !== null
  }

  async #write(id: string, write: () => Promise<void>): Promise<void> {
    const all = this.#writing.get(id) ?? new Set()
    this.#writing.set(id, all)
    const one = write()
    all.add(one)
    try {
      await one
    } finally {
      all.delete(one)
      if (all.size === 0) this.#writing.delete(id)
    }
  }

  #hasEnded(id: string): boolean {
    return this.#ended.has(id)
  }
}
