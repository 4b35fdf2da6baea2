import { systemClock } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'

/**
 * What is wrong with a service. `down`: it refuses connections and resets those that exist. `slow`: each response is late. `cut`: it does the work, and
 * its connection breaks in the middle of the response. `lies`: it responds with garbage.
 */
export type OutageKind = 'down' | 'slow' | 'cut' | 'lies'

/** Options of an outage. */
export interface OutageOptions {
  /** For `slow`: milliseconds by which each response is late. Default 10000, which is longer than the time limits of the plugins. */
  readonly delay?: number
}

const outageOptions = option.shape({ delay: option.ms().default(10_000) })
const outageKind = option.oneOf('down', 'slow', 'cut', 'lies').required()

/** An outage in progress. */
export class Outage {
  readonly kind: OutageKind
  readonly #delay: number
  readonly #end = new AbortController()
  readonly #restored: () => void

  /** @internal */
  constructor(kind: OutageKind, options: OutageOptions | undefined, restored: () => void) {
    this.kind = outageKind.parse(kind, 'outage')
    this.#delay = outageOptions.parse(options, 'outage').delay
    this.#restored = restored
  }

  /** Resolves when a late response may arrive: after the delay, or at the end of the outage. @internal */
  async late(): Promise<void> {
    await systemClock.sleep(this.#delay, this.#end.signal).catch(() => {})
  }

  /** Ends the outage: late responses arrive now, and the service works again. */
  restore(): void {
    if (this.#end.signal.aborted) return
    this.#end.abort()
    this.#restored()
  }

  /** The same, for `using` and `await using`. */
  [Symbol.dispose](): void {
    this.restore()
  }
}
