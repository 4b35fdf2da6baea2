import { RouteCollection, Server } from 'framework'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { FrameClient } from '../../support/frames.ts'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function started(define: (routes: RouteCollection) => void, plugins: object) {
  const router = new RouteCollection()
  define(router)
  const options = {
    logger: memoryLogger(),
    port: 0,
    host: '127.0.0.1',
    router,
    plugins: { websocket: true, ...plugins },
  }
  const server = new Server(options as {})
  servers.push(server)
  return server
}

const secret = 'x'.repeat(32)

/** The session cookie that a response sets; `''` where it clears it. */
const cookieOf = (header: unknown) => /sid=([^;]*)/.exec([header].flat().join('\n'))?.[1]

describe('a websocket with sessions', () => {
  const server = (options: object = {}) =>
    started(
      (routes) => {
        routes.get('/login', (req) => {
          Object.assign(req.session, { user: 'ada' })
          return 'in'
        })
        const reported = {
          open: (socket: { data: unknown; send(message: object): void }) => socket.send({ is: socket.data }),
        }
        routes.ws('/who', { data: (req) => ({ ...req.session }), ...reported })
        routes.ws('/renew', {
          async data(req) {
            await req.session.regenerate()
            return { ...req.session }
          },
          ...reported,
        })
        routes.ws('/leave', {
          async data(req) {
            await req.session.destroy()
            return {}
          },
          ...reported,
        })
      },
      { session: { secret, ...options } },
    )
  const ask = async (one: Server, path: string, sid?: string) => {
    const socket = await one.inject.ws(path, sid === undefined ? {} : { headers: { cookie: `sid=${sid}` } })
    const { is } = (await socket.next()) as { is: object }
    await socket.close()
    return { is, sid: cookieOf(socket.response.headers()['set-cookie']) }
  }
  const login = async (one: Server) => cookieOf((await one.inject.get('/login')).headers()['set-cookie'])!

  test('knows whose it is, and a renewal during the upgrade leaves with the 101', async () => {
    const one = server()
    const first = await login(one)
    expect(await ask(one, '/who', first)).toEqual({ is: { user: 'ada' }, sid: undefined })
    const renewed = await ask(one, '/renew', first)
    expect([renewed.is, renewed.sid === undefined, renewed.sid === first]).toEqual([{ user: 'ada' }, false, false])
    expect((await ask(one, '/who', first)).is).toEqual({})
    expect((await ask(one, '/who', renewed.sid)).is).toEqual({ user: 'ada' })
  })

  test('ends one during the upgrade, and the cookie is cleared by the 101', async () => {
    const one = server()
    const sid = await login(one)
    expect(await ask(one, '/leave', sid)).toEqual({ is: {}, sid: '' })
    expect((await ask(one, '/who', sid)).is).toEqual({})
  })

  test.each([true, false])('knows no one when it has expired, idle or for good (rolling: %s)', async (rolling) => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const one = server({ ttl: 1, rolling })
    const sid = await login(one)
    // With it, an upgrade counts as use of the session.
    expect((await ask(one, '/who', sid)).sid).toBe(rolling ? sid : undefined)
    await clock.advance(1_100)
    expect((await ask(one, '/who', sid)).is).toEqual({})
  })

  test('writes no session for a page that may not open it', async () => {
    const one = server()
    const socket = await one.inject.ws('/renew', { headers: { origin: 'https://evil.example', host: 'a' } })
    socket.assertRefused(403)
    expect(socket.response.headers()['set-cookie']).toBeUndefined()
  })
})

test('a websocket that shares its path with a cached page is opened, and the page stays the same', async () => {
  let calls = 0
  const server = started(
    (routes) => {
      const options = {
        cache: { ttl: 60 },
        websocket: { open: (socket: { send(text: string): void }) => socket.send('open') },
      }
      routes.get('/page', options, () => ({ calls: ++calls }))
    },
    { cache: true, compression: true },
  )
  expect(await (await server.inject.ws('/page')).next()).toBe('open')
  const page = await server.inject.get('/page')
  page.assertStatus(200).assertBodyDeepEqual({ calls: 1 })
  const etag = String(page.headers().etag)
  for (const condition of [etag, '*']) {
    const socket = await server.inject.ws('/page', { headers: { 'if-none-match': condition, range: 'bytes=0-3' } })
    expect(await socket.next()).toBe('open')
  }
  ;(await server.inject.get('/page', { headers: { 'if-none-match': etag } })).assertStatus(304)
  ;(await server.inject.get('/page')).assertBodyDeepEqual({ calls: 1 })
})

describe('the origin of a page for a server behind a proxy', () => {
  const statusFor = async (server: Server, headers: Record<string, string>) => {
    const client = new FrameClient(server.port, '/', headers)
    await client.opened()
    const { status } = client.exchange()
    client.end()
    return status
  }
  const serverWith = async (plugins: object) => {
    const server = started((routes) => routes.ws('/', { open() {} }), plugins)
    await server.listen()
    return server
  }
  const forwarded = { 'X-Forwarded-Host': 'api.example', 'X-Forwarded-Proto': 'https' }

  test('is held against the host that a trusted proxy was asked for, and its scheme', async () => {
    const server = await serverWith({ trustProxy: { trustedProxies: ['127.0.0.1'] } })
    expect(await statusFor(server, { ...forwarded, Origin: 'https://api.example' })).toBe(101)
    expect(await statusFor(server, { ...forwarded, Origin: 'http://api.example' })).toBe(403)
    expect(await statusFor(server, { ...forwarded, Origin: `http://127.0.0.1:${server.port}` })).toBe(403)
    // The entries of the client come before those of the proxy.
    const spoofed = { 'X-Forwarded-Host': 'evil.example, api.example', Origin: 'https://evil.example' }
    expect(await statusFor(server, spoofed)).toBe(403)
  })

  test.each([
    ['no proxy is trusted', {}],
    ['another proxy is trusted', { trustProxy: { trustedProxies: ['10.0.0.1'] } }],
  ])('is not what a client says of itself where %s', async (_where, plugins) => {
    const server = await serverWith(plugins)
    expect(await statusFor(server, { ...forwarded, Origin: 'https://api.example' })).toBe(403)
    expect(await statusFor(server, { Forwarded: 'host=api.example', Origin: 'https://api.example' })).toBe(403)
    expect(await statusFor(server, { ...forwarded, Origin: `http://127.0.0.1:${server.port}` })).toBe(101)
  })
})

describe('the time of a request', () => {
  test('ends with the upgrade: a socket outlives it', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const server = started(
      (routes) => routes.ws('/', { timeout: 30 }, { message: (socket, text) => socket.send(text) }),
      {
        timeout: { ms: 5000 },
      },
    )
    const socket = await server.inject.ws('/')
    await clock.advance(60)
    socket.send('still here')
    expect(await socket.next()).toBe('still here')
  })

  test('applies to data: a late result opens nothing', async () => {
    const seen: string[] = []
    let settle = (_data: unknown) => {}
    const late = new Promise((resolve) => {
      settle = resolve
    })
    const server = started(
      (routes) => routes.ws('/', { timeout: 20 }, { data: () => late, open: () => void seen.push('open') }),
      { timeout: { ms: 5000 } },
    )
    ;(await server.inject.ws('/')).assertRefused(503)
    settle({})
    await late
    await new Promise((resolve) => setImmediate(resolve))
    expect([seen, server.services.get('websockets').size]).toEqual([[], 0])
  })
})

test('each opening counts for the rate limit of its route', async () => {
  const server = started((routes) => routes.ws('/', { rateLimit: { limit: 2, windowMs: 60_000 } }, { open() {} }), {
    rateLimit: true,
  })
  const statuses = [1, 2, 3].map(async () => (await server.inject.ws('/')).response.statusCode())
  expect((await Promise.all(statuses)).sort()).toEqual([101, 101, 429])
})

test('no method override makes an upgrade of another method, or another method of an upgrade', async () => {
  const server = started((routes) => routes.ws('/', { open() {} }), { methodOverride: true })
  const headers = { 'x-http-method-override': 'DELETE' }
  ;(await server.inject.ws('/', { headers })).assertOpen()
  for (const method of ['options', 'post'] as const) (await server.inject[method]('/')).assertStatus(405)
  ;(await server.inject.head('/')).assertStatus(426)
})
