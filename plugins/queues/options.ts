import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import { addressLike, isAddress } from '../shared/address.ts'

/** A failed attempt, for error handlers. */
export interface QueueFailure {
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom one. */
  readonly kind: string
  readonly id: string
  readonly payload: unknown
  /** 1 for the first. */
  readonly attempt: number
  /** How many there are at most; `undefined` where only the engine knows. */
  readonly attempts: number | undefined
  /** Whether there is no other attempt: the message is parked. */
  readonly final: boolean
}

/** Told of every failed attempt, in place of the log. */
export type QueueErrorHandler = (error: Error, failure: QueueFailure) => void | Promise<void>

/** What the configuration of every kind may have. */
export interface QueueSettings {
  errorHandler?: QueueErrorHandler
  /** Milliseconds after which `publish` rejects. Default 5000. */
  publishTimeout?: number
}

/** Queues in memory. */
export interface MemoryQueueConfig extends QueueSettings {
  /** How many messages one queue holds before `publish` rejects. Default 100000. */
  maxSize?: number
}

/** Queues in Redis, by BullMQ. */
export interface BullmqConfig extends QueueSettings {
  /** A `redis://` or `rediss://` address, or options of ioredis. Default `REDIS_URL`, else `redis://127.0.0.1:6379`. */
  connection?: string | { readonly [option: string]: unknown }
  /** Stands in front of every key. Default `'bull'`. */
  prefix?: string
  /** Milliseconds without a sign of life after which the job of a worker is given to another. Default 30000. */
  lockDuration?: number
  /** Milliseconds between two looks for such jobs. Default 30000. */
  stalledInterval?: number
  /** How often a job may lose its worker before it counts as failed. Default 1. */
  maxStalledCount?: number
}

/** Queues in Postgres, by pg-boss. */
export interface PgbossConfig extends QueueSettings {
  /** Default `DATABASE_URL`, else `postgres://127.0.0.1:5432/postgres`. */
  connectionString?: string
  /** The schema in which pg-boss keeps its tables; it makes them itself. Default `'pgboss'`. */
  schema?: string
  /** Connections at most. Default 10. */
  max?: number
  ssl?: unknown
  /** Milliseconds between two looks for a message while there is none. Default 1000. */
  pollInterval?: number
  /** Further options of the constructor of pg-boss. */
  options?: { readonly [option: string]: unknown }
}

/** Queues of SQS. */
export interface SqsConfig extends QueueSettings {
  /** Default: that of the environment, as for every AWS client. */
  region?: string
  /** Default: that of the region. */
  endpoint?: string
  credentials?: object
  /** An `SQSClient` in place of the three above; it stays open. */
  client?: object
  /** Addresses of queues by name; others are asked for. */
  queueUrls?: { readonly [queue: string]: string }
  /** Seconds one question waits for a message, up to 20. Default 20. */
  waitTimeSeconds?: number
  /** Seconds for which a message is hidden from others; prolonged while its handler runs. Default 30. */
  visibilityTimeout?: number
  /** Seconds before a failed message is given out again. Default 0. */
  retryDelay?: number
}

/** What `defineQueueConfiguration` takes: settings by kind of queue, or by the name of a custom one. */
export interface QueueConfig {
  readonly memory?: MemoryQueueConfig
  readonly bullmq?: BullmqConfig
  readonly pgboss?: PgbossConfig
  readonly sqs?: SqsConfig
  // `object`, or a configuration that is kept in a variable first would not compile.
  readonly [custom: string]: QueueSettings | object | undefined
}

/** Options of the queues plugin. */
export interface QueuesOptions {
  /** As for `defineQueueConfiguration`; it holds until every server with queues has closed. */
  config?: QueueConfig
  /** Whether the subscribers of this process get messages once the server listens. Default false. */
  run?: boolean
}

type Check = readonly [isIt: (value: unknown) => boolean, expected: string]
const text: Check = [(value) => typeof value === 'string' && value !== '', 'text']
const object: Check = [(value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object']
const anything: Check = [() => true, '']
const between = (least: number, most: number, unit: string): Check => [
  (value) => typeof value === 'number' && value >= least && value <= most,
  `${unit} from ${least} to ${most}`,
]
const ms = between(1, 2_147_483_647, 'milliseconds')

const shared: Record<string, Check> = {
  errorHandler: [(value) => typeof value === 'function', 'a function (error, failure) => …'],
  publishTimeout: ms,
}
const checks: { readonly [kind: string]: Record<string, Check> } = {
  memory: { ...shared, maxSize: between(1, Number.MAX_SAFE_INTEGER, 'a number of messages') },
  bullmq: {
    ...shared,
    connection: [
      (value) => isAddress('redis', value) || object[0](value),
      `options of ioredis, or ${addressLike('redis')}`,
    ],
    prefix: text,
    lockDuration: ms,
    stalledInterval: ms,
    maxStalledCount: between(0, 1000, 'a number'),
  },
  pgboss: {
    ...shared,
    connectionString: [(value) => isAddress('postgres', value), addressLike('postgres')],
    schema: text,
    max: between(2, 1000, 'a number of connections'),
    ssl: anything,
    pollInterval: ms,
    options: object,
  },
  sqs: {
    ...shared,
    region: text,
    endpoint: [(value) => isAddress('http', value), addressLike('http')],
    credentials: [(value) => typeof value === 'object' || typeof value === 'function', 'credentials of an AWS client'],
    client: [(value) => typeof (value as { send?: unknown } | null)?.send === 'function', 'an SQSClient'],
    queueUrls: object,
    waitTimeSeconds: between(0, 20, 'seconds'),
    visibilityTimeout: between(1, 43_200, 'seconds'),
    retryDelay: between(0, 43_200, 'seconds'),
  },
}

/** Refuses a configuration that cannot be meant; keys that are no kind belong to custom queues. */
export function checkConfig(config: QueueConfig): void {
  if (!object[0](config)) {
    throw OptionError('queues.config', config, `an object with ${Object.keys(checks).join(', ')}`)
  }
  for (const [kind, settings] of Object.entries(config)) {
    if (settings === undefined) continue
    if (!object[0](settings)) throw OptionError(`queues.config.${kind}`, settings, 'an object')
    const known = Object.hasOwn(checks, kind) ? checks[kind] : undefined
    if (known !== undefined) checkOptions(`queues.config.${kind}`, settings, Object.keys(known))
    checkValues(kind, settings, known ?? shared)
  }
}

function checkValues(kind: string, settings: object, known: Record<string, Check>): void {
  for (const [name, value] of Object.entries(settings)) {
    const check = known[name]
    if (value === undefined || check === undefined || check[0](value)) continue
    throw OptionError(`queues.config.${kind}.${name}`, value, check[1])
  }
}

/** Options of the plugin with every default in place, checked. */
export function settingsOf(options: QueuesOptions = {}): { config: QueueConfig | undefined; run: boolean } {
  checkOptions('queues', options, ['config', 'run'])
  const { config, run = false } = options
  if (typeof run !== 'boolean') throw OptionError('queues.run', quoted(run), 'true or false')
  if (config !== undefined) checkConfig(config)
  return { config, run }
}
