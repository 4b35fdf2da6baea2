import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MqttQos } from '../message-options.ts'
import { parseFilter } from '../names.ts'
import type { MqttSettings } from '../options.ts'
import type { Link, LinkEvents, LinkLimits, Outgoing } from './contract.ts'
import { type Delivered, MemoryBroker, type Session } from './memory-broker.ts'

/** The brokers of this process by address: who names the same one reaches the same one. */
const brokers = new Map<string, MemoryBroker>()
let clients = 0

/** A connection to a broker within this process. */
export class MemoryLink implements Link {
  readonly limits: LinkLimits = { window: 1000, tellsSubscriptions: true }
  readonly #address: string
  readonly #clientId: string
  readonly #clean: boolean
  readonly #events: LinkEvents
  #broker: MemoryBroker | undefined
  #session: Session | undefined
  #leave: () => boolean = () => false

  constructor(settings: MqttSettings, events: LinkEvents) {
    const { host, port } = settings.address
    this.#address = `${host}:${port}`
    this.#clientId = settings.connection.clientId ?? `framework-${++clients}`
    this.#clean = settings.connection.clean ?? true
    this.#events = events
  }

  async open(): Promise<void> {
    const broker = brokers.get(this.#address) ?? new MemoryBroker()
    brokers.set(this.#address, broker)
    this.#broker = broker
    const { session, resumed } = broker.session(this.#clientId, this.#clean)
    this.#session = session
    this.#leave = session.connect((message) => this.#receive(message))
    this.#events.up(resumed)
  }

  /** Later, as over a network: not within the call that publishes. */
  #receive({ payload, details, subscription }: Delivered): void {
    setImmediate(() => {
      // A copy, for one handler may write into it.
      const message = { payload: Buffer.from(payload), details, subscriptions: [subscription], handled: () => {} }
      if (this.#session !== undefined) this.#events.message(message)
    })
  }

  async publish(message: Outgoing): Promise<void> {
    this.#broker!.publish(message)
    // Behind the deliveries: who subscribes after this must not get it.
    await nextTurn()
  }

  async subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void> {
    this.#broker!.subscribe(this.#session!, parseFilter(filter), qos, subscription)
  }

  async unsubscribe(filter: string): Promise<void> {
    this.#session!.subscriptions.delete(filter)
  }

  async close(): Promise<void> {
    const broker = this.#broker
    const session = this.#session
    if (broker === undefined || session === undefined) return
    this.#session = undefined
    if (this.#leave()) broker.leave(this.#clientId, session)
    if (broker.isDeserted && brokers.get(this.#address) === broker) brokers.delete(this.#address)
  }
}
