import { systemClock } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'

/**
 * What is wrong with a service. `down`: it refuses connections and resets those that exist. `slow`: each response is late. `cut`: it does the work, and
 * its connection breaks in the middle of the response. `lies`: it responds with garbage.
 */
export type OutageKind = 'down' | 'slow' | 'cut' | 'lies'

/** Options of an outage. */
export interface OutageOptions {
  /** For `slow`: milliseconds by which each response is late. Default 15000, which is longer than the time limits of the plugins. */
  readonly delay?: number
}

const outageOptions = option.shape({ delay: option.ms().default(15_000) })
const outageKind = option.oneOf('down', 'slow', 'cut', 'lies').required()

/**
 * An outage in progress.
 *
 * @example
 * import { type Outage, outageProxy } from 'framework/testing'
 *
 * const proxy = await outageProxy('redis://127.0.0.1:6379')
 * const down: Outage = proxy.outage('down')
 * down.restore()
 */
export class Outage {
  /** What is wrong. */
  readonly kind: OutageKind
  readonly #delay: number
  readonly #end = new AbortController()
  readonly #undo: (() => unknown)[] = []

  /** @internal */
  constructor(kind: OutageKind, options: OutageOptions | undefined) {
    this.kind = outageKind.parse(kind, 'outage')
    this.#delay = outageOptions.parse(options, 'outage').delay
  }

  /** Waits until a late response arrives: after the delay, or at the end of the outage; returns whether that is within a limit. @internal */
  async isInTime(limit = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { signal } = this.#end
    await systemClock.sleep(Math.min(this.#delay, limit), signal).catch(() => {})
    return this.#delay <= limit || signal.aborted
  }

  /** @internal */
  whenOver(work: () => unknown): void {
    this.#undo.push(work)
  }

  /** Ends the outage: late responses arrive now, and the service works again. */
  restore(): void {
    this.#end.abort()
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** The same, for `using` and `await using`. */
  [Symbol.dispose](): void {
    this.restore()
  }
}
