import { bullmqQueue, RouteCollection, Server } from 'framework'
import { memoryCronLock } from 'framework/plugins/cron'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

bullmqQueue('orders')

describe.skipIf(!hasRedis)('readiness while Redis is away', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const servers: Server[] = []
  afterEach(async () => {
    await redis.restart()
    for (const server of servers.splice(0)) await server.close()
  })

  function probeOf(plugins: object) {
    const logger = memoryLogger()
    const server = new Server<{}>({
      plugins: { health: true, ...plugins } as {},
      router: new RouteCollection(),
      logger,
    })
    servers.push(server)
    const probe = async () => {
      const res = await server.inject.get('/health/ready')
      return [res.statusCode(), res.body()]
    }
    return { probe, log: logger.entries }
  }

  const stores = () => {
    const { url } = redis
    return {
      substituted: { rateLimit: { store: { redis: { url } } }, cache: { provider: 'redis', redis: { url } } },
      needed: {
        session: { secret: 'a secret of thirty-two characters', store: { redis: url } },
        websocket: true,
        channels: { store: { redis: { url } } },
        locks: { store: { redis: { url, timeout: 500 } } },
        queues: { config: { bullmq: { connection: { url }, publishTimeout: 500 } } },
      },
    }
  }
  const all = (outcome: string, ...names: string[]) => Object.fromEntries(names.map((name) => [name, outcome]))

  test.each([
    'killed',
    'frozen',
  ])('%s: the checks name the services, and those with a substitute are degraded', async (how) => {
    const { substituted, needed } = stores()
    const { probe } = probeOf({ ...substituted, ...needed })
    const ok = all('ok', 'rateLimit', 'cache', 'session', 'locks', 'channels', 'queues')
    await expect.poll(probe).toEqual([200, { status: 'ok', checks: ok }])
    if (how === 'killed') await redis.kill()
    else redis.freeze()
    const down = { ...all('degraded', 'rateLimit', 'cache'), ...all('error', 'session', 'locks', 'channels', 'queues') }
    expect(await probe()).toEqual([503, { status: 'error', checks: down }])
    await redis.restart()
    await expect.poll(probe).toEqual([200, { status: 'ok', checks: ok }])
  })

  test('a server whose services all have substitutes remains ready, degraded', async () => {
    const { probe, log } = probeOf(stores().substituted)
    await redis.kill()
    const checks = all('degraded', 'rateLimit', 'cache')
    for (let i = 0; i < 2; i++) expect(await probe()).toEqual([200, { status: 'degraded', checks }])
    const said = log.map(({ message }) => message).filter((message) => message?.includes('health'))
    expect(said.sort()).toEqual(['the health check "cache" is degraded', 'the health check "rateLimit" is degraded'])
  })

  test('a limit that refuses what it cannot count is not ready', async () => {
    const { rateLimit } = stores().substituted
    const { probe } = probeOf({ rateLimit: { ...rateLimit, onStoreFailure: 'refuse' } })
    await redis.kill()
    expect(await probe()).toEqual([503, { status: 'error', checks: { rateLimit: 'error' } }])
  })

  test('services in memory are always available', async () => {
    const { probe } = probeOf({
      rateLimit: true,
      cache: true,
      session: { secret: 'a secret of thirty-two characters' },
    })
    expect(await probe()).toEqual([200, { status: 'ok', checks: all('ok', 'rateLimit', 'cache', 'session') }])
  })
})

describe('stores of the application', () => {
  test.each<[object, number, object]>([
    [{ rateLimit: { store: { hit: () => Promise.reject(new Error('away')) } } }, 200, { rateLimit: 'degraded' }],
    [{ rateLimit: { store: { hit: () => new Promise(() => {}) } } }, 200, { rateLimit: 'degraded' }],
    [{ rateLimit: { store: { hit: () => ({ count: 1, resetMs: 1 }) } } }, 200, { rateLimit: 'ok' }],
  ])('%#: a limit asks its store', async (plugins, status, checks) => {
    const server = new Server<{}>({
      plugins: { health: true, ...plugins } as {},
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    const res = await server.inject.get('/health/ready')
    expect([res.statusCode(), (res.body() as { checks: object }).checks]).toEqual([status, checks])
    await server.close()
  })

  test('a session store that fails makes the server unready', async () => {
    const store = { get: () => Promise.reject(new Error('away')), set() {}, update: () => true, destroy: () => true }
    const server = new Server<{}>({
      plugins: { health: true, session: { secret: 'a secret of thirty-two characters', store } } as {},
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    const res = await server.inject.get('/health/ready')
    expect([res.statusCode(), res.body()]).toEqual([503, { status: 'error', checks: { session: 'error' } }])
    await server.close()
  })
})

test('a server whose cron jobs cannot reach their lock remains ready, degraded', async () => {
  let isDown = false
  const real = memoryCronLock()
  const lock = {
    ...real,
    release: (claim: Parameters<typeof real.release>[0]) =>
      isDown ? Promise.reject(new Error('connection refused')) : real.release(claim),
  }
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    router: new RouteCollection(),
    logger: memoryLogger(),
    plugins: { health: true, cron: { crons: [], lock } },
  })
  await server.listen()
  try {
    const probe = async () => {
      const res = await server.inject.get('/health/ready')
      return [res.statusCode(), res.body()]
    }
    expect(await probe()).toEqual([200, { status: 'ok', checks: { cron: 'ok' } }])
    isDown = true
    expect(await probe()).toEqual([200, { status: 'degraded', checks: { cron: 'degraded' } }])
  } finally {
    await server.close()
  }
})
