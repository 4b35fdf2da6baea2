import { inspect } from 'node:util'
import { RouteCollection, Server } from 'framework'
import type { RateLimitStore } from 'framework/plugins/rateLimit'
import { testClock } from 'framework/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

function serverWith(rateLimit: object, routes: (server: Server) => void = (server) => server.get('/', () => 'ok')) {
  const logger = memoryLogger()
  const server = new Server({ plugins: { rateLimit }, router: new RouteCollection(), logger })
  onTestFinished(() => server.close())
  routes(server)
  return Object.assign(server, { log: logger.entries })
}
function clockOfTest() {
  const clock = testClock()
  onTestFinished(() => clock.restore())
  return clock
}
const ask = (server: Server, n: number, url = '/', ip = '192.0.2.1') =>
  Promise.all(Array.from({ length: n }, () => server.inject.get(url, { ip })))
const passed = async (server: Server, n: number, url?: string, ip?: string) =>
  (await ask(server, n, url, ip)).filter((response) => response.statusCode() === 200).length

describe('several windows', () => {
  const windows = [
    { limit: 3, windowMs: 1_000 },
    { limit: 7, windowMs: 60_000 },
  ]

  test('hold at once, and a request that one refuses counts in none', async () => {
    const clock = clockOfTest()
    const server = serverWith({ windows })
    expect(await passed(server, 20)).toBe(3)
    await clock.advance(1_000)
    expect(await passed(server, 20)).toBe(3)
    await clock.advance(1_000)
    // Had the refused ones counted, nothing would be left of the minute.
    expect(await passed(server, 20)).toBe(1)
    await clock.advance(58_000)
    expect(await passed(server, 20)).toBe(3)
  })

  test('are in the policy, and the headers are those of the window that has decided', async () => {
    const clock = clockOfTest()
    const server = serverWith({ windows })
    const [first] = await ask(server, 1)
    first!.assertHeader('ratelimit-policy', '3;w=1, 7;w=60').assertHeader('ratelimit-limit', '3')
    first!.assertHeader('ratelimit-remaining', '2')
    for (const _ of [1, 2]) {
      await passed(server, 3)
      await clock.advance(1_000)
    }
    await passed(server, 1)
    const [refused] = await ask(server, 1)
    refused!.assertStatus(429).assertHeader('ratelimit-limit', '7').assertHeader('ratelimit-remaining', '0')
    refused!.assertHeader('retry-after', '58')
    expect(refused!.text()).toContain('more than 7 requests in 60 s')
  })

  test('of a route replace the limit of the server, and a limit of a route its windows', async () => {
    const server = serverWith({ windows }, (server) => {
      server.get('/one', { rateLimit: { limit: 5 } }, () => 'ok')
      server.get('/two', { rateLimit: { windows: [{ limit: 2, windowMs: 1_000 }] } }, () => 'ok')
    })
    expect(await passed(server, 9, '/one')).toBe(5)
    expect(await passed(server, 9, '/two')).toBe(2)
  })
})

describe('a bucket', () => {
  test('lets a burst through, and then evenly one at a time', async () => {
    const clock = clockOfTest()
    const server = serverWith({ limit: 60, windowMs: 60_000, burst: 5 })
    expect(await passed(server, 20)).toBe(5)
    for (let i = 0; i < 10; i++) {
      await clock.advance(999)
      expect(await passed(server, 3)).toBe(0)
      await clock.advance(1)
      expect(await passed(server, 3)).toBe(1)
    }
    await clock.advance(3_000)
    expect(await passed(server, 9)).toBe(3)
    await clock.advance('1 day')
    expect(await passed(server, 9)).toBe(5)
  })

  test('never lets more through than the burst and what has come back, however requests are spread', async () => {
    const clock = clockOfTest()
    const server = serverWith({ limit: 100, windowMs: 10_000, burst: 10 })
    let total = 0
    for (let i = 0; i < 200; i++) {
      total += await passed(server, 3)
      await clock.advance(37)
    }
    // 199 pauses of 37 ms have given 73.63 requests back.
    expect(total).toBe(10 + 73)
  })

  test('says how long to wait', async () => {
    clockOfTest()
    const server = serverWith({ limit: 6, windowMs: 60_000, burst: 2 })
    const [first, , refused] = await ask(server, 3)
    first!.assertHeader('ratelimit-policy', '6;w=60;burst=2').assertHeader('ratelimit-remaining', '1')
    refused!.assertStatus(429).assertHeader('retry-after', '10').assertHeader('ratelimit-remaining', '0')
  })
})

describe('a cost', () => {
  test('is taken from the limit of the server by a route that has nothing else', async () => {
    const server = serverWith({ limit: 25 }, (server) => {
      server.get('/', () => 'ok')
      server.get('/export', { rateLimit: { cost: 10 } }, () => 'ok')
      server.get('/own', { rateLimit: { cost: 10, limit: 20 } }, () => 'ok')
    })
    expect(await passed(server, 5, '/export')).toBe(2)
    const [refused] = await ask(server, 1, '/export')
    refused!.assertStatus(429).assertHeader('ratelimit-remaining', '5')
    expect(await passed(server, 9)).toBe(5)
    expect(await passed(server, 5, '/own')).toBe(2)
  })

  test('may be a function, and 0', async () => {
    const server = serverWith({ limit: 10, cost: ({ query }: { query: { rows: string } }) => Number(query.rows) })
    expect(await passed(server, 3, '/?rows=4')).toBe(2)
    expect(await passed(server, 9, '/?rows=0')).toBe(9)
    expect(await passed(server, 3, '/?rows=2')).toBe(1)
    expect(await passed(server, 1, '/?rows=0')).toBe(1)
  })

  test.each(['-1', 'x', 'Infinity', '1.5', '9007199254740993'])('of %s fails the request with 500', async (rows) => {
    const server = serverWith({ limit: 10, cost: ({ query }: { query: { rows: string } }) => Number(query.rows) })
    const [response] = await ask(server, 1, `/?rows=${rows}`)
    response!.assertStatus(500)
    expect(inspect(server.log)).toContain('its function cost returned')
    expect(await passed(server, 12, '/?rows=1')).toBe(10)
  })

  test('that is larger than the limit is refused, and takes nothing', async () => {
    const server = serverWith({ limit: 10, cost: ({ query }: { query: { rows: string } }) => Number(query.rows) })
    const [response] = await ask(server, 1, `/?rows=${Number.MAX_SAFE_INTEGER}`)
    response!.assertStatus(429)
    expect(await passed(server, 12, '/?rows=1')).toBe(10)
  })
})

describe('a limit by function', () => {
  test('is asked for each request, and may be asynchronous', async () => {
    const limit = async ({ headers }: { headers: Record<string, string> }) => (headers['x-plan'] === 'pro' ? 5 : 2)
    const server = serverWith({ limit })
    expect(await passed(server, 9)).toBe(2)
    const pro = await server.inject.get('/', { ip: '192.0.2.2', headers: { 'x-plan': 'pro' } })
    pro.assertStatus(200).assertHeader('ratelimit-limit', '5').assertHeader('ratelimit-policy', '5;w=60')
    const [refused] = await ask(server, 1)
    expect(refused!.text()).toContain('more than the allowed requests in 60 s')
  })

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5', undefined, null])('of %s lets no one in', async (value) => {
    const server = serverWith({ limit: () => value })
    const [response] = await ask(server, 1)
    response!.assertStatus(500)
    expect(inspect(server.log)).toContain('its function limit returned')
  })

  test('of 0, and one that throws, let no one in', async () => {
    expect((await ask(serverWith({ limit: () => 0 }), 1))[0]!.statusCode()).toBe(429)
    expect((await ask(serverWith({ limit: () => 0, burst: 3 }), 1))[0]!.statusCode()).toBe(429)
    const fails = () => {
      throw new Error('no plan')
    }
    expect((await ask(serverWith({ limit: fails }), 1))[0]!.statusCode()).toBe(500)
    expect((await ask(serverWith({ limit: () => Promise.reject(new Error('no plan')) }), 1))[0]!.statusCode()).toBe(500)
  })
})

describe('a mistake in the options fails the boot', () => {
  const hitOnly: RateLimitStore = { hit: (_, resetMs) => ({ count: 1, resetMs }) }
  test.each([
    [{ windows: [{ limit: 1, windowMs: 1 }], limit: 5 }, 'windows, or limit, windowMs and burst'],
    [{ windows: [] }, 'rateLimit.windows'],
    [{ windows: [{ limit: 1 }] }, 'windowMs'],
    [{ windows: [1, 2].map((limit) => ({ limit, windowMs: 5 })) }, 'windows of different lengths'],
    [{ limit: 5, cost: 6 }, 'a cost that the limit "*" allows, at most 5'],
    [{ limit: 50, burst: 5, cost: 6 }, 'at most 5'],
    [{ limit: 0 }, 'a whole number of requests above 0, or a function'],
    [{ cost: -1 }, 'a whole number, 0 or more'],
    [{ burst: 0 }, 'rateLimit.burst'],
    [{ cost: 2, store: hitOnly }, 'a store with take()'],
    [{ burst: 2, store: hitOnly }, 'a store with take()'],
  ])('%j', async (options, message) => {
    const boot = async () => serverWith(options).ready()
    await expect(boot()).rejects.toThrow(message)
  })

  test.each([
    [{ windows: [{ limit: 1, windowMs: 1 }], limit: 5 }, 'windows, or limit, windowMs and burst'],
    [{ subject: { limit: -5 } }, 'rateLimit.subject.limit'],
    [{ subject: { limt: 5 } }, 'rateLimit.subject.limt'],
    [{ subject: undefined }, 'rateLimit.subject'],
    [{ cost: 101 }, 'at most 100'],
  ])('on a route: %j', async (options, message) => {
    const server = serverWith({}, (server) => server.get('/', { rateLimit: options as object }, () => 'ok'))
    await expect(server.ready()).rejects.toThrow(message)
  })
})

describe('a store of the application', () => {
  test('takes the cost from all windows, and is replaced by counting here while it fails', async () => {
    const calls: unknown[] = []
    let isDown = false
    const store: RateLimitStore = {
      hit: (_, resetMs) => ({ count: 1, resetMs }),
      take(key, cost, windows) {
        if (isDown) throw new Error('down')
        calls.push([key, cost, windows])
        return { accepted: true, windows: windows.map(({ windowMs }) => ({ count: 2, resetMs: windowMs })) }
      },
    }
    const server = serverWith({ windows: [{ limit: 4, windowMs: 60_000 }], cost: 2, store })
    expect(await passed(server, 1)).toBe(1)
    expect(calls).toEqual([['* 192.0.2.1', 2, [{ limit: 4, windowMs: 60_000, burst: undefined }]]])
    isDown = true
    expect(await passed(server, 5)).toBe(1)
  })

  test('that responds with anything else has failed', async () => {
    const store = { hit: () => ({ count: 1, resetMs: 1 }), take: () => ({ accepted: true, windows: [] }) }
    const server = serverWith({ limit: 2, burst: 2, store, onStoreFailure: 'refuse' })
    expect((await ask(server, 1))[0]!.statusCode()).toBe(503)
    expect(inspect(server.log)).toContain('has to return { accepted, windows }')
  })
})
