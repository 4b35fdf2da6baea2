/** How many messages a client may still send: a bucket that fills at a steady rate and holds two seconds' worth. */
export class TokenBucket {
  readonly #perSecond: number
  #left: number
  #countedAt = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#left = perSecond * 2
  }

  /** Takes one message from the bucket, if there is one. */
  take(): boolean {
    const now = performance.now()
    if (this.#countedAt !== 0)
      this.#left = Math.min(this.#perSecond * 2, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond)
    this.#countedAt = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
