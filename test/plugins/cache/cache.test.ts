import { getCacheService, RouteCollection, Server, type ServerOptions } from 'framework'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.ready().catch(() => {})
    await server.close()
  }
})

/** A server with a cache and a collection of its own. */
function makeServer(options: { plugins: object } = { plugins: { cache: {} } }) {
  const router = new RouteCollection()
  const logger = memoryLogger()
  const server = new Server({ router, logger, gracefulShutdown: false, ...options } as ServerOptions)
  servers.push(server)
  return { server, router, log: logger.entries }
}

describe('a response of a route with the option cache', () => {
  test('is computed once and replayed: status, type, headers of the handler, body', async () => {
    const { server, router } = makeServer()
    let runs = 0
    router.get('/books', { cache: { ttl: 60 } }, (_req, res) => {
      runs++
      res.header('x-made-by', 'handler').status(201).json({ runs })
    })
    const first = await server.inject.get('/books')
    const second = await server.inject.get('/books')
    first.assertStatus(201).assertHeader('x-cache', 'MISS').assertBodyDeepEqual({ runs: 1 })
    second.assertStatus(201).assertHeader('x-cache', 'HIT').assertBodyDeepEqual({ runs: 1 })
    const same = ({ 'x-cache': _, date: __, ...rest }: Record<string, unknown>) => rest
    expect(same(second.headers())).toEqual(same(first.headers()))
    expect(second.raw()).toEqual(first.raw())
  })

  test.each<[string, (res: never) => unknown, string, string | undefined]>([
    ['text', (res: { text(t: string): unknown }) => res.text('ü'), 'ü', 'text/plain; charset=utf-8'],
    ['html', (res: { html(t: string): unknown }) => res.html('<b>'), '<b>', 'text/html; charset=utf-8'],
    [
      'bytes',
      (res: { bytes(b: Uint8Array): unknown }) => res.bytes(Buffer.from('abc')),
      'abc',
      'application/octet-stream',
    ],
    ['a returned value', () => 'plain', '"plain"', 'application/json; charset=utf-8'],
    ['nothing', () => undefined, '', undefined],
  ] as [
    string,
    (res: never) => unknown,
    string,
    string | undefined,
  ][])('is replayed for %s', async (_, answer, body, type) => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (_req, res) => answer(res as never) as never)
    for (const how of ['MISS', 'HIT']) {
      const res = await server.inject.get('/x')
      res.assertHeader('x-cache', how)
      expect(res.text()).toBe(body)
      expect(res.headers()['content-type']).toBe(type)
    }
  })

  test('brings the headers of the middlewares of each request, not those of the first', async () => {
    const { server, router } = makeServer({
      plugins: { cache: {}, cors: { origin: ['http://a.test', 'http://b.test'] } },
    })
    router.get('/x', { cache: true }, () => 1)
    for (const origin of ['http://a.test', 'http://b.test']) {
      const res = await server.inject.get('/x', { headers: { origin } })
      res.assertHeader('access-control-allow-origin', origin)
    }
  })

  test('is kept for its time and not longer', async () => {
    using clock = testClock()
    const { server, router } = makeServer()
    let runs = 0
    router.get('/x', { cache: { ttl: 0.05 } }, () => ++runs)
    expect((await server.inject.get('/x')).body()).toBe(1)
    expect((await server.inject.get('/x')).body()).toBe(1)
    await clock.advance(50)
    expect((await server.inject.get('/x')).body()).toBe(2)
  })

  test('runs after policy and validation: requests that they refuse are never answered from the cache', async () => {
    const { server, router } = makeServer()
    const query = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
    router.get('/x', { cache: true, query }, (req) => req.query.n)
    ;(await server.inject.get('/x?n=1')).assertStatus(200)
    ;(await server.inject.get('/x?n=a')).assertStatus(422).assertHeaderNotExists('x-cache')
    expect((await server.inject.get('/x?n=1')).headers()['x-cache']).toBe('HIT')
    const { steps } = server.explain('GET', '/x')
    expect(steps.map(({ name }) => name).slice(-3)).toEqual(['validation', 'cache', expect.any(String)])
  })

  test('HEAD gets the entry of GET, and stores none itself', async () => {
    const { server, router } = makeServer()
    let runs = 0
    router.get('/x', { cache: true }, () => ++runs)
    ;(await server.inject.request('HEAD', '/x')).assertHeader('x-cache', 'MISS')
    ;(await server.inject.get('/x')).assertHeader('x-cache', 'MISS').assertBodyDeepEqual(2)
    const head = await server.inject.request('HEAD', '/x')
    head.assertHeader('x-cache', 'HIT').assertHeader('content-length', '1')
    expect(head.text()).toBe('')
    expect(runs).toBe(2)
  })

  test('has an etag from the first response on; a client that has it receives 304 without a body', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (_req, res) => res.header('x-kept', '1').ok({ a: 1 }))
    const { etag } = (await server.inject.get('/x')).headers()
    const again = await server.inject.get('/x', { headers: { 'if-none-match': String(etag) } })
    again
      .assertStatus(304)
      .assertHeader('etag', String(etag))
      .assertHeader('x-cache', 'HIT')
      .assertHeader('x-kept', '1')
    expect(again.text()).toBe('')
    ;(await server.inject.get('/x', { headers: { 'if-none-match': '"other"' } })).assertStatus(200)
    ;(await server.inject.get('/x', { headers: { 'if-none-match': '*' } })).assertStatus(304)
  })

  test('a POST receives the whole response, whatever its conditions are', async () => {
    const { server, router } = makeServer()
    router.post('/x', { cache: { include: { body: true } } }, () => 'found')
    for (const how of ['MISS', 'HIT']) {
      const res = await server.inject.post('/x', { headers: { 'if-none-match': '*' } })
      res.assertStatus(200).assertHeader('x-cache', how).assertBodyDeepEqual('found')
    }
  })

  test('keeps the etag that the handler has set', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, (_req, res) => res.header('etag', '"v7"').ok(1))
    for (const _ of [1, 2]) (await server.inject.get('/x')).assertHeader('etag', '"v7"')
  })
})

describe('responses that are not stored', () => {
  test.each<[string, (res: import('framework').Response) => unknown]>([
    ['404', (res) => res.notFound({ a: 1 })],
    ['500', (res) => res.internalServerError()],
    ['a redirect', (res) => res.redirect('/y')],
    ['206', (res) => res.status(206).text('part')],
    ['set-cookie', (res) => res.appendHeader('set-cookie', 'a=1').ok(1)],
    ['cache-control: no-store', (res) => res.header('cache-control', 'no-store').ok(1)],
    ['cache-control: max-age=3, private', (res) => res.header('cache-control', 'max-age=3, private').ok(1)],
    ['vary: *', (res) => res.header('vary', '*').ok(1)],
    ['vary by a header that is not in the key', (res) => res.vary('accept-language').ok(1)],
    ['a stream', (res) => res.stream(new ReadableStream({ start: (c) => c.close() }))],
  ])('%s', async (_, answer) => {
    const { server, router } = makeServer()
    let runs = 0
    router.get('/x', { cache: true }, (_req, res) => {
      runs++
      return answer(res)
    })
    for (const _ of [1, 2]) (await server.inject.get('/x')).assertHeader('x-cache', 'MISS')
    expect(runs).toBe(2)
  })

  test('an error: the next request runs the handler again', async () => {
    const { server, router } = makeServer()
    let runs = 0
    router.get('/x', { cache: true }, () => {
      if (++runs === 1) throw new Error('once')
      return runs
    })
    ;(await server.inject.get('/x')).assertStatus(500)
    ;(await server.inject.get('/x')).assertStatus(200).assertHeader('x-cache', 'MISS').assertBodyDeepEqual(2)
  })
})

describe('invalidation', () => {
  test('by tags, with the parameters of the route in them', async () => {
    const { server, router } = makeServer()
    let runs = 0
    router.get(
      '/books/:id',
      { cache: { tags: ['books', 'book::id', 'list:all'] } },
      (req) => `${req.params.id} ${++runs}`,
    )
    const get = async (id: string) => (await server.inject.get(`/books/${id}`)).body()
    expect([await get('1'), await get('2')]).toEqual(['1 1', '2 2'])
    const service = getCacheService()!
    expect(await service.invalidate(['book:1'])).toBe(1)
    expect([await get('1'), await get('2')]).toEqual(['1 3', '2 2'])
    expect(await service.invalidate(['nothing', 'list:all'])).toBe(2)
    expect(await get('2')).toBe('2 4')
    expect(await service.invalidate([])).toBe(0)
  })

  test('by patterns over cache:<METHOD>:<path>?<query>', async () => {
    const { server, router } = makeServer()
    router.get('/a', { cache: true }, () => 1)
    router.get('/a/:x', { cache: true }, () => 1)
    const fill = async () => {
      for (const path of ['/a', '/a?q=1', '/a/b', '/a/c']) await server.inject.get(path)
    }
    const service = getCacheService()!
    await fill()
    for (const [pattern, removed] of [
      ['cache:GET:/a', 1],
      ['cache:GET:/a?q=1', 1],
      ['cache:GET:/a/?', 2],
      ['cache:GET:/A*', 0],
      ['cache:POST:*', 0],
    ] as const)
      expect([pattern, await service.invalidatePattern(pattern)]).toEqual([pattern, removed])
    await fill()
    expect(await service.invalidatePattern('cache:*:/a*')).toBe(4)
  })

  test('a response that is being computed while it is invalidated is not kept, and later requests do not join it', async () => {
    const { server, router } = makeServer()
    const finish: (() => void)[] = []
    let value = 'old'
    router.get('/x', { cache: { tags: ['t'] } }, async () => {
      const seen = value
      await new Promise<void>((resolve) => finish.push(resolve))
      return seen
    })
    const service = getCacheService()!
    for (const invalidate of [() => service.invalidate(['t']), () => service.invalidatePattern('cache:GET:/x')]) {
      value = 'old'
      const first = server.inject.get('/x')
      await expect.poll(() => finish.length).toBe(1)
      value = 'new'
      await invalidate()
      const second = server.inject.get('/x')
      await expect.poll(() => finish.length).toBe(2)
      for (const end of finish.splice(0)) end()
      expect((await first).body()).toBe('old')
      expect((await second).body()).toBe('new')
      ;(await server.inject.get('/x')).assertHeader('x-cache', 'HIT').assertBodyDeepEqual('new')
      await service.invalidate(['t'])
    }
  })

  test('arguments that mean nothing are errors', async () => {
    makeServer()
    const service = getCacheService()!
    await expect(service.invalidate('books' as never)).rejects.toThrow('invalidate takes an array of tags, not "books"')
    await expect(service.invalidatePattern('')).rejects.toThrow('invalidatePattern takes a pattern')
  })
})

describe('getCacheService', () => {
  test('exists as soon as the server does, that of the newest open one, and undefined when off', async () => {
    expect(getCacheService()).toBeUndefined()
    const { server: first } = makeServer()
    const one = getCacheService()
    expect(one).toBe(first.services.get('cache'))
    const { server: second } = makeServer()
    expect(getCacheService()).not.toBe(one)
    await second.ready()
    await second.close()
    expect(getCacheService()).toBe(one)
    await first.ready()
    await first.close()
    makeServer({ plugins: { cache: false } })
    expect(getCacheService()).toBeUndefined()
  })

  test('without the plugin the route option does nothing', async () => {
    const { server, router } = makeServer({ plugins: {} })
    router.get('/x', { cache: { ttl: 60 } }, () => 1)
    ;(await server.inject.get('/x')).assertHeaderNotExists('x-cache')
  })
})

describe('options', () => {
  test.each<[object, RegExp]>([
    [{ provider: 'disk' }, /cache\.provider.*disk.*"memory" or "redis"/],
    [{ defaultTtl: 0 }, /cache\.defaultTtl.*above 0/],
    [{ defaultTtl: 86_401 }, /cache\.defaultTtl.*86400/],
    [{ lockBehavior: 'queue' }, /cache\.lockBehavior/],
    [{ lockTimeout: -1 }, /cache\.lockTimeout/],
    [{ maxSize: 'big' }, /cache\.maxSize/],
    [{ maxSize: null }, /cache\.maxSize" is null/],
    [{ provider: 'redis', redis: { url: 'localhost' } }, /cache\.redis\.url/],
    [{ provider: 'redis', redis: { client: {} } }, /cache\.redis\.client/],
    [{ redis: { url: 'redis://127.0.0.1' } }, /cache\.redis.*provider: "redis"/],
    [{ tll: 3 }, /Unknown option "plugins\.cache\.tll"/],
    [{ provider: 'redis', redis: { tiemout: 5 } }, /cache\.redis\.tiemout.*Did you mean "timeout"/],
    [{ personalHeaders: ['x-a', 'a b'] }, /cache\.personalHeaders\[1\]" is "a b"/],
    [{ maxSize: 'big', defaultTtl: 0 }, /2 options are wrong:\n.*defaultTtl.*\n.*maxSize/],
  ])('%j is refused when the server is made', (cache, message) => {
    expect(() => new Server({ plugins: { cache: cache as never } })).toThrow(message)
  })

  test.each<[string, 'get' | 'post', object, RegExp]>([
    ['ttl over a day', 'get', { ttl: 86_401 }, /cache\.ttl.*86400/],
    ['ttl 0', 'get', { ttl: 0 }, /cache\.ttl/],
    ['tags that are not a list', 'get', { tags: 'books' }, /cache\.tags/],
    ['an unknown name', 'get', { tag: ['books'] }, /tag/],
    ['include.key that is not a function', 'get', { include: { key: 'x' } }, /cache\.include\.key/],
    ['an unknown name in include', 'get', { include: { header: ['a'] } }, /cache\.include\.header.*"headers"/],
    ['something else', 'get', 'yes' as never, /"cache" is a string.*true, false, or an object with ttl, tags/],
    [
      'a tag with an unknown parameter',
      'get',
      { tags: ['a', 'book::id'] },
      /tags\[1\]" is "book::id".*\/x, which has no parameters/,
    ],
    ['POST without the body in the key', 'post', { ttl: 3 }, /cache\.include\.body.*true on a POST route/],
  ])('a route with %s fails the boot and is named', async (_, verb, cache, message) => {
    const { server, router } = makeServer()
    router[verb as 'post']('/x', { cache: cache as never }, () => 1)
    await expect(server.ready()).rejects.toThrow(message)
    await expect(server.ready()).rejects.toThrow(`${verb.toUpperCase()} /x (registered at `)
  })

  test.each<[string, string, string]>([
    [':bok', '/books/:book/pages/:page', 'such as :book'],
    ['page-:pages', '/books/:book/pages/:page', 'such as :page'],
    ['a::other', '/books/:book/pages/:page', ':book, :page'],
  ])('the tag %s of %s is an error that names %s', async (tag, path, near) => {
    const { server, router } = makeServer()
    router.get(path, { cache: { tags: [tag] } }, () => 1)
    await expect(server.ready()).rejects.toThrow(
      `the option "cache.tags[0]" is "${tag}"; it takes parameters of the path ${path}, ${near}`,
    )
  })
})
