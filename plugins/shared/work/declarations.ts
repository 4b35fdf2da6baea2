/** Runs declarations: the service of a server, or of a script. */
export interface Runner<Declared> {
  /** Whether it can run this declaration. */
  takes(declared: Declared): boolean
  /** Starts to run a declaration; if it throws or rejects, it does not run it. */
  adopt(declared: Declared): void | Promise<void>
  /** Called when it has failed to adopt a declaration that another runner has left: no caller awaits that. */
  refused(declared: Declared, error: unknown): void
}

/** The runner of a declaration, if it has one. */
interface Entry<One> {
  runner: One | undefined
  isReported: boolean
}

/**
 * The declarations of this process, made before or after there is a server, and their runners. Of the runners that can run a
 * declaration, only the oldest does. When that runner leaves, the next one takes over, or the declaration waits for one.
 */
export class Declarations<Declared extends object, One extends Runner<Declared>> {
  /** The services that run declarations, or are about to. */
  readonly expected = new Set<object>()
  readonly #entries = new Map<Declared, Entry<One>>()
  readonly #runners: One[] = []

  /** All declarations, the oldest first. */
  get all(): readonly Declared[] {
    return [...this.#entries.keys()]
  }

  has(declared: Declared): boolean {
    return this.#entries.has(declared)
  }

  /** The runners that have not left, the oldest first. */
  get runners(): readonly One[] {
    return this.#runners
  }

  /**
   * Adds a declaration. If there is a runner, the declaration runs when this resolves; otherwise it waits for one.
   *
   * @throws (as a rejection) the failure of the runner; the declaration is then not added.
   */
  async add(declared: Declared): Promise<void> {
    const entry: Entry<One> = { runner: undefined, isReported: false }
    this.#entries.set(declared, entry)
    const runner = this.#runners.find((one) => one.takes(declared))
    if (runner === undefined) return
    try {
      await this.#give(declared, entry, runner)
    } catch (error) {
      if (this.#entries.get(declared) === entry) this.#entries.delete(declared)
      throw error
    }
  }

  /** Removes a declaration; returns the runner that must end it. */
  remove(declared: Declared): One | undefined {
    const runner = this.#entries.get(declared)?.runner
    this.#entries.delete(declared)
    return runner
  }

  /**
   * Adds a runner, which adopts the declarations without one.
   *
   * @throws (as a rejection) the runner's first refusal. The runner stays until it leaves.
   */
  async open(runner: One): Promise<void> {
    this.#runners.push(runner)
    await this.takeFree(runner)
  }

  /** Lets an existing runner adopt declarations without a runner that it can run by now. */
  async takeFree(runner: One): Promise<void> {
    const free = [...this.#entries].filter(([declared, entry]) => entry.runner === undefined && runner.takes(declared))
    await Promise.all(free.map(([declared, entry]) => this.#give(declared, entry, runner)))
  }

  /** Removes a runner, which ends its declarations itself; others may start them immediately. */
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

  /** Passes a declaration to the oldest runner that can run it and does not refuse; each refusal is reported to its runner. */
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

  async #give(declared: Declared, entry: Entry<One>, runner: One): Promise<void> {
    entry.runner = runner
    try {
      await runner.adopt(declared)
    } catch (error) {
      // Its runner has left in the meantime: the declaration runs in the next one, or waits.
      if (entry.runner !== runner) return
      entry.runner = undefined
      throw error
    }
  }

  /** Reports the declarations without a runner, each once. */
  reportIdle(report: (declared: Declared) => void): void {
    for (const [declared, entry] of this.#entries) {
      if (entry.runner !== undefined || entry.isReported) continue
      entry.isReported = true
      report(declared)
    }
  }
}
