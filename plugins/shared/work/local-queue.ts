// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import { clock, type Timer } from '../../../kernel/index.ts'
import { type Linked, LinkedList } from '../values/linked-list.ts'
import { type Deferred, deferred } from '../values/promises.ts'

/** A message of a queue in memory. Its neighbours have the same priority; in progress, they were begun before and after it. */
export interface LocalMessage extends Linked {
  readonly id: string
  /** Lower numbers are taken first. */
  readonly priority: number
  /** The maximum number of attempts. */
  readonly attempts: number
  /** Milliseconds between an attempt that has failed and the next. */
  backoff(attempt: number): number
  /** The number of attempts so far. */
  attempt: number
  /** When it became ready, by `clock.monotonic()`. */
  since: number
  /** The errors of its attempts; absent before the first. */
  errors?: Error[]
}

/** A lane for each priority: first in, first out; the lowest number first, as in the engines that have them. */
class Waiting<Message extends LocalMessage> {
  readonly #lanes = new Map<number, LinkedList<Message>>()
  /** The priorities, the most urgent last: an empty lane is removed from the end. */
  readonly #order: number[] = []
  size = 0

  add(message: Message): void {
    const { priority } = message
    let lane = this.#lanes.get(priority)
    if (lane === undefined) {
      lane = new LinkedList()
      this.#lanes.set(priority, lane)
      this.#order.splice(this.#placeOf(priority), 0, priority)
    }
    lane.add(message)
    this.size++
  }

  #placeOf(priority: number): number {
    let [from, to] = [0, this.#order.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#order[middle]! > priority) from = middle + 1
      else to = middle
    }
    return from
  }

  take(): Message | undefined {
    while (this.size > 0) {
      const lane = this.#lanes.get(this.#order.at(-1)!)!
      const message = lane.first
      if (message !== undefined) lane.delete(message)
      // The last lane stays while it is empty: most queues have one priority, so the next message needs it again.
      if (lane.first === undefined && this.#order.length > 1) this.#lanes.delete(this.#order.pop()!)
      if (message === undefined) continue
      this.size--
      return message
    }
    return undefined
  }

  /** The next message of each priority. */
  get heads(): Message[] {
    return [...this.#lanes.values()].flatMap(({ first }) => first ?? [])
  }

  /** All messages, in the order in which they will be taken. */
  *[Symbol.iterator](): Generator<Message> {
    for (const priority of this.#order.toReversed()) yield* this.#lanes.get(priority)!
  }

  /** Removes those that a function chooses. */
  remove(isChosen: (message: Message) => boolean): Message[] {
    const chosen = [...this].filter(isChosen)
    for (const message of chosen) this.#lanes.get(message.priority)!.delete(message)
    this.size -= chosen.length
    return chosen
  }
}

/** The outcome of an attempt. With `final` there is no other; with `isForeign` it was none, and another process has to take the message. */
export type Outcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: Error; readonly final: boolean; readonly isForeign?: boolean }

/** Milliseconds before a message that was given back to other processes is taken again: never the same, or one process would be the first to ask each time. */
export const foreignPause = () => 1000 + Math.floor(2000 * Math.random())
/** The same in memory, where no other process asks. */
const localPause = 1000

/** Messages in the memory of this process, with their consumers: first in, first out within a priority. */
export class LocalQueue<Message extends LocalMessage> {
  readonly waiting = new Waiting<Message>()
  /** Messages that are due later, and when. */
  readonly delayed = new Map<Message, { readonly timer: Timer; readonly due: number }>()
  /** Messages in progress, in the order in which they were begun. */
  readonly active = new LinkedList<Message>()
  /** The ids of its messages, from the first time on that someone asks for them: most publishers choose none, and a set costs a tenth of a message. */
  ids: Set<string> | undefined
  /** The last messages that were given up. */
  readonly dead: Message[] = []
  readonly consumers = new Set<LocalConsumer<Message>>()
  #isPaused = false
  /** Those whose handlers run on although no one waits for them. */
  readonly #lost = new Set<Message>()
  readonly #maxDead: number
  readonly #idleError: (size: number) => Error
  readonly #onDead: ((message: Message) => void) | undefined
  readonly #whenDrained: Deferred<void>[] = []

  /** `maxDead`: how many messages that were given up are kept. `idleError`: why it will not be drained. `onDead`: called with each that is given up. */
  constructor(maxDead: number, idleError: (size: number) => Error, onDead?: (message: Message) => void) {
    this.#maxDead = maxDead
    this.#idleError = idleError
    this.#onDead = onDead
  }

  get size(): number {
    return this.waiting.size + this.delayed.size + this.active.size
  }

  has(id: string): boolean {
    this.ids ??= new Set([...this.waiting, ...this.delayed.keys(), ...this.active, ...this.dead].map(({ id }) => id))
    return this.ids.has(id)
  }

  add(message: Message, delay = 0, since = clock.monotonic()): void {
    this.ids?.add(message.id)
    if (delay > 0) {
      const timer = clock.setTimeout(() => {
        this.delayed.delete(message)
        this.add(message)
      }, delay)
      // No other process could take it, and a process that has ended its work should end.
      timer.unref()
      this.delayed.set(message, { timer, due: clock.now() + delay })
      return
    }
    message.since = since
    this.waiting.add(message)
    for (const consumer of this.consumers) if (consumer.wake()) return
  }

  settle(message: Message, outcome: Outcome): void {
    if (this.#lost.size === 0 || !this.#lost.delete(message)) this.active.delete(message)
    if (outcome.ok) this.ids?.delete(message.id)
    else if (outcome.isForeign) {
      message.attempt--
      this.add(message, localPause)
    } else this.#failed(message, outcome)
    this.#notifyDrained()
    this.#lookForWork()
  }

  #failed(message: Message, { error, final }: { readonly error: Error; readonly final: boolean }): void {
    message.errors = [...(message.errors ?? []), error]
    if (!final && message.attempt < message.attempts) return void this.add(message, message.backoff(message.attempt))
    this.#onDead?.(message)
    this.dead.push(message)
    const dropped = this.dead.length > this.#maxDead && this.dead.shift()!
    if (dropped) this.ids?.delete(dropped.id)
  }

  /** Messages in progress are so no longer: closing has waited long enough for their handlers. */
  abandon(): void {
    for (const message of [...this.active]) {
      this.active.delete(message)
      this.#lost.add(message)
    }
    this.#notifyDrained()
    this.#lookForWork()
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Whether consumers take no messages for now. */
  set isPaused(value: boolean) {
    this.#isPaused = value
    if (!value) for (const consumer of this.consumers) consumer.wakeAll()
  }

  /** Removes the messages that a function chooses; those in progress stay. */
  remove(isChosen: (message: Message) => boolean): Message[] {
    const removed = this.waiting.remove(isChosen)
    for (const [message, { timer }] of this.delayed) {
      if (!isChosen(message)) continue
      clock.clear(timer)
      this.delayed.delete(message)
      removed.push(message)
    }
    for (const message of this.dead.filter(isChosen)) {
      this.dead.splice(this.dead.indexOf(message), 1)
      removed.push(message)
    }
    for (const { id } of removed) this.ids?.delete(id)
    this.#notifyDrained()
    return removed
  }

  /** Several subscribers take turns: the others come before this one. */
  passTurn(consumer: LocalConsumer<Message>): void {
    if (this.consumers.size > 1 && this.consumers.delete(consumer)) this.consumers.add(consumer)
  }

  /** Stops taking messages for this subscriber. */
  leave(consumer: LocalConsumer<Message>): void {
    this.consumers.delete(consumer)
    // It may have been woken for a message that it no longer takes.
    for (const other of this.consumers) other.wakeAll()
    this.#lookForWork()
  }

  #notifyDrained(): void {
    if (this.#whenDrained.length > 0 && this.size === 0)
      for (const { resolve } of this.#whenDrained.splice(0)) resolve()
  }

  get #isIdle(): boolean {
    return this.size > 0 && this.active.size === 0 && this.consumers.size === 0
  }

  /** Rejects waiting callers when no subscriber will drain the queue; in the next turn, because one may be about to subscribe. */
  #lookForWork(): void {
    if (this.#whenDrained.length === 0 || !this.#isIdle) return
    setImmediate(() => {
      if (!this.#isIdle) return
      for (const { reject } of this.#whenDrained.splice(0)) reject(this.#idleError(this.size))
    })
  }

  /** Resolves as soon as it is empty; rejects when no consumer will empty it. */
  async drained(): Promise<void> {
    if (this.size === 0) return
    const drained = deferred()
    this.#whenDrained.push(drained)
    this.#lookForWork()
    await drained.promise
  }
}

/** Handles a message; `settle` takes the outcome, later than it returns. */
export type LocalDeliver<Message> = (message: Message, settle: (message: Message, outcome: Outcome) => void) => unknown

/** Takes messages with `concurrency` workers; each sleeps while there are none. */
export class LocalConsumer<Message extends LocalMessage> {
  readonly #over = deferred()
  readonly ended = this.#over.promise
  readonly #queue: LocalQueue<Message>
  readonly #deliver: LocalDeliver<Message>
  #free: number
  readonly #hands: number
  /** Workers that begin in the next microtask. */
  #woken = 0
  #settled = 0
  #stopped = false

  constructor(queue: LocalQueue<Message>, deliver: LocalDeliver<Message>, concurrency: number) {
    this.#queue = queue
    this.#deliver = deliver
    this.#free = concurrency
    this.#hands = concurrency
    queue.consumers.add(this)
    this.wakeAll()
  }

  /** Lets every free worker look for a message. */
  wakeAll(): void {
    for (let i = Math.min(this.#free, this.#queue.waiting.size); i > 0; i--) this.wake()
  }

  /** Whether a worker was free to look for a message. */
  wake(): boolean {
    if (this.#free === 0 || this.#stopped || this.#queue.isPaused) return false
    this.#free--
    // The publisher continues first, so that a handler never runs inside `publish`. A microtask costs as much as a message waits: one for all.
    if (this.#woken++ === 0) queueMicrotask(this.#begin)
    return true
  }

  // Held as a whole: between two messages, too, there is work.
  readonly #begin = (): void => {
    for (; this.#woken > 0; this.#woken--) clock.hold(this.#next, true)
  }

  stop(): void {
    this.#stopped = true
    this.#queue.leave(this)
    if (this.#free === this.#hands) this.#over.resolve()
  }

  readonly #next = (): unknown => {
    const message = this.#stopped || this.#queue.isPaused ? undefined : this.#queue.waiting.take()
    if (message !== undefined) {
      this.#queue.active.add(message)
      message.attempt++
      return this.#deliver(message, this.#settle)
    }
    this.#free++
    if (this.#stopped && this.#free === this.#hands) this.#over.resolve()
    return undefined
  }

  /** Handlers that never wait must leave time for everything else in the process. */
  readonly #later = () => new Promise((resolve) => setImmediate(resolve)).then(this.#next)

  /** Ends an attempt, in the turn in which its outcome is known: to await that would take a tenth of the time of a message. */
  readonly #settle = (message: Message, outcome: Outcome): void => {
    this.#queue.settle(message, outcome)
    this.#queue.passTurn(this)
    clock.hold(++this.#settled % 64 === 0 ? this.#later : this.#next, true)
  }
}
