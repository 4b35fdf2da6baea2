import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { definePlugin, type PluginDefinition, RouteCollection, Server } from 'framework'
import { rateLimit } from 'framework/plugins'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { block, memoryLogger, pause } from '../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

describe.skipIf(!hasRedis)('limits in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const servers: Server[] = []
  afterEach(async () => {
    vi.unstubAllEnvs()
    for (const server of servers.splice(0)) await server.close()
  })

  function serverWith(options: object) {
    const logger = memoryLogger()
    const server = new Server<{}>({ plugins: { rateLimit: options } as {}, router: new RouteCollection(), logger })
    servers.push(server)
    server.get('/', () => 'ok')
    return Object.assign(server, { log: logger.entries })
  }
  const ask = async (server: Server, n: number, ip = '192.0.2.1') => {
    const answers = await Promise.all(Array.from({ length: n }, () => server.inject({ url: '/', ip })))
    return answers.filter(({ status }) => status === 200).length
  }

  /** A machine under load must not look like a Redis that is down: by default a command has 250 ms. */
  const timeout = 10_000
  /** The outcome of what was done within a window of a second: a busy machine may need several tries. */
  async function inTime<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    for (;;) {
      const start = performance.now()
      const outcome = await work()
      if (performance.now() - start < 1_000) return outcome
      await pause(1_050)
    }
  }

  test('are exact, in milliseconds, and begin anew', async () => {
    const store = { redis: { url: redis.url, prefix: 'exact', timeout } }
    const server = serverWith({ limit: 5, windowMs: 1_000, store })
    const [passed, refused] = await inTime(
      async () => [await ask(server, 12), await server.inject.get('/', { ip: '192.0.2.1' })] as const,
    )
    expect(passed).toBe(5)
    refused.assertStatus(429).assertHeader('retry-after', '1').assertHeader('ratelimit-remaining', '0')
    await pause(1_050)
    const client = new Redis(redis.url)
    const [again, keys, left] = await inTime(
      async () =>
        [await ask(server, 12), await client.keys('exact:*'), await client.pttl('exact:* 192.0.2.1')] as const,
    )
    expect([again, keys]).toEqual([5, ['exact:* 192.0.2.1']])
    expect(left).toBeGreaterThan(0)
    client.disconnect()
  })

  test('count in the Redis of REDIS_URL, at an address, and with a client of the application, which stays open', async () => {
    const client = new Redis(redis.url)
    vi.stubEnv('REDIS_URL', redis.url)
    for (const [i, store] of [
      'redis',
      { redis: { url: redis.url, timeout } },
      { redis: { client, timeout } },
    ].entries()) {
      const ip = `192.0.2.${10 + i}`
      expect(await ask(serverWith({ limit: 2, store }), 5, ip)).toBe(2)
      expect(await client.get(`rate-limit:* ${ip}`)).toBe('5')
    }
    for (const server of servers.splice(0)) await server.close()
    expect(await client.ping()).toBe('PONG')
    client.disconnect()
  })

  test('are those of the scope, where several count in one Redis', async () => {
    const store = { redis: { url: redis.url, prefix: 'scopes', timeout } }
    const server = serverWith({ limit: 4, store })
    for (const [name, options] of Object.entries({ one: { limit: 2 }, two: { limit: 3, windowMs: 5_000 } })) {
      const setup = (ctx: Parameters<NonNullable<PluginDefinition<undefined, object>['setup']>>[0]) => {
        ctx.register(rateLimit({ ...options, store }))
        ctx.get(`/${name}`, () => name)
      }
      server.register(definePlugin({ name, scoped: true, setup })())
    }
    const passed: number[] = []
    for (const url of ['/', '/one', '/two']) {
      const answers = await Promise.all(Array.from({ length: 9 }, () => server.inject({ url, ip: '192.0.2.1' })))
      passed.push(answers.filter(({ status }) => status === 200).length)
    }
    expect(passed).toEqual([4, 2, 3])
    const client = new Redis(redis.url)
    const keys = ['scopes:* 192.0.2.1', 'scopes:*/one 192.0.2.1', 'scopes:*/two 192.0.2.1']
    expect((await client.keys('scopes:*')).sort()).toEqual(keys)
    expect(await client.pttl(keys[2]!)).toBeLessThanOrEqual(5_000)
    client.disconnect()
  })

  const windows = [
    { limit: 50, windowMs: 60_000 },
    { limit: 100, windowMs: 3_600_000, burst: 40 },
  ]
  const children: ChildProcess[] = []
  let processes: Promise<string[][]> | undefined
  /** In each of four processes, the addresses of a server with one limit and of one with several. */
  const fourProcesses = () => {
    processes ??= Promise.all([1, 2, 3, 4].map(() => startProcess(redis.url, [{ limit: 50 }, { windows, cost: 2 }])))
    return processes
  }
  afterAll(async () => {
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)
  })

  test('are shared by two processes, exactly', async () => {
    const urls = (await fourProcesses()).map(([one]) => one)
    const ask = async (_: unknown, i: number) => {
      const res = await fetch(urls[i % 2]!)
      await res.arrayBuffer()
      return res.status
    }
    const statuses = await Promise.all(Array.from({ length: 120 }, ask))
    expect(statuses.filter((status) => status === 200)).toHaveLength(50)
    expect(statuses.filter((status) => status === 429)).toHaveLength(70)
  })

  test('of several windows and of buckets are exact in four processes, with one round trip for each request', async () => {
    const urls = (await fourProcesses()).map(([, several]) => several)
    const client = new Redis(redis.url)
    const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0)
    const before = await calls()
    const statuses = await Promise.all(Array.from({ length: 120 }, async (_, i) => (await fetch(urls[i % 4]!)).status))
    // The bucket of 40 decides: 20 requests that cost 2 each, and 0.03 come back in a second.
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect((await calls()) - before).toBeLessThanOrEqual(120)
    const [key] = await client.keys('rate-limit:windows:*')
    expect(await client.hget(key!, '60000')).toBe('40')
    expect(await client.pttl(key!)).toBeGreaterThan(30_000)
    client.disconnect()
  })

  test('of windows count for 0 or for all: a refusal takes nothing from a window that has room', async () => {
    const store = { redis: { url: redis.url, prefix: 'windows', timeout } }
    const windows = [
      { limit: 3, windowMs: 1_000 },
      { limit: 5, windowMs: 60_000 },
    ]
    const server = serverWith({ windows, store })
    const start = performance.now()
    const first = await ask(server, 12)
    // A busy machine may take longer than the second.
    expect(performance.now() - start < 1_000 ? first : 3).toBe(3)
    await pause(1_050)
    expect(await ask(server, 12)).toBe(5 - first)
  })

  test('of a bucket come back evenly, and a clock of Redis that was set back keeps no one out', async () => {
    const store = { redis: { url: redis.url, prefix: 'bucket', timeout } }
    const server = serverWith({ limit: 10, windowMs: 100_000, burst: 3, store })
    expect(await ask(server, 9)).toBe(3)
    const client = new Redis(redis.url)
    const [key] = await client.keys('bucket:*')
    const fullAt = async (ms: number) => client.hset(key!, '100000be', String(Date.now() + ms))
    await fullAt(19_000)
    expect(await ask(server, 9, '192.0.2.1')).toBe(1)
    await fullAt(3_600_000)
    expect(await ask(server, 1)).toBe(0)
    // `Date.now()` has no fractions of milliseconds, and Redis has.
    expect(Math.floor(Number(await client.hget(key!, '100000be'))) - Date.now()).toBeLessThanOrEqual(30_000)
    client.disconnect()
  })

  test('while Redis is down this process counts on from the last known count; that is reported once per change', async () => {
    const own = await startRedis()
    try {
      const server = serverWith({ limit: 3, store: { redis: { url: own.url, timeout: 2_000 } } })
      expect(await ask(server, 2)).toBe(2)
      await own.kill()
      expect(await ask(server, 10)).toBe(1)
      expect(await ask(server, 10, '192.0.2.2')).toBe(3)
      await own.restart()
      const changes = async () => {
        await ask(server, 1, '192.0.2.9')
        return server.log.length
      }
      await expect.poll(changes, { timeout: 20_000, interval: 100 }).toBe(2)
      expect(server.log.map(({ message }) => message)).toEqual([
        'the store of the rate limits fails; until it is back, each process counts on its own, or refuses where onStoreFailure is "refuse"',
        'the store of the rate limits works again',
      ])
    } finally {
      await own.stop()
    }
  })

  test('a Redis that is frozen costs a quarter of a second, and not for every request', async () => {
    const own = await startRedis()
    try {
      const server = serverWith({ limit: 3, store: { redis: { url: own.url } } })
      expect(await ask(server, 1)).toBe(1)
      own.freeze()
      expect(await ask(server, 10)).toBe(2)
      const start = performance.now()
      for (let i = 0; i < 100; i++) await ask(server, 1)
      // Each with a quarter of a second would take 25.
      expect(performance.now() - start).toBeLessThan(20_000)
      own.thaw()
    } finally {
      await own.stop()
    }
  })

  test('a response that has arrived counts, although the event loop was blocked for longer than the deadline', async () => {
    let isBlocked = false
    const skip = () => {
      // After the tick in which what was sent leaves the socket.
      if (isBlocked) process.nextTick(() => process.nextTick(() => process.nextTick(block, 4_500)))
      return false
    }
    const server = serverWith({
      limit: 5,
      skip,
      store: { redis: { url: redis.url, prefix: 'blocked', commandTimeout: 3_000 } },
    })
    expect(await ask(server, 3)).toBe(3)
    isBlocked = true
    expect(await ask(server, 1)).toBe(1)
    isBlocked = false
    expect(await ask(server, 10)).toBe(1)
    expect(server.log).toEqual([])
  })

  test('while Redis is frozen, two processes let through what was left when each last asked', async () => {
    const own = await startRedis()
    try {
      const options = { limit: 50, store: { redis: { url: own.url, timeout: 2_000 } } }
      const [one, two] = [serverWith(options), serverWith(options)]
      expect([await ask(one, 20), await ask(two, 20)]).toEqual([20, 20])
      own.freeze()
      // The first has last heard of 20 requests, the second of 40.
      expect([await ask(one, 60), await ask(two, 60)]).toEqual([30, 10])
      own.thaw()
    } finally {
      await own.stop()
    }
  })

  test("with onStoreFailure: 'refuse', a request that cannot be counted is refused with 503", async () => {
    const own = await startRedis()
    try {
      const server = serverWith({ limit: 5, store: { redis: { url: own.url, timeout: 2_000 } } })
      server.post('/login', { rateLimit: { limit: 3, onStoreFailure: 'refuse' } }, () => 'welcome')
      const login = () => server.inject.post('/login', { ip: '192.0.2.1' })
      ;(await login()).assertStatus(200)
      await own.kill()
      for (let i = 0; i < 2; i++) {
        const refused = await login()
        refused.assertStatus(503).assertHeader('retry-after', '1')
        expect(refused.body()).toMatchObject({ code: 'RateLimitUnavailableError' })
      }
      // The other routes count here.
      expect(await ask(server, 10)).toBe(5)
      await own.restart()
      const statuses: number[] = []
      const again = async () => {
        statuses.push((await login()).statusCode())
        return statuses.at(-1)
      }
      await expect.poll(again, { timeout: 20_000, interval: 100 }).toBe(429)
      expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    } finally {
      await own.stop()
    }
  })

  test('a server boots while Redis is down', async () => {
    const server = serverWith({ limit: 3, store: { redis: { url: 'redis://127.0.0.1:1' } } })
    expect(await ask(server, 10)).toBe(3)
    expect(server.log).toHaveLength(1)
  })

  async function startProcess(url: string, limits: readonly object[]): Promise<string[]> {
    const args = [...withTypeScript, 'test/plugins/fixtures/rate-limit-server.ts', url, JSON.stringify(limits)]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk)
    })
    await expect.poll(() => stderr, { timeout: 60_000 }).toMatch(/ports [\d ]+\./)
    const ports = /ports ([\d ]+)\./.exec(stderr)![1]!.split(' ')
    const addresses = ports.map((port) => `http://127.0.0.1:${port}/`)
    // They are ready when they can count in Redis.
    const isReady = async () => Promise.all(addresses.map(async (one) => (await fetch(`${one}health/ready`)).status))
    await expect.poll(isReady, { timeout: 60_000 }).toEqual(limits.map(() => 200))
    return addresses
  }
})
