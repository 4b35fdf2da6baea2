import { LRUCache } from 'lru-cache'
import type { ExactStore } from './contract.ts'

/** Sessions in the memory of this process: gone with it, not shared with another, and bounded. */
export class MemoryStore implements ExactStore {
  // Text and not objects: what a request changes without saving stays its own.
  readonly #entries: LRUCache<string, string>

  /** `onFull` is called when the first session that had not expired was dropped for want of room. */
  constructor(max: number, onFull: () => void = () => {}) {
    let told = false
    this.#entries = new LRUCache({
      max,
      // The clock on the wall, as in Redis; by default one reading of it is used for a while.
      perf: Date,
      ttlResolution: 0,
      dispose: (_text, _id, reason) => {
        if (reason !== 'evict' || told) return
        told = true
        onFull()
      },
    })
  }

  get(id: string): object | undefined {
    const text = this.#entries.get(id)
    return text === undefined ? undefined : (JSON.parse(text) as object)
  }

  set(id: string, data: object, ttlSeconds: number): void {
    this.#entries.set(id, JSON.stringify(data), { ttl: ttlSeconds * 1_000 })
  }

  update(id: string, data: object, ttlSeconds: number): boolean {
    const isThere = this.#entries.has(id)
    if (isThere) this.set(id, data, ttlSeconds)
    return isThere
  }

  destroy(id: string): boolean {
    const isThere = this.#entries.has(id)
    this.#entries.delete(id)
    return isThere
  }

  touch(id: string, ttlSeconds: number): boolean {
    const text = this.#entries.get(id)
    if (text !== undefined) this.#entries.set(id, text, { ttl: ttlSeconds * 1_000 })
    return text !== undefined
  }
}
