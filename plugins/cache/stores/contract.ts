import type { Entry } from '../entry.ts'

/** What became of an answer: kept, refused because it was invalidated while it was computed, or the store failed. */
export type Committed = 'stored' | 'stale' | 'failed'

/** The right to compute one answer; exactly one of its methods is called. */
export interface Fill {
  commit(entry: Entry, seconds: number): Committed | Promise<Committed>
  /** There is nothing to keep: lets the next one try. */
  abandon(): void | Promise<void>
}

export type Begun = { readonly fill: Fill } | { readonly entry: Entry }

/** Where answers are kept. A store that fails says so by throwing {@link StoreDown}. */
export interface CacheStore {
  get(key: string): Entry | undefined | Promise<Entry | undefined>
  /** Asks to compute an answer: gives the right to, or what another process has left since the last look; `undefined` while one computes it. */
  begin(key: string, tags: readonly string[]): Begun | undefined | Promise<Begun | undefined>
  /** Removes what has one of the tags, and keeps back what is being computed under it; gives the number of answers. */
  invalidate(tags: readonly string[]): number | Promise<number>
  /** The same for keys that match a pattern. */
  invalidatePattern(pattern: string): number | Promise<number>
  /** The newest keys, where the store can list them. */
  keys?(limit: number): readonly string[]
  close(): void | Promise<void>
}

/** The store does not answer; requests go on without it. */
export class StoreDown extends Error {}
