/**
 * The result of a session's method: a promise that knows whether its rejection is handled.
 *
 * Promises derived from it with `then` or `finally` reject as well: a handler there handles it, and without any handler the
 * response reports the failure. Otherwise a failed log-out would seem successful, and end the process as an unhandled rejection.
 */
export class Call<Value = void> implements Promise<Value> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly settled: Promise<Value>
  readonly #first: Call<unknown> | undefined
  #isFollowed = false
  isHeard = false

  constructor(settled: Promise<Value>, first?: Call<unknown>) {
    this.settled = settled
    this.#first = first
  }

  // biome-ignore lint/suspicious/noThenProperty: it takes the place of a promise
  then<A = Value, B = never>(
    resolved?: ((value: Value) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (typeof rejected !== 'function') return this.#follow(this.settled.then(resolved))
    this.isHeard = true
    if (this.#first !== undefined) this.#first.isHeard = true
    return this.settled.then(resolved, rejected)
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Value | B> {
    return this.then(undefined, rejected)
  }

  finally(run?: (() => void) | null): Promise<Value> {
    return this.#follow(this.settled.finally(run))
  }

  #follow<Next>(settled: Promise<Next>): Call<Next> {
    this.#isFollowed = true
    const first = this.#first ?? this
    const next = new Call(settled, first)
    settled.catch(async (error: unknown) => {
      const own = await first.settled.then(
        () => undefined,
        (failure: unknown) => failure,
      )
      // A failure of the callback itself is treated as with any promise.
      if (own !== error && !next.isHeard && !next.#isFollowed) throw error
    })
    return next
  }
}
