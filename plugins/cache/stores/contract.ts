import type { Entry } from '../entry.ts'

/** The outcome for an answer: kept, refused because it was invalidated while it was computed, or the store failed. */
export type Committed = 'stored' | 'stale' | 'failed'

/** The right to compute one answer; exactly one of its methods is called. */
export interface Fill {
  commit(entry: Entry, seconds: number): Committed | Promise<Committed>
  /** There is no result to keep: lets the next request try. */
  abandon(): void | Promise<void>
}

export type Begun = { readonly fill: Fill } | { readonly entry: Entry }

/** Where answers are kept. A store that fails throws {@link StoreDown}. */
export interface CacheStore {
  get(key: string): Entry | undefined | Promise<Entry | undefined>
  /** Asks to compute an answer: returns the right to, or the entry that another process has stored; `undefined` while one computes it. */
  begin(key: string, tags: readonly string[]): Begun | undefined | Promise<Begun | undefined>
  /** Removes the answers with one of the tags, and discards those that are being computed under it; returns the number of answers. */
  invalidate(tags: readonly string[]): number | Promise<number>
  /** The same for keys that match a pattern. */
  invalidatePattern(pattern: string): number | Promise<number>
  /** The newest keys, where the store can list them. */
  keys?(limit: number): readonly string[]
  close(): void | Promise<void>
}

/** The store does not answer; requests go on without it. */
export class StoreDown extends Error {}
