/**
 * Where keys and responses are kept: values by key, each for a limited time.
 *
 * @example
 * const values = new Map<string, { value: string; until: number }>()
 * const store: IdempotencyStore = {
 *   swap(key, expected, value, ttl) {
 *     const there = values.get(key)
 *     const found = there !== undefined && there.until > Date.now() ? there.value : undefined
 *     if (found !== expected) return found
 *     if (value === undefined) values.delete(key)
 *     else values.set(key, { value, until: Date.now() + ttl })
 *     return found
 *   },
 * }
 */
export interface IdempotencyStore {
  /**
   * Replaces the value of a key if it is `expected`, by one that is kept for `ttl` milliseconds, and returns the value that the key had before.
   * `undefined` stands for none, also as the new value. It must be one atomic step for all processes; a rejection, or no response within 3 seconds,
   * means that the store cannot be reached.
   */
  swap(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    ttl: number,
  ): string | undefined | Promise<string | undefined>
  /** Closes connections; called when the server closes. */
  close?(): void | Promise<void>
}
