import { clock } from '../../kernel/index.ts'
import { deferred } from '../shared/values/promises.ts'

/** One response, or one piece of data, that is being computed in this process. */
export interface Flight<Landed> {
  readonly key: string
  readonly tags: readonly string[]
  /** When the computation began, by the clock of `performance.now()`. */
  readonly since: number
  /** The result; `undefined` when other callers may not use it. Never rejects. */
  readonly landed: Promise<Landed | undefined>
  land(result: Landed | undefined): void
}

/** What is being computed in this process, by key: requests for the same response wait for it. */
export class Flights<Landed> {
  readonly #flying = new Map<string, Flight<Landed>>()

  /** Ignores a flight that is `longest` milliseconds old: a computation that never ends must not block its key for ever. */
  find(key: string, longest: number): Flight<Landed> | undefined {
    const flight = this.#flying.get(key)
    return flight === undefined || clock.monotonic() - flight.since >= longest ? undefined : flight
  }

  start(key: string, tags: readonly string[]): Flight<Landed> {
    const { promise: landed, resolve } = deferred<Landed | undefined>()
    const flight: Flight<Landed> = {
      key,
      tags,
      since: clock.monotonic(),
      landed,
      land: (result) => {
        if (this.#flying.get(key) === flight) this.#flying.delete(key)
        resolve(result)
      },
    }
    this.#flying.set(key, flight)
    return flight
  }

  /** Lets no further request join these flights: their responses were invalidated. Requests that already wait came before that. */
  drop(isMeant: (flight: Flight<Landed>) => boolean): void {
    for (const [key, flight] of this.#flying) if (isMeant(flight)) this.#flying.delete(key)
  }
}
