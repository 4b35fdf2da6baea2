import { type Request, RouteCollection, Server, type Session } from 'framework'
import type { session } from 'framework/plugins'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

type Bag = Session & Record<string, unknown>
const bagOf = (req: Request) => req.session as Bag

function serverWith(options: Partial<Parameters<typeof session>[0]>) {
  const logger = memoryLogger()
  const plugins = { session: { secret: 'the first secret of these tests', ...options } } as {}
  const server = new Server<{}>({ plugins, router: new RouteCollection(), logger })
  servers.push(server)
  server.get('/read', (req) => ({ ...req.session }))
  server.get('/count', (req) => {
    bagOf(req).n = Number(bagOf(req).n ?? 0) + 1
    return bagOf(req).n
  })
  server.get('/logout', async (req) => {
    await req.session.destroy()
    return 'ok'
  })
  return Object.assign(server, { messages: () => logger.entries.map(({ message }) => message) })
}

describe.skipIf(!hasRedis)('sessions in Redis', () => {
  let redis: RedisServer
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })

  const forms: [string, () => Parameters<typeof session>[0]['store']][] = [
    [
      'the one of REDIS_URL',
      () => {
        vi.stubEnv('REDIS_URL', redis.url)
        return 'redis'
      },
    ],
    ['an address', () => ({ redis: redis.url })],
    ['options with an address', () => ({ redis: { url: redis.url, db: 0 } })],
    ['options of ioredis', () => ({ redis: { host: '127.0.0.1', port: redis.port } })],
    ['a client', () => ({ redis: { client } })],
    ['a client alone', () => ({ redis: client })],
    ['options without a name', () => ({ url: redis.url })],
    ['an address, a prefix', () => ({ redis: { url: redis.url, prefix: 'shop:' } })],
  ]
  test.each(forms)('%s: two servers share them', async (_name, store) => {
    const [one, two] = [serverWith({ store: store() }), serverWith({ store: store() })]
    const cookies = (await one.inject.get('/count')).cookies()
    ;(await two.inject.get('/count', { cookies })).assertBodyDeepEqual(2)
    ;(await one.inject.get('/read', { cookies })).assertBodyDeepEqual({ n: 2 })
    await two.inject.get('/logout', { cookies })
    ;(await one.inject.get('/read', { cookies })).assertBodyDeepEqual({})
  })

  test.each([false, true])('none comes back after another server has ended it (rolling: %s)', async (rolling) => {
    const make = () => serverWith({ store: { redis: redis.url }, rolling })
    const [one, two] = [make(), make()]
    const ends: Record<string, (req: Request) => unknown> = {
      change: (req) => Object.assign(bagOf(req), { seen: true }),
      save: (req) => Object.assign(bagOf(req), { seen: true }).save(),
      regenerate: (req) => req.session.regenerate(),
      nothing: () => {},
    }
    const held = new Map<string, () => void>()
    one.get('/slow/:end', async (req) => {
      const { end } = req.params as { end: string }
      await new Promise<void>((resolve) => {
        held.set(end, resolve)
      })
      await ends[end]!(req)
      return 'ok'
    })
    two.get('/renew', (req) => req.session.regenerate())
    for (const end of ['/logout', '/renew']) {
      await client.flushdb()
      held.clear()
      const cookies = (await one.inject.get('/count')).cookies()
      const old = `session:${cookies.sid!.split('.')[0]}`
      const slow = Object.keys(ends).map((name) => one.inject.get(`/slow/${name}`, { cookies }))
      await expect.poll(() => held.size).toBe(slow.length)
      await two.inject.get(end, { cookies })
      for (const goOn of held.values()) goOn()
      const answers = await Promise.all(slow)
      // What was asked for by name and could not be done is not success.
      expect(answers.map((res) => res.statusCode())).toEqual([200, 409, 409, 200])
      for (const res of answers) res.assertHeaderNotExists('set-cookie')
      answers[1]!.assertBodySubset({ code: 'SessionEndedError' })
      expect(await client.exists(old)).toBe(0)
      // After a log-out there is nothing under any id, and the new id is that of the client that asked for it.
      expect(await client.dbsize()).toBe(end === '/logout' ? 0 : 1)
      ;(await one.inject.get('/read', { cookies })).assertBodyDeepEqual({})
    }
  })

  test('of many that renew one session at the same time, on two servers, one has it', async () => {
    const both = [0, 1].map(() => serverWith({ store: { redis: redis.url } }))
    for (const server of both) server.get('/renew', (req) => req.session.regenerate())
    await client.flushdb()
    const cookies = (await both[0]!.inject.get('/count')).cookies()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => both[n % 2]!.inject.get('/renew', { cookies })),
    )
    const renewed = answers.filter((res) => res.statusCode() === 200 && res.cookies().sid !== undefined)
    expect(renewed).toHaveLength(1)
    expect(await client.dbsize()).toBe(1)
  })

  test('a log-out that Redis did not execute is not a success, and the session continues', async () => {
    const other = await startRedis()
    try {
      const server = serverWith({ store: { redis: other.url } })
      const cookies = (await server.inject.get('/count')).cookies()
      let isHeld = () => {}
      const mayGoOn = new Promise<void>((resolve) => {
        isHeld = resolve
      })
      server.get('/later', async (req) => {
        await mayGoOn
        await req.session.destroy()
      })
      const late = server.inject.get('/later', { cookies })
      ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ n: 1 })
      await other.kill()
      isHeld()
      ;(await late).assertStatus(503).assertHeaderNotExists('set-cookie')
      await other.restart()
      await expect
        .poll(async () => (await server.inject.get('/read', { cookies })).statusCode(), { timeout: 20_000 })
        .toBe(200)
      ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ n: 1 })
    } finally {
      await other.stop()
    }
  })

  test('with a prefix have keys that begin with it', async () => {
    const server = serverWith({ store: { redis: { url: redis.url, prefix: 'prefixed:' } } })
    await server.inject.get('/count')
    const keys = await client.keys('prefixed:*')
    expect(keys).toEqual([expect.stringMatching(/^prefixed:session:/)])
  })

  test('of a Redis that says nothing only the first requests wait', async () => {
    const frozen = await startRedis()
    const own = new Redis(frozen.url)
    try {
      const used = [frozen.url, { client: own }].map(async (redis) => {
        const server = serverWith({ store: { redis } })
        const cookies = (await server.inject.get('/count')).cookies()
        return async () => (await server.inject.get('/read', { cookies })).statusCode()
      })
      const statuses = await Promise.all(used)
      frozen.freeze()
      const all = () => Promise.all(statuses.map((status) => status()))
      expect(await all()).toEqual([503, 503])
      const start = performance.now()
      for (let i = 0; i < 15; i++) expect(await all()).toEqual([503, 503])
      // One after the other they would wait for thirty seconds.
      expect(performance.now() - start).toBeLessThan(20_000)
      frozen.thaw()
      await expect.poll(all).toEqual([200, 200])
    } finally {
      own.disconnect()
      await frozen.stop()
    }
  })

  test('as JSON under session:<id>, for as long as the cookie', async () => {
    const server = serverWith({ store: { redis: redis.url }, ttl: 1_000 })
    const cookies = (await server.inject.get('/count')).cookies()
    const key = `session:${cookies.sid!.split('.')[0]}`
    expect(await client.get(key)).toBe('{"n":1}')
    expect(await client.ttl(key)).toBeGreaterThan(900)
    await client.expire(key, 500)
    await server.inject.get('/read', { cookies })
    expect(await client.ttl(key)).toBeLessThan(501)
    const rolling = serverWith({ store: { redis: { client } }, ttl: 1_000, rolling: true })
    await rolling.inject.get('/read', { cookies })
    expect(await client.ttl(key)).toBeGreaterThan(900)
  })

  test('the plugin closes its own connection, and no other', async () => {
    const clients = async () =>
      String(await client.client('LIST'))
        .trim()
        .split('\n').length
    // Connections of the tests before are gone.
    const before = 1
    await expect.poll(clients).toBe(before)
    const server = serverWith({ store: { redis: redis.url } })
    // On a busy machine, the first commands may be over before it has connected.
    await expect.poll(async () => (await server.inject.get('/count')).statusCode()).toBe(200)
    expect(await clients()).toBe(before + 1)
    await server.close()
    await expect.poll(clients).toBe(before)
    const borrowed = serverWith({ store: { redis: { client } } })
    await borrowed.inject.get('/count')
    await borrowed.close()
    expect(await client.ping()).toBe('PONG')
  })

  test('a value that is not JSON is a failure of the store, not an empty session', async () => {
    const server = serverWith({ store: { redis: redis.url } })
    const cookies = (await server.inject.get('/count')).cookies()
    await client.set(`session:${cookies.sid!.split('.')[0]}`, '{"n":')
    ;(await server.inject.get('/read', { cookies })).assertStatus(503)
    for (const text of ['null', '7', '"text"', '[1]']) {
      await client.set(`session:${cookies.sid!.split('.')[0]}`, text)
      ;(await server.inject.get('/read', { cookies })).assertStatus(503)
    }
  })

  test('data of another program with blanks and escapes is not written again by a request that reads it', async () => {
    const server = serverWith({ store: { redis: redis.url } })
    const cookies = (await server.inject.get('/count')).cookies()
    const key = `session:${cookies.sid!.split('.')[0]}`
    await client.set(key, '{ "n": 7, "name": "\\u0041da" }')
    const read = await server.inject.get('/read', { cookies })
    read.assertBodyDeepEqual({ n: 7, name: 'Ada' }).assertHeaderNotExists('set-cookie')
    expect(await client.get(key)).toBe('{ "n": 7, "name": "\\u0041da" }')
    ;(await server.inject.get('/count', { cookies })).assertBodyDeepEqual(8)
    expect(await client.get(key)).toBe('{"n":8,"name":"Ada"}')
  })

  test('while Redis is away: 503 at once for clients with a session, others are served; then all is as before', async () => {
    const server = serverWith({ store: { redis: redis.url } })
    const cookies = (await server.inject.get('/count')).cookies()
    await redis.kill()
    const start = performance.now()
    for (let i = 0; i < 15; i++) {
      const res = await server.inject.get('/read', { cookies })
      res.assertStatus(503).assertHeaderNotExists('set-cookie').assertBodyDeepEqual({
        code: 'SessionStoreError',
        message: 'SESSION_STORE: the session store "redis" cannot be read. Try again later',
      })
      ;(await server.inject.get('/read')).assertStatus(200)
    }
    // With two seconds each they would take thirty.
    expect(performance.now() - start).toBeLessThan(20_000)
    ;(await server.inject.get('/count')).assertStatus(503).assertHeaderNotExists('set-cookie')
    await redis.restart()
    await expect
      .poll(async () => (await server.inject.get('/read', { cookies })).statusCode(), { timeout: 20_000 })
      .toBe(200)
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ n: 1 })
    const reported = server.messages().filter((message) => message?.includes('session store'))
    expect(reported.filter((message) => message?.includes('cannot be read'))).toHaveLength(1)
    expect(reported.at(-1)).toBe('the session store "redis" works again')
  })

  test('while Redis says nothing: 503 after two seconds', async () => {
    const server = serverWith({ store: { redis: redis.url } })
    const cookies = (await server.inject.get('/count')).cookies()
    redis.freeze()
    try {
      ;(await server.inject.get('/read', { cookies })).assertStatus(503)
      ;(await server.inject.get('/read')).assertStatus(200)
    } finally {
      redis.thaw()
    }
    await expect
      .poll(async () => (await server.inject.get('/read', { cookies })).statusCode(), { timeout: 20_000 })
      .toBe(200)
  })

  test('the server boots while Redis is away or says nothing, and connects when it comes', async () => {
    const other = await startRedis()
    try {
      await other.kill()
      const away = serverWith({ store: { redis: other.url } })
      await away.ready()
      ;(await away.inject.get('/read')).assertStatus(200)
      expect(away.messages()).toEqual([expect.stringContaining('the Redis of the session store cannot be reached')])
      await other.restart()
      await expect.poll(async () => (await away.inject.get('/count')).statusCode()).toBe(200)

      other.freeze()
      const silent = serverWith({ store: { redis: other.url } })
      await silent.ready()
      ;(await silent.inject.get('/read')).assertStatus(200)
      other.thaw()
      await expect.poll(async () => (await silent.inject.get('/count')).statusCode()).toBe(200)
    } finally {
      await other.stop()
    }
  })

  test('a server that is closed while Redis is away does not keep trying', async () => {
    const other = await startRedis()
    const server = serverWith({ store: { redis: other.url } })
    await server.ready()
    await other.stop()
    await expect.poll(server.messages).toEqual([expect.stringContaining('Redis')])
    await server.close()
    expect(server.messages()).toHaveLength(1)
  })
})
