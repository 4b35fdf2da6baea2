import { Readable } from 'node:stream'
import {
  channel,
  currentTenant,
  definePlugin,
  MemoryStorageProvider,
  type Middleware,
  memoryQueue,
  once,
  type Request,
  RouteCollection,
  Server,
  Storage,
  withTenant,
} from 'framework'
import { expect, test, vi } from 'vitest'
import { Trace } from '../../../kernel/index.ts'
import { metaOf } from '../../../plugins/shared/engines/meta.ts'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { attempt } from '../../../plugins/shared/work/attempt.ts'
import { Call } from '../../../plugins/shared/work/running.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { keepSpans } from '../../support/spans.ts'

/** The header stands for what `auth` knows about the caller. */
const resolve = (req: Request) => req.headers['x-of'] as string | undefined

function serverWith(plugins: object = {}, tenant: object = {}) {
  const logger = memoryLogger()
  const all = { tenant: { resolve, ...tenant }, ...plugins } as {}
  const server: Server = new Server({ plugins: all, router: new RouteCollection(), logger })
  return Object.assign(server, { log: logger.entries })
}

const as = (of?: string, more: object = {}) => ({ headers: { ...(of && { 'x-of': of }), ...more } })

test('a route has a tenant, or the request is refused; a route without one is application-wide', async () => {
  await using server = serverWith()
  server.get('/mine', { tenant: 'required' }, (req) => [req.tenant.id, currentTenant()?.id])
  server.get('/usual', () => currentTenant()?.id)
  server.get('/maybe', { tenant: 'optional' }, () => currentTenant()?.id ?? 'none')
  server.get('/open', { tenant: false }, () => currentTenant()?.id ?? 'none')
  const get = async (path: string, of?: string) => {
    const res = await server.inject.get(path, as(of))
    return [res.statusCode(), res.body()]
  }
  expect(await get('/mine', 'acme')).toEqual([200, ['acme', 'acme']])
  expect(await get('/usual', 'acme')).toEqual([200, 'acme'])
  expect((await get('/mine'))[0]).toBe(403)
  expect((await get('/usual'))[0]).toBe(403)
  expect(await get('/maybe')).toEqual([200, 'none'])
  expect(await get('/maybe', 'acme')).toEqual([200, 'acme'])
  expect(await get('/open', 'acme')).toEqual([200, 'none'])
  expect((await get('/missing'))[0]).toBe(404)
  expect(currentTenant()).toBeUndefined()
})

test('an id with separators, an unknown tenant, and one that load calls otherwise are refused', async () => {
  const load = (id: string): { id: string } | undefined =>
    id === 'gone' ? undefined : id === 'no-row' ? (null as never) : { id: id === 'alias' ? 'acme' : id }
  await using server = serverWith({}, { load })
  server.get('/', () => currentTenant())
  server.get('/maybe', { tenant: 'optional' }, () => 'none')
  for (const id of ['a:b', '../b', 'a/b', '.', 'a.', '@a', 'a b', 'a#b', 'x'.repeat(65), 'gone', 'no-row']) {
    for (const path of ['/', '/maybe']) {
      const res = await server.inject.get(path, as(id))
      expect([id, res.statusCode(), res.text()]).toEqual([
        id,
        403,
        expect.stringContaining('the request has no tenant, and this route needs one'),
      ])
    }
  }
  expect((await server.inject.get('/', as('alias'))).statusCode()).toBe(500)
  expect(JSON.stringify(server.log)).toContain('has returned a tenant with the id \\"acme\\" for \\"alias\\"')
  expect((await server.inject.get('/', as('acme.example'))).body()).toEqual({ id: 'acme.example' })
  expect(() => withTenant({ id: 'a/b' }, () => 1)).toThrow('the id of a tenant has to be')
})

test('a resolver that fails or returns no string refuses the request', async () => {
  const bad = [() => Promise.reject(new Error('down')), () => 7, () => ({ id: 'acme' })]
  for (const resolve of bad) {
    await using server = serverWith({}, { resolve })
    server.get('/', { tenant: 'optional' }, () => 'entered')
    expect((await server.inject.get('/')).statusCode()).toBe(500)
  }
})

test('the option of a route without the plugin fails the boot, also where the plugin was turned off', async () => {
  for (const tenant of [undefined, false]) {
    await using server = new Server({ router: new RouteCollection(), plugins: { ...(tenant === false && { tenant }) } })
    server.get('/', { tenant: 'required' }, () => 1)
    await expect(server.ready()).rejects.toThrow('tenant')
  }
})

test('probes, metrics and the pages of operators need no tenant: they are application-wide', async () => {
  const plugins = {
    health: true,
    metrics: true,
    openapi: true,
    asyncapi: true,
    queues: { ui: true },
    cron: { ui: true },
  }
  await using server = serverWith({ tenant: { resolve }, ...plugins })
  for (const path of [
    '/health/live',
    '/health/ready',
    '/metrics',
    '/docs',
    '/docs/json',
    '/asyncapi.json',
    '/queues',
    '/crons',
  ])
    expect((await server.inject.get(path)).statusCode(), path).toBe(200)
})

test('two tenants never share a cached response', async () => {
  await using server = serverWith({ cache: true })
  let runs = 0
  server.get('/report', { cache: { ttl: 60 } }, (_req, res) =>
    res.header('vary', 'x-kind').send({ of: currentTenant()?.id, run: ++runs }),
  )
  server.get('/list', { cache: { ttl: 60, include: { headers: ['x-kind'] } } }, () => ({
    of: currentTenant()?.id,
    run: ++runs,
  }))
  server.get('/open', { cache: { ttl: 60 }, tenant: false }, () => ++runs)
  const get = async (path: string, of: string, more?: object) => (await server.inject.get(path, as(of, more))).body()
  for (const more of [{}, { 'x-kind': '@b/x' }, { 'x-kind': 'a&-x-kind' }]) {
    const a = await get('/list', 'a', more)
    expect(a).toMatchObject({ of: 'a' })
    expect(await get('/list', 'a', more)).toEqual(a)
    expect(await get('/list', 'b', more)).toMatchObject({ of: 'b' })
    expect(await get('/report', 'a', more)).toMatchObject({ of: 'a' })
    expect(await get('/report', 'b', more)).toMatchObject({ of: 'b' })
  }
  expect(await get('/open', 'a')).toEqual(await get('/open', 'b'))
  // The tenant is not in the part of the key that patterns and the inspector see.
  expect(await server.services.get('cache').invalidatePattern('cache:GET:/list')).toBe(6)
})

test('two tenants never share cached data, and application-wide code does not reach theirs', async () => {
  await using server = serverWith({ cache: true })
  await server.ready()
  const cache = server.services.get('cache')
  const get = (id: string | undefined, key: string) =>
    withTenant(id === undefined ? undefined : { id }, () => cache.getOrSet(key, {}, () => `${id} ${key}`))
  for (const [id, key] of [
    ['a', 'k'],
    ['b', 'k'],
    [undefined, 'k'],
    [undefined, '@a/k'],
    ['a', 'b/k'],
    ['a.b', 'k'],
    [undefined, 'k#@a/'],
  ] as const)
    expect(await get(id, key)).toBe(`${id} ${key}`)
  expect(await withTenant({ id: 'a' }, () => cache.delete('k'))).toBe(true)
  expect(await withTenant({ id: 'a' }, () => cache.delete('k'))).toBe(false)
  expect(await withTenant({ id: 'b' }, () => cache.delete('k'))).toBe(true)
})

test('two tenants do not share the limit of a caller, also where their callers have one id', async () => {
  const { bearer } = await import('framework/plugins/auth')
  await using server = serverWith({
    auth: { schemes: { token: bearer((token) => ({ id: token })) } },
    rateLimit: { subject: { limit: 1 } },
  })
  server.get('/', () => 'ok')
  const get = async (tenant: string) => {
    const headers = { ...as(tenant).headers, authorization: 'Bearer 7' }
    return (await server.inject.get('/', { headers })).statusCode()
  }
  for (const tenant of ['a', 'b']) expect([await get(tenant), await get(tenant)]).toEqual([200, 429])
})

test('two tenants never share an idempotency key', async () => {
  await using server = serverWith({
    json: true,
    idempotency: { scope: (req: Request) => req.headers['x-user'] as string },
  })
  server.post('/orders', { idempotency: true }, () => ({ of: currentTenant()?.id }))
  server.post('/open', { idempotency: true, tenant: false }, () => ({ of: 'all' }))
  const post = async (path: string, of: string, user: string) =>
    (await server.inject.post(path, { ...as(of, { 'x-user': user, 'idempotency-key': 'k' }), body: {} })).body()
  expect(await post('/orders', 'a', 'u')).toEqual({ of: 'a' })
  expect(await post('/orders', 'b', 'u')).toEqual({ of: 'b' })
  expect(await post('/orders', 'a', 'u')).toEqual({ of: 'a' })
  expect(await post('/orders', 'a', 'bu')).toEqual({ of: 'a' })
  expect(await post('/orders', 'ab', 'u')).toEqual({ of: 'ab' })
  expect(await post('/open', 'a', '@a/u')).toEqual({ of: 'all' })
})

test('two tenants do not wait for the lock of each other, and one does for its own', async () => {
  await using server = serverWith({ locks: true })
  await server.ready()
  const locks = server.services.get('locks')
  const lock = (work: () => Promise<string> | string) => locks.withLock('report', {}, work)
  const nested = await withTenant({ id: 'a' }, () => lock(() => withTenant({ id: 'b' }, () => lock(() => 'b'))))
  expect(nested).toBe('b')
  expect(await lock(() => withTenant({ id: 'a' }, () => lock(() => 'a')))).toBe('a')
  const own = withTenant({ id: 'a' }, () => lock(() => lock(() => 'never')))
  await expect(own).rejects.toThrow('the lock "@a/report" is held')
})

test('two tenants never share an object: keys, prefixes, copies, addresses', async () => {
  const files = new MemoryStorageProvider()
  await using server = serverWith({ storage: { providers: { files } } })
  await server.ready()
  const storage = server.services.get('storage')
  const of = <Result>(id: string, work: () => Result) => withTenant({ id }, work)
  await of('a', () => storage.putObject('x/1', 'of a'))
  await of('A', () => storage.putObject('x/1', 'of A'))
  await storage.putObject('x/1', 'of all')
  const listed = async (prefix = '') => {
    const keys: string[] = []
    for await (const { key } of storage.list(prefix)) keys.push(key)
    return keys
  }
  expect(await of('a', () => storage.getObject('x/1', 'text'))).toBe('of a')
  expect(await of('A', () => storage.getObject('x/1', 'text'))).toBe('of A')
  expect(await storage.getObject('x/1', 'text')).toBe('of all')
  expect(await of('b', () => storage.exists('x/1'))).toBe(false)
  expect(await of('a', () => listed())).toEqual(['x/1'])
  expect(await of('b', () => listed())).toEqual([])
  expect(await listed()).toEqual(['x/1'])
  expect(await listed('_t')).toEqual([])
  await of('b', () => storage.putObject('x/2', 'of b'))
  await of('b', () => storage.copy('x/2', 'x/3'))
  await of('b', () => storage.move('x/3', 'x/4'))
  expect(await of('b', () => listed())).toEqual(['x/2', 'x/4'])
  for (const key of ['../a/x/1', '_tenants/../a/x/1', 'x/../../a/x/1', '/x/1'])
    await expect(of('b', () => storage.getObject(key))).rejects.toThrow('a storage key must')
  // A key that a client chooses on an application-wide route.
  for (const key of ['_tenants/a/x/1', '_TENANTS/a/x/1', '_tenant\u017f/a/x/1', '_tenants'])
    await expect(storage.getObject(key)).rejects.toThrow('not begin with "_tenants/"')
  for (const prefix of ['_tenants/a/', '_TENANTS/', '_tenants'])
    expect(() => storage.list(prefix)).toThrow('not begin with "_tenants/"')
  await expect(storage.copy('x/1', '_tenants/a/x/1')).rejects.toThrow('not begin with')
  await expect(of('a', () => storage.putObject('k'.repeat(1020), 'too long'))).rejects.toThrow('at most 1024 bytes')
})

test('an uploaded file belongs to the tenant of its request, also when it is discarded', async () => {
  const files = new MemoryStorageProvider()
  const logger = memoryLogger()
  const storage = new Storage({ files })
  const upload = { storage: storage.sink({ key: (file) => file.filename }) }
  await using server: Server = new Server({
    port: 0,
    host: '127.0.0.1',
    plugins: { tenant: { resolve }, upload } as {},
    router: new RouteCollection(),
    logger,
  })
  server.post('/keep', () => 'kept')
  server.post('/refuse', (_req, res) => res.status(422).send('no'))
  const file = () => {
    const form = new FormData()
    form.append('file', new File(['hello'], 'a.txt'))
    return form
  }
  const { port } = await server.listen()
  await storage.putObject('a.txt', 'of all')
  for (const path of ['/keep', '/refuse']) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: file(),
      headers: { 'x-of': 'acme' },
    })
    expect(response.status).toBe(path === '/keep' ? 200 : 422)
    const isKept = () => withTenant({ id: 'acme' }, () => storage.exists('a.txt'))
    await vi.waitFor(async () => expect([path, await isKept()]).toEqual([path, path === '/keep']), 20_000)
  }
  expect(await storage.getObject('a.txt', 'text')).toBe('of all')
})

test('a message is handled for the tenant of its publisher, not that of the code that starts its worker', async () => {
  const queue = memoryQueue<{ n: number }>('tenant-letters')
  const seen: unknown[] = []
  const { promise: done, resolve: end } = deferred()
  await queue.subscribe(async ({ n }, message) => {
    await Promise.resolve()
    seen.push([n, currentTenant(), message.id])
    if (seen.length === 5) end()
  })
  await using server = serverWith({ queues: true }, { load: (id: string) => ({ id, plan: 'paid' }) })
  server.post('/go', async () => {
    await queue.publish({ n: 1 }, { id: 'same' })
    await withTenant(undefined, () => queue.publish({ n: 2 }, { id: 'same' }))
    await withTenant({ id: 'b' }, () => queue.publish({ n: 3 }, { id: 'same' }))
    await withTenant({ id: 'b' }, () => queue.publish({ n: 4 }))
    await queue.publish({ n: 5 })
  })
  await server.ready()
  server.services.get('queues').run()
  await server.inject.post('/go', as('a'))
  await done
  expect(seen).toEqual([
    [1, { id: 'a', plan: 'paid' }, '@a/same'],
    [2, undefined, 'same'],
    [3, { id: 'b', plan: 'paid' }, '@b/same'],
    [4, { id: 'b', plan: 'paid' }, expect.any(String)],
    [5, { id: 'a', plan: 'paid' }, expect.any(String)],
  ])
})

test('a batch has messages of one tenant', async () => {
  const queue = memoryQueue<number>('tenant-batches')
  const seen: unknown[] = []
  const { promise: done, resolve: end } = deferred()
  await queue.subscribeBatch(
    (numbers) => {
      seen.push([currentTenant()?.id, numbers])
      if (seen.length === 3) end()
    },
    { size: 10, wait: 20 },
  )
  await using server = serverWith({ queues: true })
  await server.ready()
  server.services.get('queues').run()
  for (const [n, id] of ['a', 'b', undefined, 'a', 'b'].entries())
    await withTenant(id === undefined ? undefined : { id }, () => queue.publish(n))
  await done
  // Their order is left to the engine: a tenant is loaded first.
  expect(seen).toHaveLength(3)
  expect(seen).toEqual(
    expect.arrayContaining([
      ['a', [0, 3]],
      ['b', [1, 4]],
      [undefined, [2]],
    ]),
  )
})

test('a repetition ends by the id that its publication has returned, and only that of its tenant', async () => {
  const queue = memoryQueue<number>('tenant-repeated')
  await using server = serverWith({ queues: true })
  await server.ready()
  const begin = (id: string) =>
    withTenant({ id }, () => queue.publish(1, { repeat: { key: 'nightly', every: 60_000 } }))
  const [{ id }] = [await begin('a'), await begin('b')]
  const stop = (tenant: string) => withTenant({ id: tenant }, () => queue.stopRepeat(id))
  expect([await stop('a'), await stop('a'), await stop('b')]).toEqual([true, false, true])
})

test('a message of an unknown tenant, or with a forged one, is not handled', async () => {
  const queue = memoryQueue<number>('tenant-unknown')
  let runs = 0
  const failed: unknown[] = []
  const { promise: done, resolve: end } = deferred()
  await queue.subscribe(() => void runs++, {
    onDead: (_payload, error) => {
      failed.push(error.message)
      end()
    },
  })
  await using server = serverWith({ queues: true }, { load: () => undefined })
  await server.ready()
  server.services.get('queues').run()
  await withTenant({ id: 'gone' }, () => queue.publish(1))
  await done
  expect([runs, failed]).toEqual([
    0,
    [expect.stringContaining('there is no tenant "gone": the option load of the plugin tenant found none')],
  ])
})

test('what is done once in a transaction is done once for each tenant', async () => {
  await using server = serverWith({ database: { url: 'sqlite::memory:', inbox: true } })
  let done = 0
  server.post('/pay', { transaction: true }, async () => once('7', () => void done++))
  for (const of of ['a', 'b', 'a']) expect((await server.inject.post('/pay', as(of))).statusCode()).toBe(200)
  expect(done).toBe(2)
})

test('one transaction does work once for each of several tenants', async () => {
  await using server = serverWith({ database: { url: 'sqlite::memory:', inbox: true } })
  const done: unknown[] = []
  const all = async () => {
    for (const id of ['a', 'b']) await withTenant({ id }, () => once('7', () => void done.push(currentTenant()?.id)))
  }
  server.post('/all', { transaction: true, tenant: false }, all)
  await server.inject.post('/all')
  expect(done).toEqual(['a', 'b'])
  await server.services.get('database').transaction(all)
  expect(done).toEqual(['a', 'b', 'a', 'b'])
})

test('an application-wide name that looks like one of a tenant is another one', async () => {
  const queue = memoryQueue<number>('tenant-lookalikes')
  const seen: unknown[] = []
  const { promise: ended, resolve: end } = deferred()
  await queue.subscribe((n) => {
    seen.push([n, currentTenant()?.id])
    if (seen.length === 2) end()
  })
  await using server = serverWith({ queues: true, cache: true })
  await server.ready()
  await queue.publish(1, { id: '@a/7' })
  await withTenant({ id: 'a' }, () => queue.publish(2, { id: '7' }))
  server.services.get('queues').run()
  await ended
  expect(seen).toEqual([
    [1, undefined],
    [2, 'a'],
  ])
  const cache = server.services.get('cache')
  await withTenant({ id: 'a' }, () => cache.getOrSet('k', {}, () => 1))
  expect(await cache.delete('@a/k')).toBe(false)
})

test('error handlers and hooks run for the tenant of the request, also after its time is over', async () => {
  await using server = new Server({
    plugins: { tenant: { resolve, default: 'optional' }, cache: true },
    router: new RouteCollection(),
    logger: memoryLogger(),
    requestTimeout: 200,
  })
  const late: string[] = []
  const cache = server.services.get('cache')
  const see = async (where: string, req: Request) => {
    const of = req.headers['x-of'] ?? 'all'
    const own = await cache.getOrSet(where, {}, () => of)
    await new Promise((resolve) => setTimeout(resolve, 1))
    late.push(`${where} of ${of}: ${currentTenant()?.id ?? 'all'}, ${own}`)
  }
  server.register(
    definePlugin({
      name: 'late',
      setup(ctx) {
        ctx.onSend((req) => see('send', req))
        ctx.onResponse((req) => see('response', req))
        ctx.onError((_error, req) => see('error', req))
      },
    })(),
  )
  server.setErrorHandler(async (req, res) => {
    await see('handler', req)
    return res.text('failed')
  })
  // On a busy machine, the others may be late as well.
  const patient: Middleware = (req, _res, next) => {
    req.extend(false)
    return next()
  }
  const middlewares = [patient]
  server.get('/fine', { middlewares }, () => 1)
  server.get('/fails', { middlewares }, async () => {
    await null
    throw new Error('boom')
  })
  server.get('/hangs', () => new Promise(() => {}))
  server.get('/open', { middlewares, tenant: false }, () => Promise.reject(new Error('boom')))
  const lines = (of: string, ...wheres: string[]) => wheres.map((where) => `${where} of ${of}: ${of}, ${of}`)
  for (const [path, ...wheres] of [
    ['/fine', 'send', 'response'],
    ['/fails', 'error', 'handler', 'send', 'response'],
    ['/hangs', 'error', 'send', 'response'],
  ] as const) {
    late.length = 0
    const all = ['a', 'b', 'all']
    await Promise.all(all.map((of) => server.inject.get(path, as(of === 'all' ? undefined : of))))
    await expect.poll(() => late.toSorted()).toEqual(all.flatMap((of) => lines(of, ...wheres)).toSorted())
  }
  late.length = 0
  await server.inject.get('/open', as('a'))
  await expect.poll(() => late.length).toBe(4)
  expect(late.filter((line) => !line.endsWith(' of a: all, all'))).toEqual([])
  // A refusal comes before there is a tenant.
  late.length = 0
  await server.inject.get('/fine', as('no/id'))
  await expect.poll(() => late.toSorted()[0]).toBe('error of no/id: all, all')
})

test('streams that make their pieces when they are read have the tenant, also when they are left', async () => {
  await using server = serverWith({}, {})
  const ended: unknown[] = []
  const later = () => new Promise((resolve) => setImmediate(resolve))
  const piece = () => Buffer.from(`${currentTenant()?.id} `)
  const web = () => {
    let n = 0
    const pull = async (controller: ReadableStreamDefaultController) => {
      await later()
      if (++n === 4) controller.close()
      else controller.enqueue(piece())
    }
    return new ReadableStream({ pull, cancel: () => void ended.push(currentTenant()?.id) }, { highWaterMark: 0 })
  }
  server.get('/web', web)
  server.get('/response', () => new Response(web()))
  server.get('/node', () => {
    let n = 0
    return new Readable({
      read() {
        setImmediate(() => this.push(++n === 4 ? null : piece()))
      },
      destroy(error, done) {
        ended.push(currentTenant()?.id)
        done(error)
      },
    })
  })
  server.get(
    '/fails',
    () => new ReadableStream({ pull: () => Promise.reject(new Error('down')) }, { highWaterMark: 0 }),
  )
  for (const path of ['/web', '/response', '/node'])
    expect([path, (await server.inject.get(path, as('a'))).text()]).toEqual([path, 'a a a '])
  expect(ended.splice(0)).toEqual(['a'])
  for (const path of ['/web', '/node']) await server.inject.head(path, as('a'))
  await vi.waitFor(() => expect(ended).toEqual(['a', 'a']), 20_000)
  const failed = await server.inject.get('/fails', as('a')).catch(({ message }: Error) => message)
  expect(String(failed)).toContain('down')
})

test('the source of a subscription is ended for its tenant, from wherever the stream is ended', async () => {
  const ended: unknown[] = []
  const source = (): AsyncIterableIterator<unknown> => ({
    next: () => new Promise(() => {}),
    async return() {
      await null
      ended.push(currentTenant()?.id)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  })
  const typeDefs = 'type Query { a: Int } type Subscription { tick: Int }'
  const resolvers = { Subscription: { tick: { subscribe: source } } }
  await using server = serverWith({ graphql: { schema: { typeDefs, resolvers } } })
  const open = async () => {
    const headers = { 'x-of': 'a', accept: 'text/event-stream', 'content-type': 'application/json' }
    const body = JSON.stringify({ query: 'subscription { tick }' })
    const request = new globalThis.Request('http://localhost/graphql', { method: 'POST', headers, body })
    const reader = (await server.fetch(request)).body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(':\n\n')
    return reader
  }
  const left = await open()
  await open()
  await withTenant({ id: 'b' }, () => left.cancel())
  await expect.poll(() => ended).toEqual(['a'])
  await withTenant({ id: 'b' }, () => server.close())
  await expect.poll(() => ended).toEqual(['a', 'a'])
})

test('a channel of one tenant is not that of another, and a socket keeps its tenant', async () => {
  const orders = channel('orders/:id', {
    join: () => currentTenant() !== undefined,
    publish: () => true,
    presence: () => currentTenant()?.id,
  })
  const routes = new RouteCollection()
  const seen: unknown[] = []
  routes.ws(
    '/live',
    { channels: [orders] },
    {
      message: async (socket) => {
        await Promise.resolve()
        seen.push(currentTenant()?.id)
        socket.send('seen')
      },
    },
  )
  const changing = new Map([
    ['one', 'a'],
    ['two', 'b'],
    ['three', 'a'],
  ])
  const plugins = {
    tenant: { resolve: (req: Request) => changing.get(String(req.headers['x-of'])) },
    websocket: true,
    channels: true,
  }
  await using server: Server = new Server({ router: routes, plugins: plugins as {}, logger: memoryLogger() })
  const join = async (who: string) => {
    const socket = await server.inject.ws('/live', as(who))
    socket.send({ type: 'channel:join', data: { channel: 'orders/7' } })
    const { data } = (await socket.next()) as { data: { present: { data: string }[] } }
    return { socket, present: data.present.map((one) => one.data) }
  }
  const one = await join('one')
  const two = await join('two')
  const three = await join('three')
  expect([one, two, three].map(({ present }) => present)).toEqual([['a'], ['b'], ['a', 'a']])
  await one.socket.assertNext({ type: 'channel:presence' })
  // Its owner has another tenant from now on: the socket of before does not.
  changing.set('one', 'b')
  await withTenant({ id: 'a' }, () => orders.publish({ id: 7 }, 'for a'))
  for (const { socket } of [one, three]) await socket.assertNext({ data: { channel: 'orders/7', payload: 'for a' } })
  two.socket.send({ type: 'channel:publish', data: { channel: 'orders/7', payload: 'from b' } })
  await two.socket.assertNext({ type: 'channel:published' })
  one.socket.send({ type: 'channel:publish', data: { channel: 'orders/7', payload: 'from a' } })
  await three.socket.assertNext({ data: { payload: 'from a' } })
  await one.socket.assertNext({ type: 'channel:published' })
  await orders.publish({ id: 7 }, 'application-wide')
  expect(await withTenant({ id: 'b' }, () => orders.present({ id: 7 }))).toHaveLength(1)
  expect(await orders.present({ id: 7 })).toEqual([])
  one.socket.send('hello')
  await one.socket.next()
  expect(seen).toEqual(['a'])
  await server.inject.ws('/live', as('nobody')).then(({ response }) => expect(response.statusCode()).toBe(403))
})

test('a message with a forged tenant is not handled as application-wide', async () => {
  const meta = metaOf({ tenant: '../b' })
  let runs = 0
  const call = new Call()
  const one = {
    trace: new Trace('test.tenant'),
    event: () => ({}),
    what: 'it',
    server: undefined,
  }
  const all = { ...one, run: () => void runs++, passed: () => 'passed', failed: String }
  const failed = await attempt(all, { call, timeout: undefined, tenant: meta.tenant })
  expect([runs, failed]).toEqual([0, expect.stringContaining('the id of a tenant has to be')])
  // Other values than text, and long ones, enter neither keys nor log lines.
  expect([{ toString: 1 }, 7, ''].map((given) => metaOf({ tenant: given }).tenant)).toEqual(['', '', ''])
  expect(metaOf({ tenant: 'x'.repeat(1_000_000) }).tenant).toHaveLength(65)
})

test('what a tenant has started, such as a worker, does not keep it: a message without one is application-wide', async () => {
  const call = new Call()
  const run = () => currentTenant()
  const one = {
    trace: new Trace('test.tenant'),
    event: () => ({}),
    what: 'it',
    server: undefined,
  }
  const seen: unknown[] = []
  const all = { ...one, run: () => seen.push(run()), passed: () => '', failed: String }
  await withTenant({ id: 'a' }, () => attempt(all, { call, timeout: undefined }))
  expect(seen).toEqual([undefined])
})

test('streamed bodies and log lines have the tenant, between 200 requests of seven tenants', async () => {
  const lines: { msg: string; tenant?: string; path?: string }[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  await using server: Server = new Server({
    plugins: { log: { stream }, tenant: { resolve } } as {},
    router: new RouteCollection(),
  })
  server.get('/stream/:of', (req) =>
    (async function* () {
      yield `${currentTenant()?.id} `
      await new Promise((resolve) => setImmediate(resolve))
      req.log.info(req.params.of)
      yield String(currentTenant()?.id)
    })(),
  )
  const ids = Array.from({ length: 200 }, (_, i) => `t${i % 7}`)
  const all = await Promise.all(ids.map((id) => server.inject.get(`/stream/${id}`, as(id))))
  expect(all.map((res) => res.text())).toEqual(ids.map((id) => `${id} ${id}`))
  const own = lines.filter(({ msg }) => /^t\d$/.test(msg))
  expect(own).toHaveLength(200)
  expect(own.filter(({ msg, tenant }) => msg !== tenant)).toEqual([])
  const requests = lines.filter(({ msg }) => msg === 'request')
  expect(requests).toHaveLength(200)
  expect(requests.filter(({ path, tenant }) => path !== `/stream/${tenant}`)).toEqual([])
})

test('spans have the tenant: of the request, its work and its messages', async () => {
  const spans = keepSpans()
  try {
    const queue = memoryQueue<number>('tenant-spans')
    const { promise: done, resolve: end } = deferred()
    await queue.subscribe(() => end())
    const storage = new Storage({ files: new MemoryStorageProvider() })
    {
      await using server = serverWith({ telemetry: true, queues: true })
      server.get('/', async () => {
        await storage.putObject('a', 'b')
        await queue.publish(1)
      })
      server.get('/open', { tenant: false }, () => 1)
      await server.ready()
      server.services.get('queues').run()
      await server.inject.get('/', as('acme'))
      await server.inject.get('/open', as('acme'))
      await done
    }
    const found = new Map(spans.all.map(({ name, attributes }) => [name, attributes['framework.tenant.id']]))
    for (const name of ['GET /', 'storage put', 'publish tenant-spans', 'process tenant-spans'])
      expect([name, found.has(name), found.get(name)]).toEqual([name, true, 'acme'])
    expect([found.has('GET /open'), found.get('GET /open')]).toEqual([true, undefined])
  } finally {
    spans.end()
  }
})
