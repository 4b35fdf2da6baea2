/** Random choices, the same ones for the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A number from 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  is(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  some<T>(list: readonly T[], most: number): T[] {
    return [...new Set(Array.from({ length: this.below(most + 1) }, () => this.pick(list)))]
  }
}
