// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import { MqttUnavailableError } from '../errors.ts'
import type { MqttQos } from '../messages/message-options.ts'
import { bytesOf } from '../messages/payload.ts'
import type { MqttSettings } from '../options.ts'
import { parseFilter } from '../topics/filter.ts'
import { type Link, type LinkEvents, LinkLost, type Outgoing } from './contract.ts'
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
export class MemoryLink implements Link {
  readonly window = 1000
  readonly #settings: MqttSettings
  readonly #server: object | undefined
  readonly #hello: Hello
  readonly #events: LinkEvents
  readonly #client: Client
  #broker: MemoryBroker | undefined
  #session: Session | undefined
  #place: unknown

  constructor(settings: MqttSettings, events: LinkEvents, server: object | undefined) {
    this.#settings = settings
    this.#server = server
    this.#hello = helloOf(settings)
    this.#events = events
    this.#client = { deliver: (message) => this.#receive(message), drivenOut: () => this.#drivenOut() }
  }

  async open(): Promise<void> {
    this.#place = placeOf(this.#settings, this.#server)
    const broker = brokers.get(this.#place) ?? new MemoryBroker()
    brokers.set(this.#place, broker)
    this.#broker = broker
    const { session, resumed } = broker.connect(this.#client, this.#hello)
    this.#session = session
    this.#events.up(resumed)
  }

  #drivenOut(): void {
    this.#session = undefined
    const why = `another client with the name "${this.#hello.clientId}" connected to the broker ${this.#settings.address.shown}, so this one does not reconnect. Give each client its own clientId`
    this.#events.down(MqttUnavailableError(why))
  }

  /** Receives later, as over a network: not within the call that publishes. */
  #receive(given: Delivered): void {
    setImmediate(() => {
      const session = this.#session
      if (session === undefined) return
      const { payload, details, subscription } = given
      // A copy, because one handler may change it.
      const message = { payload: Buffer.from(payload), details, subscriptions: [subscription] }
      this.#events.message({ ...message, handled: () => session.handled(given) })
    })
  }

  async publish(message: Outgoing): Promise<void> {
    if (this.#session === undefined) throw new LinkLost('lost')
    this.#broker!.publish({ ...message, options: withCarrier(message) })
    // Resolves after the deliveries: a later subscriber must not receive them.
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }

  async subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void> {
    if (this.#session === undefined) throw new LinkLost('lost')
    this.#broker!.subscribe(this.#session, parseFilter(filter), qos, subscription)
  }

  async unsubscribe(filter: string): Promise<void> {
    this.#session?.subscriptions.delete(filter)
  }

  async ping(): Promise<void> {
    if (this.#session === undefined) throw new LinkLost('lost')
  }

  async close(): Promise<void> {
    const broker = this.#broker
    const session = this.#session
    if (broker === undefined) return
    this.#session = undefined
    if (session !== undefined) broker.disconnect(this.#client, session)
    // No other server reaches the broker of this one, even if a session remains.
    const isOver = broker.isDeserted || this.#place === this.#server
    if (isOver && brokers.get(this.#place) === broker) brokers.delete(this.#place)
    if (first === this.#server) first = undefined
  }
}
