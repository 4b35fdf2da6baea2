import { OptionError, quoted } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import type { GenericPubSub } from './drivers/custom.ts'
import type { DeadMessage } from './drivers/memory.ts'
import { ownKinds } from './options.ts'
import {
  type BullmqPublishOptions,
  type MemoryPublishOptions,
  type PgbossPublishOptions,
  publishOptions,
  type SqsPublishOptions,
} from './publish-options.ts'
import { Queue } from './queue.ts'
import type { PayloadSchema, PublishedBy, ReceivedBy } from './schema.ts'

/** Options of every function that creates a queue. */
export interface QueueOptions<Schema extends PayloadSchema = PayloadSchema> {
  /** Checks payloads when they are published, and again before a handler receives them. */
  schema?: Schema
}

/** A queue in the memory of this process, with helpers for tests. */
export class MemoryQueue<Payload, Received = Payload> extends Queue<Payload, MemoryPublishOptions, Received> {
  /**
   * Resolves as soon as no message waits, is in progress, or is delayed.
   *
   * @throws QueueIdleError (as a rejection) when there are messages and no active subscriber.
   */
  drained(): Promise<void> {
    return this.engines.memory.drained(this.name)
  }

  /** Messages that were given up, oldest first; the last 1000 are kept. */
  get dead(): readonly DeadMessage[] {
    return this.engines.memory.dead(this.name)
  }

  /** Removes waiting, delayed and failed messages; its subscribers stay. */
  clear(): void {
    this.engines.memory.topic(this.name).clear()
  }
}

/** A queue in Redis. */
export class BullmqQueue<Payload, Received = Payload> extends Queue<Payload, BullmqPublishOptions, Received> {
  /** Ends the repetition that was published with `repeat` and this key; returns whether there was one. */
  stopRepeat(key: string): Promise<boolean> {
    return this.engines.ask(
      { kind: this.kind, pubsub: undefined },
      this.name,
      async (driver, signal) => (await driver.stopRepeat?.(this.name, key, signal)) ?? false,
    )
  }
}

const queueOptions = option.shape({ schema: option.value<PayloadSchema>('a schema') }).typed<QueueOptions>()

/** The names that engines accept, what they take, and the engine for the message. */
const names: { readonly [kind: string]: readonly [RegExp, takes: string, engine: string] } = {
  // BullMQ uses it as a separator in Redis keys.
  bullmq: [/^[^:]*$/, 'text without ":"', 'BullMQ'],
  // Looking a name up among its queues, pg-boss would find the members that every object has.
  pgboss: [/^[\w./-]+$/, 'letters, digits, "_", "-", "." and "/", and not "constructor" or the like', 'pg-boss'],
}

function definition(name: string, kind: keyof typeof publishOptions, options: QueueOptions | undefined) {
  const [pattern, takes, engine] = names[kind] ?? []
  if (pattern?.test(name) === false || (kind === 'pgboss' && name in Object.prototype))
    throw OptionError(`the name of a queue of ${engine}`, quoted(name), takes!)
  const { schema } = queueOptions.parse(options, `${kind}Queue`)
  return { name, kind, schema, publishOptions: publishOptions[kind] }
}

/**
 * A queue in the memory of this process, for development and tests: first in, first out, bounded, and lost when the process ends.
 *
 * Queues with the same name are one queue. Needs no configuration.
 *
 * @example
 * const orders = memoryQueue<{ book: number }>('orders')
 * await orders.subscribe(({ book }) => console.log(book))
 * await orders.publish({ book: 1 }, { attempts: 3, backoff: 100 })
 */
export function memoryQueue<const Schema extends object>(
  name: string,
  options: { schema: Schema },
): MemoryQueue<PublishedBy<Schema>, ReceivedBy<Schema>>
export function memoryQueue<Payload>(name: string, options?: QueueOptions): MemoryQueue<Payload>
export function memoryQueue(name: string, options?: QueueOptions): MemoryQueue<unknown> {
  return new MemoryQueue(definition(name, 'memory', options))
}

/**
 * A queue in Redis, through BullMQ; needs the packages `bullmq` and `ioredis`, and the configuration `bullmq`.
 *
 * @example
 * const orders = bullmqQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { attempts: 5, backoff: { type: 'exponential', delay: 1000 } })
 */
export function bullmqQueue<const Schema extends object>(
  name: string,
  options: { schema: Schema },
): BullmqQueue<PublishedBy<Schema>, ReceivedBy<Schema>>
export function bullmqQueue<Payload>(name: string, options?: QueueOptions): BullmqQueue<Payload>
export function bullmqQueue(name: string, options?: QueueOptions): BullmqQueue<unknown> {
  return new BullmqQueue(definition(name, 'bullmq', options))
}

/**
 * A queue in Postgres, through pg-boss 10 to 12; needs the package `pg-boss` and the configuration `pgboss`.
 *
 * @example
 * const orders = pgbossQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { retryLimit: 4, retryDelay: 30 })
 */
export function pgbossQueue<const Schema extends object>(
  name: string,
  options: { schema: Schema },
): Queue<PublishedBy<Schema>, PgbossPublishOptions, ReceivedBy<Schema>>
export function pgbossQueue<Payload>(name: string, options?: QueueOptions): Queue<Payload, PgbossPublishOptions>
export function pgbossQueue(name: string, options?: QueueOptions): Queue<unknown, PgbossPublishOptions> {
  return new Queue(definition(name, 'pgboss', options))
}

/**
 * A queue of SQS; needs the package `@aws-sdk/client-sqs` and the configuration `sqs`. The queue itself must already exist.
 *
 * @example
 * const orders = sqsQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { DelaySeconds: 10 })
 */
export function sqsQueue<const Schema extends object>(
  name: string,
  options: { schema: Schema },
): Queue<PublishedBy<Schema>, SqsPublishOptions, ReceivedBy<Schema>>
export function sqsQueue<Payload>(name: string, options?: QueueOptions): Queue<Payload, SqsPublishOptions>
export function sqsQueue(name: string, options?: QueueOptions): Queue<unknown, SqsPublishOptions> {
  return new Queue(definition(name, 'sqs', options))
}

/**
 * A queue on an engine of your own.
 *
 * @example
 * const log: GenericPubSub = {
 *   publish: async (topic, payload) => ({ id: `${topic} ${JSON.stringify(payload)}` }),
 *   subscribe: async () => {},
 *   unsubscribe: async () => {},
 * }
 * const orders = createQueue<{ book: number }>('orders', log)
 */
export function createQueue<Payload, Options extends object = object>(
  name: string,
  pubsub: GenericPubSub<Options>,
): Queue<Payload, Options> {
  for (const method of ['publish', 'subscribe', 'unsubscribe'] as const) {
    if (typeof pubsub?.[method] !== 'function')
      throw OptionError(`createQueue: ${method}`, pubsub?.[method], 'a function')
  }
  const kind = pubsub.name ?? name
  ownKinds.add(kind)
  return new Queue({ name, kind, pubsub: pubsub as GenericPubSub })
}
