import { clock } from '../../kernel/index.ts'
import type { Entry } from './entry.ts'

/** One response that is being computed in this process. */
export interface Flight {
  readonly key: string
  readonly tags: readonly string[]
  /** When the computation began, by the clock of `performance.now()`. */
  readonly since: number
  /** The result; `undefined` when other requests may not use it. Never rejects. */
  readonly landed: Promise<Entry | undefined>
  land(entry: Entry | undefined): void
}

/** The responses that are being computed in this process, by key: requests for the same response wait for it. */
export class Flights {
  readonly #flying = new Map<string, Flight>()

  /** Ignores a flight older than `longest` milliseconds: a computation that never ends must not block its key for ever. */
  find(key: string, longest: number): Flight | undefined {
    const flight = this.#flying.get(key)
    return flight === undefined || clock.monotonic() - flight.since > longest ? undefined : flight
  }

  start(key: string, tags: readonly string[]): Flight {
    let settle!: (entry: Entry | undefined) => void
    const landed = new Promise<Entry | undefined>((resolve) => {
      settle = resolve
    })
    const flight: Flight = {
      key,
      tags,
      since: clock.monotonic(),
      landed,
      land: (entry) => {
        if (this.#flying.get(key) === flight) this.#flying.delete(key)
        settle(entry)
      },
    }
    this.#flying.set(key, flight)
    return flight
  }

  /** Lets no further request join these flights: their responses were invalidated. Requests that already wait came before that. */
  drop(isMeant: (flight: Flight) => boolean): void {
    for (const [key, flight] of this.#flying) if (isMeant(flight)) this.#flying.delete(key)
  }
}
