export interface SlowRequest {
  readonly route: string
  readonly ms: number
}

/** Remembers slow requests, the slowest first. */
export class SlowLog {
  readonly #keep: number
  #entries: readonly SlowRequest[] = []

  constructor(keep: number) {
    this.#keep = keep
  }

  get entries(): readonly SlowRequest[] {
    return this.#entries
  }

  add(entry: SlowRequest): void {
    this.#entries = [...this.#entries, entry].sort((a, b) => b.ms - a.ms).slice(0, this.#keep)
  }

  forget(route: string): void {
    this.#entries = this.#entries.filter((entry) => entry.route !== route)
  }
}
