import { isDeepStrictEqual } from 'node:util'
import { Worker } from 'bullmq'
import { bullmqQueue, defineQueueConfiguration, pgbossQueue, type QueueFailure, QueueService } from 'framework'
import { Client } from 'pg'
import { PgBoss } from 'pg-boss'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fillCarriers, followAttempts } from '../../support/carriers.ts'
import { pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { freshName, until } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

// What only one engine has.

afterEach(() => QueueService.stop())

describe.skipIf(!hasRedis)('BullMQ', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis('--maxmemory-policy', 'noeviction')
  })
  afterAll(() => redis.stop())

  test('takes options of ioredis for an address, and a prefix', async () => {
    const { port } = redis
    defineQueueConfiguration({ bullmq: { connection: { host: '127.0.0.1', port }, prefix: 'mine' } })
    const queue = bullmqQueue<number>(freshName('options'))
    await expect(queue.publish(1)).resolves.toMatchObject({ id: '1' })
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    expect(await client.exists(`mine:${queue.name}:1`)).toBe(1)
    client.disconnect()
  })

  test('a message that was lost more than maxStalledCount times reaches onDead and the error handler, and no handler', async () => {
    const failures: QueueFailure[] = []
    const lost = { lockDuration: 500, stalledInterval: 300, maxStalledCount: 0 }
    const errorHandler = (_error: Error, failure: QueueFailure) => void failures.push(failure)
    defineQueueConfiguration({ bullmq: { connection: redis.url, ...lost, errorHandler } })
    const queue = bullmqQueue<number>(freshName('lost'))
    const { id } = await queue.publish(1, { attempts: 3 })
    const worker = new Worker(queue.name, null, { connection: { url: redis.url }, lockDuration: 300 })
    expect(await worker.getNextJob('dies')).toMatchObject({ id })
    await worker.close(true)
    let handled = 0
    const dead: [number, string][] = []
    const handle = await queue.subscribe(() => void handled++, {
      onDead: (payload, error) => void dead.push([payload, error.message]),
    })
    await QueueService.run()
    await until(() => dead.length > 0, 'its end')
    expect(dead).toEqual([[1, 'job stalled more than allowable limit']])
    expect(failures).toMatchObject([{ id, payload: 1, final: true }])
    expect(handled).toBe(0)
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0, failed: 1 })
    await handle.unsubscribe()
  })

  test('counts the messages of a queue also if another program has written one that is not JSON', async () => {
    defineQueueConfiguration({ bullmq: { connection: redis.url } })
    const queue = bullmqQueue<number>(freshName('broken'))
    const { id } = await queue.publish(1)
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    await client.hset(`bull:${queue.name}:${id}`, 'data', '{broken')
    client.disconnect()
    expect(await queue.counts()).toMatchObject({ waiting: 1, oldest: 0 })
  })

  test('refuses a name with a colon; an id may have one, or be a number', async () => {
    expect(() => bullmqQueue('a:b')).toThrow(/without ":"/)
    defineQueueConfiguration({ bullmq: { connection: redis.url } })
    const queue = bullmqQueue<number>(freshName('id'))
    for (const id of ['a:b', '17', 'a%3ab', 'a:b']) expect(await queue.publish(1, { id })).toEqual({ id })
    expect(await queue.counts()).toMatchObject({ waiting: 3 })
  })
})

describe.skipIf(!hasPostgres)('pg-boss', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test('sends failed messages to the dead letter queue, after the last attempt and at once when it is not valid', async () => {
    const failures: QueueFailure[] = []
    const errorHandler = (_error: Error, failure: QueueFailure) => void failures.push(failure)
    // The first to come makes all tables, which takes its time on a busy machine.
    const patient = { pollInterval: 100, publishTimeout: 15_000 }
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, ...patient, errorHandler } })
    await QueueService.run()
    const schema = { type: 'object', required: ['book'] }
    const queue = pgbossQueue<{ book?: number }>(freshName('work'), { schema })
    const foreign = pgbossQueue<unknown>(queue.name)
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    const dead = pgbossQueue<unknown>(freshName('dead'))
    const seen: unknown[] = []
    const handles = [
      await queue.subscribe(() => {
        throw new Error('no')
      }),
      await dead.subscribe((payload) => void seen.push(payload)),
    ]
    const carrier = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
    const attempts = followAttempts(dead.name)
    const end = fillCarriers(carrier)
    await queue.publish({ book: 1 }, { retryLimit: 1, deadLetter: dead.name })
    await foreign.publish({ title: 'x' }, { retryLimit: 5, deadLetter: dead.name })
    end()
    await until(() => seen.length === 2, 'both')
    attempts.end()
    expect(attempts.seen).toEqual([carrier, carrier])
    expect(seen).toEqual(expect.arrayContaining([{ book: 1 }, { title: 'x' }]))
    expect(failures.map(({ payload, attempt, final }) => [payload, attempt, final])).toEqual(
      expect.arrayContaining([
        [{ book: 1 }, 1, false],
        [{ book: 1 }, 2, true],
        [{ title: 'x' }, 1, true],
      ]),
    )
    expect(failures).toHaveLength(3)
    await until(async () => (await queue.counts()).failed === 2, 'both parked')
    const limits = await client.query('select state, retry_count, retry_limit from pgboss.job where name = $1', [
      queue.name,
    ])
    // With all its attempts if an operator sends it again.
    expect(limits.rows).toContainEqual({ state: 'failed', retry_count: 0, retry_limit: 5 })
    await client.end()
    for (const handle of handles) await handle.unsubscribe()
  })

  test('keeps what waits and what has failed for longer than pg-boss would, and deletes what was done a week ago', async () => {
    const config = { connectionString: postgres.url, pollInterval: 100, publishTimeout: 30_000, errorHandler() {} }
    defineQueueConfiguration({ pgboss: config })
    await QueueService.run()
    const queue = pgbossQueue<string>(freshName('kept'))
    let seen = 0
    const handle = await queue.subscribe((what) => {
      seen++
      if (what !== 'done') throw new Error(what)
    })
    await queue.publish('done', { delay: 1 })
    await queue.publish('failed', { attempts: 1 })
    await queue.publish('again', { attempts: 2, backoff: 20 * 86_400_000 })
    await until(() => seen === 3, 'all attempts')
    await handle.unsubscribe()
    await queue.publish('waiting')
    const expected = { waiting: 1, active: 0, delayed: 1, failed: 1 }
    await until(
      async () => isDeepStrictEqual({ ...(await queue.counts()), oldest: 0 }, { ...expected, oldest: 0 }),
      'it',
    )
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    const columns = ['created_on', 'start_after', 'started_on', 'completed_on', 'keep_until']
    const earlier = columns.map((column) => `${column} = ${column} - interval '15 days'`).join(', ')
    await client.query(`update pgboss.job set ${earlier} where name = $1`, [queue.name])
    const boss = new PgBoss({ connectionString: postgres.url, supervise: false, schedule: false })
    await boss.start()
    await boss.supervise(queue.name)
    await boss.stop()
    expect(await queue.counts()).toMatchObject({ waiting: 1, delayed: 1, failed: 1 })
    const done = async () =>
      (await client.query("select from pgboss.job where name = $1 and state = 'completed'", [queue.name])).rowCount
    expect(await done()).toBe(1)
    // A process deletes it when it first uses a queue, and later from time to time.
    await QueueService.stop()
    defineQueueConfiguration({ pgboss: config })
    await queue.publish('new')
    await until(async () => (await done()) === 0, 'its end')
    await client.end()
  })

  test('a dead letter reaches the subscriber of its queue although its time is over, whatever its version', async () => {
    const errorHandler = () => {}
    const patient = { pollInterval: 100, publishTimeout: 15_000, errorHandler }
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, ...patient } })
    await QueueService.run()
    const queue = pgbossQueue<unknown>(freshName('versioned'), { version: 2, upgrade: (payload) => payload })
    const dead = pgbossQueue<unknown>(freshName('dead'))
    const seen: unknown[] = []
    await queue.subscribe(() => {
      throw new Error('no')
    })
    await dead.subscribe((payload) => void seen.push(payload))
    // One that this framework gives up, and one of which pg-boss makes the copy.
    await queue.publish('late', { retryLimit: 0, expireIn: 1, deadLetter: dead.name })
    await queue.publish('failed', { retryLimit: 0, deadLetter: dead.name })
    await until(() => seen.length === 2, 'both')
    expect(seen.toSorted()).toEqual(['failed', 'late'])
    expect(await dead.counts()).toMatchObject({ failed: 0 })
  })

  test('a limit of pg-boss that is shorter than that of the subscriber is named, also if the call of a batch comes too late', async () => {
    const config = { connectionString: postgres.url, pollInterval: 100, publishTimeout: 15_000, errorHandler() {} }
    defineQueueConfiguration({ pgboss: config })
    await QueueService.run()
    const [queue, rows] = [pgbossQueue<number>(freshName('brief')), pgbossQueue<number>(freshName('rows'))]
    const dead: Error[] = []
    const onDead = (_payload: unknown, error: Error) => void dead.push(error)
    let called = 0
    await queue.subscribe(() => new Promise(() => {}), { timeout: 60_000, onDead })
    await rows.subscribeBatch(() => void called++, { wait: 1500, timeout: 60_000, onDead })
    for (const one of [queue, rows]) await one.publish(1, { attempts: 1, expireInSeconds: 1 })
    await until(() => dead.length === 2, 'both')
    for (const { message } of dead) expect(message).toMatch(/within 980 ms.*or raise expireInSeconds of the message/)
    await pause(1000)
    expect(called).toBe(0)
  })

  test('a text that Postgres cannot keep is refused by name', async () => {
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, publishTimeout: 30_000 } })
    const queue = pgbossQueue<string>(freshName('nul'))
    const refused = (why: RegExp) =>
      expect.objectContaining({ code: 'QueuePayloadError', message: expect.stringMatching(why) })
    for (const text of ['a\0b', 'half \ud83c', '\\\0'])
      await expect(queue.publish(text)).rejects.toEqual(refused(/NUL/))
    for (const options of [{ id: 'a\0b' }, { singletonKey: 'a\0b' }, { startAfter: 'tomorrow-ish' }])
      await expect(queue.publish('a', options)).rejects.toEqual(refused(/option/))
    for (const text of ['\\u0000', '\\\\ud800', 'whole \ud83c\udf88']) await queue.publish(text)
    expect(await queue.counts()).toMatchObject({ waiting: 3 })
  })

  test('records an attempt whose error has a text that Postgres cannot keep', async () => {
    const errorHandler = () => {}
    const patient = { pollInterval: 100, publishTimeout: 30_000, errorHandler }
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, ...patient } })
    await QueueService.run()
    const queue = pgbossQueue<string>(freshName('quoted'))
    const handle = await queue.subscribe((text) => {
      throw new Error(text.replace('NUL', '\0').replace('half', '\ud83c'))
    })
    await queue.publish('a NUL', { attempts: 1 })
    await queue.publish('a half', { attempts: 2 })
    await until(async () => (await queue.counts()).failed === 2, 'both failures')
    await handle.unsubscribe()
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    const { rows } = await client.query(`select output->>'message' as why from pgboss.job where name = $1`, [
      queue.name,
    ])
    expect(rows).toEqual([{ why: 'a \ufffd' }, { why: 'a \ufffd' }])
    await client.end()
  })

  test('the failure of an attempt that has lost its job does not end the attempt of another worker', async () => {
    const patient = { pollInterval: 100, publishTimeout: 30_000, errorHandler() {} }
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, ...patient } })
    await QueueService.run()
    const queue = pgbossQueue<string>(freshName('lost'))
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    const seen: string[] = []
    const handle = await queue.subscribe(async (payload) => {
      seen.push(payload)
      if (payload === 'next') return
      // What the maintenance of pg-boss and another worker do while this one is cut off.
      const taken = 'set retry_count = retry_count + 1, started_on = now()'
      await client.query(`update pgboss.job ${taken} where name = $1 and state = 'active'`, [queue.name])
      throw new Error('cut off')
    })
    await queue.publish('lost', { attempts: 2, backoff: 1 })
    // Taken when the outcome of the first is stored.
    await queue.publish('next', { priority: 1 })
    await until(() => seen.length === 2, 'the next message')
    await handle.unsubscribe()
    expect(seen).toEqual(['lost', 'next'])
    expect(await queue.counts()).toMatchObject({ active: 1, delayed: 0, failed: 0 })
    await client.end()
  })

  test('a queue that was deleted under a process is created again by the next message', async () => {
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, pollInterval: 100, publishTimeout: 30_000 } })
    await QueueService.run()
    const queue = pgbossQueue<string>(freshName('deleted'))
    const seen: string[] = []
    const handle = await queue.subscribe((payload) => void seen.push(payload))
    await queue.publish('before')
    await until(() => seen.length === 1, 'the first message')
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    await client.query('select pgboss.delete_queue($1)', [queue.name])
    await queue.publish('after')
    await until(() => seen.length === 2, 'the second message')
    await client.query('select pgboss.delete_queue($1)', [queue.name])
    expect(await queue.publish('with an id', { id: 'a' })).toEqual({ id: 'a' })
    expect(await queue.publish('with an id', { id: 'a' })).toEqual({ id: 'a' })
    await until(() => seen.length === 3, 'the third message')
    await handle.unsubscribe()
    await client.end()
  })

  for (const schema of ['mine', 'Mixed', '"my-jobs"'])
    test(`keeps its tables in the schema that is named: ${schema}`, async () => {
      defineQueueConfiguration({ pgboss: { connectionString: postgres.url, publishTimeout: 30_000, schema } })
      const queue = pgbossQueue<number>(freshName('schema'))
      await queue.publish(1)
      await queue.publish(2, { id: 'a' })
      expect(await queue.counts()).toMatchObject({ waiting: 2 })
    })

  test('many queues made at the same time do not lock each other out', async () => {
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url, publishTimeout: 30_000 } })
    const all = Array.from({ length: 12 }, () => pgbossQueue<number>(freshName('crowd')))
    const ids = await Promise.all(all.map((queue) => queue.publish(1)))
    expect(ids).toHaveLength(12)
  })
})
