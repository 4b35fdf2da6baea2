import { bullmqQueue, memoryQueue, pgbossQueue, type QueueConfig, RouteCollection, Server, sqsQueue } from 'framework'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { lackedBySqs, ownEngine } from '../contracts/portable/index.mjs'
import type { PortableQueueOptions } from '../contracts/portable-queue.ts'
import type { QueueEngineOptions } from '../contracts/queue-engine.ts'
import type { TransactionPayload } from '../contracts/queue-transaction.ts'
import { memoryLogger } from './kernel.ts'
import type { OwnServer } from './own-server.ts'
import { hasPostgres, startPostgres } from './postgres.ts'
import { hasRedis, startRedis } from './redis.ts'
import { createSqsQueue, sqsClient, sqsSettings, startSqs } from './sqs.ts'

/** An engine of queues with its server, and what it has of the options of the contracts. */
export interface TestedEngine extends Omit<QueueEngineOptions & PortableQueueOptions, 'test' | 'prepare'> {
  readonly kind: string
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
}

/** One whose server can be killed. */
export type ServedEngine = TestedEngine & Required<Pick<TestedEngine, 'start' | 'queue'>>

export const memory: TestedEngine = {
  ...{ kind: 'memory', title: 'memory', isThere: true, isShared: false },
  config: () => ({ memory: {} }),
  queue: (name, options) => memoryQueue<unknown>(name, options),
}

export const own: TestedEngine = {
  ...{ kind: 'own', title: 'an engine of the application', isThere: true },
  config: () => ({ own: ownEngine() }),
}

/** By default five seconds, which cases that run side by side on a busy machine exceed. */
const publishTimeout = 60_000

export const bullmq: ServedEngine = {
  ...{ kind: 'bullmq', title: 'BullMQ', isThere: hasRedis },
  // What it has accepted survives that it is killed.
  start: () => startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction'),
  config: (url, more) => ({ bullmq: { connection: url, publishTimeout, ...more } }),
  impatient: { lockDuration: 2000, stalledInterval: 500, maxStalledCount: 100 },
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
  ...{ kind: 'pgboss', title: 'pg-boss 12', isThere: hasPostgres },
  async start() {
    // Each case of a contract has servers of its own, with a pool each. Version 10 deadlocks when it makes queues at the same time.
    const settings = ['max_connections=400', 'deadlock_timeout=50ms']
    const postgres = await startPostgres(...settings.flatMap((setting) => ['-c', setting]))
    await makeTables(postgres.url)
    return postgres
  },
  // Each connection is a process of Postgres, which takes 8 ms of processor time before its first query.
  config: (url, more) => ({
    pgboss: { connectionString: url, pollInterval: 500, max: 4, publishTimeout, ...more },
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
  config: (url, more) => ({ sqs: { ...sqsSettings(url), waitTimeSeconds: 1, publishTimeout, ...more } }),
  // On a busy machine, a worker renews seconds late.
  impatient: { visibilityTimeout: 10 },
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
  ...{ once: false, priority: false, isOrdered: false, shortest: 0 },
}

/** Those with a server. */
export const servedEngines: readonly ServedEngine[] = [bullmq, pgboss, sqs]

/** All kinds. */
export const queueEngines: readonly TestedEngine[] = [memory, own, ...servedEngines]

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

/** The queues of pg-boss and a pool of the same Postgres, for transactions; ends the pool after the tests of a `describe`. */
export function transactionsOf(url: () => string) {
  let pool: Pool | undefined
  afterAll(() => pool?.end())
  return {
    kind: pgboss.kind,
    queue: (name: string) => pgbossQueue<TransactionPayload>(name),
    pool: () => (pool ??= new Pool({ connectionString: url() })),
  }
}
