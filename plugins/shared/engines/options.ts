import { type Middleware, nearest, type OptionPlace, quoted, type Request } from '../../../kernel/index.ts'
import { operatorPageOptions } from '../development/operator-page.ts'
import { awsCredentials } from '../environment/aws-credentials.ts'
import { foreignOption } from '../options/foreign-options.ts'
import { option, type SettingsOf } from '../options/index.ts'
import { addressOption } from '../stores/address.ts'
import { type RedisAddress, redisOptions, redisUrl } from '../stores/redis.ts'
import type { GenericPubSub } from './custom.ts'

/** A failed attempt, for error handlers. */
export interface QueueFailure {
  /** The name of the queue. */
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom one. */
  readonly kind: string
  /** The id of the message. */
  readonly id: string
  /** The payload as the handler got it. */
  readonly payload: unknown
  /** Which attempt failed, 1 for the first. */
  readonly attempt: number
  /** The maximum number of attempts; `undefined` where only the engine knows it. */
  readonly attempts: number | undefined
  /** Whether this was the last attempt, so that the message is parked. */
  readonly final: boolean
}

/** Called for every failed attempt, instead of the log. */
export type QueueErrorHandler = (error: Error, failure: QueueFailure) => void | Promise<void>

/** Options of every kind of queue. */
export interface QueueSettings {
  /** Called after each failed attempt. Default: the attempt is logged. */
  errorHandler?: QueueErrorHandler
  /** Milliseconds after which `publish` rejects. Default 5000. */
  publishTimeout?: number
}

/** Settings of queues in memory. */
export interface MemoryQueueConfig extends QueueSettings {
  /** How many messages one queue holds before `publish` rejects. Default 100000. */
  maxSize?: number
}

/** Settings of queues in Redis, through BullMQ. */
export interface BullmqConfig extends QueueSettings {
  /** A `redis://` or `rediss://` address, or options of ioredis with `url` or `host`, `port` and so on. Default `REDIS_URL`, else `redis://127.0.0.1:6379`. */
  connection?: string | { readonly [option: string]: unknown }
  /** Prefix of every key. Default `'bull'`. */
  prefix?: string
  /** Milliseconds after which the job of an unresponsive worker is given to another one. Default 30000. */
  lockDuration?: number
  /** Milliseconds between two checks for such jobs. Default 30000. */
  stalledInterval?: number
  /** How many times a job may lose its worker before it counts as failed. Default 1. */
  maxStalledCount?: number
}

/** Settings of queues in Postgres, through pg-boss. */
export interface PgbossConfig extends QueueSettings {
  /** The address of Postgres. Default `DATABASE_URL`, else `postgres://127.0.0.1:5432/postgres`. */
  connectionString?: string
  /** The schema in which pg-boss keeps its tables; it creates them itself. Default `'pgboss'`. */
  schema?: string
  /** The maximum number of connections to Postgres. Default 10. */
  max?: number
  /** The option `ssl` of the package `pg`: `true`, or an object with certificates. */
  ssl?: unknown
  /** Milliseconds between two polls of an empty queue. Default 1000. */
  pollInterval?: number
  /** Further options of the constructor of pg-boss. */
  options?: { readonly [option: string]: unknown }
}

/** Settings of queues of SQS. */
export interface SqsConfig extends QueueSettings {
  /** The region. Default: that of the environment, as for every AWS client. */
  region?: string
  /** The address of the service. Default: that of the region. */
  endpoint?: string
  /** The credentials, or a function that returns them, in the form that AWS clients accept. Default: those of the environment. */
  credentials?: object
  /** An `SQSClient` instead of the three above; it stays open. */
  client?: object
  /** Addresses of queues by name, the same for publishers and subscribers; others are looked up. */
  queueUrls?: { readonly [queue: string]: string }
  /** Seconds for which one poll waits for a message, up to 20. Default 20. */
  waitTimeSeconds?: number
  /** Seconds for which a message is hidden from others; extended while its handler runs. Default 30. */
  visibilityTimeout?: number
  /** Seconds before a failed message is delivered again. Default 0. */
  retryDelay?: number
}

/** Which engine each queue is on that names none: `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of one of your own in the configuration. */
export interface QueueEngines {
  /** The engine of the others. Default: the variable `QUEUE_ENGINE` of the environment, else `'memory'`. */
  readonly default?: string
  readonly [queue: string]: string | undefined
}

/** The argument of `defineQueueConfiguration`: settings by kind of queue, or by the name of a custom one. */
export interface QueueConfig {
  /** Which engine each queue of `queue(name)` is on. */
  readonly queues?: QueueEngines
  /** Settings of queues in the memory of the process. */
  readonly memory?: MemoryQueueConfig
  /** Settings of queues in Redis. */
  readonly bullmq?: BullmqConfig
  /** Settings of queues in Postgres. */
  readonly pgboss?: PgbossConfig
  /** Settings of queues in Amazon SQS. */
  readonly sqs?: SqsConfig
  // `object`, because otherwise a configuration held in a variable would not compile.
  readonly [custom: string]: QueueSettings | object | undefined
}

/** Options of the queues plugin. */
export interface QueuesOptions {
  /** The settings of the kinds of queues, as for `defineQueueConfiguration`; they apply until every server with queues has closed. */
  config?: QueueConfig
  /** Whether the subscribers of this process receive messages once the server listens. Default false. */
  run?: boolean
  /** A page on which operators look after the queues. Default: none. */
  ui?: boolean | QueueUiOptions
}

/** The page that shows the queues. */
export interface QueueUiOptions {
  /** The path of the page. Default `/queues`. */
  path?: string
  /** Middlewares that decide who may see and use the page. Without any, a server only starts if `NODE_ENV` is `development` or `test`. */
  middlewares?: readonly Middleware[]
  /** Who makes a change, for the log. Default: the address of the client. */
  by?: (req: Request) => string | undefined
}

const shared = {
  errorHandler: option.fn<QueueErrorHandler>('a function (error, failure) => …'),
  publishTimeout: option.ms({ min: 1 }).default(5000),
}

const memory = option.shape({ ...shared, maxSize: option.int({ min: 1, unit: 'messages' }).default(100_000) })

const connection = option.either(
  redisUrl.into((url): RedisAddress => ({ url })),
  redisOptions(),
)
const bullmq = option.shape({
  ...shared,
  connection: connection.default({}),
  prefix: option.name().default('bull'),
  lockDuration: option.ms({ min: 1 }).default(30_000),
  stalledInterval: option.ms({ min: 1 }).default(30_000),
  maxStalledCount: option.int({ min: 0, max: 1000 }).default(1),
})

const pgboss = option.shape({
  ...shared,
  connectionString: addressOption('postgres'),
  schema: option.name().default('pgboss'),
  max: option.int({ min: 2, max: 1000, unit: 'connections' }).default(10),
  ssl: option.value<unknown>('an option value of pg-boss').secret(),
  pollInterval: option.ms({ min: 1 }).default(1000),
  options: option.shape({}, foreignOption(['supervise', 'migrate', 'schedule', 'createSchema'])).secret(),
})

const sqs = option.shape({
  ...shared,
  region: option.name(),
  endpoint: addressOption('http'),
  credentials: awsCredentials,
  client: option.value<object>('an SQSClient', (given) => typeof Object(given).send === 'function'),
  queueUrls: option.record(option.text()).default({}),
  waitTimeSeconds: option.int({ min: 0, max: 20, unit: 'seconds' }).default(20),
  visibilityTimeout: option.int({ min: 1, max: 43_200, unit: 'seconds' }).default(30),
  retryDelay: option.int({ min: 0, max: 43_200, unit: 'seconds' }).default(0),
})

// With its place: a wrong name may come from the environment.
const engineName = option.name().into((kind, at) => ({ kind, at }))
const engines = option.shape({ default: engineName.env('QUEUE_ENGINE').default('memory') }, (name, given, place) =>
  engineName.read(given as string, place.in(name)),
)

type NamedEngines = Readonly<Record<string, string>> & { readonly default: string }

const external = { bullmq, pgboss, sqs }
const kinds = {
  queues: engines.default({}),
  memory,
  bullmq: bullmq.optional(),
  pgboss: pgboss.optional(),
  sqs: sqs.optional(),
}

/** Names of custom engines that have a queue. */
export const ownKinds = new Set<string>()
const ownEngine = option.shape(shared)
export const ownEngineDefaults = ownEngine.parse({}, '')
/** The engine itself, which may carry its own settings. */
const engineObject = option.shape(shared, () => undefined)

const isEngine = (given: unknown) =>
  ['publish', 'subscribe', 'unsubscribe'].every((method) => typeof Object(given)[method] === 'function')

function readOwn(
  name: string,
  given: unknown,
  place: OptionPlace,
): (OwnEngineSettings & { readonly pubsub?: GenericPubSub }) | undefined {
  if (isEngine(given)) return { ...engineObject.read(given as never, place.in(name)), pubsub: given as GenericPubSub }
  const known = Object.keys(kinds)
  if (!ownKinds.has(name) && nearest(name, known) !== undefined) return void place.unknown(name, known)
  return ownEngine.read(given, place.in(name))
}

export const queueConfigOptions = option
  .shape(kinds, readOwn)
  .says(`an object with ${Object.keys(kinds).join(', ')}, or the name of an engine of your own`)
  .into((config, place) => {
    const added: Record<string, object> = {}
    const named = Object.entries(config.queues).flatMap(([queue, engine]) => (engine ? [{ queue, ...engine }] : []))
    for (const { kind, at } of named) {
      const known = Object.keys(external)
      const settings = Object.hasOwn(config, kind) ? (config[kind] as { pubsub?: GenericPubSub }) : undefined
      // Settings alone are not an engine, and neither is the list of the engines of queues.
      if (kind === 'memory' || (Object.hasOwn(external, kind) ? settings : settings?.pubsub) !== undefined) continue
      // A variable of the environment can name an engine whose address is in the environment as well.
      if (Object.hasOwn(external, kind))
        added[kind] = external[kind as keyof typeof external].parse({}, place.in(kind).path)
      else
        at.wrong(
          quoted(kind),
          `memory, ${known.join(', ')}, or the name of an engine of your own in this configuration`,
        )
    }
    const queues = Object.fromEntries(named.map(({ queue, kind }) => [queue, kind])) as NamedEngines
    return { ...config, ...added, queues }
  })
  .typed<QueueConfig>()

const uiOptions = option
  .shape({
    ...operatorPageOptions('/queues'),
    by: option.fn<NonNullable<QueueUiOptions['by']>>('a function (req) => string').guard(),
  })
  .typed<QueueUiOptions>()

/** @internal */
export const queuesOptions = option
  .shape({
    config: queueConfigOptions.optional(),
    run: option.flag().default(false),
    ui: option.feature(uiOptions).default(false),
  })
  // In a test, whose queues are all in memory.
  .into((settings) => ({ ...settings, isInMemory: false }))
  .typed<QueuesOptions>()

export type QueueUiSettings = SettingsOf<typeof uiOptions>
export type OwnEngineSettings = SettingsOf<typeof ownEngine>
export type BullmqSettings = SettingsOf<typeof bullmq>
export type PgbossSettings = SettingsOf<typeof pgboss>
export type SqsSettings = SettingsOf<typeof sqs>
export type QueueConfigSettings = SettingsOf<typeof queueConfigOptions>
