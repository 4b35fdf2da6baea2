import type { Entry } from '../entry.ts'

/** The outcome of storing a response: kept, refused because it was invalidated while being computed, or the store failed. */
export type Committed = 'stored' | 'stale' | 'failed'

/** The right to compute one response; exactly one of its methods is called. */
export interface Fill {
  commit(entry: Entry, seconds: number): Committed | Promise<Committed>
  /** Gives up the right without a result to keep, so that the next request can try. */
  abandon(): void | Promise<void>
}

export type Begun = { readonly fill: Fill } | { readonly entry: Entry }

/** A place where responses are kept. A store that fails throws `ServiceDown`. */
export interface CacheStore {
  get(key: string): Entry | undefined | Promise<Entry | undefined>
  /** Whether an entry is likely; if not, `begin` comes at once, which returns one as well. Default: it is. */
  mayHave?(key: string): boolean
  /**
   * Returns the right to compute a response, or the usable entry that another process has stored; `undefined` while one is computing it.
   * Default: every entry is usable.
   */
  begin(
    key: string,
    tags: readonly string[],
    isUsable?: (entry: Entry) => boolean,
  ): Begun | undefined | Promise<Begun | undefined>
  /** Removes the responses with one of the tags, and discards those being computed; returns the number of removed responses. */
  invalidate(tags: readonly string[]): number | Promise<number>
  /** Does the same for responses whose key matches a pattern. */
  invalidatePattern(pattern: string): number | Promise<number>
  /** Returns the newest keys, if the store can list them. */
  keys?(limit: number): readonly string[]
  /** Rejects unless the store responds; a store in this process has none. */
  check?(): Promise<void>
  close(): void | Promise<void>
}
