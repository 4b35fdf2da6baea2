/** The state of a counter after one more request. */
export interface Hit {
  /** The requests of this window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends and the count restarts. */
  readonly resetMs: number
}

/** Counts requests: one fixed window for each key, which begins with its first request. */
export interface RateLimitStore {
  /** Counts one request; must be atomic. */
  hit(key: string, windowMs: number): Hit | Promise<Hit>
  /** Called when the server closes. */
  close?(): void | Promise<void>
}
