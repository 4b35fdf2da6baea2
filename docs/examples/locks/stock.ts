/** A shelf in another system, which knows nothing of locks: it only compares fences. */
export class Shelf {
  #count: number
  #fence = 0

  constructor(count: number) {
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  /** Sets the count, unless someone with a higher fence has already set it. */
  async set(count: number, fence: number): Promise<boolean> {
    if (fence < this.#fence) return false
    this.#fence = fence
    this.#count = count
    return true
  }
}
