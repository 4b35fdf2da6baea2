import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { definePlugin, RouteCollection, Server } from 'framework'
import { rateLimit } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { describe, expect, test } from 'vitest'
import { ownKey } from '../../../plugins/rateLimit/limiter.ts'
import { MemoryStore, maxKeys } from '../../../plugins/rateLimit/stores/memory.ts'
import { networkOf } from '../../../plugins/shared/http/network.ts'
import { memoryLogger } from '../../support/kernel.ts'

function serverWith(plugins: unknown) {
  const logger = memoryLogger()
  const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger })
  server.get('/', () => 'ok')
  return Object.assign(server, { log: logger.entries })
}

/** How many of n requests were let through, and the others' status. */
async function ask(server: Server, n: number, path = '/', ip = '192.0.2.1', headers: Record<string, string> = {}) {
  const answers = await Promise.all(Array.from({ length: n }, () => server.inject({ url: path, ip, headers })))
  return answers.map(({ status }) => status)
}
const passed = (statuses: number[]) => statuses.filter((status) => status === 200).length

describe('a limit', () => {
  test('lets exactly that many requests of a window pass', async () => {
    const server = serverWith({ rateLimit: { limit: 100 } })
    const statuses = await ask(server, 250)
    expect(passed(statuses)).toBe(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(150)
    expect(passed(await ask(server, 100, '/', '192.0.2.2'))).toBe(100)
  })

  test('counts exactly for 40 concurrent clients', async () => {
    const server = serverWith({ rateLimit: {} })
    const clients = Array.from({ length: 40 }, (_, i) => `198.51.100.${i}`)
    const counts = await Promise.all(clients.map(async (ip) => passed(await ask(server, 130, '/', ip))))
    expect(counts).toEqual(clients.map(() => 100))
  })

  test('sends limit, rest and time, and responds 429 in the form of the framework', async () => {
    const server = serverWith({ rateLimit: { limit: 2, windowMs: 30_000 } })
    const first = await server.inject.get('/')
    first
      .assertHeader('ratelimit-limit', '2')
      .assertHeader('ratelimit-remaining', '1')
      .assertHeader('ratelimit-reset', '30')
    first.assertHeader('ratelimit-policy', '2;w=30').assertHeaderNotExists('retry-after')
    ;(await server.inject.get('/')).assertStatus(200).assertHeader('ratelimit-remaining', '0')
    const refused = await server.inject.get('/')
    refused.assertStatus(429).assertHeader('ratelimit-remaining', '0').assertHeader('retry-after', '30')
    refused.assertBodyDeepEqual({
      code: 'TooManyRequestsError',
      message: 'TOO_MANY_REQUESTS: more than 2 requests in 30 s',
    })
    expect(server.log).toEqual([])
  })

  test('counts all methods of a route that any wrote together', async () => {
    const server = serverWith({ rateLimit: {} })
    server.any('/login', { rateLimit: { limit: 2 } }, () => 'in')
    const tries = ['get', 'post', 'put', 'query', 'patch'] as const
    const statuses: number[] = []
    for (const method of tries) statuses.push((await server.inject[method]('/login')).statusCode())
    expect(statuses).toEqual([200, 200, 429, 429, 429])
  })

  test('begins anew when the window has ended', async () => {
    using clock = testClock()
    const server = serverWith({ rateLimit: { limit: 2, windowMs: 60 } })
    expect(passed(await ask(server, 5))).toBe(2)
    await clock.advance(60)
    expect(passed(await ask(server, 5))).toBe(2)
  })

  test('counts 404, 405 and refused requests too', async () => {
    const server = serverWith({ rateLimit: { limit: 3 } })
    const status = async (url: string, method = 'GET') => (await server.inject({ url, method })).status
    expect([await status('/nowhere'), await status('/', 'POST'), await status('/%zz')]).toEqual([404, 405, 400])
    expect([await status('/nowhere'), await status('/', 'POST'), await status('/')]).toEqual([429, 429, 429])
  })

  test('refuses before a body is read', async () => {
    const server = serverWith({ rateLimit: { limit: 1 }, json: true })
    server.post('/', (req) => req.body)
    const headers = { 'content-type': 'application/json' }
    expect((await server.inject({ url: '/', method: 'POST', body: '{', headers })).status).toBe(400)
    expect((await server.inject({ url: '/', method: 'POST', body: '{', headers })).status).toBe(429)
  })

  test('lets browsers read the refusal, and does not count preflights', async () => {
    const server = serverWith({ cors: { origin: '*' }, rateLimit: { limit: 1 } })
    const preflight = { origin: 'http://a.test', 'access-control-request-method': 'PUT' }
    for (let i = 0; i < 3; i++) (await server.inject.options('/', { headers: preflight })).assertStatus(204)
    ;(await server.inject.get('/')).assertStatus(200)
    const refused = await server.inject.get('/', { headers: { origin: 'http://a.test' } })
    refused.assertStatus(429).assertHeader('access-control-allow-origin', '*')
  })
})

describe('the counted clients', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:c000:201', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:0DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0'],
    ['2001:db8:0:1::', '2001:db8:0:1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0'],
    ['1:2:3:4::5.6.7.8', '1:2:3:4'],
    ['::5.6.7.8', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ])('%s counts as %s (spellings of one address, CVE-2026-39409, CVE-2026-47674)', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  test('one IPv6 network has one limit, however many addresses it has', async () => {
    const server = serverWith({ rateLimit: { limit: 10 } })
    let count = 0
    for (let i = 0; i < 50; i++) {
      const ip = `2001:db8:7:7:${i.toString(16)}::${(i * 7).toString(16)}`
      count += passed(await ask(server, 1, '/', ip))
    }
    expect(count).toBe(10)
    expect(passed(await ask(server, 1, '/', '2001:db8:7:8::1'))).toBe(1)
  })

  test('a forwarded address counts only from trusted proxies', async () => {
    const spoofed = { 'x-forwarded-for': '' }
    const untrusting = serverWith({ rateLimit: { limit: 5 } })
    let count = 0
    for (let i = 0; i < 20; i++) {
      spoofed['x-forwarded-for'] = `203.0.113.${i}`
      count += passed(await ask(untrusting, 1, '/', '192.0.2.1', spoofed))
    }
    expect(count).toBe(5)

    const trusting = serverWith({ rateLimit: { limit: 5 }, trustProxy: { trustedProxies: ['192.0.2.1'] } })
    count = 0
    for (let i = 0; i < 20; i++) {
      // The entries of the client rotate; the entry of the proxy is the client's address.
      spoofed['x-forwarded-for'] = `10.0.0.${i}, 203.0.113.9`
      count += passed(await ask(trusting, 1, '/', '192.0.2.1', spoofed))
    }
    expect(count).toBe(5)
    expect(passed(await ask(trusting, 1, '/', '192.0.2.1', { 'x-forwarded-for': '203.0.113.8' }))).toBe(1)
  })

  test('a key of the application, which is never taken for an address', async () => {
    const key = (req: { headers: Record<string, string | undefined> }) => req.headers['x-key']
    // Drivers of databases return an object with `then`.
    const later = (req: never) =>
      Object.defineProperty({}, 'then', { value: (settle: (found: unknown) => void) => settle(key(req)) }) as never
    for (const keyOf of [key, async (req: never) => key(req), later]) {
      const server = serverWith({ rateLimit: { limit: 2, key: keyOf } })
      expect(passed(await ask(server, 3, '/', '192.0.2.1', { 'x-key': 'a' }))).toBe(2)
      expect(passed(await ask(server, 3, '/', '192.0.2.2', { 'x-key': 'a' }))).toBe(0)
      expect(passed(await ask(server, 3, '/', '192.0.2.1', { 'x-key': '192.0.2.1' }))).toBe(2)
      expect(passed(await ask(server, 3, '/', '192.0.2.1'))).toBe(2)
    }
    expect(ownKey('a'.repeat(10_000)).length).toBeLessThan(60)
    expect(ownKey('a'.repeat(65))).not.toBe(ownKey('a'.repeat(66)))
  })

  test('a key that is null means the address, as undefined does', async () => {
    const server = serverWith({ rateLimit: { limit: 1, key: () => null as never } })
    for (const ip of ['192.0.2.1', '192.0.2.2']) expect(passed(await ask(server, 3, '/', ip))).toBe(1)
  })

  test('skip leaves requests out, with true and nothing else', async () => {
    for (const skip of [
      (req: { path: string }) => req.path === '/free',
      async (req: { path: string }) => req.path === '/free',
    ]) {
      const server = serverWith({ rateLimit: { limit: 2, skip } })
      server.get('/free', () => 1)
      expect(passed(await ask(server, 10, '/free'))).toBe(10)
      expect(passed(await ask(server, 10))).toBe(2)
    }
    const loose = serverWith({ rateLimit: { limit: 2, skip: () => 'yes' } })
    expect(passed(await ask(loose, 10))).toBe(2)
  })

  test('a function that fails is a failure of the request', async () => {
    for (const name of ['key', 'skip']) {
      for (const fail of [
        () => {
          throw new Error('boom')
        },
        async () => {
          throw new Error('boom')
        },
      ]) {
        expect(await ask(serverWith({ rateLimit: { [name]: fail } }), 1)).toEqual([500])
      }
    }
  })
})

describe('a route of its own', () => {
  test('has a counter of its own and is not counted twice', async () => {
    const server = serverWith({ rateLimit: { limit: 5 } })
    server.get('/login', { rateLimit: { limit: 3 } }, () => 1)
    server.get('/other', { rateLimit: { limit: 3 } }, () => 1)
    server.get('/health', { rateLimit: false }, () => 1)
    expect(passed(await ask(server, 10, '/login'))).toBe(3)
    expect(passed(await ask(server, 10, '/other'))).toBe(3)
    expect(passed(await ask(server, 10, '/health'))).toBe(10)
    expect(passed(await ask(server, 10))).toBe(5)
  })

  test('takes omitted options from the server, and counts its HEAD', async () => {
    const server = serverWith({ rateLimit: { limit: 2, windowMs: 5_000, statusCode: 420 } })
    server.get('/login', { rateLimit: { windowMs: 9_000 } }, () => 1)
    const statuses: number[] = []
    for (const method of ['GET', 'HEAD', 'GET']) statuses.push((await server.inject({ url: '/login', method })).status)
    expect(statuses).toEqual([200, 200, 420])
    const { headers } = await server.inject({ url: '/login' })
    expect(headers['ratelimit-policy']).toBe('2;w=9')
  })

  test('with a wrong option fails the boot', async () => {
    for (const option of [{ limit: 0 }, { store: 'memory' }, true, 5, 'x', null]) {
      const server = serverWith({ rateLimit: true })
      server.get('/login', { rateLimit: option as never }, () => 1)
      await expect(server.ready()).rejects.toThrow(/GET \/login.*rateLimit/)
    }
  })

  const part = (name: string, limit: number, options: object = {}) =>
    definePlugin({
      name,
      scoped: true,
      setup(ctx) {
        ctx.register(rateLimit({ limit, ...options }))
        ctx.get(`/${name.replaceAll(/\W/g, '')}`, () => 1)
      },
    })

  test('a scope may have its own', async () => {
    const server = serverWith({ rateLimit: { limit: 5 } })
    server.register(part('part', 2)())
    expect(passed(await ask(server, 10, '/part'))).toBe(2)
    expect(passed(await ask(server, 10))).toBe(5)
  })

  test('scopes side by side count for themselves, in a store that they share too', async () => {
    for (const store of [undefined, counting()]) {
      const server = serverWith({ rateLimit: { limit: 5, store } })
      server.register(part('a', 2, { store })())
      server.register(part('b', 3, { store, windowMs: 5_000 })())
      // Names that would run into each other if they were put together as they are.
      const nested = (name: string, inner: string) =>
        definePlugin({ name, scoped: true, setup: (ctx) => ctx.register(part(inner, 4, { store })()) })
      server.register(nested('c/d', 'e')())
      server.register(nested('c', 'd/e')())
      server.register(nested('c d', 'f')(), { prefix: '/p' })
      const limits = { '/': 5, '/a': 2, '/b': 3, '/e': 4, '/de': 4, '/p/f': 4 }
      for (const [path, limit] of Object.entries(limits)) {
        expect(passed(await ask(server, 10, path)), path).toBe(limit)
      }
    }
  })
})

function counting() {
  const counts = new Map<string, number>()
  return {
    keys: counts,
    closed: 0,
    hit(key: string, windowMs: number) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return { count: counts.get(key)!, resetMs: windowMs }
    },
    close() {
      this.closed++
    },
  }
}

describe('a store of the application', () => {
  test('is called, with keys that distinguish limit and client, and closed', async () => {
    const store = counting()
    const server = serverWith({ rateLimit: { limit: 2, store } })
    server.get('/login/:id', { rateLimit: { limit: 1 } }, () => 1)
    expect(passed(await ask(server, 3))).toBe(2)
    expect(passed(await ask(server, 3, '/login/5'))).toBe(1)
    expect([...store.keys.keys()]).toEqual(['* 192.0.2.1', 'GET /login/:id 192.0.2.1'])
    await server.close()
    expect(store.closed).toBe(1)
  })

  test.each<[string, () => unknown]>([
    ['never responds', () => new Promise(() => {})],
    ['gives a text', () => ({ count: '1', resetMs: 10 })],
    ['gives nothing', async () => undefined],
    // As query builders do, which run when they are awaited.
    [
      'gives a thenable of something else',
      () => Object.fromEntries([['then', (settle: (rows: []) => void) => settle([])]]),
    ],
  ])('that %s has failed, and each process counts for itself', async (_what, hit) => {
    const server = serverWith({ rateLimit: { limit: 2, store: { hit } } })
    expect(passed(await ask(server, 4))).toBe(2)
    expect(server.log.map(({ message }) => message)).toContainEqual(expect.stringContaining('fails'))
  })

  test('that fails is replaced by counting here, is not called for a while, and is reported once per change', async () => {
    const store = { ...counting(), fails: true, asked: 0 }
    const broken = {
      hit(key: string, windowMs: number) {
        // The probe, which sees whether the store works again.
        if (key !== 'health') store.asked++
        if (!store.fails) return store.hit(key, windowMs)
        if (store.asked % 2 === 0) throw new Error('down')
        return Promise.reject(new Error('down'))
      },
    }
    const server = serverWith({ rateLimit: { limit: 2, store: broken } })
    expect(passed(await ask(server, 4))).toBe(2)
    const asked = store.asked
    expect(passed(await ask(server, 20, '/', '192.0.2.2'))).toBe(2)
    expect(store.asked).toBe(asked)
    store.fails = false
    await expect.poll(() => server.log.length).toBe(2)
    expect(passed(await ask(server, 4, '/', '192.0.2.3'))).toBe(2)
    expect(server.log.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the store of the rate limits fails; until it is back, each process counts on its own, or refuses where onStoreFailure is "refuse"',
      'warn the store of the rate limits works again',
    ])
  })
})

test('what was counted here while the store failed is added to its counts within the window', async () => {
  const store = { ...counting(), fails: false }
  const flapping = {
    hit(key: string, windowMs: number) {
      if (store.fails) throw new Error('down')
      return store.hit(key, windowMs)
    },
  }
  const server = serverWith({ rateLimit: { limit: 6, store: flapping } })
  let all = 0
  for (let i = 1; i <= 3; i++) {
    all += passed(await ask(server, 1))
    store.fails = true
    all += passed(await ask(server, 1))
    store.fails = false
    await expect.poll(() => server.log.length).toBe(2 * i)
  }
  expect(all).toBe(6)
  expect(passed(await ask(server, 3))).toBe(0)
})

describe('memory', () => {
  test('is bounded: 250 000 clients take less than 50 MB', () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const store = new MemoryStore()
    gc()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 250_000; i++) store.hit(`* 2001:db8:${i.toString(16)}:1`, 60_000)
    gc()
    expect((process.memoryUsage().heapUsed - before) / 1e6).toBeLessThan(50)
    // It is still in use: the latest counts are remembered, the first ones are not.
    expect(store.hit('* 2001:db8:3d08f:1', 60_000).count).toBe(2)
    expect(store.hit('* 2001:db8:0:1', 60_000).count).toBe(1)
    expect(maxKeys).toBeLessThanOrEqual(100_000)
  })

  test('a client that keeps sending is not displaced by new ones', () => {
    const store = new MemoryStore()
    for (let i = 0; i < 150_000; i++) {
      store.hit(`* ${i}`, 60_000)
      if (i % 1_000 === 0) store.hit('* steady', 60_000)
    }
    expect(store.hit('* steady', 60_000).count).toBe(151)
  })
})

describe('options', () => {
  test.each([
    [{ limit: 0 }, /rateLimit\.limit/],
    [{ limit: 1.5 }, /rateLimit\.limit/],
    [{ limit: '100' }, /rateLimit\.limit/],
    [{ windowMs: 0 }, /rateLimit\.windowMs/],
    [{ windowMs: '1m' }, /rateLimit\.windowMs/],
    [{ windowMs: 2 ** 31 }, /rateLimit\.windowMs/],
    [{ statusCode: 200 }, /rateLimit\.statusCode/],
    [{ key: 'ip' }, /rateLimit\.key/],
    [{ skip: true }, /rateLimit\.skip/],
    [{ store: 'valkey' }, /rateLimit\.store.*"memory".*"redis", or \{ redis: address or options \}/],
    [{ store: { url: 5 } }, /rateLimit\.store/],
    [{ store: [] }, /rateLimit\.store/],
    [{ store: null }, /rateLimit\.store/],
    [{ max: 5 }, /rateLimit\.max/],
    [[], /rateLimit/],
    [null, /option "?rateLimit/],
  ])('%j is refused', (options, message) => {
    expect(() => serverWith([rateLimit(options as never)])).toThrow(message)
  })
})

test.each([
  'limit',
  'windowMs',
  'key',
  'onStoreFailure',
])('a limit whose "%s" is undefined is refused, on the server and on a route', async (name) => {
  const options = { [name]: undefined } as object
  expect(() => serverWith({ rateLimit: options })).toThrow(`"plugins.rateLimit.${name}" is undefined`)
  const server = serverWith({ rateLimit: true })
  server.post('/login', { rateLimit: options }, () => 'in')
  await expect(server.ready()).rejects.toThrow(`rateLimit.${name}" is undefined`)
})
