/** How long to wait before the next attempt. */
export class Backoff {
  readonly #first: number
  readonly #most: number
  #attempts = 0
  #upSince = 0

  constructor(first: number, most: number) {
    this.#first = first
    this.#most = most
  }

  /** Twice as long each time, less up to half of it by chance: brokers must not meet all their clients at once. */
  next(): number {
    const full = Math.min(this.#first * 2 ** Math.min(this.#attempts++, 30), this.#most)
    return Math.max(1, Math.round(full * (0.5 + Math.random() / 2)))
  }

  up(): void {
    this.#upSince = performance.now()
  }

  /** A connection that lasted begins anew; two clients of one name, which drive each other out, go on waiting longer. */
  down(): void {
    if (this.#upSince > 0 && performance.now() - this.#upSince > this.#most) this.#attempts = 0
    this.#upSince = 0
  }
}
