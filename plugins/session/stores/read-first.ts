import { LruMap } from '../../shared/values/lru.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import type { ExactStore, SessionStore } from './contract.ts'

/**
 * Wraps a store without `update`: reads before each write and before each removal.
 *
 * Within this process, no write begins once a session is being ended, and ending waits for writes in progress, so that no session
 * is restored, however slow the store is. Another process may end a session between the reading and the writing,
 * unnoticed.
 */
export function readFirst(store: SessionStore) {
  const ended = new LruMap<Promise<boolean>>({ max: 10_000 })
  const writing = new Map<string, Set<Promise<void>>>()

  const end = async (id: string): Promise<boolean> => {
    const found = await store.get(id)
    await Promise.allSettled(writing.get(id) ?? [])
    await store.destroy(id)
    return found !== undefined && found !== null
  }

  const write = async (id: string, data: object, ttl: number): Promise<void> => {
    const all = madeIn(writing, id, () => new Set<Promise<void>>())
    const one = (async () => store.set(id, data, ttl))()
    all.add(one)
    try {
      await one
    } finally {
      all.delete(one)
      if (all.size === 0) writing.delete(id)
    }
  }

  return {
    get: (id) => store.get(id),
    set: (id, data, ttl) => store.set(id, data, ttl),
    ...(store.touch !== undefined && { touch: (id: string, ttl: number) => !ended.has(id) && store.touch!(id, ttl) }),

    async update(id, data, ttl) {
      const found = await store.get(id)
      if (found === undefined || found === null || ended.has(id)) return false
      await write(id, data, ttl)
      // The session may have begun to end while it was being written.
      return !ended.has(id)
    },

    async destroy(id) {
      const before = ended.get(id)
      if (before !== undefined) {
        // Only if the earlier call succeeds does this one report that the session is gone.
        await before
        return false
      }
      const ending = end(id)
      // Immediately, so that nothing is written while the store removes the session.
      ended.set(id, ending, 60_000)
      try {
        return await ending
      } catch (error) {
        ended.delete(id)
        throw error
      }
    },
  } satisfies ExactStore
}
