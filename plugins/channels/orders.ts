import { randomUUID } from 'node:crypto'
import { type Logger, systemClock, type Timer } from '../../kernel/index.ts'
import type { Connections } from '../shared/http/connections.ts'
import { type Bus, type BusEvents, type Entry, nothingYet, placeOf } from './buses/contract.ts'
import { ChannelUnavailableError } from './errors.ts'

/** Not the name of a channel, no part of which is empty: a client that joins it could read and send orders, and end them for its instance when it leaves. */
const name = '/signed-out'

/** For an instance that has lost its connection meanwhile. */
const keeping = { messages: 1_000, bytes: 2 ** 20, ms: 300_000 }

/** Carries the orders to end the connections of a caller to all instances. An instance that has missed one ends all its connections with a caller. */
export class Orders {
  readonly #bus: Bus
  readonly #log: Logger
  readonly #own = randomUUID()
  #connections: Connections | undefined
  /** The place of the last order. At the boot, those of the last minutes are read: a ticket may be older. */
  #last = nothingYet
  #reading: Promise<void> | undefined
  /** Set while orders cannot be read. */
  #retry: Timer | undefined

  constructor(bus: Bus, log: Logger) {
    this.#bus = bus
    this.#log = log
  }

  /** Begins once all plugins are set up: one that finds out who is calling may be in an inner scope, or come later. */
  async begin(connections: Connections | undefined): Promise<void> {
    if (connections === undefined) return
    this.#connections = connections
    connections.carriers.add(async (key) => {
      try {
        await this.#bus.publish(name, { kind: 'message', body: `${this.#own} ${key}` }, keeping)
      } catch (cause) {
        this.#log.warn({ err: cause }, 'an order to sign out was not sent; connections on other instances may be open')
        throw Object.assign(ChannelUnavailableError(), { cause })
      }
    })
    await this.#read()
  }

  /** Adds the orders to what the bus reports. */
  among(events: BusEvents): BusEvents {
    return {
      entry: (of, entry) => (of === name ? this.#entry(entry) : events.entry(of, entry)),
      present: (of, id, present) => events.present(of, id, present),
      resumed: () => {
        events.resumed()
        void this.#read()
      },
    }
  }

  #entry(entry: Entry): void {
    const place = placeOf(entry.id, this.#last)
    if (place === 'gap') void this.#read()
    else if (place === 'next') this.#obey(entry)
  }

  #obey({ id, body }: Entry): void {
    this.#last = id
    const [from, key] = body.split(/ (.*)/s)
    // Its own have been obeyed; the caller may have signed in again since.
    if (from !== this.#own) this.#connections?.endHere(key!)
  }

  /** Listens, and reads what this instance has missed; one reading after the other. */
  #read(): Promise<void> {
    const reading = (this.#reading ?? Promise.resolve()).then(() => this.#readMissed())
    this.#reading = reading
    return reading
  }

  async #readMissed(): Promise<void> {
    if (this.#connections === undefined) return
    try {
      await this.#bus.subscribe(name)
      const replay = await this.#bus.after(name, this.#last, 'own')
      if (!replay.isComplete) this.#connections.endAll()
      // One that has arrived meanwhile is not obeyed twice: the caller may have signed in again.
      for (const entry of replay.entries) if (placeOf(entry.id, this.#last) !== 'seen') this.#obey(entry)
      if (placeOf(replay.last, this.#last) !== 'seen') this.#last = replay.last
      this.#retry = undefined
    } catch (error) {
      if (this.#retry === undefined) this.#log.warn({ err: error }, 'orders to sign callers out cannot be received')
      // The connection that listens may be back before commands are sent again, so that nothing else would begin it anew.
      this.#retry = systemClock.setTimeout(() => void this.#read(), 500)
      this.#retry.unref()
    }
  }

  close(): void {
    this.#connections = undefined
    if (this.#retry !== undefined) systemClock.clear(this.#retry)
  }
}
