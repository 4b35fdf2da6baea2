import { clock, systemClock, virtualClock } from '../../../kernel/index.ts'
import { deferred } from '../../shared/values/promises.ts'
import type { Carrier } from '../../shared/work/carrier.ts'
import { LocalConsumer, type LocalMessage, LocalQueue } from '../../shared/work/local-queue.ts'
import { QueueDelayedError, QueueFullError, QueueIdleError } from '../errors.ts'
import type { MemoryPublishSettings } from '../publish-options.ts'
import type { Batch, Consumer, Deliver, QueueCounts, QueueDriver } from './contract.ts'

/** A message in memory, stored as a string so that a handler cannot change the payload of the next attempt. */
interface Message extends LocalMessage {
  readonly text: string
  readonly carrier: Readonly<Carrier> | undefined
}

type Topic = LocalQueue<Message>

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

  async publish(name: string, { texts, options, carrier }: Batch<MemoryPublishSettings>): Promise<string[]> {
    const topic = this.topic(name)
    // All or nothing, as in an engine that has batches.
    if (topic.size + texts.length > this.#maxSize()) throw QueueFullError(name, this.#maxSize())
    return texts.map((text, i) => {
      const { attempts, backoff, delay, priority, jobId } = options[i]!
      const id = jobId ?? this.#freeId(topic)
      if (topic.ids.has(id)) return id
      topic.add(
        { id, text, priority, attempts, backoff: backoffOf(backoff), carrier, attempt: 0, since: 0, next: undefined },
        delay,
      )
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
    const take = ({ id, text, attempt, attempts, carrier }: Message) =>
      deliver(JSON.parse(text), { id, attempt, attempts, carrier })
    return new LocalConsumer(this.topic(name), take, concurrency)
  }

  async counts(name: string): Promise<QueueCounts> {
    const { waiting, active, delayed, dead } = this.topic(name)
    const now = clock.monotonic()
    const oldest = Math.max(0, ...waiting.heads.map(({ since }) => now - since))
    return { waiting: waiting.size, active, delayed: delayed.size, failed: dead.length, oldest }
  }

  async ping(): Promise<void> {}

  /** The messages stay: the process may open its queues again. */
  async close(): Promise<void> {}

  /** How many messages wait in each queue that has any: they are lost when the process ends. */
  left(): [queue: string, messages: number][] {
    return [...this.#topics].filter(([, { size }]) => size > 0).map(([name, { size }]) => [name, size])
  }

  /** Messages that were given up, the oldest first. */
  dead(name: string): DeadMessage[] {
    return this.topic(name).dead.map(({ message: { id, text, attempt }, error }) => ({
      id,
      payload: JSON.parse(text),
      attempts: attempt,
      error,
    }))
  }

  async drained(name: string): Promise<void> {
    const topic = this.topic(name)
    const stuck = deferred()
    // The timers of delayed messages do not keep the process alive; a caller that waits for them does. On a clock that stands still, they never fire.
    const awake = systemClock.setInterval(() => {
      if (virtualClock()?.isMoving === false && topic.delayed.size > 0 && topic.delayed.size === topic.size)
        stuck.reject(QueueDelayedError(name, topic.size))
    }, 20)
    try {
      await Promise.race([topic.drained(), stuck.promise])
    } finally {
      systemClock.clear(awake)
    }
  }

  topic(name: string): Topic {
    let topic = this.#topics.get(name)
    if (topic === undefined) {
      topic = new LocalQueue(maxDead, (size) => QueueIdleError(name, size))
      this.#topics.set(name, topic)
    }
    return topic
  }
}
