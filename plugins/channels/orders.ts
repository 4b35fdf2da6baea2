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
export function signOutOrders(bus: Bus, log: Logger) {
  const own = randomUUID()
  let connections: Connections | undefined
  /** The place of the last order. At the boot, those of the last minutes are read: a ticket may be older. */
  let last = nothingYet
  let reading = Promise.resolve()
  /** Set while orders cannot be read. */
  let retry: Timer | undefined

  const obey = ({ id, body }: Entry) => {
    last = id
    const [from, key] = body.split(/ (.*)/s)
    // Its own have been obeyed; the caller may have signed in again since.
    if (from !== own) connections?.endHere(key!)
  }

  const readMissed = async () => {
    if (connections === undefined) return
    try {
      await bus.subscribe(name)
      const replay = await bus.after(name, last, 'own')
      if (!replay.isComplete) connections.endAll()
      // One that has arrived meanwhile is not obeyed twice: the caller may have signed in again.
      for (const entry of replay.entries) if (placeOf(entry.id, last) !== 'seen') obey(entry)
      if (placeOf(replay.last, last) !== 'seen') last = replay.last
      retry = undefined
    } catch (error) {
      if (retry === undefined) log.warn({ err: error }, 'orders to sign callers out cannot be received')
      // The connection that listens may be back before commands are sent again, so that nothing else would begin it anew.
      retry = systemClock.setTimeout(() => void read(), 500)
      retry.unref()
    }
  }

  /** Listens, and reads what this instance has missed; one reading after the other. */
  const read = () => {
    reading = reading.then(readMissed)
    return reading
  }

  return {
    /** Begins once all plugins are set up: one that finds out who is calling may be in an inner scope, or come later. */
    async begin(found: Connections | undefined): Promise<void> {
      connections = found
      found?.carriers.add(async (key) => {
        try {
          await bus.publish(name, { kind: 'message', body: `${own} ${key}` }, keeping)
        } catch (cause) {
          log.warn({ err: cause }, 'an order to sign out was not sent; connections on other instances may be open')
          throw Object.assign(ChannelUnavailableError(), { cause })
        }
      })
      await read()
    },
    /** Adds the orders to what the bus reports. */
    among(events: BusEvents): BusEvents {
      return {
        entry(of, entry) {
          if (of !== name) return events.entry(of, entry)
          const place = placeOf(entry.id, last)
          if (place === 'gap') void read()
          else if (place === 'next') obey(entry)
        },
        present: (of, id, present) => events.present(of, id, present),
        resumed() {
          events.resumed()
          void read()
        },
      }
    },
    close(): void {
      connections = undefined
      if (retry !== undefined) systemClock.clear(retry)
    },
  }
}
