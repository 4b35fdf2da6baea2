/** The state of a counter after one more request. */
export interface Hit {
  /** The requests in this window, including this one. */
  readonly count: number
  /** Milliseconds until the window ends and the count restarts. */
  readonly resetMs: number
}

/** Counts requests: each key has a fixed window, which begins with its first request. */
export interface RateLimitStore {
  /**
   * Counts one request; must be atomic. A store that does not respond within 250 ms has failed. The key `health` is counted to see whether
   * the store works.
   */
  hit(key: string, windowMs: number): Hit | Promise<Hit>
  /**
   * Takes back one request of the current window of a key, if there is one: never below zero. Without it, requests of several tenants from one address share a limit:
   * they are first counted by the address, and then by their tenant.
   */
  takeBack?(key: string): void | Promise<void>
  /** Closes connections; called when the server closes. */
  close?(): void | Promise<void>
}

/** What happens to a request that the store cannot count. */
export type OnStoreFailure = 'count' | 'refuse'

/** The counts as a limit reads them; `undefined` refuses a request that cannot be counted. */
export interface Counter {
  hit(key: string, windowMs: number, onFailure: OnStoreFailure): Hit | Promise<Hit | undefined>
  takeBack(key: string): void
  /** Rejects unless the shared store responds. */
  check?(): Promise<void>
  close?(): void | Promise<void>
}

/** A limit as the inspector shows it. */
interface ShownLimit {
  readonly name: string
  readonly rule: { readonly limit: number; readonly windowMs: number; readonly statusCode: number }
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
