import { HttpError, type IdempotencyStore, type Request, RouteCollection, Server } from 'framework'
import { testClock } from 'framework/testing'
import { expect, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { sendTo } from './plain.ts'

const scope = (req: Request) => req.headers['x-user']

function serverWith(options: object = {}, more: object = {}) {
  const logger = memoryLogger()
  const plugins = { idempotency: { scope, ...options }, ...more } as {}
  const server: Server = new Server({ plugins, router: new RouteCollection(), logger })
  return Object.assign(server, { log: logger.entries })
}

const headers = (key: string, user = 'ann') => ({ 'idempotency-key': key, 'x-user': user })

test('a header that the handler has removed does not come back with the second response', async () => {
  await using server = serverWith({}, { helmet: true })
  server.post('/frame', { idempotency: true }, (_req, res) => res.removeHeader('x-frame-options').ok(1))
  for (const isReplayed of [undefined, 'true']) {
    const { headers: got } = await sendTo(server, '/frame', headers('k'))
    expect([got['idempotent-replayed'], got['x-frame-options']]).toEqual([isReplayed, undefined])
  }
})

test('a second attempt receives the first response, with its status and headers, and runs nothing', async () => {
  await using server = serverWith()
  let runs = 0
  server.post('/orders', { idempotency: true }, (_req, res) =>
    res.header('location', '/orders/7').header('set-cookie', 'a=b').created({ run: ++runs }),
  )
  const send = () => sendTo(server, '/orders', headers('k1'), { body: { book: 7 } })
  const first = await send()
  const second = await send()
  expect([first.status, second.status]).toEqual([201, 201])
  const steps = server.explain('POST', '/orders').steps.map(({ slot, name }) => `${slot} ${name}`)
  expect(steps).toContain('input idempotency')
  expect(second.body).toEqual({ run: 1 })
  expect(second.headers).toMatchObject({
    location: '/orders/7',
    'idempotent-replayed': 'true',
    'content-type': first.headers['content-type'],
  })
  expect(first.headers['idempotent-replayed']).toBeUndefined()
  // It may be the session of a caller that has logged out since.
  expect(second.headers['set-cookie']).toBeUndefined()
  expect((await sendTo(server, '/orders', { 'x-user': 'ann' }, { body: {} })).body).toEqual({ run: 2 })
  // The quotes of a structured field are not part of the key.
  expect((await sendTo(server, '/orders', headers('"k1"'), { body: { book: 7 } })).body).toEqual({
    run: 1,
  })
})

test('bytes and empty bodies are repeated as they were', async () => {
  await using server = serverWith()
  server.post('/bytes', { idempotency: true }, (_req, res) => res.bytes(new Uint8Array([0, 255, 128])))
  server.delete('/orders/:id', { idempotency: true }, (_req, res) => res.noContent())
  const bytes = async () => (await sendTo(server, '/bytes', headers('a'))).bytes
  expect([...(await bytes())]).toEqual([0, 255, 128])
  expect([...(await bytes())]).toEqual([0, 255, 128])
  for (let i = 0; i < 2; i++)
    expect((await sendTo(server, '/orders/1', headers('b'), { verb: 'delete' })).status).toBe(204)
})

test('while the first attempt runs, the response to others is 409', async () => {
  await using server = serverWith()
  const gate = deferred<void>()
  server.post('/slow', { idempotency: true }, () => gate.promise.then(() => 'done'))
  const first = sendTo(server, '/slow', headers('k'))
  const others = await Promise.all([1, 2].map(() => sendTo(server, '/slow', headers('k'))))
  for (const other of others) {
    expect(other.status).toBe(409)
    expect(other.body).toMatchObject({ code: 'IdempotencyRunningError' })
    expect(other.headers['retry-after']).toBe('1')
  }
  gate.resolve()
  expect((await first).status).toBe(200)
  expect((await sendTo(server, '/slow', headers('k'))).headers['idempotent-replayed']).toBe('true')
})

test('of many attempts at once, one runs', async () => {
  await using server = serverWith()
  let runs = 0
  server.post('/', { idempotency: true }, async () => ({ run: ++runs }))
  const all = await Promise.all(Array.from({ length: 50 }, () => sendTo(server, '/', headers('k'))))
  expect(runs).toBe(1)
  expect(all.every(({ status }) => status === 200 || status === 409)).toBe(true)
})

test('the same key with another body, query, path or method is 422', async () => {
  await using server = serverWith()
  const handler = () => 'ok'
  server.post('/a', { idempotency: true }, handler)
  server.put('/a', { idempotency: true }, handler)
  server.post('/b', { idempotency: true }, handler)
  await sendTo(server, '/a', headers('k'), { body: { n: 1 } })
  const others = [
    sendTo(server, '/a', headers('k'), { body: { n: 2 } }),
    sendTo(server, '/a?x=1', headers('k'), { body: { n: 1 } }),
    sendTo(server, '/b', headers('k'), { body: { n: 1 } }),
    sendTo(server, '/a', headers('k'), { verb: 'put', body: { n: 1 } }),
  ]
  for (const other of await Promise.all(others)) {
    expect(other.status).toBe(422)
    expect(other.body).toMatchObject({ code: 'IdempotencyMismatchError' })
  }
})

test('an attempt may reach the server by another host', async () => {
  await using server = serverWith()
  let runs = 0
  server.post('/a', { idempotency: true }, () => ({ runs: ++runs }))
  await sendTo(server, '/a', { ...headers('k'), host: '10.0.0.1:3001' }, { body: { n: 1 } })
  const again = await sendTo(server, '/a', { ...headers('k'), host: '10.0.0.2:3002' }, { body: { n: 1 } })
  expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([200, { runs: 1 }, 'true'])
})

test('a caller never receives the response of another one, and an unknown one is refused', async () => {
  await using server = serverWith()
  let runs = 0
  server.post('/', { idempotency: true }, (req) => {
    runs++
    return `for ${req.headers['x-user']}`
  })
  const ann = await sendTo(server, '/', headers('k', 'ann'))
  const ben = await sendTo(server, '/', headers('k', 'ben'))
  expect([ann.text, ben.text]).toEqual(['"for ann"', '"for ben"'])
  const unknown = await sendTo(server, '/', { 'idempotency-key': 'k' })
  expect(unknown.status).toBe(400)
  expect(unknown.body).toMatchObject({ code: 'IdempotencyScopeError' })
  expect(runs).toBe(2)
})

test('NaN is not a caller: all others like it would share its keys', async () => {
  await using server = serverWith({ scope: (req: Request) => Number(req.headers['x-user']) })
  server.post('/', { idempotency: true }, () => 'in')
  expect((await sendTo(server, '/', headers('k', '7'))).status).toBe(200)
  for (const wrong of ['ann', 'Infinity']) expect((await sendTo(server, '/', headers('k', wrong))).status).toBe(400)
})

test('without a scope, the caller is the id of req.user', async () => {
  await using server = new Server({ plugins: { idempotency: true }, router: new RouteCollection() })
  server.use((req, _res, next) => {
    const id = req.headers['x-user']
    if (id !== undefined) Object.assign(req, { user: { id } })
    return next()
  })
  server.post('/', { idempotency: true }, (req) => req.headers['x-user'])
  expect((await sendTo(server, '/', headers('k', 'ann'))).body).toBe('ann')
  expect((await sendTo(server, '/', headers('k', 'ben'))).body).toBe('ben')
  expect((await sendTo(server, '/', { 'idempotency-key': 'k' })).status).toBe(400)
})

test.for(['', ' ', 'a b', 'a, b', 'k'.repeat(256), 'é', '"a"b"', 'a\\b'])('the key %j is refused', async (key) => {
  await using server = serverWith()
  server.post('/', { idempotency: true }, () => 'ok')
  const res = await sendTo(server, '/', headers(key))
  expect(res.status).toBe(400)
  expect(res.body).toMatchObject({ code: 'IdempotencyKeyError' })
})

test('a route may require the key', async () => {
  await using server = serverWith()
  server.post('/', { idempotency: { required: true } }, () => 'ok')
  expect((await sendTo(server, '/', { 'x-user': 'ann' })).body).toMatchObject({
    code: 'IdempotencyKeyError',
  })
})

test('a failure of the handler with 4xx is repeated; 5xx, 429 and a response that cannot be written run again', async () => {
  await using server = serverWith()
  let runs = 0
  server.post('/:status', { idempotency: true }, (req) => {
    runs++
    if (req.params.status === 'circular') {
      const body: { self?: unknown } = {}
      body.self = body
      return body
    }
    throw new HttpError(Number(req.params.status))
  })
  for (const [status, expected] of [
    ['402', 1],
    ['404', 1],
    ['500', 2],
    ['503', 2],
    ['429', 2],
    ['circular', 2],
  ] as const) {
    runs = 0
    const first = await sendTo(server, `/${status}`, headers(status))
    const second = await sendTo(server, `/${status}`, headers(status))
    expect([status, runs, second.status, second.text]).toEqual([status, expected, first.status, first.text])
  }
})

test('an invalid request takes no key', async () => {
  await using server = serverWith()
  const body = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  server.post('/', { idempotency: true, body }, () => 'ok')
  expect((await sendTo(server, '/', headers('k'), { body: {} })).status).toBe(422)
  expect((await sendTo(server, '/', headers('k'), { body: { n: 1 } })).status).toBe(200)
})

test('a stream and a large body run once, and are not repeated', async () => {
  await using server = serverWith({ maxSize: 10 })
  let runs = 0
  server.post('/stream', { idempotency: true }, async function* () {
    yield `run ${++runs}`
  } as never)
  server.post('/large', { idempotency: true }, () => 'x'.repeat(11 + ++runs))
  for (const path of ['/stream', '/large']) {
    runs = 0
    expect((await sendTo(server, path, headers(path))).status).toBe(200)
    const second = await sendTo(server, path, headers(path))
    expect(second.body).toMatchObject({ code: 'IdempotencyResponseError' })
    expect(runs).toBe(1)
  }
  expect(server.log.some(({ message }) => /not kept/.test(message ?? ''))).toBe(true)
})

test('a key that is out of date runs again', async () => {
  using clock = testClock()
  await using server = serverWith({ ttl: 60_000 })
  let runs = 0
  server.post('/', { idempotency: true }, () => ++runs)
  server.post('/long', { idempotency: { ttl: 600_000 } }, () => ++runs)
  const send = async (path: string) => (await sendTo(server, path, headers(path))).body
  expect([await send('/'), await send('/'), await send('/long')]).toEqual([1, 1, 2])
  await clock.advance(61_000)
  expect([await send('/'), await send('/long')]).toEqual([3, 2])
})

test('a request whose time is over is not kept, and its key stays taken until the handler has ended', async () => {
  await using server = serverWith({}, { timeout: { ms: 100 } })
  const gate = deferred<void>()
  let runs = 0
  server.post('/', { idempotency: true }, async () => {
    runs++
    if (runs === 1) await gate.promise
    return { runs }
  })
  expect((await sendTo(server, '/', headers('k'))).status).toBe(503)
  expect((await sendTo(server, '/', headers('k'))).status).toBe(409)
  gate.resolve()
  await expect.poll(async () => (await sendTo(server, '/', headers('k'))).status).toBe(200)
  expect(runs).toBe(2)
})

test('the response to a client that has left is kept: the second attempt receives it', async () => {
  await using server = serverWith()
  const gate = deferred<void>()
  let runs = 0
  server.post('/', { idempotency: true }, async () => {
    runs++
    await gate.promise
    return { runs }
  })
  const client = new AbortController()
  const first = sendTo(server, '/', headers('k'), { signal: client.signal }).catch(() => 'left')
  await expect.poll(() => runs).toBe(1)
  client.abort()
  gate.resolve()
  await first
  await expect.poll(async () => (await sendTo(server, '/', headers('k'))).status).toBe(200)
  expect(runs).toBe(1)
})

test('a store that fails, is silent or returns nonsense refuses with 503, and runs nothing', async () => {
  let runs = 0
  const ways: IdempotencyStore['swap'][] = [
    () => Promise.reject(new Error('away')),
    () => {
      throw new Error('away')
    },
    () => 'nonsense',
  ]
  for (const swap of ways) {
    await using server = serverWith({ store: { swap } })
    server.post('/', { idempotency: true }, () => ++runs)
    const res = await sendTo(server, '/', headers('k'))
    expect(res.status).toBe(503)
    expect(res.body).toMatchObject({ code: 'IdempotencyUnavailableError' })
    // Other requests do not need it.
    expect((await sendTo(server, '/', { 'x-user': 'ann' })).status).toBe(200)
  }
  expect(runs).toBe(ways.length)
})

test('a store that fails after the handler does not take the response from the client', async () => {
  const values = new Map<string, string>()
  let isAway = false
  const store: IdempotencyStore = {
    async swap(key, expected, value) {
      if (isAway) throw new Error('away')
      const found = values.get(key)
      if (found !== expected) return found
      if (value === undefined) values.delete(key)
      else values.set(key, value)
      return found
    },
  }
  await using server = serverWith({ store })
  let runs = 0
  server.post('/', { idempotency: true }, () => {
    isAway = ++runs === 1
    return { runs }
  })
  expect((await sendTo(server, '/', headers('k'))).body).toEqual({ runs: 1 })
  isAway = false
  // The next question to the store also writes what it has missed.
  expect((await sendTo(server, '/', headers('k'))).status).toBe(409)
  await expect.poll(async () => (await sendTo(server, '/', headers('k'))).body).toEqual({ runs: 1 })
})

test('the description has the header and the refusals', async () => {
  await using server = serverWith({}, { openapi: { info: { title: 'Shop', version: '1' } } })
  server.post('/orders', { idempotency: { required: true } }, () => 'ok')
  server.post('/books', () => 'ok')
  await server.ready()
  const { paths } = server.services.get('openapi').document()
  expect(paths['/orders']?.post?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: true }])
  expect(Object.keys(paths['/orders']?.post?.responses ?? {})).toEqual(
    expect.arrayContaining(['400', '409', '422', '503']),
  )
  expect(paths['/books']?.post?.parameters).toBeUndefined()
})

test('a store in the database needs the plugin database before it', async () => {
  const server = serverWith({ store: 'database' })
  await expect(server.ready()).rejects.toThrow(/needs the plugin database/)
  await server.close()
})
