import type { MqttQos } from '../message-options.ts'
import { type Filter, matches } from '../names.ts'
import type { MqttDetails } from '../types.ts'
import type { Outgoing } from './contract.ts'

/** One message as a client gets it. */
export interface Delivered {
  readonly payload: Buffer
  readonly details: MqttDetails
  readonly subscription: number
}

interface Subscription {
  readonly filter: Filter
  readonly qos: MqttQos
  readonly number: number
  readonly group: string | undefined
}

/** How many messages wait for a client that is away. */
const mostWaiting = 10_000

/** What a broker knows of one client: it may outlive the connection. */
export class Session {
  readonly subscriptions = new Map<string, Subscription>()
  /** For a client that is away: what it will get. */
  readonly waiting: Delivered[] = []
  isKept = false
  #deliver: ((message: Delivered) => void) | undefined

  /** @returns what takes the client off again; nothing happens when another one has taken its place. */
  connect(deliver: (message: Delivered) => void): () => boolean {
    this.#deliver = deliver
    for (const message of this.waiting.splice(0)) deliver(message)
    return () => {
      if (this.#deliver !== deliver) return false
      this.#deliver = undefined
      return true
    }
  }

  get isConnected(): boolean {
    return this.#deliver !== undefined
  }

  give(message: Delivered): void {
    if (this.#deliver !== undefined) this.#deliver(message)
    else if (message.details.qos > 0 && this.waiting.length < mostWaiting) this.waiting.push(message)
  }
}

interface Kept {
  readonly message: Outgoing
  readonly levels: readonly string[]
  readonly at: number
}

/** A broker within the process: topics, patterns, groups, kept messages and sessions as in MQTT 5. */
export class MemoryBroker {
  readonly #sessions = new Map<string, Session>()
  readonly #kept = new Map<string, Kept>()
  /** Whose turn it is in each group. */
  readonly #turns = new Map<string, number>()

  /** The session of a client, and whether it goes on. */
  session(clientId: string, clean: boolean): { session: Session; resumed: boolean } {
    const there = this.#sessions.get(clientId)
    if (there !== undefined && !clean) return { session: there, resumed: true }
    const session = new Session()
    session.isKept = !clean
    this.#sessions.set(clientId, session)
    return { session, resumed: false }
  }

  leave(clientId: string, session: Session): void {
    if (!session.isKept && this.#sessions.get(clientId) === session) this.#sessions.delete(clientId)
  }

  /** Whether nobody is there, and nobody will come back. */
  get isDeserted(): boolean {
    return this.#sessions.size === 0
  }

  subscribe(session: Session, filter: Filter, qos: MqttQos, number: number): void {
    const group = filter.text.startsWith('$share/') ? filter.text : undefined
    const subscription = { filter, qos, number, group }
    session.subscriptions.set(filter.text, subscription)
    if (group !== undefined) return
    for (const [topic, { message, levels, at }] of this.#kept) {
      const { messageExpiryInterval } = message.options
      if (messageExpiryInterval !== undefined && performance.now() - at >= messageExpiryInterval * 1000)
        this.#kept.delete(topic)
      else if (matches(filter.levels, levels)) session.give(delivered(message, subscription, true))
    }
  }

  publish(message: Outgoing): void {
    const levels = message.topic.split('/')
    if (message.options.retain) {
      if (message.payload.byteLength === 0) this.#kept.delete(message.topic)
      else this.#kept.set(message.topic, { message, levels, at: performance.now() })
    }
    const groups = new Map<string, { session: Session; subscription: Subscription }[]>()
    for (const session of [...this.#sessions.values()]) {
      for (const subscription of [...session.subscriptions.values()]) {
        if (!matches(subscription.filter.levels, levels)) continue
        if (subscription.group === undefined) session.give(delivered(message, subscription, false))
        else groups.set(subscription.group, [...(groups.get(subscription.group) ?? []), { session, subscription }])
      }
    }
    for (const [group, members] of groups) this.#giveOne(group, members, message)
  }

  /** One of a group in turn; of those that are there, where some are. */
  #giveOne(
    group: string,
    members: readonly { session: Session; subscription: Subscription }[],
    message: Outgoing,
  ): void {
    const there = members.filter(({ session }) => session.isConnected)
    const candidates = there.length > 0 ? there : members
    const turn = this.#turns.get(group) ?? 0
    this.#turns.set(group, turn + 1)
    const { session, subscription } = candidates[turn % candidates.length]!
    session.give(delivered(message, subscription, false))
  }
}

function delivered({ topic, payload, options }: Outgoing, { qos, number }: Subscription, retain: boolean): Delivered {
  const { userProperties, contentType, responseTopic, correlationData } = options
  return {
    payload,
    subscription: number,
    details: {
      topic,
      qos: Math.min(options.qos ?? 0, qos) as MqttQos,
      retain,
      duplicate: false,
      userProperties: Object.assign(Object.create(null), userProperties),
      contentType,
      responseTopic,
      correlationData,
    },
  }
}
