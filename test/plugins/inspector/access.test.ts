import { definePlugin, RouteCollection, Server } from 'framework'
import { inspector } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { lookAt, makeServer, servers, visit } from './support.ts'

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

describe('who may look', () => {
  test('the token opens the page once, and a cookie that no script reads keeps it open', async () => {
    const { server } = makeServer()
    const address = await visit(server)
    expect(address).toMatch(/^\/_inspector\?token=[\w-]{32}$/)
    const res = await server.inject({ url: address })
    expect([res.status, res.headers.location]).toEqual([303, '/_inspector'])
    expect(String(res.headers['set-cookie'])).toMatch(
      /^inspector=[\w-]+; Path=\/_inspector; HttpOnly; SameSite=Strict$/,
    )
    const look = await lookAt(server)
    expect((await look.send({ url: '/_inspector' })).status).toBe(200)
    expect((await server.inject({ url: '/_inspector' })).status).toBe(401)
    expect((await server.inject({ url: '/_inspector?token=wrong' })).status).toBe(403)
    expect((await server.inject({ url: '/_inspector/api/list?kind=request' })).status).toBe(401)
  })

  test.each<[what: string, request: { ip?: string; headers?: Record<string, string> }]>([
    ['another machine', { ip: '192.168.1.2' }],
    ['a peer that is not known', { ip: '' }],
    ['another machine that is written as IPv6', { ip: '::ffff:10.0.0.1' }],
    ['a name that a foreign site has', { headers: { host: 'evil.example' } }],
    ['a name that begins like an address', { headers: { host: '127.0.0.1.evil.example' } }],
    ['a proxy', { headers: { 'x-forwarded-for': '127.0.0.1' } }],
    ['a proxy that says Forwarded', { headers: { forwarded: 'for=127.0.0.1' } }],
    ['a proxy that says Via', { headers: { via: '1.1 proxy' } }],
    ['another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['another port of this machine', { headers: { 'sec-fetch-site': 'same-site' } }],
    ['another origin', { headers: { origin: 'http://localhost:9999' } }],
  ])('with the token and the cookie: not %s', async (_what, request) => {
    const { server } = makeServer(true, { trustProxy: { trustedProxies: true } })
    const look = await lookAt(server)
    for (const url of [await visit(server), '/_inspector/api/list?kind=request', '/_inspector/events'])
      expect((await look.send({ url, ...request })).status).toBe(403)
  })

  test.each([
    'localhost:3000',
    '127.0.0.1',
    '[::1]:8080',
    'shop.localhost',
  ])('the host %s is this machine', async (host) => {
    const { server } = makeServer()
    const address = await visit(server)
    for (const ip of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.8.8.8'])
      expect((await server.inject({ url: address, ip, headers: { host } })).status).toBe(303)
  })

  test('what changes something comes from the page itself', async () => {
    const { server } = makeServer()
    const look = await lookAt(server)
    const post = (headers: Record<string, string>) =>
      server.inject({
        method: 'POST',
        url: '/_inspector/api/clear',
        headers: { cookie: look.cookie, ...headers },
        body: '{}',
      })
    expect((await post({})).status).toBe(403)
    expect((await post({ 'sec-fetch-site': 'none' })).status).toBe(403)
    expect((await post({ origin: 'null' })).status).toBe(403)
    expect((await post({ origin: 'http://localhost', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post({ origin: 'http://localhost' })).status).toBe(200)
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  test('no plugin before the application keeps the page away, and its own policy stays', async () => {
    const { server } = makeServer(true, {
      helmet: true,
      rateLimit: { limit: 1 },
    })
    server.use((_req, res) => res.unauthorized())
    const look = await lookAt(server)
    const res = await look.send({ url: '/_inspector' })
    expect(res.status).toBe(200)
    expect(res.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect((await look.send({ url: '/_inspector/nothing' })).status).toBe(404)
  })
})

test('in a scope the boot fails, for it would see no more than that', async () => {
  const { server } = makeServer(false as never)
  server.register(definePlugin({ name: 'admin', scoped: true, setup: (ctx) => ctx.register(inspector()) })())
  await expect(server.ready()).rejects.toThrow(/registered in the scope "admin".*Register it on the server/)
})

test('without the log plugin its address is written, too', async () => {
  const { server, log } = makeServer()
  await server.listen()
  expect(log.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^inspector at http:\/\/127\.0\.0\.1:\d+\/_inspector\?token=/),
  )
})

describe('production', () => {
  test('the development server asks for it, never twice, and not there', async () => {
    const mark = Symbol.for('framework.inspector')
    Object.assign(globalThis, { [mark]: { token: 'asked' } })
    try {
      const namesOf = (plugins: object) =>
        new Server({ plugins, router: new RouteCollection() } as object).listing.plugins.map(
          ({ definition }) => definition.name,
        )
      const count = (plugins: object) => namesOf(plugins).filter((name) => name === 'inspector').length
      expect([
        count({}),
        count([]),
        count({ inspector: {} }),
        count([inspector()]),
        count({ inspector: false }),
      ]).toEqual([1, 1, 1, 1, 0])
      vi.stubEnv('NODE_ENV', 'production')
      expect([count({}), count([])]).toEqual([0, 0])
    } finally {
      Reflect.deleteProperty(globalThis, mark)
    }
  })

  test('the boot fails, and the error names the remedy', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { server } = makeServer()
    await expect(server.ready()).rejects.toThrow(
      /NODE_ENV is "production". Leave the plugin out there: plugins: \{ inspector: /,
    )
  })
})

test('it counts in no metric, has no line in the log, and is in no list of routes or chain', async () => {
  vi.stubEnv('NODE_ENV', 'test')
  const { server, log } = makeServer(true, { log: true, metrics: true, openapi: true })
  server.get('/', () => 'hello')
  const look = await lookAt(server)
  await look.json('overview')
  await server.inject.get('/')
  const text = (await server.inject.get('/metrics')).text()
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/",status="2xx"\} 1\n(?!http_request_duration_seconds_count)/,
  )
  expect(log.filter(({ message }) => message === 'request').map(({ fields }) => fields.path)).toEqual(['/'])
  expect(server.printRoutes()).not.toContain('_inspector')
  expect(await look.list('request')).toMatchObject([{ title: 'GET /metrics' }, { title: 'GET /' }])
})
