/** The state of a counter after one more request. */
export interface Hit {
  /** The requests of this window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends and the count restarts. */
  readonly resetMs: number
}

/** Counts requests: one fixed window for each key, which begins with its first request. */
export interface RateLimitStore {
  /** Counts one request; must be atomic. One that does not answer within 250 ms has failed. */
  hit(key: string, windowMs: number): Hit | Promise<Hit>
  /** Ends connections; called when the server closes. */
  close?(): void | Promise<void>
}
