import { clock } from '../../../kernel/index.ts'
import type { MqttQos } from '../messages/message-options.ts'
import { type Filter, matches } from '../topics/filter.ts'
import type { MqttDetails } from '../types.ts'
import type { Outgoing } from './contract.ts'
import { detailsOf } from './packets.ts'

/** One message as a client receives it. */
export interface Delivered {
  readonly payload: Buffer
  readonly details: Omit<MqttDetails, 'signal'>
  readonly subscription: number
}

/** The data of a client that connects. */
export interface Hello {
  readonly clientId: string
  readonly clean: boolean
  /** Seconds for which its session outlives the connection. */
  readonly expiry: number
  /** The last will, with the delay in seconds before it is published. */
  readonly will?: { readonly message: Outgoing; readonly delay: number } | undefined
}

/** The broker's view of a connection. */
export interface Client {
  deliver(message: Delivered): void
  /** Called when another client of the same name has connected. */
  drivenOut(): void
}

interface Subscription {
  readonly filter: Filter
  readonly qos: MqttQos
  readonly number: number
  readonly group: string | undefined
}

/** The maximum number of messages that wait for a disconnected client. */
const mostWaiting = 10_000

const seconds = (count: number | undefined) => (count === undefined ? Number.POSITIVE_INFINITY : count * 1000)

/** The broker's state for one client, which may outlive the connection. */
export class Session {
  readonly subscriptions = new Map<string, Subscription>()
  /** The messages for a disconnected client, and when they expire. */
  readonly #waiting: { readonly message: Delivered; readonly until: number }[] = []
  /** Messages of QoS 1 and 2 that the client received and has not handled yet. */
  readonly #given = new Set<Delivered>()
  #client: Client | undefined
  #hello: Hello
  #endsAt = Number.POSITIVE_INFINITY

  constructor(hello: Hello) {
    this.#hello = hello
  }

  connect(client: Client, hello: Hello): void {
    this.#client = client
    this.#hello = hello
    this.#endsAt = Number.POSITIVE_INFINITY
    const now = clock.monotonic()
    for (const { message, until } of this.#waiting.splice(0)) if (now < until) this.#deliver(client, message)
  }

  #deliver(client: Client, message: Delivered): void {
    if (message.details.qos > 0) this.#given.add(message)
    client.deliver(message)
  }

  /** Notes that the client has handled this message. */
  handled(message: Delivered): void {
    this.#given.delete(message)
  }

  disconnect(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    // Unhandled messages wait for the next client of this name.
    const again = Array.from(this.#given, (message) => ({
      message: { ...message, details: { ...message.details, duplicate: true } },
      until: Number.POSITIVE_INFINITY,
    }))
    this.#given.clear()
    this.#waiting.unshift(...again)
    this.#endsAt = clock.monotonic() + seconds(this.#hello.expiry)
  }

  get isConnected(): boolean {
    return this.#client !== undefined
  }

  get isOver(): boolean {
    return !this.isConnected && clock.monotonic() >= this.#endsAt
  }

  /** Disconnects the present client; returns its last will. */
  takeOver(): Hello['will'] {
    const client = this.#client
    if (client === undefined) return undefined
    this.disconnect(client)
    client.drivenOut()
    return this.#hello.will
  }

  give(message: Delivered, expiry: number | undefined): void {
    if (this.#client !== undefined) this.#deliver(this.#client, message)
    else if (message.details.qos > 0 && this.#waiting.length < mostWaiting) {
      this.#waiting.push({ message, until: clock.monotonic() + seconds(expiry) })
    }
  }
}

/** A member of a group. */
interface Member {
  readonly session: Session
  readonly subscription: Subscription
}

interface Kept {
  readonly message: Outgoing
  readonly levels: readonly string[]
  readonly until: number
}

/** A broker within the process: topics, patterns, groups, retained messages, sessions and wills as in MQTT 5. */
export class MemoryBroker {
  readonly #sessions = new Map<string, Session>()
  readonly #kept = new Map<string, Kept>()
  /** The next member of each group. */
  readonly #turns = new Map<string, number>()

  /** The session of a client, and whether it continues. */
  connect(client: Client, hello: Hello): { session: Session; resumed: boolean } {
    this.#forgetSessions()
    const there = this.#sessions.get(hello.clientId)
    const resumed = there !== undefined && !hello.clean
    const will = there?.takeOver()
    const session = resumed ? there : new Session(hello)
    this.#sessions.set(hello.clientId, session)
    // Section 3.1.3.2.2: a delayed will is not published if the session continues.
    if (will !== undefined && (!resumed || will.delay === 0)) this.publish(will.message)
    session.connect(client, hello)
    return { session, resumed }
  }

  /** Disconnects a client at its own request: its last will is dropped. */
  disconnect(client: Client, session: Session): void {
    session.disconnect(client)
    this.#forgetSessions()
  }

  #forgetSessions(): void {
    for (const [clientId, session] of this.#sessions) if (session.isOver) this.#sessions.delete(clientId)
  }

  /** Whether no client is connected, and none will come back. */
  get isDeserted(): boolean {
    return this.#sessions.size === 0
  }

  subscribe(session: Session, filter: Filter, qos: MqttQos, number: number): void {
    const group = filter.text.startsWith('$share/') ? filter.text : undefined
    const subscription = { filter, qos, number, group }
    session.subscriptions.set(filter.text, subscription)
    if (group !== undefined) return
    const now = clock.monotonic()
    for (const [topic, { message, levels, until }] of this.#kept) {
      if (now >= until) this.#kept.delete(topic)
      else if (matches(filter.levels, levels)) session.give(delivered(message, subscription, true), undefined)
    }
  }

  publish(message: Outgoing): void {
    this.#forgetSessions()
    const levels = message.topic.split('/')
    const { retain, messageExpiryInterval: expiry } = message.options
    if (retain) {
      if (message.payload.byteLength === 0) this.#kept.delete(message.topic)
      else this.#kept.set(message.topic, { message, levels, until: clock.monotonic() + seconds(expiry) })
    }
    const groups = new Map<string, Member[]>()
    for (const session of [...this.#sessions.values()]) {
      for (const subscription of [...session.subscriptions.values()]) {
        if (!matches(subscription.filter.levels, levels)) continue
        if (subscription.group === undefined) session.give(delivered(message, subscription, false), expiry)
        else groups.set(subscription.group, [...(groups.get(subscription.group) ?? []), { session, subscription }])
      }
    }
    for (const [group, members] of groups) this.#giveOne(group, members, message)
  }

  /** Gives a message to the members of a group in turn; to connected ones, if there are any. */
  #giveOne(group: string, members: readonly Member[], message: Outgoing): void {
    const there = members.filter(({ session }) => session.isConnected)
    const candidates = there.length > 0 ? there : members
    const turn = this.#turns.get(group) ?? 0
    this.#turns.set(group, turn + 1)
    const { session, subscription } = candidates[turn % candidates.length]!
    session.give(delivered(message, subscription, false), message.options.messageExpiryInterval)
  }
}

function delivered({ topic, payload, options }: Outgoing, { qos, number }: Subscription, retain: boolean): Delivered {
  const packet = { topic, retain, dup: false, properties: options }
  return { payload, subscription: number, details: detailsOf(packet, Math.min(options.qos ?? 0, qos) as MqttQos) }
}
