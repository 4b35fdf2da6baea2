import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { bullmqQueue, pgbossQueue, type Queue, type QueueConfig, RouteCollection, Server, sqsQueue } from 'framework'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { type Entry, memoryLogger, pause } from '../../support/kernel.ts'
import { freePort, type OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { freshName, until } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { sqsCredentials } from '../../support/sqs.ts'

type NumberQueue = Queue<number, object>

const unhandled: unknown[] = []
const onUnhandled = (error: unknown) => void unhandled.push(error)
beforeAll(() => {
  process.on('unhandledRejection', onUnhandled)
  process.on('uncaughtException', onUnhandled)
})
afterAll(() => {
  process.off('unhandledRejection', onUnhandled)
  process.off('uncaughtException', onUnhandled)
  expect(unhandled).toEqual([])
})

/** The server of one test, with its log. */
async function serve(config: QueueConfig, { onTestFinished }: TestContext) {
  const log: Entry[] = []
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    gracefulShutdown: false,
    drainWindow: 0,
    router: new RouteCollection(),
    logger: memoryLogger(log),
    background: { queues: { config, run: true } },
  })
  onTestFinished(() => server.close())
  await server.listen()
  const warnings = (part: string) => log.filter(({ level, message }) => level === 'warn' && message?.includes(part))
  return { server, warnings }
}

const down = 'are stopped'
const up = 'continue: '

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
function usedMemory(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

interface Case {
  readonly name: string
  make(name: string): NumberQueue
  config(port: number, publishTimeout: number): QueueConfig
  /** How the engine is named, without its password. */
  backend(port: number): string
}

const cases: Case[] = [
  {
    name: 'bullmq',
    make: (name) => bullmqQueue<number>(name),
    config: (port, publishTimeout) => ({
      bullmq: { connection: `redis://user:secret@127.0.0.1:${port}`, publishTimeout },
    }),
    backend: (port) => `Redis at redis://127.0.0.1:${port}`,
  },
  {
    name: 'pgboss',
    make: (name) => pgbossQueue<number>(name),
    config: (port, publishTimeout) => ({
      pgboss: { connectionString: `postgres://user:secret@127.0.0.1:${port}/postgres`, publishTimeout },
    }),
    backend: (port) => `Postgres at postgres://127.0.0.1:${port}/postgres`,
  },
  {
    name: 'sqs',
    make: (name) => sqsQueue<number>(name),
    config: (port, publishTimeout) => ({
      sqs: { region: 'eu-west-1', endpoint: `http://127.0.0.1:${port}`, credentials: sqsCredentials, publishTimeout },
    }),
    backend: (port) => `SQS at http://127.0.0.1:${port}`,
  },
]

test('while nothing responds the server starts, publish rejects in time with the remedy, and the log has one line', async (t) => {
  const absent = await Promise.all(cases.map(async (one) => ({ ...one, port: await freePort() })))
  const queues = absent.map(({ name, make }) => make(freshName(`absent-${name}`)))
  for (const queue of queues) {
    const handle = await queue.subscribe(() => {})
    t.onTestFinished(() => handle.unsubscribe())
  }
  const { warnings } = await serve(Object.assign({}, ...absent.map(({ config, port }) => config(port, 700))), t)
  const large = 'x'.repeat(50_000)
  const count = 300
  // One after the other, because the process is measured.
  for (const [i, { backend, port }] of absent.entries()) {
    const queue = queues[i]!
    const before = usedMemory()
    const outcomes = await Promise.allSettled(
      [...Array(count).keys()].map((number) => queue.publish(`${number}${large}` as never)),
    )
    const reasons = outcomes.map(
      (outcome) => (outcome as PromiseRejectedResult).reason as { code?: unknown; status?: unknown },
    )
    expect(new Set(reasons.map(({ code, status }) => `${code} ${status}`))).toEqual(
      new Set(['QueueUnavailableError 500']),
    )
    // Messages that were given up are not kept: an outage of hours must not fill the memory. They have twice as many bytes.
    expect(usedMemory() - before).toBeLessThan(count * 25_000)
    const { message } = (outcomes[0] as PromiseRejectedResult).reason as Error
    expect(message).toContain(queue.name)
    expect(message).toContain(backend(port))
    expect(message).toMatch(/configuration$/)
    expect(message).not.toContain('secret')
  }
  for (const queue of queues) {
    const refused = { code: 'QueueUnavailableError' }
    await Promise.all([
      expect(queue.health()).rejects.toMatchObject(refused),
      expect(queue.counts()).rejects.toMatchObject(refused),
    ])
  }
  await until(() => warnings(down).length >= cases.length, 'the lines')
  // Another failure of each adds none.
  await Promise.allSettled(queues.map((queue) => queue.publish(1)))
  expect(warnings(down)).toHaveLength(cases.length)
})

/** Whether the engine of a queue answers. */
const answers = (queue: NumberQueue) =>
  queue.health().then(
    () => true,
    () => false,
  )

/** Publishes numbers one after the other in a few lanes, with the server away in the middle. */
async function publishThrough(queue: NumberQueue, count: number, options: object, disturb: () => Promise<void>) {
  const acknowledged: number[] = []
  const refused: unknown[] = []
  let next = 0
  const lane = async () => {
    for (let i = next++; i < count; i = next++) {
      try {
        await queue.publish(i, options)
        acknowledged.push(i)
      } catch (error) {
        refused.push((error as { code?: unknown }).code)
        await pause(20)
      }
      if (i === Math.floor(count / 3)) void disturb()
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  return { acknowledged, refused }
}

describe.skipIf(!hasRedis)('Redis', () => {
  const start = async ({ onTestFinished }: TestContext) => {
    const redis = await startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction')
    onTestFinished(() => redis.stop())
    return redis
  }

  test('that dies under 600 messages loses none that was acknowledged, and workers go on by themselves', async (t) => {
    const redis = await start(t)
    const { server, warnings } = await serve(
      { bullmq: { connection: redis.url, lockDuration: 2000, stalledInterval: 1000, maxStalledCount: 5 } },
      t,
    )
    const queue = bullmqQueue<number>(freshName('killed')).for(server)
    const runs = new Map<number, number>()
    await queue.subscribe((i) => void runs.set(i, (runs.get(i) ?? 0) + 1), { concurrency: 10 })
    const { acknowledged, refused } = await publishThrough(queue, 600, {}, async () => {
      await redis.kill()
      await pause(1000)
      await redis.restart()
    })
    await until(() => acknowledged.every((i) => runs.has(i)), 'every acknowledged message')
    const twice = [...runs.values()].filter((count) => count > 1).length
    expect(acknowledged.length + refused.length).toBe(600)
    expect(acknowledged.length).toBeGreaterThan(200)
    for (const code of refused) expect(code).toBe('QueueUnavailableError')
    expect(twice).toBeLessThan(60)
    await until(() => warnings(up).length > 0, 'the word that it goes on')
    expect(warnings(down)).toHaveLength(1)
  })

  // These wait most of the time, each with a Redis of its own.
  test.concurrent('a message that publish has given up is not delivered later, and no change that an operator has given up is made', async (t) => {
    const redis = await start(t)
    const made = bullmqQueue<number>(freshName('given-up'))
    const queue = made.for((await serve({ bullmq: { connection: redis.url } }, t)).server)
    const { server } = await serve({ bullmq: { connection: redis.url, publishTimeout: 500 } }, t)
    const hasty = made.for(server)
    const operator = server.services.get('queues').of(made.name)
    const { id } = await queue.publish(1)
    await until(() => answers(hasty), 'its connection')
    await redis.kill()
    await expect(hasty.publish(2)).rejects.toMatchObject({ code: 'QueueUnavailableError' })
    const unavailable = expect.objectContaining({ reason: expect.objectContaining({ code: 'QueueUnavailableError' }) })
    const changes = [operator.pause(), operator.remove({ ids: [id] }), operator.list()]
    expect(await Promise.allSettled(changes)).toEqual([unavailable, unavailable, unavailable])
    await redis.restart()
    await until(() => answers(hasty), 'Redis again')
    await queue.publish(3)
    expect(await operator.isPaused()).toBe(false)
    const seen: number[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await until(() => seen.includes(3), 'the third')
    expect(seen.sort()).toEqual([1, 3])
  })

  test.concurrent('that is away while a subscriber leaves is not asked by it any more when it is back', async (t) => {
    const redis = await start(t)
    const { server, warnings } = await serve({ bullmq: { connection: redis.url } }, t)
    const queue = bullmqQueue<number>(freshName('left')).for(server)
    const handle = await queue.subscribe(() => {})
    await queue.publish(1)
    await until(async () => (await queue.counts()).waiting === 0, 'the first')
    await redis.kill()
    await until(() => warnings(down).length > 0, 'the loss')
    await handle.unsubscribe()
    await redis.restart()
    await until(() => warnings(up).length > 0, 'Redis again')
    await queue.publish(2)
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))![1])
    const before = await commands()
    await pause(300)
    expect((await commands()) - before).toBeLessThan(100)
    client.disconnect()
    expect(await queue.counts()).toMatchObject({ waiting: 1 })
  })

  test.concurrent('that has no room reports that once for each queue, and continues', async (t) => {
    const redis = await start(t)
    const { server, warnings } = await serve({ bullmq: { connection: redis.url } }, t)
    const queue = bullmqQueue<number>(freshName('full')).for(server)
    await queue.publish(1)
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    await client.config('SET', 'maxmemory', '1')
    await expect(queue.publish(2)).rejects.toThrow(/OOM/)
    const seen: number[] = []
    // Only now: a worker that waits for a message already asks every five seconds.
    await queue.subscribe((i) => void seen.push(i))
    await until(() => warnings('refuses').length > 0, 'the warning')
    const refusals = async () => Number(/errorstat_OOM:count=(\d+)/.exec(await client.info('errorstats'))![1])
    const before = await refusals()
    await until(async () => (await refusals()) > before, 'it asks again')
    expect(warnings('refuses')).toHaveLength(1)
    await client.config('SET', 'maxmemory', '0')
    client.disconnect()
    await queue.publish(3)
    await until(() => seen.includes(3), 'the third')
    expect(seen).toEqual([1, 3])
  })

  test.concurrent('that is frozen costs publish its time and no more', async (t) => {
    const redis = await start(t)
    const { server } = await serve({ bullmq: { connection: redis.url, publishTimeout: 500 } }, t)
    const queue = bullmqQueue<number>(freshName('frozen')).for(server)
    await until(() => answers(queue), 'its connection')
    redis.freeze()
    await expect(queue.publish(2)).rejects.toMatchObject({
      code: 'QueueUnavailableError',
      message: expect.stringContaining('500 ms'),
    })
    redis.thaw()
    await until(() => answers(queue), 'Redis again')
  })
})

describe.skipIf(!hasPostgres)('Postgres', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test.for([
    ['that restarts', () => postgres.restart()],
    [
      'that dies',
      async () => {
        await postgres.kill()
        await pause(1000)
        await postgres.restart()
      },
    ],
  ] as const)('%s under 300 messages loses none that was acknowledged, and workers go on by themselves', async ([
    ,
    disturb,
  ], t) => {
    // What was taken when its connection broke comes again by this; the defaults are minutes.
    const soon = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, maintenanceIntervalSeconds: 1 }
    const { server, warnings } = await serve(
      { pgboss: { connectionString: postgres.url, pollInterval: 200, options: soon } },
      t,
    )
    const queue = pgbossQueue<number>(freshName('restarted')).for(server)
    const runs = new Map<number, number>()
    await queue.subscribe((i) => void runs.set(i, (runs.get(i) ?? 0) + 1), { concurrency: 10 })
    const { acknowledged, refused } = await publishThrough(queue, 300, { expireInSeconds: 2 }, disturb)
    await until(() => acknowledged.every((i) => runs.has(i)), 'every acknowledged message')
    const twice = [...runs.values()].filter((count) => count > 1).length
    expect(acknowledged.length + refused.length).toBe(300)
    expect(acknowledged.length).toBeGreaterThan(50)
    for (const code of refused) expect(code).toBe('QueueUnavailableError')
    expect(twice).toBeLessThan(60)
    await until(() => warnings(up).length > 0, 'the word that it goes on')
    // Twice where it answers for a second, and then ends its remaining old connections.
    expect(warnings(down).length).toBeLessThanOrEqual(2)
  })

  test('that is frozen costs publish its time and no more', async (t) => {
    const { server } = await serve({ pgboss: { connectionString: postgres.url, publishTimeout: 1500 } }, t)
    const queue = pgbossQueue<number>(freshName('frozen')).for(server)
    await until(() => answers(queue), 'its connection')
    postgres.freeze()
    await expect(queue.publish(2)).rejects.toMatchObject({
      code: 'QueueUnavailableError',
      message: expect.stringContaining('1500 ms'),
    })
    postgres.thaw()
    await until(() => answers(queue), 'Postgres again')
  })

  test('whose table is locked sends nothing later that publish has rejected', async (t) => {
    const { server } = await serve({ pgboss: { connectionString: postgres.url, publishTimeout: 1500, max: 5 } }, t)
    const queue = pgbossQueue<number>(freshName('locked')).for(server)
    await until(() => answers(queue), 'its connection')
    await queue.publish(1)
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    await client.query('begin; lock table pgboss.job in access exclusive mode')
    const sent = queue.publishMany([2, 3, 4], (i) => ({ id: `m${i}` }))
    await expect(sent).rejects.toMatchObject({ code: 'QueueUnavailableError' })
    await client.query('rollback')
    await client.end()
    // It gets its connection after those that have waited.
    await until(() => answers(queue), 'Postgres again')
    await pause(200)
    expect(await queue.counts()).toMatchObject({ waiting: 1 })
  })
})
