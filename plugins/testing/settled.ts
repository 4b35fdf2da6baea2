// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import { defineErrors, type Kernel, systemClock, virtualClock } from '../../kernel/index.ts'
import { followChannel } from '../shared/development/held-channel.ts'
import type { WorkKind } from '../shared/work/kind.ts'
import type { OpenWork } from '../shared/work/open-work.ts'

export const { NotSettledError } = defineErrors({
  NotSettledError: (ms: number, open: readonly string[]) =>
    `after ${ms} ms there is still open work:\n${open.map((one) => `- ${one}`).join('\n')}\nIf it is slow and not stuck, give it more time: settled({ timeout: 20_000 })`,
})

/** How often nothing must have been open: a message may be on its way to its handler. */
const quietTurns = 3
/** Milliseconds between two looks at services outside of the process. */
const pause = 20

/** The work of a server under test that has begun and is not over. */
export class WorkInProgress {
  readonly #server: Kernel
  readonly #traced = new Map<object, WorkKind>()

  constructor(server: Kernel) {
    this.#server = server
  }

  /** Follows the work of all plugins of the server, which has booted; `stops` end this. */
  follow(stops: (() => void)[]): void {
    const plugins = this.#server.listing.plugins.map(({ definition }) => definition)
    for (const kind of new Set(plugins.flatMap(({ work = [] }) => work)) as Set<WorkKind>) {
      if (kind.form !== undefined && kind.form !== 'work') continue
      const name = `tracing:framework:${kind.channel}`
      const begun = (event: { readonly server?: unknown }) => {
        // Work of a plugin that does not say whose it is may be that of this server.
        if (event.server === undefined || event.server === this.#server) this.#traced.set(event, kind)
      }
      stops.push(
        followChannel(`${name}:start`, begun),
        followChannel(`${name}:asyncEnd`, (event: object) => void this.#traced.delete(event)),
      )
    }
  }

  /**
   * Resolves when nothing is open any more but what waits for the clock or is left to others, with a list of that.
   *
   * @throws NotSettledError (as a rejection)
   */
  async settled(timeout: number, isInMemory: boolean): Promise<readonly OpenWork[]> {
    const end = systemClock.monotonic() + timeout
    for (let quiet = 0; ; ) {
      if (isInMemory) await new Promise<void>((resolve) => void setImmediate(resolve))
      else await systemClock.sleep(pause)
      const work = await this.#reported()
      const traced = [...this.#traced].map(([event, kind]) => ({ what: nameOf(kind, event) }))
      const open = [...work.filter(({ due, isElsewhere }) => due === undefined && !isElsewhere), ...traced]
      const clock = virtualClock()?.work ?? 'over'
      quiet = clock === 'asleep' || (clock === 'over' && open.length === 0) ? quiet + 1 : 0
      if (quiet === quietTurns) return [...work, ...traced]
      if (systemClock.monotonic() < end) continue
      const names = open.map(({ what }) => what)
      throw NotSettledError(timeout, names.length > 0 ? names : ['work that no plugin has named'])
    }
  }

  async #reported(): Promise<readonly OpenWork[]> {
    const asked = this.#server.listing.plugins.map(async ({ definition, scope }) =>
      definition.openWork?.(scope.services),
    )
    return (await Promise.all(asked)).flatMap((work) => work ?? [])
  }
}

function nameOf({ list, span, title = span, note }: WorkKind, event: object): string {
  const more = note?.(event as never)
  return `${list?.title ?? 'work'}: ${title(event as never)}${more ? ` (${more})` : ''}`
}
