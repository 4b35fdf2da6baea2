/** The state of a counter after one more request. */
export interface Hit {
  /** The requests in this window, including this one. */
  readonly count: number
  /** Milliseconds until the window ends and the count restarts. */
  readonly resetMs: number
}

/** How much may be used in which time, as a store sees it. */
export interface StoreWindow {
  /** Requests in one window, 1 or more. */
  readonly limit: number
  /** The length of a window, in milliseconds. */
  readonly windowMs: number
  /** Set for a bucket (GCRA): it holds this many requests, and `limit` of them come back in each `windowMs`. */
  readonly burst?: number | undefined
}

/** What a store says about one request and several windows. */
export interface Taken {
  /** Whether the request is within all windows. If not, it counts in none. */
  readonly accepted: boolean
  /** The state of each window after that, in their order: what its requests have cost, and milliseconds until nothing of that is left. */
  readonly windows: readonly Hit[]
}

/** Counts requests: each key has a fixed window, which begins with its first request. */
export interface RateLimitStore {
  /**
   * Counts one request; must be atomic. A store that does not respond within 250 ms has failed. The key `health` is counted to see whether
   * the store works.
   */
  hit(key: string, windowMs: number): Hit | Promise<Hit>
  /**
   * Counts a request that costs `cost` in several windows, in all of them or in none; must be atomic. Needed for the options `windows`, `burst`
   * and `cost`. The windows of a key differ in `windowMs`. A cost is never more than a window allows.
   */
  take?(key: string, cost: number, windows: readonly StoreWindow[]): Taken | Promise<Taken>
  /** Closes connections; called when the server closes. */
  close?(): void | Promise<void>
}

/** What happens to a request that the store cannot count. */
export type OnStoreFailure = 'count' | 'refuse'

/** The counts as a limit reads them; `undefined` refuses a request that cannot be counted. */
export interface Counter {
  hit(key: string, windowMs: number, onFailure: OnStoreFailure): Hit | Promise<Hit | undefined>
  /** Missing where the store of the application has none. */
  take?(
    key: string,
    cost: number,
    windows: readonly StoreWindow[],
    onFailure: OnStoreFailure,
  ): Taken | Promise<Taken | undefined>
  /** Rejects unless the shared store responds. */
  check?(): Promise<void>
  close?(): void | Promise<void>
}

/** A limit as the inspector shows it. */
interface ShownLimit {
  readonly name: string
  readonly limits: number | string
  readonly windows: number | string
  readonly statusCode: number
  accepted: number
  refused: number
}

/** The limits of a scope, and what counts for them. */
export interface Limits {
  readonly shown: ShownLimit[]
  readonly counter: Counter
  readonly onStoreFailure: OnStoreFailure
}

/** By the services of their scope. */
export const limitsOfScopes = new WeakMap<object, Limits>()
