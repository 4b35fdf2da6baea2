/** What runs what is declared: the service of a server, or of a script. */
export interface Runner<Declared> {
  /** Whether it can run this one. */
  takes(declared: Declared): boolean
  /** Begins to run it; what it throws, or rejects with, says that it does not. */
  adopt(declared: Declared): void | Promise<void>
  /** It did not adopt what another runner has left, which no one waits for. */
  refused(declared: Declared, error: unknown): void
}

/** Whoever has one of them. */
interface Entry<One> {
  runner: One | undefined
  isReported: boolean
}

/**
 * What is declared anywhere in this process, before there is a server or behind it, and who runs it: of the runners that can,
 * the oldest one alone. When that leaves, the next one takes it over, or it waits for one.
 */
export class Declarations<Declared extends object, One extends Runner<Declared>> {
  /** The services that run what is declared, or are about to. */
  readonly expected = new Set<object>()
  readonly #entries = new Map<Declared, Entry<One>>()
  readonly #runners: One[] = []

  /** Everything that is declared, the oldest first. */
  get all(): readonly Declared[] {
    return [...this.#entries.keys()]
  }

  has(declared: Declared): boolean {
    return this.#entries.has(declared)
  }

  /** Those that have not left, the oldest first. */
  get runners(): readonly One[] {
    return this.#runners
  }

  /**
   * Declares something. It has begun where there is a runner; else it waits for one.
   *
   * @throws (as a rejection) as the runner; it is not declared then.
   */
  async add(declared: Declared): Promise<void> {
    const entry: Entry<One> = { runner: undefined, isReported: false }
    this.#entries.set(declared, entry)
    const runner = this.#runnerFor(declared)
    if (runner === undefined) return
    try {
      await this.#give(declared, entry, runner)
    } catch (error) {
      if (this.#entries.get(declared) === entry) this.#entries.delete(declared)
      throw error
    }
  }

  /** Takes something back; gives the runner that is to end it. */
  remove(declared: Declared): One | undefined {
    const runner = this.#entries.get(declared)?.runner
    this.#entries.delete(declared)
    return runner
  }

  /**
   * A runner is there from now on: it adopts what no one else runs.
   *
   * @throws (as a rejection) what it did not adopt first. It stays until it leaves.
   */
  async open(runner: One): Promise<void> {
    this.#runners.push(runner)
    await this.takeFree(runner)
  }

  /** An existing runner adopts what no other one runs and what it can take by now. */
  async takeFree(runner: One): Promise<void> {
    const free = [...this.#entries].filter(([declared, entry]) => entry.runner === undefined && runner.takes(declared))
    await Promise.all(free.map(([declared, entry]) => this.#give(declared, entry, runner)))
  }

  /** A runner takes nothing new and ends by itself what it runs; others may begin with that at once. */
  leave(runner: One): void {
    const index = this.#runners.indexOf(runner)
    if (index === -1) return
    this.#runners.splice(index, 1)
    for (const [declared, entry] of this.#entries) {
      if (entry.runner !== runner) continue
      entry.runner = undefined
      void this.#handOver(declared, entry)
    }
  }

  /** To the oldest runner that can and does not refuse; each that refuses is told. */
  async #handOver(declared: Declared, entry: Entry<One>): Promise<void> {
    for (const next of [...this.#runners]) {
      const isFree = this.#entries.get(declared) === entry && entry.runner === undefined
      if (!isFree || !this.#runners.includes(next) || !next.takes(declared)) continue
      try {
        await this.#give(declared, entry, next)
      } catch (error) {
        next.refused(declared, error)
      }
    }
  }

  #runnerFor(declared: Declared): One | undefined {
    return this.#runners.find((runner) => runner.takes(declared))
  }

  async #give(declared: Declared, entry: Entry<One>, runner: One): Promise<void> {
    entry.runner = runner
    try {
      await runner.adopt(declared)
    } catch (error) {
      // Its runner has left meanwhile: it runs in the next one, or waits.
      if (entry.runner !== runner) return
      entry.runner = undefined
      throw error
    }
  }

  /** Hands over what no one runs, each once. */
  reportIdle(report: (declared: Declared) => void): void {
    for (const [declared, entry] of this.#entries) {
      if (entry.runner !== undefined || entry.isReported) continue
      entry.isReported = true
      report(declared)
    }
  }
}
