import { definePlugin, RouteCollection } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

/** Serves the paths, each answering with its own pattern and its parameters. */
function serving(...paths: string[]) {
  const { kernel, router } = makeKernel()
  for (const path of paths) router.get(path, (req) => ({ path, params: req.params }))
  return async (url: string) => {
    const { status, json } = await send(kernel, url)
    return status === 200 ? (json as { path: string; params: Record<string, string> }) : status
  }
}

describe('matching', () => {
  test('prefers static, then parameter, then wildcard, and goes back all the way', async () => {
    const get = serving('/a/b', '/a/:x/c', '/a/*', '/*')
    expect(await get('/a/b')).toEqual({ path: '/a/b', params: {} })
    expect(await get('/a/b/c')).toEqual({ path: '/a/:x/c', params: { x: 'b' } })
    expect(await get('/a/b/d')).toEqual({ path: '/a/*', params: { '*': 'b/d' } })
    expect(await get('/z/b/d')).toEqual({ path: '/*', params: { '*': 'z/b/d' } })
  })

  test('gives each request to a fixed path its own parameters, which inherit nothing', async () => {
    const { kernel, router } = makeKernel()
    const seen: object[] = []
    router.get('/a', ({ params }) => {
      seen.push(params)
      return { constructor: String(params.constructor), keys: Object.keys(params) }
    })
    expect((await send(kernel, '/a')).json).toEqual({ constructor: 'undefined', keys: [] })
    await send(kernel, '/a')
    expect(seen[0]).not.toBe(seen[1])
  })

  test('ignores a trailing slash, and no doubled one', async () => {
    const get = serving('/users', '/users/:id')
    expect(await get('/users/')).toEqual({ path: '/users', params: {} })
    expect(await get('/users/5/')).toEqual({ path: '/users/:id', params: { id: '5' } })
    expect(await get('//users')).toBe(404)
    expect(await get('/users//')).toBe(404)
    expect(await get('/users//5')).toBe(404)
  })

  test('a wildcard matches the slash and deeper, not the bare prefix, and keeps a trailing slash', async () => {
    const get = serving('/files/*')
    expect(await get('/files')).toBe(404)
    expect(await get('/files/')).toEqual({ path: '/files/*', params: { '*': '' } })
    expect(await get('/files/a/b')).toEqual({ path: '/files/*', params: { '*': 'a/b' } })
    expect(await get('/files/a/')).toEqual({ path: '/files/*', params: { '*': 'a/' } })
    expect(await get('/files//a')).toEqual({ path: '/files/*', params: { '*': '/a' } })
  })

  test('a static path answers with a trailing slash before its wildcard', async () => {
    const get = serving('/files', '/files/*')
    expect(await get('/files/')).toEqual({ path: '/files', params: {} })
  })

  test('an optional parameter may be anywhere', async () => {
    const get = serving('/posts/:id?', '/a/:b?/*')
    expect(await get('/posts')).toEqual({ path: '/posts/:id?', params: {} })
    expect(await get('/posts/5')).toEqual({ path: '/posts/:id?', params: { id: '5' } })
    expect(await get('/a/x')).toEqual({ path: '/a/:b?/*', params: { '*': 'x' } })
    expect(await get('/a/x/y')).toEqual({ path: '/a/:b?/*', params: { b: 'x', '*': 'y' } })
  })

  test('parameters of different routes never mix', async () => {
    const { kernel, router } = makeKernel()
    router.get('/:id', (req) => req.params)
    router.get('/:name/x', (req) => req.params)
    router.post('/:slug', (req) => req.params)
    expect((await send(kernel, '/1')).json).toEqual({ id: '1' })
    expect((await send(kernel, '/1/x')).json).toEqual({ name: '1' })
    expect((await send(kernel, '/1', 'POST')).json).toEqual({ slug: '1' })
  })

  test('a parameter never matches an empty segment, a wildcard may', async () => {
    const get = serving('/a/:x/c', '/a/*')
    expect(await get('/a//c')).toEqual({ path: '/a/*', params: { '*': '/c' } })
  })

  test('values are decoded once', async () => {
    const get = serving('/u/:v', '/w/*')
    const value = async (text: string) => ((await get(`/u/${text}`)) as unknown as { params: { v: string } }).params.v
    expect(await value('%C3%A9%20%2F%3F%23')).toBe('é /?#')
    expect(await value('%2525')).toBe('%25')
    expect(await value('a+b')).toBe('a+b')
    expect(await value('a%2Fb')).toBe('a/b')
    expect(await value('__proto__')).toBe('__proto__')
    expect(await value('x'.repeat(10_000))).toHaveLength(10_000)
    expect(await get('/w/a%2Fb/%2e%2e')).toEqual({ path: '/w/*', params: { '*': '' } })
  })

  test.each([
    '/u/%',
    '/u/%zz',
    '/u/%ff',
    '/u/%C3',
    '/u/%00',
    '/u/a%00b',
    '/%E0%A4%A',
  ])('%s is 400, never 500', async (url) => {
    expect(await serving('/u/:v')(url)).toBe(400)
  })

  test('static segments are compared decoded', async () => {
    const get = serving('/café', '/a b', '/x:y', '/50%25', '/semi;colon')
    expect(await get('/caf%C3%A9')).toMatchObject({ path: '/café' })
    expect(await get('/a%20b')).toMatchObject({ path: '/a b' })
    expect(await get('/x:y')).toMatchObject({ path: '/x:y' })
    expect(await get('/x%3Ay')).toMatchObject({ path: '/x:y' })
    expect(await get('/50%25')).toMatchObject({ path: '/50%25' })
    expect(await get('/semi%3Bcolon')).toMatchObject({ path: '/semi;colon' })
    expect(await get('/%63afé')).toMatchObject({ path: '/café' })
  })
})

describe('methods', () => {
  test('HEAD is answered by GET without the body and with its length', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', () => 'hello')
    const res = await send(kernel, '/x', 'HEAD')
    expect(res).toMatchObject({ status: 200, text: '' })
    expect(res.headers['content-length']).toBe('7')
  })

  test('an own HEAD route wins', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', () => 'hello')
    router.head('/x', (_req, res) => res.setHeader('x-own', '1').noContent())
    expect(await send(kernel, '/x', 'HEAD')).toMatchObject({ status: 204, headers: { 'x-own': '1' } })
  })

  test('any registers every method but HEAD', async () => {
    const { kernel, router } = makeKernel()
    router.any('/x', (req) => req.method)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'OPTIONS']) {
      expect((await send(kernel, '/x', method)).json).toBe(method)
    }
  })

  test('a route of one method goes before any at the same path, whichever is written first', async () => {
    const { kernel, router } = makeKernel()
    router.any('/x/:id?', () => 'any')
    router.get('/x', () => 'get')
    router.post('/y/:name', () => 'post')
    router.any('/y/:id', () => 'any')
    kernel.any('/z', () => 'any of the server')
    router.put('/z', () => 'put of the collection')
    const answers = ['GET /x', 'POST /x', 'GET /x/5', 'POST /y/5', 'GET /y/5', 'PUT /z', 'PATCH /z'].map(
      async (line) => {
        const [method, path] = line.split(' ') as [string, string]
        return (await send(kernel, path, method)).json
      },
    )
    expect(await Promise.all(answers)).toEqual([
      'get',
      'any',
      'any',
      'post',
      'any',
      'put of the collection',
      'any of the server',
    ])
    expect(kernel.printRoutes().match(/^PUT +\/z/gm)).toHaveLength(1)
    expect(() => router.any('/x/:name?', () => 'again')).toThrow('is registered twice')
  })

  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'get', 'JUNK'])('%s never reaches a handler', async (method) => {
    const { kernel, router } = makeKernel()
    router.any('/x', () => 'reached')
    expect((await send(kernel, '/x', method)).status).toBe(405)
    expect((await send(kernel, '/y', method)).status).toBe(404)
  })
})

describe('registration errors', () => {
  test.each([
    ['users', /begin with "\/"\. Write "\/users"/],
    [/users/ as never, /is not a string\. Begin with a path such as "\/users\/:id"/],
    ['/a//b', /empty segment/],
    ['/a/*/b', /"\*" before its end/],
    ['/:a-:b', /not one whole parameter/],
    ['/:id(\\d+)', /not one whole parameter/],
    ['/:', /not one whole parameter/],
    ['/:id/:id', /"id" twice/],
    ['/:__proto__', /"__proto__"/],
    ['/a*', /has a "\*" in the segment "a\*"\. Write .* "\*" as the last segment/],
    ['/what?', /has a "\?" in the segment "what\?"\. Write .* ":name\?" for an optional one/],
    ['/users/(\\d+)', /has a "\(" in the segment .* Write ":name" for a parameter/],
    ['/users/a)', /has a "\)"/],
    ['/users/{id}', /has a "\{" in the segment "\{id\}"\. Write ":name" .* encode it: %28 %29 %5B %5D %7B %7D/],
    ['/users/id}', /has a "\}"/],
    ['/users{/:id}', /has a "\{"/],
    ['/users/[id]', /has a "\["/],
    ['/users/id]', /has a "\]"/],
    ['/users/a#b', /has a "#"/],
    ['/a%2A', /escaped "\/", "\?", "#" or "\*" .* Make the segment a parameter/],
    ['/%zz', /malformed escape/],
    ['/a%2Fb', /escaped "\/"/],
  ])('the path %s', (path, message) => {
    expect(() => new RouteCollection().get(path, () => {})).toThrow(message)
  })

  test.each(['/(a)', '/{a}', '/[a]', '/a/:id(\\d+)', '/a*'])('the prefix %s of a group or a plugin', (prefix) => {
    const refused = expect.objectContaining({ code: 'RoutePatternError' })
    const { kernel, router } = makeKernel()
    expect(() => router.group(prefix, () => {})).toThrow(refused)
    const plugin = definePlugin({ name: 'area', setup() {} })
    expect(() => kernel.register(plugin(), { prefix })).toThrow(refused)
    expect(() => definePlugin({ name: 'area', prefix, setup() {} })).toThrow(refused)
  })

  test('a bracket that is encoded stands for itself, in a route, a group, a prefix and a fallback', async () => {
    const { kernel, router } = makeKernel()
    router.get('/a%28b%29', () => 'parentheses')
    router.get('/%5Bid%5D/%7by%7d/:x', (req) => req.params.x)
    router.group('/%28group%29', (group) => group.get('/x', () => 'group'))
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.get('/x', () => 'prefix')
        ctx.fallback('/%5Bold%5D', (req, res) => void res.json(`fallback for ${req.path}`))
      },
    })
    kernel.register(area(), { prefix: '/%7Barea%7D' })
    const answers: Record<string, unknown> = {
      '/a(b)': 'parentheses',
      '/a%28b%29': 'parentheses',
      '/[id]/{y}/5': '5',
      '/%5bid%5D/%7By%7D/5': '5',
      '/(group)/x': 'group',
      '/{area}/x': 'prefix',
      '/%7Barea%7D/[old]/deep': 'fallback for /%7Barea%7D/[old]/deep',
    }
    for (const [path, text] of Object.entries(answers)) expect((await send(kernel, path)).json, path).toBe(text)
    for (const path of ['/ab', '/id/y/5', '/i/y/5']) expect((await send(kernel, path)).status, path).toBe(404)
  })

  test.each([
    ['a relative path', 'old', ''],
    ['a parameter', '/:id', ''],
    ['a wildcard', '/*', ''],
    ['a parameter in the prefix', '/old', '/shops/:shop'],
  ])('a fallback that could never answer: %s', async (_what, path, prefix) => {
    const { kernel } = makeKernel()
    const area = definePlugin({ name: 'area', setup: (ctx) => ctx.fallback(path, () => {}) })
    kernel.register(area(), { prefix })
    await expect(kernel.ready()).rejects.toThrow(/the path/)
  })

  test.each([
    ['/a', '/a'],
    ['/a', '/a/'],
    ['/:id', '/:name'],
    ['/posts/:id?', '/posts'],
    ['/caf%C3%A9', '/café'],
    ['/x/*', '/x/*'],
  ])('%s and %s are one route, and both places are named', (one, two) => {
    const routes = new RouteCollection()
    routes.get(one, () => {})
    expect(() => routes.get(two, () => {})).toThrow(
      /registered twice: at .*matching\.test\.ts:\d+:\d+.* and at .*matching\.test\.ts:\d+:\d+/,
    )
    routes.post(two, () => {})
  })

  test('a route in the server’s own and in the mounted collection, at boot', async () => {
    const { kernel, router } = makeKernel()
    router.get('/a', () => 1)
    kernel.get('/a', () => 2)
    await expect(kernel.ready()).rejects.toThrow(/GET \/a is registered twice/)
  })

  test.each([
    [[]],
    [['x']],
    [[null]],
    [[{}, 'x']],
    [[[5], () => {}]],
    [[[], 'x']],
    [[{ middlewares: [5] }, () => {}]],
    [[{ middlewares: () => {} }, () => {}]],
    [[{ middlewares: null }, () => {}]],
    [[() => {}, () => {}, () => {}]],
    [[() => {}, () => {}, () => {}, {}]],
    [[[() => {}], [() => {}], () => {}]],
    [[{}, () => {}, () => {}]],
    [[() => {}, {}, {}]],
    [[() => {}, () => {}, 'described']],
  ])('the arguments %j', (rest) => {
    const get = new RouteCollection().get as unknown as (...args: unknown[]) => void
    expect(() => get('/x', ...rest)).toThrow(/GET \/x: .* A route is registered as/)
  })

  test('an error about several middlewares without a list mentions the list', () => {
    const get = new RouteCollection().get as unknown as (...args: unknown[]) => void
    const pass = () => {}
    expect(() => get('/x', pass, pass, pass)).toThrow(
      'a function after its handler: pass several middlewares as an array',
    )
  })

  test('a group that is wrong', () => {
    const group = new RouteCollection().group as unknown as (...args: unknown[]) => void
    expect(() => group('/x')).toThrow(/group \/x: the last argument is not a function/)
    expect(() => group('/x', {}, () => {})).toThrow(/are not an array/)
    expect(() => group('/x/*', () => {})).toThrow(/cannot end in a wildcard/)
    expect(() => group('/x', [() => {}], [() => {}], () => {})).toThrow(/group \/x: it received 4 arguments/)
    expect(() =>
      group(
        '/x',
        [() => {}],
        () => {},
        () => {},
      ),
    ).toThrow(/group \/x: it received 4 arguments/)
  })
})

describe('collections', () => {
  test('late and cleared routes take effect at the next request; the server’s own stay', async () => {
    const { kernel, router } = makeKernel()
    kernel.get('/own', () => 'own')
    router.get('/one', () => 'one')
    expect((await send(kernel, '/one')).status).toBe(200)
    router.get('/two', () => 'two')
    expect((await send(kernel, '/two')).status).toBe(200)
    router.clearRoutes()
    expect((await send(kernel, '/one')).status).toBe(404)
    expect((await send(kernel, '/own')).status).toBe(200)
    router.get('/one', () => 'again')
    expect((await send(kernel, '/one')).json).toBe('again')
  })

  test('a late route that is faulty is left out and logged, the others stay', async () => {
    const { kernel, router, log } = makeKernel()
    kernel.get('/own', () => 'own')
    await kernel.ready()
    router.get('/own', () => 'other')
    router.get('/fine', () => 'fine')
    expect((await send(kernel, '/own')).json).toBe('own')
    expect((await send(kernel, '/fine')).json).toBe('fine')
    expect(log.filter((entry) => entry.level === 'error')).toHaveLength(1)
  })

  test('groups nest, and their middlewares run from the outside in', async () => {
    const { kernel, router } = makeKernel()
    const mark =
      (name: string) => (_req: unknown, res: { appendHeader(n: string, v: string): unknown }, next: () => unknown) => {
        res.appendHeader('x-marks', name)
        return next()
      }
    router.group('/a', [mark('a')], (a) => {
      a.get('/', () => 'a')
      a.group('/b', [mark('b')], (b) => b.get('/:id', [mark('route')], (req) => req.params.id))
    })
    expect((await send(kernel, '/a')).headers['x-marks']).toBe('a')
    expect(await send(kernel, '/a/b/7')).toMatchObject({ text: '"7"', headers: { 'x-marks': 'a, b, route' } })
  })

  test('two servers over one collection do not touch each other', async () => {
    const one = makeKernel()
    const two = makeKernel({ router: one.router })
    one.router.get('/x', () => 'x')
    one.kernel.use((_req, res) => res.forbidden())
    expect((await send(one.kernel, '/x')).status).toBe(403)
    expect((await send(two.kernel, '/x')).status).toBe(200)
  })
})
