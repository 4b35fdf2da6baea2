import { OptionError } from '../../kernel/index.ts'
import type { GenericPubSub } from '../shared/engines/custom.ts'
import type { DeadMessage } from '../shared/engines/memory.ts'
import { ownKinds } from '../shared/engines/options.ts'
import {
  type BullmqPublishOptions,
  defaultNames,
  type MemoryPublishOptions,
  type PgbossPublishOptions,
  type PublishOptions,
  type SqsPublishOptions,
} from '../shared/engines/publish-options.ts'
import { option } from '../shared/options/index.ts'
import { Queue } from './queue.ts'
import type { PayloadSchema, PublishedBy, ReceivedBy } from './schema.ts'
import type { UpgradePayload } from './subscription.ts'

/** The options of a queue that are not about its messages. */
export interface QueueOptions<Schema extends PayloadSchema = PayloadSchema> {
  /** Checks payloads when they are published, and again before a handler receives them. */
  schema?: Schema
  /** The version of the payloads, raised when their form changes. A process that knows only earlier versions leaves the message to a newer one. Default 1. */
  version?: number
  /** Makes a payload of this version from one of the version `from`, before it is checked. */
  upgrade?: UpgradePayload
}

/** Options for the messages of a queue that have no others. */
type Defaults<Options> = Omit<Options, 'id' | 'repeat' | 'client' | 'MessageDeduplicationId'>

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
    this.engines.memory.topic(this.name).remove(() => true)
  }
}

/** The check for the options of a queue, by its engine. */
function optionsOf(kind: string | undefined) {
  const own = {
    schema: option.value<PayloadSchema>('a schema'),
    version: option.int({ min: 1 }).default(1),
    upgrade: option.fn<UpgradePayload>('a function (payload, from) => payload'),
  }
  const defaults = defaultNames(kind)
  const known = [...Object.keys(own), ...defaults]
  return option
    .shape(own, (name, given, place) => (defaults.includes(name) ? given : void place.unknown(name, known)))
    .into(({ schema, version, upgrade, ...rest }, place) => {
      const takes = `a function (payload, from) => payload that makes payloads of version ${version} from earlier ones`
      if (version > 1 && upgrade === undefined) place.in('upgrade').wrong(undefined, takes)
      return { schema, version, upgrade, defaults: rest }
    })
}

const definition = (name: string, kind: string | undefined, options: object | undefined) => ({
  name,
  kind,
  pubsub: undefined,
  ...optionsOf(kind).parse(options as never, kind === undefined ? 'queue' : `${kind}Queue`),
})

/** Makes a queue by its name; with a schema, its payloads have the types of the schema. */
export interface QueueFactory<Options> {
  <const Schema extends object>(
    name: string,
    options: QueueOptions<Schema> & { schema: Schema } & Defaults<Options>,
  ): Queue<PublishedBy<Schema>, Options, ReceivedBy<Schema>>
  <Payload>(name: string, options?: QueueOptions & Defaults<Options>): Queue<Payload, Options>
}

const factoryOf =
  <Options>(kind: string | undefined): QueueFactory<Options> =>
  (name: string, options?: object) =>
    new Queue<never, Options>(definition(name, kind, options))

/**
 * A queue whose engine the configuration names: `queues: { default: 'pgboss', orders: 'bullmq' }`, or the variable `QUEUE_ENGINE`. Without
 * either, it is in the memory of the process, for development and tests.
 *
 * Its options, and those of `publish`, have one meaning on every engine; one that the engine cannot have is an error at the start of the server.
 *
 * @throws OptionError
 * @example
 * const orders = queue<{ book: number }>('orders', { attempts: 5, backoff: { type: 'exponential', delay: 1000, jitter: 0.5 } })
 * await orders.subscribe(({ book }) => console.log(book))
 * await orders.publish({ book: 1 }, { delay: 60_000, id: 'order-1' })
 */
export const queue = factoryOf<PublishOptions>(undefined)

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
  options: QueueOptions<Schema> & { schema: Schema } & Defaults<MemoryPublishOptions>,
): MemoryQueue<PublishedBy<Schema>, ReceivedBy<Schema>>
export function memoryQueue<Payload>(
  name: string,
  options?: QueueOptions & Defaults<MemoryPublishOptions>,
): MemoryQueue<Payload>
export function memoryQueue(name: string, options?: object): MemoryQueue<unknown> {
  return new MemoryQueue(definition(name, 'memory', options))
}

/**
 * A queue in Redis, through BullMQ; needs the packages `bullmq` and `ioredis`, and the configuration `bullmq`.
 *
 * @example
 * const orders = bullmqQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { attempts: 5, backoff: { type: 'exponential', delay: 1000 } })
 */
export const bullmqQueue = factoryOf<BullmqPublishOptions>('bullmq')

/**
 * A queue in Postgres, through pg-boss 10 to 12; needs the package `pg-boss` and the configuration `pgboss`.
 *
 * @example
 * const orders = pgbossQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { retryLimit: 4, retryDelay: 30 })
 */
export const pgbossQueue = factoryOf<PgbossPublishOptions>('pgboss')

/**
 * A queue of SQS; needs the package `@aws-sdk/client-sqs` and the configuration `sqs`. The queue itself must already exist.
 *
 * @example
 * const orders = sqsQueue<{ book: number }>('orders')
 * await orders.publish({ book: 1 }, { DelaySeconds: 10 })
 */
export const sqsQueue = factoryOf<SqsPublishOptions>('sqs')

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
  for (const method of ['publish', 'subscribe', 'unsubscribe'] as const)
    if (typeof pubsub?.[method] !== 'function')
      throw OptionError(`createQueue: ${method}`, pubsub?.[method], 'a function')
  const kind = pubsub.name ?? name
  ownKinds.add(kind)
  const plain = { schema: undefined, version: 1, upgrade: undefined }
  return new Queue({ ...plain, name, kind, pubsub: pubsub as GenericPubSub, isForeign: true })
}
