/** The delay before the next attempt. */
export class Backoff {
  readonly #first: number
  readonly #most: number
  #attempts = 0
  #upSince = 0

  constructor(first: number, most: number) {
    this.#first = first
    this.#most = most
  }

  /** Doubles each time, less a random part of up to half: the clients of a broker must not all come back at the same moment. */
  next(): number {
    const full = Math.min(this.#first * 2 ** Math.min(this.#attempts++, 30), this.#most)
    return Math.max(1, Math.round(full * (0.5 + Math.random() / 2)))
  }

  up(): void {
    this.#upSince = performance.now()
  }

  /** A connection that lasted resets the delay; two clients of the same name, which disconnect each other, wait longer and longer. */
  down(): void {
    if (this.#upSince > 0 && performance.now() - this.#upSince > this.#most) this.#attempts = 0
    this.#upSince = 0
  }
}
