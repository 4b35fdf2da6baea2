import { inspect } from 'node:util'
import { bullmqQueue, defineQueueConfiguration, QueueService, RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { redisOptions, redisPlace, redisPrefix } from '../../../../plugins/shared/stores/redis.ts'
import { connectRedis } from '../../../../plugins/shared/stores/redis-client.ts'
import { memoryLogger, pause } from '../../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../../support/redis.ts'

const secret = 'hunter2-and-more'

describe.skipIf(!hasRedis)('a connection to Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('that is refused reports that without the password', async () => {
    const states: unknown[] = []
    const client = await connectRedis({ url: redis.url }, { feature: 'a test', commandTimeout: 2_000 })
    await client.config('SET', 'requirepass', 'another password')
    const url = redis.url.replace('//', `//:${secret}@`)
    const refused = await connectRedis(
      { url },
      { feature: 'a test', commandTimeout: 2_000, onState: (error) => states.push(error) },
    )
    expect(states.length).toBeGreaterThan(0)
    expect(inspect(states, { depth: 9 })).not.toContain(secret)
    refused.disconnect()
    client.disconnect()
    await redis.restart()
  })

  test('whose database there is not ends the start, and writes into no other', async () => {
    const states: unknown[] = []
    const use = { feature: 'a test', commandTimeout: 2_000, onState: (error: unknown) => states.push(error) }
    const wrong = {
      code: 'RedisDatabaseError',
      message: expect.stringMatching(/refuses the database 99: \S/),
    }
    await expect(connectRedis({ url: `${redis.url}/99` }, use)).rejects.toMatchObject(wrong)
    await expect(connectRedis({ url: redis.url, db: 99 }, use)).rejects.toMatchObject(wrong)
    expect(states).toEqual([expect.objectContaining(wrong), expect.objectContaining(wrong)])
    const server = new Server({
      plugins: { session: { secret: 'the first secret of these tests', store: { redis: `${redis.url}/99` } } },
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    await expect(server.ready()).rejects.toMatchObject({ cause: wrong })
    await server.close()
  })

  test('whose database is refused when it comes back does nothing in another, and continues when it may', async () => {
    const states: unknown[] = []
    const use = { feature: 'a test', commandTimeout: 5_000 }
    const onState = (error: unknown) => states.push((error as { code?: unknown } | undefined)?.code)
    const client = await connectRedis({ url: `${redis.url}/12` }, { ...use, onState })
    await client.set('before', '1')
    const admin = await connectRedis({ url: redis.url }, use)
    await admin.call('ACL', 'SETUSER', 'default', '-select')
    await admin.call('CLIENT', 'KILL', 'SKIPME', 'yes', 'TYPE', 'normal')
    await vi.waitUntil(() => states.includes('RedisDatabaseError'), 20_000)
    for (let i = 0; i < 20; i++) {
      await expect(client.set(`after ${i}`, '1')).rejects.toThrow()
      await pause(10)
    }
    expect(await admin.dbsize()).toBe(0)
    await admin.call('ACL', 'SETUSER', 'default', '+select')
    await vi.waitUntil(() => states.at(-1) === undefined, 20_000)
    expect(await client.dbsize()).toBe(1)
    for (const one of [admin, client]) one.disconnect()
  })

  test.each([
    ['300', 60_000],
    ['soon', 300],
  ])('ends a command in time where its address has commandTimeout=%s', async (text, commandTimeout) => {
    const url = `${redis.url}?commandTimeout=${text}`
    const client = await connectRedis({ url }, { feature: 'a test', commandTimeout })
    const waiting = client.call('BLPOP', 'nothing', '20')
    await expect(waiting).rejects.toThrow('Command timed out')
    client.disconnect()
  })

  test.each([
    'connectTimeout=300',
    'connectTimeout=soon',
    'connectTimeout=-1',
    'connectTimeout=Infinity',
  ])('that cannot be reached ends nothing where its address has %s', async (query) => {
    const url = `redis://127.0.0.1:1?${query}`
    const states: unknown[] = []
    const use = { feature: 'a test', commandTimeout: 20_000, onState: (error: unknown) => states.push(error) }
    const client = await connectRedis({ url }, use)
    await expect(client.call('PING')).rejects.toThrow('writeable')
    await vi.waitUntil(() => states.length > 2, 20_000)
    const known: Record<string, number> = { 'connectTimeout=300': 300, 'connectTimeout=Infinity': 2_147_483_647 }
    const connectTimeout = known[query] ?? 2_000
    expect(client.options).toMatchObject({ connectTimeout })
    client.disconnect()
    const queue = bullmqQueue<number>('unreached')
    defineQueueConfiguration({ bullmq: { connection: url, publishTimeout: 300 } })
    await expect(queue.publish(1)).rejects.toMatchObject({ code: 'QueueUnavailableError' })
    await QueueService.stop()
  })

  test('of queues is refused, too', async () => {
    const queue = bullmqQueue<number>('database-99')
    defineQueueConfiguration({ bullmq: { connection: `${redis.url}/99`, publishTimeout: 3_000 } })
    await expect(queue.publish(1)).rejects.toMatchObject({
      code: 'QueueUnavailableError',
      message: expect.stringContaining('Redis refuses the database 99'),
    })
    await QueueService.stop()
  })
})

describe('an invalid address', () => {
  test('has a database without a number', async () => {
    const use = { feature: 'a test', commandTimeout: 500 }
    await expect(connectRedis({ url: 'redis://127.0.0.1:6379/shop' }, use)).rejects.toMatchObject({
      code: 'OptionError',
    })
  })

  const wrong = `redis://user:${secret}/x@127.0.0.1:6379`
  test.each([
    ['session', { session: { secret: 'the first secret of these tests', store: { redis: wrong } } }],
    ['cache', { cache: { provider: 'redis', redis: { url: wrong } } }],
    ['rateLimit', { rateLimit: { store: { redis: { url: wrong } } } }],
  ])('is reported by %s without the password', async (_name, plugins) => {
    const error = await (async () => {
      const server = new Server({ plugins: plugins as {}, router: new RouteCollection(), logger: memoryLogger() })
      try {
        await server.ready()
      } finally {
        await server.close()
      }
    })().catch((reason: unknown) => reason)
    expect((error as Error).message).toContain('an address such as "redis://')
    expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })
})

describe('options of a Redis', () => {
  const options = redisOptions({ prefix: redisPrefix('mine') })
  const read = (given: unknown) => options.parse(given, 'redis')

  test('let through whatever ioredis takes', async () => {
    const { Redis } = (await import('ioredis')) as unknown as { Redis: { defaultOptions: Record<string, unknown> } }
    const checked = { host: 'db', port: '6380', db: '3', username: '', password: '' }
    const times = { commandTimeout: 5, socketTimeout: 5, blockingTimeout: 5, sentinelCommandTimeout: 5 }
    const given = { ...Redis.defaultOptions, tls: {}, ...checked, sentinelUsername: 'a', ...times }
    expect(Object.keys(given).length).toBeGreaterThan(40)
    expect(read(given)).toEqual({ ...given, prefix: 'mine' })
  })

  test.each([
    [{ hots: 'a' }, 'redis.hots". Did you mean "host"?'],
    [{ pasword: secret }, 'Did you mean "password"?'],
    [{ prefx: 'a' }, 'Did you mean "prefix"?'],
    [{ prefix: 5 }, 'redis.prefix" is 5'],
    [{ port: 70_000 }, 'redis.port" is 70000; it takes a port from 1 to 65535'],
    [{ port: 'main' }, 'redis.port" is a string (not shown)'],
    [{ db: -1 }, 'redis.db" is -1'],
    [{ host: '' }, 'redis.host" is ""; it takes a non-empty string'],
    [{ commandTimeout: '2s' }, 'redis.commandTimeout" is "2s"; it takes milliseconds'],
    [{ commandTimeout: 0 }, 'redis.commandTimeout" is 0; it takes milliseconds'],
    [{ connectTimeout: -1 }, 'redis.connectTimeout" is -1; it takes milliseconds'],
    [{ password: [secret] }, 'redis.password" is a list (not shown)'],
    [
      { url: `http://user:${secret}@host` },
      'redis.url" is a string (not shown); it takes an address such as "redis://',
    ],
    [[], 'redis" is an empty array; it takes options of ioredis'],
  ])('refuse %j', (given, message) => {
    const error = (() => {
      try {
        return read(given)
      } catch (reason) {
        return reason
      }
    })() as Error
    expect(error.message).toContain(message)
    expect(error.message).not.toContain(secret)
  })

  test('are listed without their secrets', () => {
    const given = { url: `redis://user:${secret}@host`, host: 'a', password: secret, sentinelPassword: secret }
    expect(options.show(given)).toEqual({ url: '(secret)', host: 'a', password: '(secret)', prefix: 'mine' })
  })

  test('with a port and without a host are of this machine, whatever the environment says', () => {
    vi.stubEnv('REDIS_URL', 'redis://elsewhere:6379')
    expect(redisPlace({ port: 6380 })).toEqual({ place: [], options: { port: 6380 } })
    expect(redisPlace({ db: 3 })).toEqual({ place: ['redis://elsewhere:6379'], options: { db: 3 } })
    vi.unstubAllEnvs()
  })
})
