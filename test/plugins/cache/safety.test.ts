import { type Middleware, type Request, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { testDistinctKeys, testDistinctRequests } from './distinct.ts'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

function makeServer(options: object = {}, others: object = {}) {
  const router = new RouteCollection()
  const plugins: { cache: object } = { cache: options, ...others }
  const server = new Server({ router, logger: memoryLogger(), gracefulShutdown: false, plugins })
  servers.push(server)
  return { server, router }
}

// hono CVE-2026-44457: a cache that ignores Authorization, Cookie and Vary gives one user's response to another.
describe("one user's response to another", () => {
  const usual = [
    'authorization',
    'cookie',
    'proxy-authorization',
    'x-api-key',
    'api-key',
    'x-auth-token',
    'x-access-token',
  ]
  test.each(usual)('none of 60 with %s: they pass the cache by', async (name) => {
    const { server, router } = makeServer()
    router.get('/me', { cache: true }, (req) => req.headers[name] ?? 'nobody')
    let wrong = 0
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const user = i % 3 === 0 ? undefined : `user-${i % 10}`
        const res = await server.inject.get('/me', { headers: user === undefined ? {} : { [name]: user } })
        if (res.body() !== (user ?? 'nobody')) wrong++
        if (user !== undefined) res.assertHeader('x-cache', 'BYPASS')
      }),
    )
    expect(wrong).toBe(0)
  })

  test('nor with a header that the application calls personal', async () => {
    const { server, router } = makeServer({ personalHeaders: ['X-Acme-Key'] })
    router.get('/me', { cache: true }, (req) => req.headers['x-acme-key'] ?? 'nobody')
    router.get('/keyed', { cache: { include: { headers: ['x-acme-key'] } } }, (req) => req.headers['x-acme-key'])
    const get = async (url: string, key: string) => {
      const res = await server.inject.get(url, { headers: { 'x-acme-key': key } })
      return [res.headers()['x-cache'], res.body()]
    }
    expect(await get('/me', 'ada')).toEqual(['BYPASS', 'ada'])
    expect(await get('/me', 'bob')).toEqual(['BYPASS', 'bob'])
    expect((await server.inject.get('/me')).body()).toBe('nobody')
    expect(await get('/keyed', 'ada')).toEqual(['MISS', 'ada'])
    expect(await get('/keyed', 'bob')).toEqual(['MISS', 'bob'])
    expect(await get('/keyed', 'ada')).toEqual(['HIT', 'ada'])
    expect(() => makeServer({ personalHeaders: 'x-acme-key' })).toThrow('the option "plugins.cache.personalHeaders" is')
  })

  test('a header that the schema of the route names is part of the key', async () => {
    const { server, router } = makeServer()
    const tenant = (req: Request) => String((req.headers as Record<string, string>)['x-tenant'])
    const json = { type: 'object', properties: { 'X-Tenant': { type: 'string' } } } as const
    router.get('/json', { headers: json, cache: true }, tenant)
    router.get('/zod', { headers: z.object({ 'x-tenant': z.string() }), cache: true }, tenant)
    router.get(
      '/auth',
      { headers: { type: 'object', properties: { authorization: { type: 'string' } } }, cache: true },
      () => 1,
    )
    for (const url of ['/json', '/zod']) {
      for (const name of ['a', 'b', 'a']) {
        const res = await server.inject.get(url, { headers: { 'x-tenant': name } })
        expect(res.body()).toBe(name)
      }
      ;(await server.inject.get(url, { headers: { 'x-tenant': 'b' } })).assertHeader('x-cache', 'HIT')
    }
    ;(await server.inject.get('/auth', { headers: { authorization: 'a' } })).assertHeader('x-cache', 'BYPASS')
  })

  test('a named header is part of the key', async () => {
    const { server, router } = makeServer()
    let runs = 0
    const cache = { include: { headers: ['Authorization', 'accept-language'] } }
    router.get('/me', { cache }, (req) => `${req.headers.authorization} ${req.headers['accept-language']} ${++runs}`)
    const get = async (headers: Record<string, string>) => (await server.inject.get('/me', { headers })).body()
    expect(await get({ authorization: 'a' })).toBe('a undefined 1')
    expect(await get({ authorization: 'b' })).toBe('b undefined 2')
    expect(await get({ authorization: 'a', 'accept-language': 'de' })).toBe('a de 3')
    expect(await get({ authorization: 'a' })).toBe('a undefined 1')
    expect(
      (await server.inject.get('/me', { headers: { authorization: 'a', cookie: 'c' } })).headers()['x-cache'],
    ).toBe('BYPASS')
  })

  test('shared says that the response is the same for all clients', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: { shared: true } }, () => 1)
    for (const how of ['MISS', 'HIT'])
      (await server.inject.get('/x', { headers: { authorization: how, cookie: how } })).assertHeader('x-cache', how)
  })

  test.each<[string, (req: Request) => unknown]>([
    ['writes to', () => undefined],
    ['has saved', (req) => req.session.save()],
    ['gives another id to', (req) => req.session.regenerate()],
  ])('a handler that %s the session of a newcomer, whose cookie is set later than the response is kept', async (_, then) => {
    const { server, router } = makeServer({}, { session: { secret: 's'.repeat(32) } })
    let count = 0
    router.get('/form', { cache: true }, async (req) => {
      const token = `token ${++count}`
      Object.assign(req.session, { token })
      await then(req)
      return token
    })
    for (const token of ['token 1', 'token 2']) {
      const res = await server.inject.get('/form')
      res.assertHeader('x-cache', 'MISS').assertHeaderExists('set-cookie').assertBodyDeepEqual(token)
    }
  })

  test('data that a middleware writes to the session belongs to the request, and does not prevent storing a response', async () => {
    const { server, router } = makeServer({}, { session: { secret: 's'.repeat(32) } })
    let visits = 0
    const countVisit: Middleware = (req, _res, next) => {
      Object.assign(req.session, { visits: ++visits })
      return next()
    }
    router.get('/x', { cache: true, middlewares: [countVisit] }, () => 'all the same')
    for (const how of ['MISS', 'HIT'])
      (await server.inject.get('/x')).assertHeader('x-cache', how).assertHeaderExists('set-cookie')
  })

  test('a response for which an empty session was read varies by the cookie also when it was kept', async () => {
    const { server, router } = makeServer({}, { session: { secret: 's'.repeat(32) } })
    router.post('/login', (req) => void Object.assign(req.session, { name: 'ada' }))
    const nameOf = (req: Request) => (req.session as { name?: string }).name ?? 'stranger'
    router.get('/x', { cache: true }, async (req) => {
      await pause(20)
      return nameOf(req)
    })
    router.get('/unread', { cache: true }, () => 1)
    const get = async (path: string) => {
      const { 'x-cache': how, vary } = (await server.inject.get(path)).headers()
      return `${how} ${vary}`
    }
    expect(await Promise.all([get('/x'), get('/x')])).toEqual(['MISS Cookie', 'WAIT Cookie'])
    expect(await get('/x')).toBe('HIT Cookie')
    for (const how of ['MISS', 'HIT']) expect(await get('/unread')).toBe(`${how} undefined`)
    const cookie = String((await server.inject.post('/login')).headers()['set-cookie']).split(';')[0]!
    const own = await server.inject.get('/x', { headers: { cookie } })
    own.assertHeader('x-cache', 'BYPASS').assertHeader('vary', 'Cookie').assertBodyDeepEqual('ada')
  })

  test('a response with data that a middleware has just written to the session is not stored', async () => {
    const { server, router } = makeServer({}, { session: { secret: 's'.repeat(32) } })
    let count = 0
    const makeToken: Middleware = (req, _res, next) => {
      Object.assign(req.session, { token: ++count })
      return next()
    }
    const tokenOf = (req: Request) => (req.session as { token?: number }).token
    router.get('/form', { cache: true, middlewares: [makeToken] }, tokenOf)
    for (const token of [1, 2])
      (await server.inject.get('/form')).assertHeader('x-cache', 'MISS').assertBodyDeepEqual(token)
  })

  test('nor with data that it has loaded, on a shared route', async () => {
    const { server, router } = makeServer({}, { session: { secret: 's'.repeat(32) } })
    router.post('/login', (req) => void Object.assign(req.session, { name: 'ada' }))
    router.get('/x', { cache: { shared: true } }, (req) => (req.session as { name?: string }).name ?? 'nobody')
    const cookie = String((await server.inject.post('/login')).headers()['set-cookie']).split(';')[0]!
    ;(await server.inject.get('/x', { headers: { cookie } })).assertHeader('x-cache', 'MISS').assertBodyDeepEqual('ada')
    ;(await server.inject.get('/x')).assertHeader('x-cache', 'MISS').assertBodyDeepEqual('nobody')
    ;(await server.inject.get('/x')).assertHeader('x-cache', 'HIT').assertBodyDeepEqual('nobody')
  })

  test.each([
    'private',
    'max-age=3, no-store',
  ])('cache-control: %s of a middleware holds as well as that of a handler', async (said) => {
    const { server, router } = makeServer()
    const recognise: Middleware = (req, res, next) => {
      if (req.headers['x-badge'] !== undefined) res.setHeader('cache-control', said)
      return next()
    }
    router.get('/me', { cache: true, middlewares: [recognise] }, (req) => req.headers['x-badge'] ?? 'nobody')
    const seen = await server.inject.get('/me', { headers: { 'x-badge': 'ada' } })
    seen.assertBodyDeepEqual('ada')
    ;(await server.inject.get('/me')).assertHeader('x-cache', 'MISS').assertBodyDeepEqual('nobody')
  })

  test.each([
    ['/x?__proto__=evil', '/x'],
    ['/x?a=1&constructor=evil', '/x?a=1'],
    ['/x?a=%zz', '/x?a=%25zz'],
  ])('%s is not a spelling of %s: a handler may read the address', async (one, other) => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (req) => req.url)
    ;(await server.inject.get(one)).assertHeader('x-cache', 'MISS')
    const res = await server.inject.get(other)
    res.assertHeader('x-cache', 'MISS').assertBodyDeepEqual(`http://localhost${other}`)
  })

  test('only additions of the handler to Vary count and are stored: cors sets the origin', async () => {
    const { server, router } = makeServer({}, { cors: { origin: ['https://a.example', 'https://b.example'] } })
    router.get('/x', { cache: { include: { headers: ['accept-language'] } } }, (_req, res) =>
      res.vary('Accept-Language').ok(1),
    )
    for (const [origin, how] of [
      ['https://a.example', 'MISS'],
      ['https://b.example', 'HIT'],
    ] as const) {
      const res = await server.inject.get('/x', { headers: { origin, 'accept-language': 'de' } })
      res.assertHeader('x-cache', how).assertHeader('access-control-allow-origin', origin)
      res.assertHeader('vary', 'Origin, Accept-Language')
    }
  })

  test('a header that the handler has removed does not come back with the kept response', async () => {
    const { server, router } = makeServer({}, { helmet: true })
    router.get('/x', { cache: true }, (_req, res) => res.removeHeader('x-frame-options').ok(1))
    for (const how of ['MISS', 'HIT']) {
      const res = await server.inject.get('/x')
      res
        .assertHeader('x-cache', how)
        .assertHeaderNotExists('x-frame-options')
        .assertHeaderExists('x-content-type-options')
    }
  })

  test('a response with Vary is kept when the header is in the key', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: { include: { headers: ['accept-language'] } } }, (req, res) => {
      res.vary('Accept-Language').ok(req.headers['accept-language'])
    })
    for (const language of ['de', 'fr'])
      for (const how of ['MISS', 'HIT']) {
        const res = await server.inject.get('/x', { headers: { 'accept-language': language } })
        res.assertHeader('x-cache', how).assertHeader('vary', 'Accept-Language').assertBodyDeepEqual(language)
      }
  })

  // A client that can send any Host could fill the cache with links to its own.
  test('host and scheme are part of the key', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (req) => req.url)
    const get = async (host: string, url = '/x') =>
      JSON.parse(Buffer.from((await server.inject({ url, headers: { host } })).body).toString())
    expect(await get('good.test')).toBe('http://good.test/x')
    expect(await get('evil.test')).toBe('http://evil.test/x')
    expect(await get('GOOD.test')).toBe('http://good.test/x')
    expect(await get('good.test', 'https://good.test/x')).toBe('https://good.test/x')
    const forwarded = { host: 'good.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' }
    expect((await server.inject({ url: '/x', headers: forwarded })).headers['x-cache']).toBe('HIT')
  })
})

describe('keys', () => {
  test('the order of the query and the spelling of escapes do not matter', async () => {
    const { server, router } = makeServer()
    router.get('/a/:x', { cache: true }, (req) => ({ ...req.query, x: req.params.x }))
    for (const [first, second] of [
      ['/a/1?b=2&a=1', '/a/1?a=1&b=2'],
      ['/a/1?a=x%20y', '/a/1?a=x+y'],
      ['/a/%61%3ab', '/a/a:b'],
      ['/a/%C3%BC', '/a/%c3%bc'],
      ['/a/2?', '/a/2'],
    ] as const) {
      ;(await server.inject.get(first)).assertHeader('x-cache', 'MISS')
      ;(await server.inject.get(second)).assertHeader('x-cache', 'HIT')
    }
  })

  testDistinctRequests(1500)

  test('the body is part of the key where the route says so, whatever the order of its members', async () => {
    const { server, router } = makeServer()
    let runs = 0
    router.post('/search', { cache: { include: { body: true } } }, () => ++runs)
    const post = async (body: unknown) => {
      const res = await server.inject.post('/search', { body })
      return [res.headers()['x-cache'], res.body()]
    }
    expect(await post({ a: 1, b: [{ c: 2, d: null }] })).toEqual(['MISS', 1])
    expect(await post({ b: [{ d: null, c: 2 }], a: 1 })).toEqual(['HIT', 1])
    expect(await post({ a: '1', b: [{ c: 2, d: null }] })).toEqual(['MISS', 2])
    expect(await post([])).toEqual(['MISS', 3])
    expect(await post({})).toEqual(['MISS', 4])
    expect(await post('')).toEqual(['MISS', 5])
  })

  test('members that `all` takes from headers and query is part of the key along with the body', async () => {
    const { server, router } = makeServer()
    const all = { type: 'object', properties: { lang: { type: 'string' }, n: { type: 'number' } } } as const
    router.post('/x', { all, cache: { include: { body: true } } }, (req) => req.validated.lang ?? 'none')
    const post = async (lang: string | undefined, body: object) => {
      const res = await server.inject.post('/x', { body, headers: lang === undefined ? {} : { lang } })
      return [res.headers()['x-cache'], res.body()]
    }
    expect(await post('eve', { n: 1 })).toEqual(['MISS', 'eve'])
    expect(await post(undefined, { n: 1 })).toEqual(['MISS', 'none'])
    expect(await post(undefined, { n: 1 })).toEqual(['HIT', 'none'])
    expect(await post('eve', { n: 1 })).toEqual(['HIT', 'eve'])
    // The body wins, so the header changes nothing.
    expect(await post('eve', { lang: 'ada' })).toEqual(['MISS', 'ada'])
    expect(await post('bob', { lang: 'ada' })).toEqual(['HIT', 'ada'])
  })

  test.each<[string, string, string]>([
    ['JSON', 'application/json', '{"lang":"eve"}'],
    ['a form', 'application/x-www-form-urlencoded', 'lang=eve'],
    ['what no parser takes', 'text/plain', 'eve'],
  ])('a GET with a body that is not a part of the key passes by: %s', async (_name, type, body) => {
    const { server, router } = makeServer({}, { urlencoded: true })
    router.get('/x', { cache: true }, (req) => req.body ?? 'none')
    const withBody = (headers: object = {}) =>
      server.inject({ url: '/x', headers: { 'content-type': type, ...headers }, body })
    expect((await withBody()).headers['x-cache']).toBe('BYPASS')
    for (const how of ['MISS', 'HIT']) {
      ;(await server.inject.get('/x')).assertHeader('x-cache', how).assertBodyDeepEqual('none')
    }
    // Nor is it answered with the response for others.
    expect((await withBody()).headers['x-cache']).toBe('BYPASS')
    async function* chunks() {
      yield Buffer.from(body)
    }
    const chunked = await server.inject({ url: '/x', headers: { 'content-type': type }, body: chunks() })
    expect(chunked.headers['x-cache']).toBe('BYPASS')
    const nothing = await server.inject({ url: '/x', headers: { 'content-type': type, 'content-length': 0 } })
    expect(nothing.headers['x-cache']).toBe('HIT')
  })

  test('a GET whose body is part of the key is cached by it', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: { include: { body: true } } }, (req) => req.body ?? 'none')
    const get = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      const res = await server.inject({ url: '/x', ...(body !== '' && { headers, body }) })
      return [res.headers['x-cache'], Buffer.from(res.body).toString()]
    }
    expect(await get('"eve"')).toEqual(['MISS', '"eve"'])
    expect(await get('')).toEqual(['MISS', '"none"'])
    expect(await get('"eve"')).toEqual(['HIT', '"eve"'])
    expect(await get('')).toEqual(['HIT', '"none"'])
  })

  test('a body that no parser took has no key, and passes by', async () => {
    const { server, router } = makeServer()
    router.post('/x', { cache: { include: { body: true } } }, async (req) =>
      Buffer.from(await req.raw.bytes(100)).toString(),
    )
    for (const body of ['one', 'two']) {
      const res = await server.inject.post('/x', { body, headers: { 'content-type': 'text/plain' } })
      res.assertHeader('x-cache', 'BYPASS').assertBodyDeepEqual(body)
    }
  })

  test('a form with files has no key, and passes by; one without has', async () => {
    const { server, router } = makeServer({}, { upload: true })
    router.post('/x', { cache: { include: { body: true } } }, (req) => req.files.map(({ filename }) => filename))
    const send = (name: string | undefined) => {
      const formData = new FormData()
      formData.append('title', 'the same')
      if (name !== undefined) formData.append('file', new File(['x'], name))
      return server.inject.post('/x', { formData })
    }
    for (const name of ['a.txt', 'b.txt'])
      (await send(name)).assertHeader('x-cache', 'BYPASS').assertBodyDeepEqual([name])
    for (const how of ['MISS', 'HIT']) (await send(undefined)).assertHeader('x-cache', how)
  })

  test('a body that is not plain data has no key, and passes by', async () => {
    const { server, router } = makeServer()
    const body = {
      '~standard': { version: 1, vendor: 'x', validate: (v: unknown) => ({ value: new Map([[v, v]]) }) },
    } as const
    router.post('/m', { body: body as never, cache: { include: { body: true } } }, () => 1)
    ;(await server.inject.post('/m', { body: 1 })).assertHeader('x-cache', 'BYPASS')
  })

  test('include.key adds whatever it returns', async () => {
    const { server, router } = makeServer()
    router.get(
      '/x',
      { cache: { include: { key: (req) => req.headers['x-tenant'] ?? '' } } },
      (req) => req.headers['x-tenant'],
    )
    for (const [tenant, how] of [
      ['a', 'MISS'],
      ['b', 'MISS'],
      ['a', 'HIT'],
    ] as const)
      (await server.inject.get('/x', { headers: { 'x-tenant': tenant } }))
        .assertHeader('x-cache', how)
        .assertBodyDeepEqual(tenant)
  })

  test('a query of any length is one key', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (req) => Object.keys(req.query).length)
    const long = Array.from({ length: 300 }, (_, i) => `name${i}=${'v'.repeat(10)}`)
    ;(await server.inject.get(`/x?${long.join('&')}`)).assertHeader('x-cache', 'MISS')
    ;(await server.inject.get(`/x?${long.toReversed().join('&')}`)).assertHeader('x-cache', 'HIT')
    ;(await server.inject.get(`/x?${long.slice(1).join('&')}`)).assertHeader('x-cache', 'MISS')
  })
})

describe('the memory of the process', () => {
  testDistinctKeys(60_000)

  test('a response that is larger than the whole cache is not kept', async () => {
    const { server, router } = makeServer({ maxSize: '10kb' })
    router.get('/x', { cache: true }, () => 'x'.repeat(20_000))
    for (const _ of [1, 2]) (await server.inject.get('/x')).assertHeader('x-cache', 'MISS')
  })
})
