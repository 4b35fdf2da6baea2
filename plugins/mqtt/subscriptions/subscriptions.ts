import { crc32 } from 'node:zlib'
import { isInTime, systemClock } from '../../../kernel/index.ts'
import { withinTime } from '../../shared/values/promises.ts'
import { notifyFailure } from '../failures.ts'
import { type Incoming, LinkLost } from '../links/contract.ts'
import type { MqttQos } from '../messages/message-options.ts'
import type { RunParts } from '../options.ts'
import { type Filter, matches } from '../topics/filter.ts'
import type { Declared } from './declarations.ts'
import { HandlerQueue } from './handler-queue.ts'
import { unclaimedMessages } from './unclaimed.ts'

/** One subscription at the broker, with its handlers. */
interface Entry {
  readonly filter: Filter
  /** The number with which the broker marks messages for this subscription. */
  readonly number: number
  readonly queues: Set<HandlerQueue>
}

/** A subscription that the broker has refused. */
interface Refusal {
  readonly filter: Filter
  readonly error: unknown
}

/** MQTT 5 section 3.8.2.1.2: one to 268435455. */
const numbers = 268_435_455

/** Which handlers receive which messages, and which subscriptions the broker has. */
export class Subscriptions {
  readonly #run: RunParts
  readonly #byText = new Map<string, Entry>()
  readonly #byNumber = new Map<number, Entry>()
  /** Filters removed while the broker was disconnected: it receives an UNSUBSCRIBE when it is back. */
  readonly #left = new Set<string>()
  readonly #unclaimed: ReturnType<typeof unclaimedMessages>
  // Random, because a broker that has kept subscriptions of an earlier process uses the numbers of that process.
  readonly #first = 1 + Math.floor(Math.random() * numbers)
  #issued = 0
  /** Whether the broker is connected. */
  isUp = false

  constructor(run: RunParts) {
    this.#run = run
    this.#unclaimed = unclaimedMessages(run.log, !run.settings.clean)
  }

  get queues(): HandlerQueue[] {
    return [...this.#byText.values()].flatMap((entry) => [...entry.queues])
  }

  /**
   * Adds a handler; resolves when the broker has accepted its subscription, or immediately while the broker is unavailable.
   *
   * @throws (as a rejection) MqttSubscribeError; the handler is then removed.
   */
  async add(declared: Declared): Promise<void> {
    const { filter } = declared
    const entry = this.#byText.get(filter.text) ?? this.#enter(filter)
    const queue = new HandlerQueue(declared, this.#run)
    entry.queues.add(queue)
    this.#left.delete(filter.text)
    this.#unclaimed.offer((message) => this.#give(message))
    if (!this.isUp) return
    try {
      await this.#ask(entry)
    } catch (error) {
      this.#forget(entry, queue)
      throw error
    }
  }

  #enter(filter: Filter): Entry {
    const number = ((this.#first - 1 + this.#issued++) % numbers) + 1
    const entry: Entry = { filter, number, queues: new Set() }
    this.#byText.set(filter.text, entry)
    this.#byNumber.set(entry.number, entry)
    return entry
  }

  #forget(entry: Entry, queue: HandlerQueue): void {
    entry.queues.delete(queue)
    if (entry.queues.size > 0 || this.#byText.get(entry.filter.text) !== entry) return
    this.#byText.delete(entry.filter.text)
    this.#byNumber.delete(entry.number)
  }

  /** Asks the broker to subscribe. A lost request is repeated when the broker is back; a silent broker is not awaited. */
  async #ask(entry: Entry): Promise<void> {
    const { filter, number, queues } = entry
    const qos = Math.max(...[...queues].map((queue) => queue.declared.options.qos ?? 0)) as MqttQos
    const asked = this.#run.link.subscribe(filter.text, qos, number).catch((error: unknown) => {
      if (!(error instanceof LinkLost)) throw error
    })
    if (await isInTime(asked, this.#run.settings.publishTimeout, systemClock)) return
    asked.catch((error: unknown) => this.reportRefused([this.#refuse(entry, error)]))
  }

  /** Removes all handlers of this topic, which the broker has refused. */
  #refuse(entry: Entry, error: unknown): Refusal {
    for (const queue of [...entry.queues]) this.#forget(entry, queue)
    return { filter: entry.filter, error }
  }

  /** Removes a handler; the broker receives an UNSUBSCRIBE if it was the last one of its filter. Running calls continue. */
  async remove(declared: Declared): Promise<void> {
    const entry = this.#byText.get(declared.filter.text)
    const queue = [...(entry?.queues ?? [])].find((one) => one.declared === declared)
    if (entry === undefined || queue === undefined) return
    queue.drop()
    this.#forget(entry, queue)
    if (entry.queues.size > 0) return
    const { text } = entry.filter
    const leave = () => this.#left.add(text)
    if (!this.isUp) leave()
    else await withinTime(this.#run.link.unsubscribe(text).catch(leave), this.#run.settings.publishTimeout, systemClock)
  }

  /**
   * Requests all subscriptions when the broker is connected.
   *
   * Resolves to the refused ones, which are removed.
   */
  async up(resumed: boolean): Promise<Refusal[]> {
    this.isUp = true
    for (const queue of this.queues) queue.reconnected(resumed)
    if (resumed) for (const filter of this.#left) void this.#run.link.unsubscribe(filter).catch(() => {})
    this.#left.clear()
    const refused: Refusal[] = []
    const ask = (entry: Entry) => this.#ask(entry).catch((error) => refused.push(this.#refuse(entry, error)))
    await Promise.all([...this.#byText.values()].map(ask))
    return refused
  }

  down(): void {
    this.isUp = false
  }

  /** Reports refusals to the error handler, or to the log. */
  async reportRefused(refused: readonly Refusal[]): Promise<void> {
    for (const { filter, error } of refused)
      await notifyFailure(error, { subscription: filter.text, topic: undefined, payload: undefined }, this.#run.log)
  }

  deliver(message: Incoming): void {
    if (!this.#give(message)) this.#unclaimed.keep(message)
  }

  /** Passes a message to each handler once; returns whether there is any handler. */
  #give(message: Incoming): boolean {
    const entries = this.#entriesFor(message)
    if (entries.length === 0) {
      const isLate = message.subscriptions.some((number) => this.#isOurs(number))
      if (isLate) message.handled()
      return isLate
    }
    const digest = crc32(message.payload)
    const queues = entries.flatMap((entry) => [...entry.queues]).filter((queue) => queue.isNew(message.details, digest))
    let left = queues.length + 1
    const done = () => void (--left === 0 && message.handled())
    for (const queue of queues) queue.push(message, done)
    done()
    return true
  }

  #entriesFor({ details: { topic }, subscriptions }: Incoming): Entry[] {
    // A broker that names the subscriptions of a message may send it once for each; with unknown numbers or none, it is for all that match.
    const named = subscriptions.map((number) => this.#byNumber.get(number)).filter((entry) => entry !== undefined)
    if (named.length > 0 || subscriptions.some((number) => this.#isOurs(number))) return [...new Set(named)]
    const levels = topic.split('/')
    return [...this.#byText.values()].filter(({ filter }) => matches(filter.levels, levels))
  }

  /** Whether a number was assigned here, to a subscription that may have been removed meanwhile. */
  #isOurs(number: number): boolean {
    return (number - this.#first + numbers) % numbers < this.#issued
  }

  /** Removes all subscriptions at the broker, so that no further message comes. */
  async leave(): Promise<void> {
    if (!this.isUp) return
    await Promise.allSettled([...this.#byText.keys()].map((filter) => this.#run.link.unsubscribe(filter)))
  }

  /** Ignores messages that come from now on. */
  refuse(): void {
    for (const queue of this.queues) queue.refuse()
  }

  /** The topics whose handlers are running. */
  get running(): string[] {
    return this.queues.filter((queue) => queue.isRunning).map(({ declared }) => declared.filter.text)
  }

  async idle(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.idle()))
  }

  close(): void {
    for (const queue of this.queues) queue.close()
    this.#unclaimed.close()
  }
}
