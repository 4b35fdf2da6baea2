import { defineMiddleware, definePlugin, implement, PolicyManager, RouteCollection, Server } from 'framework'
import { contractClient, defineContract } from 'framework/contract'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const Post = z.object({ id: z.string(), title: z.string() })
const shop = defineContract({
  readPost: {
    method: 'GET',
    path: '/posts/:id',
    query: z.object({ page: z.coerce.number().default(1) }),
    responses: { 200: Post },
  },
  addPost: { method: 'POST', path: '/posts', body: z.object({ title: z.string() }), responses: { 201: Post } },
})
const user = defineMiddleware<{ user: string }>((req, _res, next) => {
  Object.assign(req, { user: 'ada' })
  return next()
})
const policies = new PolicyManager({ site: { closed: () => false, open: () => true } })

function shopServer(handler: 'closed' | 'open' = 'open') {
  const routes = new RouteCollection()
  implement(routes, shop, {
    readPost: (req) => ({ id: req.params.id, title: `page ${req.query.page}`, secret: 'kept back' }),
    addPost: {
      middlewares: [user],
      policy: { manager: policies, scope: 'site', handler },
      handler: (req, res) => res.created({ id: '7', title: `${req.body.title} by ${req.user}` }),
    },
  })
  return new Server({
    router: routes,
    plugins: { openapi: { info: { title: 'Shop', version: '1' }, ui: false } },
  })
}

describe('an implementation is a route like all others', () => {
  test('a returned value has the status of the only success that the contract has', async () => {
    const routes = new RouteCollection()
    const contract = defineContract({
      add: { method: 'POST', path: '/one', responses: { 201: Post, 404: z.object({ code: z.string() }) } },
      either: { method: 'POST', path: '/two', responses: { 201: Post, 202: Post } },
      fails: { method: 'POST', path: '/three', responses: { 201: Post } },
    })
    implement(routes, contract, {
      add: () => ({ id: '1', title: 'Dawn' }),
      either: (_req, res) => res.accepted({ id: '1', title: 'Dawn' }),
      fails() {
        throw new Error('no')
      },
    })
    const { inject } = new Server({ router: routes })
    ;(await inject.post('/one')).assertStatus(201).assertBodyDeepEqual({ id: '1', title: 'Dawn' })
    ;(await inject.post('/two')).assertStatus(202)
    ;(await inject.post('/three')).assertStatus(500)
  })

  test('requests are validated, answers shaped, middlewares run', async () => {
    const { inject } = shopServer()
    expect((await inject.get('/posts/1?page=2')).body()).toEqual({ id: '1', title: 'page 2' })
    expect((await inject.get('/posts/1?page=x')).statusCode()).toBe(422)
    const added = await inject.post('/posts', { body: { title: 'Dawn' } })
    expect([added.statusCode(), added.body()]).toEqual([201, { id: '7', title: 'Dawn by ada' }])
    expect((await inject.post('/posts', { body: {} })).statusCode()).toBe(422)
  })

  test('policies are asked', async () => {
    const { inject } = shopServer('closed')
    expect((await inject.post('/posts', { body: { title: 'Dawn' } })).statusCode()).toBe(401)
  })

  test('explain knows it, and the API description has the name of the contract', async () => {
    const server = shopServer()
    await server.ready()
    expect(server.explain('POST', '/posts')).toMatchObject({ route: 'POST /posts' })
    const { paths } = (await server.inject.get('/docs/json')).body<{
      paths: Record<string, Record<string, { operationId: string }>>
    }>()
    expect([paths['/posts/{id}']!.get!.operationId, paths['/posts']!.post!.operationId]).toEqual([
      'readPost',
      'addPost',
    ])
  })

  test('apidoc of the implementation holds over the name, and can leave the route out', async () => {
    const routes = new RouteCollection()
    implement(routes, shop, {
      readPost: { apidoc: { operationId: 'other', summary: 'Reads' }, handler: () => undefined },
      addPost: { apidoc: false, handler: () => undefined },
    })
    expect(routes.routes.map(({ options }) => options.apidoc)).toEqual([
      { operationId: 'other', summary: 'Reads' },
      false,
    ])
  })

  test('in a group, a server and a plugin, each with its prefix', async () => {
    const one = defineContract({ one: { method: 'GET', path: '/one' } })
    const server = new Server({
      router: new RouteCollection(),
      plugins: [
        definePlugin({ name: 'a', prefix: '/plugin', setup: (ctx) => implement(ctx, one, { one: () => 'plugin' }) })(),
      ],
    })
    implement(server, one, { one: () => 'server' })
    server.group('/shops/:shop', (routes) => implement(routes, one, { one: (req) => req.params.shop }))
    for (const [path, body] of [
      ['/one', 'server'],
      ['/shops/a/one', 'a'],
      ['/plugin/one', 'plugin'],
    ] as const)
      expect((await server.inject.get(path)).body()).toBe(body)
    const client = contractClient(one, { baseUrl: 'http://a.test/shops/b', fetch: (request) => server.fetch(request) })
    expect((await client.one()).body).toBe('b')
  })
})

describe('an implementation is refused that', () => {
  const refused = (given: object, what: string, contract: object = shop) => {
    const routes = new RouteCollection()
    const wrong = expect.objectContaining({ code: 'ContractError', message: expect.stringContaining(what) })
    expect(() => implement(routes, contract, given as {})).toThrow(wrong)
    expect(routes.routes).toEqual([])
  }
  const handler = () => 1

  test('lacks a name', () => refused({ readPost: handler }, 'the implementation of addPost is missing'))
  test.each(['toString', 'constructor', 'valueOf', '__proto__'])('lacks %s, a name that every object has', (name) =>
    refused({}, `the implementation of ${name} is missing`, { [name]: { method: 'GET', path: '/a' } }))
  test('has one more', () =>
    refused(
      { readPost: handler, addPost: handler, addPots: handler },
      '"addPots" is implemented, but is not a route of the contract. Did you mean "addPost"?',
    ))
  test('has no handler', () => refused({ readPost: handler, addPost: { log: false } }, 'of addPost has no handler'))
  test('is not a function', () => refused({ readPost: handler, addPost: 5 }, 'of addPost has no handler'))
  test('takes back what the contract promises', () =>
    refused(
      { readPost: handler, addPost: { handler, idempotency: false } },
      'of addPost has "idempotency", which the contract already sets',
    ))
  test('has the message of the contract', () =>
    refused(
      { readPost: handler, addPost: { handler, path: '/x' } },
      'of addPost has "path", which the contract already sets',
    ))
  test('is missing', () => refused(null as unknown as {}, 'implement takes handlers'))
  test('is of a value that is not a contract', () => refused({}, 'its method is one of', { one: {} }))

  test('may have a name that every object has', async () => {
    const routes = new RouteCollection()
    const text = { method: 'GET', path: '/text' } as const
    implement(routes, { toString: text, ['__proto__']: { ...text, path: '/proto' } }, {
      toString: () => 'text',
      ['__proto__']: () => 'proto',
    } as never)
    const server = new Server({ router: routes })
    expect((await server.inject.get('/text')).body()).toBe('text')
    expect((await server.inject.get('/proto')).body()).toBe('proto')
  })

  test('exists twice', () => {
    const routes = new RouteCollection()
    implement(routes, shop, { readPost: handler as never, addPost: handler as never })
    expect(() => implement(routes, shop, { readPost: handler as never, addPost: handler as never })).toThrow(
      expect.objectContaining({ code: 'DuplicateRouteError' }),
    )
  })

  test('has an option that no plugin takes fails the boot, and the place is that of the call', async () => {
    const routes = new RouteCollection()
    implement(routes, shop, { readPost: handler as never, addPost: { handler, polcy: 1 } as never })
    await expect(new Server({ router: routes }).ready()).rejects.toThrow(
      /POST \/posts \(registered at .*implement\.test\.ts/,
    )
  })
})

test('a route whose client sends calls again needs the plugin idempotency, also where it was turned off', async () => {
  const orders = defineContract({ order: { method: 'POST', path: '/orders', idempotency: true } })
  const routes = new RouteCollection()
  implement(routes, orders, { order: () => 'ordered' })
  for (const plugins of [{}, { idempotency: false as const }])
    await expect(new Server({ router: routes, plugins }).ready()).rejects.toThrow(
      /POST \/orders .*the plugin "idempotency"/,
    )
})
