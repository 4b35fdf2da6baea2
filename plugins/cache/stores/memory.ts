import { LruMap } from '../../shared/values/lru.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import { type Entry, sizeOf } from '../entry.ts'
import { globTest } from '../glob.ts'
import type { CacheStore, Fill } from './contract.ts'

interface Kept {
  readonly entry: Entry
  readonly tags: readonly string[]
}

interface Open {
  readonly key: string
  readonly tags: readonly string[]
  isStale: boolean
}

/** Keeps responses in the memory of this process; the least recently used are dropped first. */
export class MemoryStore implements CacheStore {
  readonly #entries: LruMap<Kept>
  readonly #keysOf = new Map<string, Set<string>>()
  readonly #open = new Set<Open>()

  constructor(maxSize: number) {
    this.#entries = new LruMap<Kept>({
      maxSize,
      sizeOf: ({ entry, tags }, key) => sizeOf(key, entry) + tags.reduce((sum, tag) => sum + tag.length + 64, 0),
      onDrop: ({ tags }, key) => this.#forget(key, tags),
    })
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)?.entry
  }

  begin(key: string, tags: readonly string[]): { fill: Fill } {
    const open: Open = { key, tags, isStale: false }
    this.#open.add(open)
    const fill: Fill = {
      commit: (entry, seconds) => {
        this.#open.delete(open)
        if (open.isStale) return 'stale'
        this.#entries.set(key, { entry, tags }, seconds * 1000)
        if (this.#entries.has(key)) for (const tag of tags) madeIn(this.#keysOf, tag, () => new Set<string>()).add(key)
        return 'stored'
      },
      abandon: () => void this.#open.delete(open),
    }
    return { fill }
  }

  invalidate(tags: readonly string[]): number {
    for (const open of this.#open) if (open.tags.some((tag) => tags.includes(tag))) open.isStale = true
    const keys = new Set(tags.flatMap((tag) => [...(this.#keysOf.get(tag) ?? [])]))
    for (const key of keys) this.#entries.delete(key)
    return keys.size
  }

  invalidatePattern(pattern: string): number {
    const isMeant = globTest(pattern)
    for (const open of this.#open) if (isMeant(open.key)) open.isStale = true
    const keys = this.#entries.keys().filter(isMeant)
    for (const key of keys) this.#entries.delete(key)
    return keys.length
  }

  keys(limit: number): readonly string[] {
    return this.#entries.keys().slice(-limit).reverse()
  }

  close(): void {
    this.#entries.clear()
  }

  /** Removes a key from the index of tags, which must shrink with the entries, or it would itself fill the memory. */
  #forget(key: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const keys = this.#keysOf.get(tag)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysOf.delete(tag)
    }
  }
}
