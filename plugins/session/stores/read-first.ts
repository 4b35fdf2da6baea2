import { LruMap } from '../../shared/values/lru.ts'
import type { ExactStore, SessionStore } from './contract.ts'

/**
 * Wraps a store without `update`: reads before each write and before each removal.
 *
 * Within this process, no write begins once a session is being ended, and ending waits for writes in progress, so that no session
 * is restored, however slow the store is. Another process may end a session between the reading and the writing,
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
    // The session may have begun to end while it was being written.
    return !this.#hasEnded(id)
  }

  async destroy(id: string): Promise<boolean> {
    const before = this.#ended.get(id)
    if (before !== undefined) {
      // Only if the earlier call succeeds does this one report that the session is gone.
      await before
      return false
    }
    const ending = this.#end(id)
    // Immediately, so that nothing is written while the store removes the session.
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
