import { defineError, isReportedTogether } from '../support/errors.ts'

const SeveralPluginsError = defineError(
  'SeveralPluginsError',
  (all: readonly string[]) => `${all.length} plugins cannot run here:\n${all.map((one) => `- ${one}`).join('\n')}`,
)

/** Collects the failures of a server's plugins, which start one after the other. */
export class BootFailures {
  readonly #all: Error[] = []

  /**
   * Whether a plugin has started. One that cannot run in this environment does not end the boot yet: the others are also tried.
   *
   * @throws any other failure; after a first one it may be a consequence, and is left out.
   */
  async passes(run: () => Promise<void>): Promise<boolean> {
    try {
      await run()
      return true
    } catch (error) {
      if (isReportedTogether((error as Error).cause)) this.#all.push(error as Error)
      else if (this.#all.length === 0) throw error
      return false
    }
  }

  /** The only failure, or one error for all of them. */
  get error(): Error | undefined {
    if (this.#all.length < 2) return this.#all[0]
    return Object.assign(SeveralPluginsError(this.#all.map(({ message }) => message)), { errors: this.#all })
  }
}
