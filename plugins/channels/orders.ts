import { randomUUID } from 'node:crypto'
import type { Logger } from '../../kernel/index.ts'
import type { Connections } from '../shared/http/connections.ts'
import { type Bus, type BusEvents, type Entry, placeOf } from './buses/contract.ts'
import { ChannelUnavailableError } from './errors.ts'

/** Not the name of a channel, which has no "!". */
const name = '!signed-out'

/** For an instance that has lost its connection meanwhile. */
const keeping = { messages: 1_000, bytes: 2 ** 20, ms: 300_000 }

/** Carries the orders to end the connections of a caller to all instances. An instance that has missed one ends all its connections with a caller. */
export class Orders {
  readonly #bus: Bus
  readonly #connections: Connections
  readonly #log: Logger
  readonly #own = randomUUID()
  /** The place of the last order; `undefined` until messages arrive. */
  #last: string | undefined
  #reading: Promise<void> | undefined

  constructor(bus: Bus, connections: Connections, log: Logger) {
    this.#bus = bus
    this.#connections = connections
    this.#log = log
    connections.carriers.add(async (key) => {
      try {
        await bus.publish(name, { kind: 'message', body: `${this.#own} ${key}` }, keeping)
      } catch (cause) {
        throw Object.assign(ChannelUnavailableError(), { cause })
      }
    })
  }

  /** Adds the orders to what the bus reports. */
  among(events: BusEvents): BusEvents {
    return {
      entry: (of, entry) => (of === name ? this.#entry(entry) : events.entry(of, entry)),
      present: (of, id, present) => events.present(of, id, present),
      resumed: () => {
        events.resumed()
        void this.read()
      },
    }
  }

  #entry(entry: Entry): void {
    const place = this.#last === undefined ? 'gap' : placeOf(entry.id, this.#last)
    if (place === 'gap') void this.read()
    else if (place === 'next') this.#obey(entry)
  }

  #obey({ id, body }: Entry): void {
    this.#last = id
    const [from, key] = body.split(/ (.*)/s)
    // Its own have been obeyed; the caller may have signed in again since.
    if (from !== this.#own) this.#connections.endHere(key!)
  }

  /** Listens, and reads what this instance has missed; one reading after the other. */
  read(isFirst = false): Promise<void> {
    const reading = (this.#reading ?? Promise.resolve()).then(() => this.#read(isFirst))
    this.#reading = reading
    return reading
  }

  async #read(isFirst: boolean): Promise<void> {
    try {
      await this.#bus.subscribe(name)
      const replay = await this.#bus.after(name, this.#last, 'own')
      if (this.#last === undefined ? !isFirst : !replay.isComplete) this.#connections.endAll()
      for (const entry of replay.entries) this.#obey(entry)
      this.#last = replay.last
    } catch (error) {
      // Read again with the next order, and when the connection is back.
      this.#log.warn({ err: error }, 'orders to sign callers out cannot be received')
    }
  }
}
