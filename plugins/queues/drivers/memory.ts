import type { Carrier } from '../../shared/work/carrier.ts'
import { QueueFullError, QueueIdleError } from '../errors.ts'
import type { MemoryPublishSettings } from '../publish-options.ts'
import type { Consumer, Deliver, QueueCounts, QueueDriver } from './contract.ts'
import { Waiting } from './waiting.ts'

/** A message in memory, stored as a string so that a handler cannot change the payload of the next attempt. */
interface Message {
  readonly id: string
  readonly text: string
  readonly priority: number
  readonly attempts: number
  readonly backoff: (attempt: number) => number
  readonly carrier: Readonly<Carrier> | undefined
  attempt: number
  /** When it became ready, by `performance.now()`. */
  since: number
}

/** A message that was given up. */
export interface DeadMessage {
  /** The id that `publish` returned. */
  readonly id: string
  /** The payload as it was published. */
  readonly payload: unknown
  /** How many attempts have failed. */
  readonly attempts: number
  /** The error of the last attempt. */
  readonly error: Error
}

/** How many such messages are kept for each queue. */
const maxDead = 1000

function backoffOf(backoff: MemoryPublishSettings['backoff']): Message['backoff'] {
  if (typeof backoff === 'number') return () => backoff
  const { type, delay = 0 } = backoff
  // A timer accepts no longer delay: it would fire immediately.
  return type === 'exponential' ? (attempt) => Math.min(delay * 2 ** (attempt - 1), 2_147_483_647) : () => delay
}

class Topic {
  readonly name: string
  readonly waiting = new Waiting<Message>()
  readonly delayed = new Set<ReturnType<typeof setTimeout>>()
  readonly ids = new Set<string>()
  readonly dead: DeadMessage[] = []
  readonly consumers = new Set<MemoryConsumer>()
  active = 0
  #whenDrained: { resolve(): void; reject(error: Error): void }[] = []

  constructor(name: string) {
    this.name = name
  }

  get size(): number {
    return this.waiting.size + this.delayed.size + this.active
  }

  add(message: Message, delay: number): void {
    if (delay > 0) {
      const timer = setTimeout(() => {
        this.delayed.delete(timer)
        this.add(message, 0)
      }, delay)
      // No other process could take it, and a process that has ended its work should end.
      timer.unref?.()
      this.delayed.add(timer)
      return
    }
    message.since = performance.now()
    this.waiting.add(message)
    for (const consumer of this.consumers) if (consumer.wake()) return
  }

  settle(message: Message, error: Error | undefined, final: boolean): void {
    this.active--
    if (error !== undefined && !final) this.add(message, message.backoff(message.attempt))
    else {
      this.ids.delete(message.id)
      if (error !== undefined) this.#bury(message, error)
    }
    this.#notifyDrained()
    this.#lookForWork()
  }

  /** Several subscribers take turns: the others come before this one. */
  passTurn(consumer: MemoryConsumer): void {
    if (this.consumers.size > 1 && this.consumers.delete(consumer)) this.consumers.add(consumer)
  }

  /** Stops taking messages for this subscriber. */
  leave(consumer: MemoryConsumer): void {
    this.consumers.delete(consumer)
    this.#lookForWork()
  }

  /** Removes everything except the subscribers and their messages in progress. */
  clear(): void {
    for (const timer of this.delayed) clearTimeout(timer)
    this.delayed.clear()
    this.waiting.clear()
    this.ids.clear()
    this.dead.length = 0
    this.#notifyDrained()
  }

  #notifyDrained(): void {
    if (this.#whenDrained.length > 0 && this.size === 0)
      for (const { resolve } of this.#whenDrained.splice(0)) resolve()
  }

  get #isIdle(): boolean {
    return this.size > 0 && this.active === 0 && this.consumers.size === 0
  }

  /** Rejects waiting callers when no subscriber will drain the queue; in the next turn, because one may be about to subscribe. */
  #lookForWork(): void {
    if (this.#whenDrained.length === 0 || !this.#isIdle) return
    setImmediate(() => {
      if (!this.#isIdle) return
      for (const { reject } of this.#whenDrained.splice(0)) reject(QueueIdleError(this.name, this.size))
    })
  }

  #bury({ id, text, attempt }: Message, error: Error): void {
    if (this.dead.length === maxDead) this.dead.shift()
    this.dead.push({ id, payload: JSON.parse(text), attempts: attempt, error })
  }

  async drained(): Promise<void> {
    if (this.size === 0) return
    // The timers of delayed messages do not keep the process alive; a caller that waits for them does.
    const awake = setInterval(() => {}, 1 << 30)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#whenDrained.push({ resolve, reject })
        this.#lookForWork()
      })
    } finally {
      clearInterval(awake)
    }
  }
}

/** Takes messages with `concurrency` workers; each sleeps while there are none. */
class MemoryConsumer implements Consumer {
  readonly ended: Promise<void>
  readonly #topic: Topic
  readonly #deliver: Deliver
  #free: number
  readonly #hands: number
  #stopped = false
  #end!: () => void

  constructor(topic: Topic, deliver: Deliver, concurrency: number) {
    this.#topic = topic
    this.#deliver = deliver
    this.#free = concurrency
    this.#hands = concurrency
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    topic.consumers.add(this)
    for (let i = 0; i < Math.min(concurrency, topic.waiting.size); i++) this.wake()
  }

  /** Whether a worker was free to look for a message. */
  wake(): boolean {
    if (this.#free === 0 || this.#stopped) return false
    this.#free--
    // The publisher continues first, so that a handler never runs inside `publish`.
    queueMicrotask(() => void this.#work())
    return true
  }

  stop(): void {
    this.#stopped = true
    this.#topic.leave(this)
    if (this.#free === this.#hands) this.#end()
  }

  async #work(): Promise<void> {
    for (let done = 1; !this.#stopped; done++) {
      const message = this.#topic.waiting.take()
      if (message === undefined) break
      this.#topic.active++
      message.attempt++
      const { id, attempt, attempts, carrier } = message
      const outcome = await this.#deliver(JSON.parse(message.text), { id, attempt, attempts, carrier })
      const error = outcome.ok ? undefined : outcome.error
      this.#topic.settle(message, error, !outcome.ok && (outcome.final || attempt >= attempts))
      // Handlers that never wait must leave time for everything else in the process.
      if (done % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
      this.#topic.passTurn(this)
    }
    this.#free++
    if (this.#stopped && this.#free === this.#hands) this.#end()
  }
}

/** Queues in the memory of this process, for development and tests: their messages end with it. */
export class MemoryDriver implements QueueDriver<MemoryPublishSettings> {
  readonly isLocal = true
  readonly #topics = new Map<string, Topic>()
  readonly #maxSize: () => number
  #lastId = 0

  /** @param maxSize Called each time: the configuration may come after the first message. */
  constructor(maxSize: () => number) {
    this.#maxSize = maxSize
  }

  async publish(
    name: string,
    texts: readonly string[],
    options: readonly MemoryPublishSettings[],
    _signal?: AbortSignal,
    carrier?: Readonly<Carrier>,
  ): Promise<string[]> {
    const topic = this.topic(name)
    // All or nothing, as in an engine that has batches.
    if (topic.size + texts.length > this.#maxSize()) throw QueueFullError(name, this.#maxSize())
    return texts.map((text, i) => {
      const { attempts, backoff, delay, priority, jobId } = options[i]!
      const id = jobId ?? this.#freeId(topic)
      if (topic.ids.has(id)) return id
      topic.ids.add(id)
      topic.add({ id, text, priority, attempts, backoff: backoffOf(backoff), carrier, attempt: 0, since: 0 }, delay)
      return id
    })
  }

  /** An id that no `jobId` has; otherwise the message would not be added. */
  #freeId(topic: Topic): string {
    let id: string
    do id = String(++this.#lastId)
    while (topic.ids.has(id))
    return id
  }

  consume(name: string, deliver: Deliver, { concurrency }: { concurrency: number }): Consumer {
    return new MemoryConsumer(this.topic(name), deliver, concurrency)
  }

  async counts(name: string): Promise<QueueCounts> {
    const { waiting, active, delayed, dead } = this.topic(name)
    const now = performance.now()
    const oldest = Math.max(0, ...[...waiting.heads()].map(({ since }) => now - since))
    return { waiting: waiting.size, active, delayed: delayed.size, failed: dead.length, oldest }
  }

  async ping(): Promise<void> {}

  /** The messages stay: the process may open its queues again. */
  async close(): Promise<void> {}

  /** How many messages wait in each queue that has any: they are lost when the process ends. */
  left(): [queue: string, messages: number][] {
    return [...this.#topics.values()].filter(({ size }) => size > 0).map(({ name, size }) => [name, size])
  }

  topic(name: string): Topic {
    let topic = this.#topics.get(name)
    if (topic === undefined) {
      topic = new Topic(name)
      this.#topics.set(name, topic)
    }
    return topic
  }

  /** Removes everything of one queue except its subscribers. */
  clear(name: string): void {
    this.topic(name).clear()
  }
}
