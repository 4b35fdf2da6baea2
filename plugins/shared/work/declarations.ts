import { declarationPoint } from '../../../kernel/index.ts'
import { runningServer } from '../values/running-server.ts'

/** Runs declarations: the service of a server, or of a script. */
export interface Runner<Declared> {
  /** Its server; `undefined` for a script. */
  readonly server: object | undefined
  /** Whether it can run this declaration by now. Default: it can. */
  takes?(declared: Declared): boolean
  /** Starts to run a declaration; if it throws or rejects, it does not run it. */
  adopt(declared: Declared): void | Promise<void>
  /** Ends a declaration. */
  drop(declared: Declared): void | Promise<void>
}

/** A declaration. */
interface Entry<One> {
  /** The server whose hook has made it: no other runs it, as it may use the services of that server. */
  readonly owner: object | undefined
  readonly runners: Set<One>
  isReported: boolean
}

/**
 * The declarations of this process, made before or after there is a server. Each server runs every one of them by itself, except for those
 * that a hook of another server has made.
 */
export class Declarations<Declared extends object, One extends Runner<Declared> = Runner<Declared>> {
  readonly #entries = new Map<Declared, Entry<One>>()
  readonly #runners = new Set<One>()

  /** All declarations, the oldest first. */
  get all(): readonly Declared[] {
    return [...this.#entries.keys()]
  }

  /** The declarations that a server may run, the oldest first. */
  of(server: object | undefined): Declared[] {
    return this.all.filter((declared) => this.#isFor(server, this.#entries.get(declared)!))
  }

  has(declared: Declared): boolean {
    return this.#entries.has(declared)
  }

  /** The runners that have not left, the oldest first. */
  get runners(): readonly One[] {
    return [...this.#runners]
  }

  /**
   * Adds a declaration. It runs in all runners when this resolves; later ones run it as well.
   *
   * @throws (as a rejection) the first failure of a runner; the declaration is then not added.
   */
  async add(declared: Declared, owner: object | undefined = runningServer()): Promise<void> {
    if (declarationPoint.isOn) declarationPoint.publish({ declared })
    const entry: Entry<One> = { owner, runners: new Set(), isReported: false }
    this.#entries.set(declared, entry)
    try {
      await Promise.all(this.runners.map((runner) => this.#give(declared, entry, runner)))
    } catch (error) {
      if (this.#entries.get(declared) === entry) await this.remove(declared)
      throw error
    }
  }

  /** Removes a declaration; resolves when all of its runners have ended it. */
  async remove(declared: Declared): Promise<void> {
    const entry = this.#entries.get(declared)
    this.#entries.delete(declared)
    await Promise.all([...(entry?.runners ?? [])].map((runner) => runner.drop(declared)))
  }

  /** Adds a runner for the declarations from now on. */
  join(runner: One): void {
    this.#runners.add(runner)
  }

  /**
   * Adds a runner for all declarations.
   *
   * @throws (as a rejection) the runner's first refusal. The runner stays until it leaves.
   */
  async open(runner: One): Promise<void> {
    this.join(runner)
    await this.takeFree(runner)
  }

  /** Lets an existing runner run the declarations that it takes by now. */
  async takeFree(runner: One): Promise<void> {
    await Promise.all([...this.#entries].map(([declared, entry]) => this.#give(declared, entry, runner)))
  }

  /** Lets a runner continue what another one runs. */
  replace(before: One, after: One): void {
    for (const set of [this.#runners, ...[...this.#entries.values()].map(({ runners }) => runners)])
      if (set.delete(before)) set.add(after)
  }

  /** Removes a runner, which ends its declarations itself. */
  leave(runner: One): void {
    this.#runners.delete(runner)
    for (const entry of this.#entries.values()) entry.runners.delete(runner)
  }

  /** Forgets the declarations that hooks of a server have made, which has closed. */
  forget(server: object): void {
    for (const [declared, { owner }] of this.#entries) if (owner === server) this.#entries.delete(declared)
  }

  #isFor(server: object | undefined, { owner }: Entry<One>): boolean {
    return owner === undefined || owner === server
  }

  async #give(declared: Declared, entry: Entry<One>, runner: One): Promise<void> {
    if (!this.#isFor(runner.server, entry) || entry.runners.has(runner) || runner.takes?.(declared) === false) return
    entry.runners.add(runner)
    try {
      await runner.adopt(declared)
    } catch (error) {
      // It has left in the meantime.
      if (!entry.runners.delete(runner)) return
      throw error
    }
  }

  /** Reports the declarations without a runner, each once; `isMeant` selects by the server whose hook has made them. */
  reportIdle(
    report: (declared: Declared, owner: object | undefined) => void,
    isMeant: (owner: object | undefined) => boolean = () => true,
  ): void {
    for (const [declared, entry] of this.#entries) {
      if (entry.runners.size > 0 || entry.isReported || !isMeant(entry.owner)) continue
      entry.isReported = true
      report(declared, entry.owner)
    }
  }
}
