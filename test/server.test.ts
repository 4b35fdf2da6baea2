import { definePlugin, RouteCollection, router, Server } from 'framework'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { core } from '../plugins/catalog.ts'
import { memoryLogger } from './support/kernel.ts'

const audit = definePlugin({
  name: 'audit',
  provide: (options: { keep: number }) => ({ audit: { keep: options.keep } }),
  setup() {},
})
const all = (server: { plugins: { children: readonly { name: string }[] } }) =>
  server.plugins.children.map((node) => node.name)
/** Without those that every server has. */
const names = (server: Parameters<typeof all>[0]) => all(server).slice(core.length)

beforeEach(() => router.clearRoutes())
afterEach(() => router.clearRoutes())

describe('the plugins option', () => {
  test('the core comes first, in every form', () => {
    const first = core.map((factory) => factory.plugin.name)
    for (const server of [
      new Server(),
      new Server([audit({ keep: 1 })]),
      new Server({ plugins: { audit: audit({ keep: 1 }) } }),
    ]) {
      expect(all(server).slice(0, core.length)).toEqual(first)
    }
  })

  test('json is on by default, in both forms, unless it is turned off or given', () => {
    expect(names(new Server())).toEqual(['json'])
    expect(names(new Server({ plugins: {} }))).toEqual(['json'])
    expect(names(new Server({ plugins: [] }))).toEqual(['json'])
    expect(names(new Server([audit({ keep: 1 })]))).toEqual(['json', 'audit'])
    expect(names(new Server({ plugins: { json: false } }))).toEqual([])
  })

  test('the object form takes the catalog’s order, then the rest as written', () => {
    const server = new Server({
      plugins: { audit: audit({ keep: 1 }), json: {}, cors: { origin: '*' }, other: definePlugin({ name: 'x' })() },
    })
    expect(names(server)).toEqual(['cors', 'json', 'audit', 'x'])
  })

  test('the array form keeps the order, and takes middlewares', async () => {
    const order: string[] = []
    const server = new Server({
      plugins: [
        function one(_req, _res, next) {
          order.push('one')
          return next()
        },
        definePlugin({
          name: 'two',
          setup: (ctx) =>
            ctx.use((_req, _res, next) => {
              order.push('two')
              return next()
            }),
        })(),
        false,
      ],
    })
    server.use((_req, _res, next) => {
      order.push('three')
      return next()
    })
    await server.inject({ url: '/' })
    expect(order).toEqual(['one', 'two', 'three'])
  })

  test('a registration under a key of the catalog takes its place', () => {
    expect(names(new Server({ plugins: { json: definePlugin({ name: 'my-json' })() } }))).toEqual(['my-json'])
  })

  test('a factory that was not called counts as called', () => {
    expect(names(new Server({ plugins: [definePlugin({ name: 'plain' })] }))).toEqual(['json', 'plain'])
    expect(names(new Server({ plugins: { plain: definePlugin({ name: 'plain' }) } }))).toEqual(['json', 'plain'])
  })

  test.each([
    [
      { corz: {} },
      /plugins\.corz is not a plugin of the catalog\. Did you mean "cors"\? The catalog has .*under any other key pass a registration/,
    ],
    [
      { mine: () => {} },
      /plugins\.mine is a bare function\. Pass a middleware to server\.use\(fn\), or in the array form/,
    ],
    [
      { helmet: (_req: unknown, _res: unknown, next: () => void) => next() },
      /plugins\.helmet is a bare function\. Pass a middleware to server\.use\(fn\)/,
    ],
    [{ cors: 'x' }, /plugins\.cors is a string/],
    [{ cors: undefined }, 'plugins.cors is undefined. Check its import, or write false to leave it out'],
    [{ audit: undefined }, 'plugins.audit is undefined. Check its import, or write false to leave it out'],
    [[undefined], 'plugins[0] is undefined. Check its import, or write false to leave it out'],
    [5, /is a number\. It takes an object or an array/],
    [
      definePlugin({ name: 'audit', setup() {} })(),
      /plugins is the plugin "audit" by itself\. Put it in an array: plugins: \[audit\(\)\]/,
    ],
    [[{}], /is neither a plugin nor a middleware/],
    [Promise.resolve([]), 'plugins is a promise. Write await before it'],
    [new Set([definePlugin({ name: 'guard' })]), /plugins\.\w+ is a bare function/],
    [new Map([['guard', definePlugin({ name: 'guard' })]]), /plugins\.\w+ is a bare function/],
    [{ [Symbol('guard')]: definePlugin({ name: 'guard' }) }, /Symbol\(guard\) is a symbol/],
    [Object.create({ cors: {} }), /plugins\.cors is inherited/],
  ])('%j is refused', (plugins, message) => {
    expect(() => new Server({ plugins: plugins as never })).toThrow(message)
  })

  test('services are there at once', () => {
    const server = new Server({ plugins: { audit: audit({ keep: 7 }) } })
    expect(server.services.audit.keep).toBe(7)
  })
})

describe('routes', () => {
  test('of the process and of the server are served together; clearing leaves the server’s own', async () => {
    const server = new Server()
    router.get('/shared', () => 'shared')
    server.get('/own', () => 'own')
    expect((await server.inject({ url: '/shared' })).status).toBe(200)
    router.clearRoutes()
    expect((await server.inject({ url: '/shared' })).status).toBe(404)
    expect((await server.inject({ url: '/own' })).status).toBe(200)
  })

  test('a server with its own collection does not see the shared one', async () => {
    router.get('/shared', () => 'shared')
    const server = new Server({ router: new RouteCollection() })
    expect((await server.inject({ url: '/shared' })).status).toBe(404)
  })
})

test('the exposure of details is that of the newest server', async () => {
  const one = new Server({ exposeErrorDetails: true })
  one.get('/boom', () => {
    throw new Error('boom')
  })
  const body = async () => new TextDecoder().decode((await one.inject({ url: '/boom' })).body)
  expect(await body()).toContain('stack')
  new Server()
  expect(await body()).not.toContain('stack')
  for (const exposeErrorDetails of ['false', 1, null] as never[]) {
    expect(() => new Server({ exposeErrorDetails })).toThrow(/option "exposeErrorDetails" is .*true, false or "auto"/)
  }
  expect(await body()).not.toContain('stack')
})

test('options reach the kernel, unknown ones are refused', async () => {
  const logger = memoryLogger()
  const server = new Server({ logger, port: 0, host: '127.0.0.1', gracefulShutdown: false })
  expect(server.logger).toBe(logger)
  const { port } = await server.listen()
  expect((await fetch(`http://127.0.0.1:${port}/nope`)).status).toBe(404)
  await server.close()
  expect(() => new Server({ plugin: [] } as never)).toThrow(/Unknown option "plugin"/)
  expect(() => new Server({ plugins: 'cors' } as never)).toThrow('plugins is a string. It takes an object')
})

test('what would be dropped is refused: a second object, and nothing in place of options', () => {
  const Loose = Server as unknown as new (...given: unknown[]) => Server
  expect(() => new Loose({}, { plugins: {} })).toThrow(/^new Server\(\) takes one object of options/)
  expect(() => new Loose(null)).toThrow(/one object of options/)
})
