/** The state of a counter after one more request. */
export interface Hit {
  /** The requests in this window, including this one. */
  readonly count: number
  /** Milliseconds until the window ends and the count restarts. */
  readonly resetMs: number
}

/** Counts requests: each key has a fixed window, which begins with its first request. */
export interface RateLimitStore {
  /** Counts one request; must be atomic. A store that does not answer within 250 ms has failed. */
  hit(key: string, windowMs: number): Hit | Promise<Hit>
  /** Closes connections; called when the server closes. */
  close?(): void | Promise<void>
}
