import type { OptionPlace } from '../../../kernel/index.ts'
import { option, type SettingsOf } from '../options/index.ts'
import { defined } from '../values/json.ts'
import { nameInTenant } from '../values/tenants.ts'
import { timeoutOption } from '../work/attempt.ts'
import { bullmqId } from './ids.ts'
import type { BackoffSettings, Meta } from './meta.ts'

/** How long to wait before the next attempt; a number is `{ type: 'fixed', delay }`. */
export type Backoff =
  | number
  | {
      /** `exponential` doubles the time with each attempt. */
      readonly type: 'fixed' | 'exponential'
      /** Milliseconds; for `exponential`, before the second attempt. Default 0. */
      readonly delay?: number
      /** The fraction, 0 to 1, by which the time is shortened at random, so that jobs that failed together do not come back together. Default 0. */
      readonly jitter?: number
    }

/** The id of a message. */
export type MessageId =
  | string
  | {
      /** The id. */
      readonly value: string
      /** Milliseconds after publishing for which a further message with the id is not added, even if the first is done. */
      readonly ttl: number
    }

/** When a message is published repeatedly. */
export type Repeat = RepeatEvery | RepeatPattern

/** A repetition at fixed intervals. */
export interface RepeatEvery {
  /** Names the repetition: a later one with the same key replaces it, and `stopRepeat` ends it. */
  readonly key: string
  /** Milliseconds between two messages, counted from 1970. */
  readonly every: number
}

/** A repetition at the times of a cron pattern. */
export interface RepeatPattern {
  /** Names the repetition: a later one with the same key replaces it, and `stopRepeat` ends it. */
  readonly key: string
  /** A cron pattern of five or six fields. */
  readonly pattern: string
  /** The time zone of the pattern. Default UTC. */
  readonly tz?: string
}

/** Options of `publish` that have one meaning on every engine. One that an engine cannot have is an error. */
export interface PublishOptions {
  /** How many attempts the message has. Default 1. */
  attempts?: number
  /** The time between attempts. Default: none. */
  backoff?: Backoff
  /** Milliseconds before the first attempt. */
  delay?: number
  /** Messages with lower numbers are taken first. Default 0. */
  priority?: number
  /** A message with the id of one that waits, is being handled or has failed is not added again. */
  id?: MessageId
  /** Milliseconds after which an attempt counts as failed, its `signal` aborts, and another message takes its place. */
  timeout?: number
  /** Milliseconds after which a message that has not been handled is given up. */
  expireIn?: number
  /** Publishes the message repeatedly, until `stopRepeat` or the end of the server. Of several processes with the same key, one publishes each tick. */
  repeat?: Repeat
}

/** The options of other engines, so that a union of queues accepts the common ones alone. */
type Without<Terms> = { readonly [Name in keyof Terms]?: never }

/** Options of `publish` of a queue in memory. */
export type MemoryPublishOptions = PublishOptions & Without<BullmqTerms & PgbossTerms & SqsTerms>
/** Options of `publish` of a queue in Redis: those of every engine, and some in BullMQ's terms. */
export type BullmqPublishOptions = PublishOptions & BullmqTerms & Without<PgbossTerms & SqsTerms>
/** Options of `publish` of a queue in Postgres: those of every engine, and some in pg-boss's terms. */
export type PgbossPublishOptions = PublishOptions & PgbossTerms & Without<BullmqTerms & SqsTerms>
/** Options of `publish` of a queue of SQS: those of every engine that SQS can have, and some in its own terms. */
export type SqsPublishOptions = Omit<PublishOptions, 'priority'> &
  SqsTerms &
  Without<BullmqTerms & PgbossTerms & Pick<PublishOptions, 'priority'>>

/** Which finished jobs are kept: none (`true`), all (`false`), a number of them (`count`), or those up to an `age` in seconds. */
export type KeptJobs = boolean | number | { age: number; count?: number } | { count: number }

/** Options in BullMQ's terms. */
export interface BullmqTerms {
  /** Puts the message ahead of the waiting ones, so that the newest is taken first. */
  lifo?: boolean
  /** Which finished jobs are kept. Default: the last 1000; none with an `id`. */
  removeOnComplete?: KeptJobs
  /** Which jobs that failed for good are kept. Default: all. */
  removeOnFail?: KeptJobs
}

/** A client of `pg` that has begun a transaction, or any other object that runs SQL in one. */
export interface TransactionClient {
  /** Runs a statement with values for `$1` and so on, and resolves with its `rows`. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** Options in pg-boss's terms. */
export interface PgbossTerms {
  /** Publishes within the transaction of this client: the message exists if it commits, and never existed if it rolls back. */
  client?: TransactionClient
  /** Attempts after the first, instead of `attempts`. Default 2; of `queue()` 0. */
  retryLimit?: number
  /** Seconds between attempts, instead of `backoff`. Default 0. */
  retryDelay?: number
  /** Whether `retryDelay` doubles with each attempt. */
  retryBackoff?: boolean
  /** Seconds from now, or a point in time, before which the message is not handled; instead of `delay`. */
  startAfter?: number | string | Date
  /** With `singletonSeconds`: only one message for each key is accepted in that time. */
  singletonKey?: string
  /** Seconds for which further messages with the same key, or without one, are dropped. */
  singletonSeconds?: number
  /** Seconds a handler may take before its process counts as dead. Default 900. */
  expireInSeconds?: number
  /** The queue that receives a copy of the message after the last attempt. */
  deadLetter?: string
}

/** Options in the terms of SQS. */
export interface SqsTerms {
  /** Seconds before it can be taken, up to 900; instead of `delay`. */
  DelaySeconds?: number
  /** The group in which messages of a FIFO queue keep their order: one is handled at a time. Default: one group for the queue. */
  MessageGroupId?: string
  /** FIFO queues drop a further message with the same id for five minutes; instead of `id`. */
  MessageDeduplicationId?: string
  /** Up to ten attributes by name, each with a `DataType` (`String`, `Number`) and its `StringValue`. */
  MessageAttributes?: { readonly [name: string]: { readonly DataType: string; readonly StringValue?: string } }
}

const count = (min: number) => option.int({ min, max: 2_147_483_647 })

export const backoffOption = option
  .either(
    option.ms().into((delay) => ({ type: 'fixed' as const, delay, jitter: 0 })),
    option.shape({
      type: option.oneOf('fixed', 'exponential').required(),
      delay: option.ms().default(0),
      jitter: option.number({ min: 0, max: 1 }).default(0),
    }),
  )
  .says('milliseconds, or { type: "fixed" or "exponential", delay, jitter }')

const id = option
  .either(
    option.name().into((value) => ({ value, ttl: undefined as number | undefined })),
    option.shape({ value: option.name().required(), ttl: option.ms({ min: 1 }).required() }),
  )
  // A message of one tenant is not dropped for that of another.
  .into(({ value, ttl }) => ({ value: nameInTenant(value), ttl }))
  .says('text, or { value, ttl } with milliseconds')

const repeatTakes = '{ key, every } with milliseconds from 1, or { key, pattern, tz }'
const repeat = option
  .shape({ key: option.name().required(), every: count(1), pattern: option.name(), tz: option.name() })
  .says(repeatTakes)
  .into((given, place) => {
    const isOne = given.every === undefined ? given.pattern !== undefined : given.pattern === undefined
    if (!isOne) place.wrong(given, repeatTakes)
    return given
  })

/** The seconds after which pg-boss gives a job to another worker, unless its publisher has others, and the most that it accepts. */
// Version 10 of pg-boss takes less than a day.
const [usualExpiry, maxExpiry] = [900, 86_399]
/** The part of that time in which an attempt must end here: otherwise its failure would end the attempt of the other worker. */
export const expiryShare = 0.98

const portable = {
  attempts: count(1),
  backoff: backoffOption.optional(),
  delay: option.ms(),
  // BullMQ accepts no higher number.
  priority: option.int({ min: 0, max: 2_097_151 }),
  id: id.optional(),
  timeout: timeoutOption,
  expireIn: option.ms({ min: 1 }),
  repeat: repeat.optional(),
}

const keptJobs = option
  .either(option.flag(), option.int(), option.shape({ age: option.number({ min: 0 }), count: option.int({ min: 0 }) }))
  .says('true, false, a number of jobs, or { age, count }')

const bullmqTerms = { lifo: option.flag(), removeOnComplete: keptJobs, removeOnFail: keptJobs }

const pgbossTerms = {
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
  singletonKey: option.name(),
  singletonSeconds: count(1),
  expireInSeconds: option.int({ min: 1, max: maxExpiry }),
  deadLetter: option.name(/^[\w./-]+$/, 'letters, digits, "_", "-", "." and "/"'),
}

const value = option.shape({ DataType: option.name(), StringValue: option.text(), BinaryValue: option.value('bytes') })
const sqsTerms = {
  DelaySeconds: option.int({ min: 0, max: 900, unit: 'seconds' }),
  MessageGroupId: option.name(),
  MessageDeduplicationId: option.name(),
  MessageAttributes: option.record(value.says('{ DataType, StringValue }')),
}

const portableOptions = option.shape(portable)
type Portable = SettingsOf<typeof portableOptions>

/** The options of a message: what its engine receives, and what is stored with the message for its handler. */
export interface MessageSettings {
  /** In the terms of the engine. */
  readonly native: object | undefined
  /** Without `expires`, which depends on the time. */
  readonly meta: Meta | undefined
  readonly expireIn: number | undefined
  readonly repeat: RepeatSettings | undefined
}

export type RepeatSettings = NonNullable<Portable['repeat']>

/** The options without those that no engine has. */
const forEngine = <Given extends Portable>({ timeout: _, expireIn: __, repeat: ___, ...rest }: Given) => rest

/** The settings of a message, with the options that no engine has. */
function settingsOf(given: Portable, place: OptionPlace, terms: object, more: Meta = {}): MessageSettings {
  const { timeout, expireIn, id: known, repeat: again } = given
  if (again !== undefined && known !== undefined)
    place.in('id').wrong(known.value, 'nothing beside "repeat", which gives each message an id of its own')
  const meta = defined({ timeout, id: known?.value, ...more })
  const native = defined(terms)
  return { native, meta: Object.keys(meta).length === 0 ? undefined : meta, expireIn, repeat: again }
}

/** Two ways to say the same thing: only one may be used. */
function refuseBoth(given: object, place: OptionPlace, pairs: { readonly [own: string]: string }): void {
  const values = given as { readonly [name: string]: unknown }
  for (const [own, common] of Object.entries(pairs))
    if (values[own] !== undefined && values[common] !== undefined)
      place.in(own).wrong(values[own], `nothing beside "${common}", which says the same`)
}

/** Milliseconds for which FIFO queues of SQS know an id. */
export const sqsTtl = 300_000

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.ceil(ms / 1000))

/** A longer limit than pg-boss has by itself needs a later expiry. */
function expiryFor(timeout: number, place: OptionPlace): number | undefined {
  const needed = Math.ceil(timeout / 1000 / expiryShare)
  if (needed > maxExpiry)
    place.wrong(
      timeout,
      `up to ${maxExpiry * expiryShare * 1000} milliseconds in Postgres: pg-boss gives a job to another worker after a day`,
    )
  return needed > usualExpiry ? needed : undefined
}

/** Whether pg-boss itself keeps exactly this pause: it has whole seconds, and makes its growing ones longer at random. */
const isOfPgboss = (wait: BackoffSettings | undefined) =>
  wait === undefined || (wait.type === 'fixed' && wait.jitter === 0 && wait.delay % 1000 === 0)

const inMemory = ({ attempts = 1, backoff, delay = 0, priority = 0, id: known }: Partial<Portable>) => ({
  ...{ attempts, backoff, delay, priority, id: known?.value, ttl: known?.ttl },
  /** The queue that receives a copy after the last attempt, for a queue that stands for one of pg-boss. */
  deadLetter: undefined as string | undefined,
})
export type MemoryPublishSettings = Readonly<ReturnType<typeof inMemory>>
/** The settings of a message in memory without options. */
export const usualInMemory: MemoryPublishSettings = inMemory({})

const memory = option.shape(portable).into((given, place) => settingsOf(given, place, inMemory(given)))

const bullmq = option.shape({ ...portable, ...bullmqTerms }).into((given, place) => {
  // BullMQ would ignore it.
  if (given.lifo && given.priority) place.in('lifo').wrong(given.lifo, 'nothing beside "priority" in BullMQ')
  const { id: known, ...rest } = forEngine(given)
  const ttl = known?.ttl
  const identified = known && {
    jobId: bullmqId(known.value),
    // Otherwise an id could not be used again for as long as the finished job is kept.
    removeOnComplete: true,
    ...(ttl !== undefined && { deduplication: { id: known.value, ttl } }),
  }
  return settingsOf(given, place, { ...identified, ...defined(rest) })
})

const pgboss = option.shape({ ...portable, ...pgbossTerms }).into((given, place) => {
  const sameAs = { retryLimit: 'attempts', retryDelay: 'backoff', retryBackoff: 'backoff', startAfter: 'delay' }
  refuseBoth(given, place, sameAs)
  const { timeout } = given
  const { attempts, backoff: wait, delay, priority, id: known, ...terms } = forEngine(given)
  const native = {
    retryLimit: attempts === undefined ? undefined : attempts - 1,
    retryDelay: seconds(wait?.delay),
    retryBackoff: wait && wait.type === 'exponential',
    // pg-boss takes the highest first.
    priority: priority === undefined ? undefined : -priority,
    startAfter: delay === undefined ? undefined : delay / 1000,
    messageId: known,
    expireInSeconds: timeout === undefined ? undefined : expiryFor(timeout, place.in('timeout')),
  }
  return settingsOf(given, place, { ...terms, ...defined(native) }, { backoff: isOfPgboss(wait) ? undefined : wait })
})

/** FIFO queues alone know ids. */
const sqs = (isFifo: boolean) =>
  option.shape({ ...portable, ...sqsTerms }).into((given, place) => {
    refuseBoth(given, place, { DelaySeconds: 'delay', MessageDeduplicationId: 'id' })
    const { attempts, backoff, delay, priority, id: known, ...terms } = forEngine(given)
    if (priority !== undefined) place.in('priority').wrong(priority, 'nothing: SQS has no priorities')
    if (delay !== undefined && delay > 900_000) place.in('delay').wrong(delay, 'up to 900000 milliseconds in SQS')
    if (backoff !== undefined && backoff.delay > 43_200_000)
      place.in('backoff').wrong(backoff.delay, 'up to 43200000 milliseconds (12 hours) in SQS')
    const needsFifo = 'nothing in SQS, unless the queue is a FIFO queue, whose name ends in ".fifo"'
    if (known !== undefined && !isFifo) place.in('id').wrong(known.value, needsFifo)
    else if (known !== undefined && known.ttl !== sqsTtl)
      place.in('id').wrong(known.value, `{ value, ttl: ${sqsTtl} } in SQS, which knows an id for five minutes`)
    const native = { DelaySeconds: seconds(delay), MessageDeduplicationId: known?.value }
    return settingsOf(given, place, { ...terms, ...defined(native) }, { attempts, backoff })
  })

/** The options of each engine of this project; what it cannot have is refused, and never dropped. */
export const publishOptions = {
  memory: memory.typed<MemoryPublishOptions>(),
  bullmq: bullmq.typed<BullmqPublishOptions>(),
  pgboss: pgboss.typed<PgbossPublishOptions>(),
  sqs: sqs(false).typed<SqsPublishOptions>(),
  'sqs.fifo': sqs(true).typed<SqsPublishOptions>(),
}

/** Reads the options of a queue whose engine is one of the application: the engine receives them as they are, but for those that it does not have. */
export function ownPublishOptions(supported: readonly string[]) {
  return option.shape(portable).into((given, place) => {
    for (const [name, one] of Object.entries(defined(given)))
      if (name !== 'repeat' && !supported.includes(name))
        place.in(name).wrong(one, `nothing: the engine does not name "${name}" in its "supports"`)
    return settingsOf(given, place, forEngine(given))
  })
}

const termsOf: { readonly [kind: string]: object } = { bullmq: bullmqTerms, pgboss: pgbossTerms, sqs: sqsTerms }

/** The names of the options that the messages of a queue may have by default: not those that belong to one message. */
export function defaultNames(kind: string | undefined): string[] {
  const single = ['id', 'repeat', 'client', 'MessageDeduplicationId']
  return [...Object.keys(portable), ...Object.keys(termsOf[kind ?? ''] ?? {})].filter((name) => !single.includes(name))
}

/** An engine, as far as its options depend on it. */
interface OptionsOwner {
  readonly kind: string
  readonly pubsub: { readonly supports?: readonly string[] } | undefined
}

/** Whether an engine adds one message for an id. Otherwise, processes that repeat a message need a lock for that. */
export const knowsIds = ({ kind, pubsub }: OptionsOwner, queue: string): boolean =>
  pubsub === undefined ? kind !== 'sqs' || queue.endsWith('.fifo') : pubsub.supports?.includes('id') === true

/** The check for the options of a queue on an engine. */
export function checkFor(engine: OptionsOwner, queue: string): PublishCheck {
  const { kind, pubsub } = engine
  if (pubsub !== undefined) return ownPublishOptions(pubsub.supports ?? [])
  return publishOptions[kind === 'sqs' && knowsIds(engine, queue) ? 'sqs.fifo' : (kind as keyof typeof publishOptions)]
}

type PublishCheck = { parse(given: unknown, path?: string): MessageSettings }
