import { option, type SettingsOf } from '../shared/options/index.ts'
import { defined } from '../shared/values/json.ts'

/** How long to wait before the next attempt; a number is `{ type: 'fixed', delay }`. */
export type Backoff = number | { readonly type: 'fixed' | 'exponential'; readonly delay?: number }

/** Options of `publish` of a queue in memory. */
export interface MemoryPublishOptions {
  /** How many attempts the message has. Default 1. */
  attempts?: number
  /** Milliseconds between attempts; `exponential` doubles them each time. Default: none. */
  backoff?: Backoff
  /** Milliseconds before the first attempt. */
  delay?: number
  /** Messages with lower numbers are taken first. Default 0. */
  priority?: number
  /** A message with the id of an existing one is not added again. */
  jobId?: string
}

/** Which finished jobs are kept: none (`true`), all (`false`), a number of them (`count`), or those up to an `age` in seconds. */
export type KeptJobs = boolean | number | { age: number; count?: number } | { count: number }

/** Options of `publish` of a queue in Redis, in BullMQ's terms. */
export interface BullmqPublishOptions extends MemoryPublishOptions {
  /** Puts the message ahead of the waiting ones, so that the newest is taken first. */
  lifo?: boolean
  /** Which finished jobs are kept. Default: the last 1000. */
  removeOnComplete?: KeptJobs
  /** Which jobs that failed for good are kept. Default: all. */
  removeOnFail?: KeptJobs
  /** Publishes repeatedly: `every` so many milliseconds, or by a cron `pattern` in the time zone `tz`. The same `key` replaces an earlier one; see `stopRepeat`. */
  repeat?:
    | { readonly key: string; readonly every: number }
    | { readonly key: string; readonly pattern: string; readonly tz?: string }
}

/** A client of `pg` that has begun a transaction, or any other object that runs SQL in one. */
export interface TransactionClient {
  /** Runs a statement with values for `$1` and so on, and resolves with its `rows`. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** Options of `publish` of a queue in Postgres, in pg-boss's terms. */
export interface PgbossPublishOptions {
  /** Publishes within the transaction of this client: the message exists if it commits, and never existed if it rolls back. */
  client?: TransactionClient
  /** Attempts after the first. Default 2. */
  retryLimit?: number
  /** Seconds between attempts. Default 0. */
  retryDelay?: number
  /** Whether `retryDelay` doubles with each attempt. */
  retryBackoff?: boolean
  /** Seconds from now, or a point in time, before which the message is not handled. */
  startAfter?: number | string | Date
  /** Messages with higher numbers are taken first. */
  priority?: number
  /** A UUID; a message with the id of an existing one is not added again. */
  id?: string
  /** With `singletonSeconds`: only one message for each key is accepted in that time. */
  singletonKey?: string
  /** Seconds for which further messages with the same key, or without one, are dropped. */
  singletonSeconds?: number
  /** Seconds a handler may take before its process counts as dead. Default 900. */
  expireInSeconds?: number
  /** The queue that receives the message after the last attempt. */
  deadLetter?: string
}

/** Options of `publish` of a queue of SQS, in SQS's own terms. */
export interface SqsPublishOptions {
  /** Seconds before it can be taken, up to 900. */
  DelaySeconds?: number
  /** The group in which messages keep their order; FIFO queues need one. */
  MessageGroupId?: string
  /** FIFO queues drop a further message with the same id for five minutes. */
  MessageDeduplicationId?: string
  /** Up to ten attributes by name, each with a `DataType` (`String`, `Number`) and its `StringValue`. */
  MessageAttributes?: { readonly [name: string]: { readonly DataType: string; readonly StringValue?: string } }
}

const count = (min: number) => option.int({ min, max: 2_147_483_647 })
const milliseconds = option.ms()

const backoff = option
  .either(
    milliseconds,
    option.shape({ type: option.oneOf('fixed', 'exponential').required(), delay: milliseconds.optional() }),
  )
  .says('milliseconds, or { type: "fixed" or "exponential", delay }')

const common = {
  attempts: count(1),
  backoff,
  delay: count(0),
  priority: count(0),
  jobId: option.name(),
}

const keptJobs = option
  .either(option.flag(), option.int(), option.shape({ age: option.number({ min: 0 }), count: option.int({ min: 0 }) }))
  .says('true, false, a number of jobs, or { age, count }')

const repeatTakes = '{ key, every } with milliseconds from 1, or { key, pattern, tz }'
const repeat = option
  .shape({ key: option.name().required(), every: count(1), pattern: option.name(), tz: option.name() })
  .says(repeatTakes)
  .into((given, place) => {
    const isOne = given.every === undefined ? given.pattern !== undefined : given.pattern === undefined
    if (!isOne) place.wrong(given, repeatTakes)
    return given
  })

const bullmq = {
  ...common,
  // BullMQ uses ":" as a separator in Redis keys, and numbers jobs that have no id.
  jobId: option.name(/^(?!\d+$)[^:]+$/, 'a string without ":" that is not a number'),
  lifo: option.flag(),
  removeOnComplete: keptJobs,
  removeOnFail: keptJobs,
  repeat: repeat.optional(),
}

const pgboss = {
  client: option.value<TransactionClient>(
    'a client with query(text, values) that has begun a transaction, and not a pool, which would publish outside of it',
    (given) => typeof (given as TransactionClient | null)?.query === 'function' && !('totalCount' in (given as object)),
  ),
  retryLimit: count(0),
  retryDelay: count(0),
  retryBackoff: option.flag(),
  startAfter: option.value<number | string | Date>(
    'seconds from now, a time as text, or a Date',
    (given) => Number.isFinite(given) || (typeof given === 'string' && given !== '') || given instanceof Date,
  ),
  // pg-boss sorts by it in both directions.
  priority: option.int({ min: -2_147_483_648, max: 2_147_483_647 }),
  id: option.name(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, 'a UUID, of crypto.randomUUID() for example'),
  singletonKey: option.name(),
  singletonSeconds: count(1),
  expireInSeconds: count(1),
  deadLetter: option.name(),
}

const value = option.shape({ DataType: option.name(), StringValue: option.text(), BinaryValue: option.value('bytes') })
const sqs = {
  DelaySeconds: option.int({ min: 0, max: 900, unit: 'seconds' }),
  MessageGroupId: option.name(),
  MessageDeduplicationId: option.name(),
  MessageAttributes: option.record(value.says('{ DataType, StringValue }')),
}

const memory = {
  ...common,
  attempts: common.attempts.default(1),
  backoff: backoff.default(0),
  delay: common.delay.default(0),
  priority: common.priority.default(0),
}

/** The options of each engine; a value that it would misinterpret, or refuse in words of its own, is an error. */
export const publishOptions = {
  memory: option.shape(memory).typed<MemoryPublishOptions>(),
  bullmq: option.shape(bullmq).into(defined).typed<BullmqPublishOptions>(),
  pgboss: option.shape(pgboss).into(defined).typed<PgbossPublishOptions>(),
  sqs: option.shape(sqs).into(defined).typed<SqsPublishOptions>(),
}

export type PublishCheck = (typeof publishOptions)[keyof typeof publishOptions]
export type MemoryPublishSettings = SettingsOf<typeof publishOptions.memory>
