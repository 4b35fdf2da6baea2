// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import { madeIn } from '../../shared/values/memoize.ts'
import { MqttUnavailableError } from '../errors.ts'
import { bytesOf } from '../messages/payload.ts'
import type { MqttSettings } from '../options.ts'
import { parseFilter } from '../topics/filter.ts'
import { type Link, type LinkEvents, LinkLost } from './contract.ts'
import { type Client, type Delivered, type Hello, MemoryBroker, type Session } from './memory-broker.ts'
import { withCarrier } from './packets.ts'

/** The brokers by address, by server, and that of this process. */
const brokers = new Map<unknown, MemoryBroker>()
/** The server that has the broker of this process: the first one, as it takes over what the process has begun without a server. */
let first: object | undefined
const ofProcess = Symbol('process')
let clients = 0

/** Which broker settings mean: only those that name an address share one with other servers. */
function placeOf({ url, host, port, address }: MqttSettings, server: object | undefined): unknown {
  if (url !== undefined || host !== undefined || port !== undefined) return `${address.host}:${address.port}`
  first ??= server
  return server === undefined || server === first ? ofProcess : server
}

function helloOf(settings: MqttSettings): Hello {
  const { clientId = `framework-${++clients}`, clean, sessionExpiryInterval, will } = settings
  const hello = { clientId, clean, expiry: sessionExpiryInterval ?? (clean ? 0 : Number.POSITIVE_INFINITY) }
  if (will === undefined) return hello
  const { topic, message, delay = 0, ...options } = will
  return { ...hello, will: { message: { topic, payload: bytesOf(topic, message), options }, delay } }
}

/** A connection to a broker within this process: it ends through `close`, or when another client of the same name connects. */
export function memoryLink(settings: MqttSettings, events: LinkEvents, server: object | undefined): Link {
  const hello = helloOf(settings)
  let place: unknown
  let broker: MemoryBroker | undefined
  let session: Session | undefined
  const mustBeUp = (): Session => {
    if (session === undefined) throw new LinkLost('lost')
    return session
  }
  const receive = (given: Delivered) => {
    const { payload, details, subscription } = given
    const receiver = session
    // A copy, because one handler may change it.
    const message = { payload: Buffer.from(payload), details, subscriptions: [subscription] }
    if (receiver !== undefined) events.message({ ...message, handled: () => receiver.handled(given) })
  }
  const client: Client = {
    // Later, as over a network: not within the call that publishes.
    deliver: (given) => void setImmediate(() => receive(given)),
    drivenOut() {
      session = undefined
      const why = `another client with the name "${hello.clientId}" connected to the broker ${settings.address.shown}, so this one does not reconnect. Give each client its own clientId`
      events.down(MqttUnavailableError(why))
    },
  }
  return {
    window: 1000,
    async open() {
      place = placeOf(settings, server)
      broker = madeIn(brokers, place, () => new MemoryBroker())
      const connected = broker.connect(client, hello)
      session = connected.session
      events.up(connected.resumed)
    },
    async publish(message) {
      mustBeUp()
      broker!.publish({ ...message, options: withCarrier(message) })
      // Resolves after the deliveries: a later subscriber must not receive them.
      await new Promise<void>((resolve) => void setImmediate(resolve))
    },
    async subscribe(filter, qos, subscription) {
      broker!.subscribe(mustBeUp(), parseFilter(filter), qos, subscription)
    },
    async unsubscribe(filter) {
      session?.subscriptions.delete(filter)
    },
    async ping() {
      mustBeUp()
    },
    async close() {
      if (broker === undefined) return
      if (session !== undefined) broker.disconnect(client, session)
      session = undefined
      // No other server reaches the broker of this one, even if a session remains.
      const isOver = broker.isDeserted || place === server
      if (isOver && brokers.get(place) === broker) brokers.delete(place)
      if (first === server) first = undefined
    },
  }
}
