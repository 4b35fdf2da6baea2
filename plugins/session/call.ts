/**
 * What a method of a session gives back: a promise that knows whether anyone takes its failure.
 *
 * What follows it with `then` or `finally` has that failure, too: who takes it there has heard it, and where no one does the
 * answer reports it. A log-out that has failed would be reported as done, and end the process as a rejection beside.
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

  // biome-ignore lint/suspicious/noThenProperty: it stands in for a promise
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
      // A failure of the callback is that of any promise.
      if (own !== error && !next.isHeard && !next.#isFollowed) throw error
    })
    return next
  }
}
