import {
  bullmqQueue,
  memoryQueue,
  pgbossQueue,
  type QueueConfig,
  queue,
  RouteCollection,
  Server,
  sqsQueue,
} from 'framework'
import { afterAll, beforeAll } from 'vitest'
import { lackedBySqs, ownEngine } from '../contracts/portable/index.mjs'
import type { EngineUnderTest } from '../contracts/queue-engine.ts'
import { memoryLogger } from './kernel.ts'
import type { OwnServer } from './own-server.ts'
import { hasPostgres, startPostgres } from './postgres.ts'
import { hasRedis, startRedis } from './redis.ts'
import { createSqsQueue, sqsClient, sqsSettings, startSqs } from './sqs.ts'

/** An engine of queues with its server, and with its own terms for features that all engines have. */
export interface TestedEngine extends Omit<EngineUnderTest, 'prepare'> {
  readonly title: string
  /** Whether this machine has its server. */
  readonly isThere: boolean
  /** Starts its server, if it has one. */
  start?(): Promise<OwnServer>
  /** Its configuration, with further settings. */
  config(url: string, more?: object): QueueConfig
  /** Settings under which a message whose worker has died comes again within a few seconds. */
  readonly impatient?: object
  /** Options of a message that are necessary for that as well. */
  readonly impatiently?: object
  /** Makes a queue, where the engine does not. */
  create?(url: string, name: string, attempts?: number): Promise<void>

  /** Options and features that it cannot have. */
  readonly lacks?: readonly string[]
  /** Milliseconds to which it rounds times. Default 1. */
  readonly step?: number
  /** Whether two servers have the same messages. Default true. */
  readonly isShared?: boolean
}

/** One whose server can be killed. */
export type ServedEngine = TestedEngine & Required<Pick<TestedEngine, 'start'>>

/** The terms of `queue(name)`. */
const portable = {
  attempts: (attempts: number, delay: number) => ({ attempts, backoff: { type: 'fixed', delay } }),
  delay: (delay: number) => ({ delay }),
  once: (id: string) => ({ id }),
  priority: (priority: number) => ({ priority }),
  isOrdered: true,
  shortest: 300,
}

export const memory: TestedEngine = {
  ...{ kind: 'memory', title: 'memory', isThere: true, isShared: false, ...portable },
  config: () => ({ memory: {} }),
  queue: (name, options) => memoryQueue<unknown>(name, options),
}

export const bullmq: ServedEngine = {
  ...{ kind: 'bullmq', title: 'BullMQ', isThere: hasRedis, ...portable },
  // What it has accepted survives that it is killed.
  start: () => startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction'),
  config: (url, more) => ({ bullmq: { connection: url, ...more } }),
  impatient: { lockDuration: 1000, stalledInterval: 500, maxStalledCount: 100 },
  queue: (name, options) => bullmqQueue<unknown>(name, options),
}

/** Tests that begin at the same time would all make them, and wait for each other. */
async function makeTables(url: string): Promise<void> {
  const server = new Server({
    ...{ router: new RouteCollection(), gracefulShutdown: false, logger: memoryLogger() },
    background: { queues: { config: pgboss.config(url) } },
  })
  await server.ready()
  await pgbossQueue('tables').for(server).counts()
  await server.close()
}

export const pgboss: ServedEngine = {
  ...{ kind: 'pgboss', title: 'pg-boss 12', isThere: hasPostgres, ...portable },
  async start() {
    // Each case of a contract has servers of its own, with a pool each. Version 10 deadlocks when it makes queues at the same time.
    const settings = ['max_connections=400', 'deadlock_timeout=50ms']
    const postgres = await startPostgres(...settings.flatMap((setting) => ['-c', setting]))
    await makeTables(postgres.url)
    return postgres
  },
  config: (url, more) => ({
    pgboss: { connectionString: url, pollInterval: 100, publishTimeout: 15_000, ...more },
  }),
  impatient: {
    options: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, maintenanceIntervalSeconds: 1 },
  },
  impatiently: { expireInSeconds: 1 },
  queue: (name, options) => pgbossQueue<unknown>(name, options),
  attempts: (count, ms) => ({ retryLimit: count - 1, retryDelay: ms / 1000 }),
  delay: (ms) => ({ startAfter: Math.ceil(ms / 1000) }),
  shortest: 1000,
}

export const sqs: ServedEngine = {
  ...{ kind: 'sqs', title: 'SQS', isThere: true, lacks: lackedBySqs, step: 1000 },
  start: startSqs,
  config: (url, more) => ({ sqs: { ...sqsSettings(url), waitTimeSeconds: 1, ...more } }),
  impatient: { visibilityTimeout: 2 },
  async create(url, name, attempts = 1000) {
    const client = sqsClient(url)
    const deadLetterTargetArn = await createSqsQueue(client, `${name}-dead`)
    const policy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: attempts })
    await createSqsQueue(client, name, { RedrivePolicy: policy })
    client.destroy()
  },
  queue: (name, options) => sqsQueue<unknown>(name, options),
  attempts: () => ({}),
  delay: (ms) => ({ DelaySeconds: Math.ceil(ms / 1000) }),
  isOrdered: false,
  shortest: 0,
}

/** Those with a server. */
export const servedEngines: readonly ServedEngine[] = [bullmq, pgboss, sqs]

/** All kinds. */
export const queueEngines: readonly TestedEngine[] = [
  memory,
  {
    ...{ ...memory, kind: 'own', title: 'an engine of the application', isShared: true },
    config: () => ({ own: ownEngine() }),
    queue: (name, options) => queue<unknown>(name, options),
  },
  ...servedEngines,
]

/** Starts the server of an engine before the tests of a `describe`, and ends it after them. */
export function serverOf({ start, config, create }: TestedEngine) {
  let server: OwnServer | undefined
  const url = () => server?.url ?? ''
  beforeAll(async () => {
    server = await start?.()
  })
  afterAll(() => server?.stop())
  return {
    url,
    server: () => server!,
    /** The configuration for it. */
    config: (more?: object) => config(url(), more),
    prepare: async (name: string, attempts?: number) => create?.(url(), name, attempts),
  }
}
