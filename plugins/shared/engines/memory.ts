import { CallSite, clock, systemClock, virtualClock } from '../../../kernel/index.ts'
import { madeIn } from '../values/memoize.ts'
import { deferred } from '../values/promises.ts'
import { LocalConsumer, type LocalMessage, LocalQueue } from '../work/local-queue.ts'
import {
  type Batch,
  type Consumer,
  type Deliver,
  type Delivery,
  type MessageState,
  messageStates,
  type QueueCounts,
  type QueueDriver,
  type QueueOperations,
  type StoredMessage,
} from './contract.ts'
import { QueueDelayedError, QueueFullError, QueueIdleError } from './errors.ts'
import { type BackoffSettings, type Meta, pauseAfter } from './meta.ts'
import { type MemoryPublishSettings, usualInMemory } from './publish-options.ts'

/** A message in memory, stored as a string so that a handler cannot change the payload of the next attempt. */
class Message implements LocalMessage, Delivery {
  readonly isOwn = true
  readonly id: string
  readonly text: string
  readonly priority: number
  readonly attempts: number
  readonly meta: Readonly<Meta> | undefined
  readonly deadLetter: string | undefined
  readonly site: CallSite | undefined
  /** By `clock.monotonic()`: a second clock would cost a fiftieth of the time of a message. */
  readonly published = clock.monotonic()
  /** Milliseconds since 1970, once someone has asked: computed again, it would differ by one. */
  #publishedAt: number | undefined
  readonly #backoff: BackoffSettings | undefined
  attempt = 0
  since = this.published
  next: this | undefined
  previous: this | undefined
  errors?: Error[]

  constructor(id: string, text: string, meta: Message['meta'], settings: MemoryPublishSettings, site?: CallSite) {
    this.site = site
    this.id = id
    this.text = text
    this.meta = meta
    this.priority = settings.priority
    this.attempts = settings.attempts
    this.deadLetter = settings.deadLetter
    this.#backoff = settings.backoff
  }

  get publishedAt(): number {
    this.#publishedAt ??= Math.round(clock.now() - clock.monotonic() + this.published)
    return this.#publishedAt
  }

  backoff(attempt: number): number {
    return pauseAfter(attempt, this.#backoff)
  }
}

/** One queue, and until when, by `clock.monotonic()`, ids may not be used again although their messages are done. */
class Topic extends LocalQueue<Message> {
  readonly taken = new Map<string, number>()
  /** How many may be taken before those whose time is over are removed: a fixed number of steps for each message. */
  #most = 1000

  /** Whether a message with this id must not be added; otherwise, with a time to live, the id is taken from now on. */
  isTaken(id: string, ttl: number | undefined): boolean {
    const now = clock.monotonic()
    if (this.has(id) || (this.taken.get(id) ?? 0) > now) return true
    if (ttl === undefined) return false
    if (this.taken.size >= this.#most) {
      for (const [other, until] of this.taken) if (until <= now) this.taken.delete(other)
      this.#most = Math.max(1000, 2 * this.taken.size)
    }
    this.taken.set(id, now + ttl)
    return false
  }
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

/** Queues in the memory of this process, for development and tests: their messages end with it. */
export class MemoryDriver implements QueueDriver<MemoryPublishSettings> {
  readonly operations = (): QueueOperations => ({
    list: async (name, state, from, limit) =>
      storedIn(this.topic(name), state)
        .slice(from, from + limit)
        .map((message) => stored(this.topic(name), message, state)),
    find: async (name, id) => {
      const topic = this.topic(name)
      for (const state of messageStates)
        for (const message of storedIn(topic, state)) if (message.id === id) return stored(topic, message, state)
      return undefined
    },
    retry: async (name, ids) => {
      const topic = this.topic(name)
      const wanted = new Set(ids)
      const failed = new Set(topic.dead.filter(({ id }) => wanted.has(id)))
      const again = topic.remove((message) => failed.has(message))
      for (const message of again) {
        message.attempt = 0
        topic.add(message)
      }
      return again.length
    },
    remove: async (name, ids) => {
      const wanted = new Set(ids)
      return this.topic(name).remove(({ id }) => wanted.has(id)).length
    },
    pause: async (name) => {
      this.topic(name).isPaused = true
    },
    resume: async (name) => {
      this.topic(name).isPaused = false
    },
    isPaused: async (name) => this.topic(name).isPaused,
  })
  /** Whether it notes where messages are published, which costs more than the message. */
  notesSites = false
  readonly #topics = new Map<string, Topic>()
  readonly #maxSize: () => number
  #lastId = 0

  /** @param maxSize Called each time: the configuration may come after the first message. */
  constructor(maxSize: () => number) {
    this.#maxSize = maxSize
  }

  publish(name: string, { texts, options, metas }: Batch<MemoryPublishSettings>): string[] {
    const topic = this.topic(name)
    const site = this.notesSites ? new CallSite() : undefined
    // All or nothing, as in an engine that has batches.
    if (topic.size + texts.length > this.#maxSize()) throw QueueFullError(name, this.#maxSize())
    return texts.map((text, i) => {
      const settings = options[i]!
      const id = settings.id ?? this.#freeId(topic)
      if (settings.id !== undefined && topic.isTaken(id, settings.ttl)) return id
      const message = new Message(id, text, metas[i], settings, site)
      topic.add(message, settings.delay, message.since)
      return id
    })
  }

  #copyDead({ deadLetter, text, meta }: Message): void {
    if (deadLetter === undefined) return
    const topic = this.topic(deadLetter)
    topic.add(new Message(this.#freeId(topic), text, meta, usualInMemory))
  }

  /** An id that no publisher has chosen; otherwise the message would not be added. Not a number, which one may choose later. */
  #freeId(topic: Topic): string {
    let id: string
    do id = `m${++this.#lastId}`
    while (topic.ids?.has(id))
    return id
  }

  consume(name: string, deliver: Deliver, { concurrency }: { concurrency: number }): Consumer {
    const topic = this.topic(name)
    return new LocalConsumer(topic, (one, settle) => deliver(JSON.parse(one.text), one, settle), concurrency)
  }

  async counts(name: string): Promise<QueueCounts> {
    const { waiting, active, delayed, dead } = this.topic(name)
    const now = clock.monotonic()
    const oldest = Math.max(0, ...waiting.heads.map(({ since }) => now - since))
    return { waiting: waiting.size, active: active.size, delayed: delayed.size, failed: dead.length, oldest }
  }

  async ping(): Promise<void> {}

  /** Closing no longer waits for handlers. */
  abandon(): void {
    for (const topic of this.#topics.values()) topic.abandon()
  }

  /** The messages stay: the process may open its queues again. */
  async close(): Promise<void> {}

  /** How many messages wait in each queue that has any: they are lost when the process ends. */
  left(): [queue: string, messages: number][] {
    return [...this.#topics].filter(([, { size }]) => size > 0).map(([name, { size }]) => [name, size])
  }

  /** Messages that were given up, the oldest first. */
  dead(name: string): DeadMessage[] {
    return this.topic(name).dead.map(({ id, text, attempt, errors }) => ({
      id,
      payload: JSON.parse(text),
      attempts: attempt,
      error: errors!.at(-1)!,
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
    const idle = (size: number) => QueueIdleError(name, size)
    return madeIn(this.#topics, name, () => new Topic(maxDead, idle, (message) => this.#copyDead(message)))
  }
}

/** The messages in one state, in the order of an operator's list. */
function storedIn(topic: Topic, state: MessageState): Message[] {
  if (state === 'waiting') return [...topic.waiting]
  if (state === 'active') return [...topic.active]
  if (state === 'failed') return topic.dead.toReversed()
  return [...topic.delayed].sort(([, one], [, other]) => one.due - other.due).map(([message]) => message)
}

function stored(topic: Topic, message: Message, state: MessageState): StoredMessage {
  const { id, text, attempt, attempts, publishedAt, meta, site, errors = [] } = message
  return {
    ...{ id, state, payload: JSON.parse(text), attempt, attempts, publishedAt, meta, errors },
    dueAt: topic.delayed.get(message)?.due,
    site: site?.toLine(),
  }
}
