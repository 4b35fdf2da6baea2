import { expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

test('the members have the data of the request', async () => {
  const { kernel, router } = makeKernel()
  let seen: Record<string, unknown> = {}
  router.get('/users/:id', (req) => {
    seen = {
      method: req.method,
      url: req.url,
      path: req.path,
      params: { ...req.params },
      query: { ...req.query },
      agent: req.headers['user-agent'],
      web: req.rawHeaders.get('User-Agent'),
      route: req.route,
      protocol: req.protocol,
      ip: req.ip,
      body: req.body,
      same: req.server === kernel,
    }
  })
  await kernel.inject({
    url: '/users/%C3%A9?a=1&b=2&a=3',
    headers: { 'User-Agent': 'me', Host: 'example.test:8080' },
    ip: '::1',
  })
  expect(seen).toEqual({
    method: 'GET',
    url: 'http://example.test:8080/users/%C3%A9?a=1&b=2&a=3',
    path: '/users/%C3%A9',
    params: { id: 'é' },
    query: { a: ['1', '3'], b: '2' },
    agent: 'me',
    web: 'me',
    route: '/users/:id',
    protocol: 'http',
    ip: '::1',
    body: undefined,
    same: true,
  })
  expect(new URL(String(seen.url)).searchParams.get('b')).toBe('2')
})

test('a path in another spelling is the same path, and the address keeps the original spelling', async () => {
  const { kernel, router } = makeKernel()
  kernel.use((req, res, next) => (req.path.startsWith('/admin/') ? void res.forbidden() : next()))
  router.get('/admin/:name', () => 'secret')
  router.get('/open/:name', (req) => [req.path, new URL(req.url).pathname, req.params.name])
  for (const path of ['/admin/x', '/%61dmin/x', '/%61%64%6D%69%6E/x', '/open/../%61dmin/x', '/open/%2e%2E/%61dmin/x']) {
    expect({ path, status: (await send(kernel, path)).status }).toEqual({ path, status: 403 })
  }
  expect((await send(kernel, '/op%65n/%41%2fb%0a%c3%a9')).json).toEqual([
    '/open/A%2Fb%0A%C3%A9',
    '/op%65n/%41%2fb%0a%c3%a9',
    'A/b\né',
  ])
})

test('no path breaks out of a line of the log, a header or a message', async () => {
  const { kernel, router, log } = makeKernel()
  router.get('/throw/:name', () => {
    throw new Error('on purpose')
  })
  router.get('/header/:name', (req, res) => res.header('x-path', req.path).redirect(`${req.path}/`))
  const forged = 'a%0d%0aset-cookie:%20b%1b%5b31m%c2%85%E2%80%A8'
  expect((await send(kernel, `/none/${forged}`)).text).toMatch(/^[ -~]+$/)
  expect((await send(kernel, `/throw/${forged}`)).status).toBe(500)
  expect(log.map(({ message }) => message).join('')).toMatch(/^[ -~]+$/)
  const { status, headers } = await send(kernel, `/header/${forged}`)
  expect(status).toBe(302)
  expect(headers['x-path']).toMatch(/^[!-~]+$/)
  expect(headers.location).toBe(`${headers['x-path']}/`)
})

test('query and headers have no prototype, and dangerous names are left out', async () => {
  const { kernel, router } = makeKernel()
  router.get('/x', (req) => {
    expect(Object.getPrototypeOf(req.query)).toBeNull()
    expect(Object.getPrototypeOf(req.headers)).toBeNull()
    return req.query
  })
  const res = await send(kernel, '/x?__proto__=1&constructor=2&prototype=3&a=%zz&b=%ff&c&=d&e=f=g&h=a+b&__proto__[x]=1')
  expect(res.json).toEqual({ a: '%zz', b: '%ff', c: '', '': 'd', e: 'f=g', h: 'a b', '__proto__[x]': '1' })
  expect(({} as { x?: unknown }).x).toBeUndefined()
})

test('more than 1000 query parameters are refused, not cut', async () => {
  const { kernel, router } = makeKernel()
  router.get('/x', (req) => Object.keys(req.query).length)
  const query = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=1`).join('&')
  expect((await send(kernel, `/x?${query(1000)}`)).json).toBe(1000)
  expect(await send(kernel, `/x?${query(1001)}`)).toMatchObject({ status: 400, json: { code: 'BadRequestError' } })
})

test('the id is fresh, or the client’s where it is trusted and harmless', async () => {
  const ask = async (trustRequestId: boolean, id: string) => {
    const { kernel, router } = makeKernel({ trustRequestId })
    router.get('/', (req) => {
      expect(req.id).toBe(req.id)
      return req.id
    })
    return (await send(kernel, '/', 'GET', { headers: { 'x-request-id': id } })).json
  }
  expect(await ask(false, 'abc')).not.toBe('abc')
  expect(await ask(true, 'abc')).toBe('abc')
  expect(await ask(true, 'a"b')).not.toBe('a"b')
  expect(await ask(true, 'x'.repeat(200))).toMatch(/^[a-z0-9]{8}-[a-z0-9]{1,6}$/)
  const { kernel, router } = makeKernel()
  router.get('/', (req) => req.id)
  const ids = await Promise.all(Array.from({ length: 100 }, async () => (await send(kernel, '/')).json))
  expect(new Set(ids).size).toBe(100)
})

test.each(['a b', 'evil:x@good', 'a, b', 'h:99999', 'a%', ''])('the Host %j is 400', async (host) => {
  const { kernel, router } = makeKernel()
  router.get('/', () => 'x')
  expect(await send(kernel, '/', 'GET', { headers: { host } })).toMatchObject({
    status: 400,
    json: { code: 'BadRequestError' },
  })
})

test.each([
  'a',
  'a.b:80',
  '[::1]:80',
  '127.0.0.1',
  'xn--bcher-kva.example',
  'a_b',
])('the Host %j is fine', async (host) => {
  const { kernel, router } = makeKernel()
  router.get('/', (req) => new URL(req.url).pathname)
  expect((await send(kernel, '/', 'GET', { headers: { host } })).json).toBe('/')
})

test('the signal aborts when the client leaves', async () => {
  const { kernel, router } = makeKernel()
  const client = new AbortController()
  router.get('/', async (req) => {
    const aborted = new Promise((resolve) => req.signal.addEventListener('abort', resolve))
    client.abort()
    await aborted
    return req.signal.reason.name
  })
  expect((await send(kernel, '/', 'GET', { signal: client.signal })).json).toBe('AbortError')
})

test('the signal is aborted at its first read if the client has left before', async () => {
  const { kernel, router } = makeKernel()
  const client = new AbortController()
  router.get('/', (req) => {
    client.abort()
    return [req.signal.aborted, req.signal.reason?.name]
  })
  const request = new Request('http://example.test/', { signal: client.signal })
  expect(await (await kernel.fetch(request)).json()).toEqual([true, 'AbortError'])
})

test('server.fetch answers a web request', async () => {
  const { kernel, router } = makeKernel()
  router.post('/x/:id', async (req) => {
    const bytes = await req.raw.bytes(100)
    return { id: req.params.id, url: req.url, body: Buffer.from(bytes).toString() }
  })
  const res = await kernel.fetch(new Request('http://example.test/x/5?a=1', { method: 'POST', body: 'hi' }))
  expect(res.status).toBe(200)
  expect(await res.json()).toEqual({ id: '5', url: 'http://example.test/x/5?a=1', body: 'hi' })
})
