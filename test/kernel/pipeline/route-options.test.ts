import { definePlugin, type Middleware, option, RouteCollection, type RouteOptions, Server } from 'framework'
import { Kernel, kernelOptions } from 'framework/kernel'
import { policy } from 'framework/plugins/policy'
import { describe, expect, test } from 'vitest'
import { makeKernel, memoryLogger, send } from '../../support/kernel.ts'

const loose = (options: object) => options as RouteOptions
const limited = definePlugin({ name: 'limited', routeOptions: { max: option.int() }, setup() {} })

function serverWith(options: object, more: object = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({ router: new RouteCollection(), logger, ...more })
  server.get('/door', loose(options), () => 'open')
  return { server, log: logger.entries }
}

describe('an option of a route that no plugin takes fails the boot', () => {
  test.each<[string, object, RegExp]>([
    ['in the singular', { middleware: () => {} }, /"middleware"\. Did you mean "middlewares"\?/],
    ['misspelt', { polciy: {} }, /"polciy"\. Did you mean "policy"\?/],
    ['of another case', { Policy: {} }, /"Policy"\. Did you mean "policy"\?/],
    [
      'like nothing there',
      { authenticated: true },
      /"authenticated"\. Register the plugin that takes it, .* Route options that are taken here: all, apidoc, body, headers, issues, json, /,
    ],
    ['turned off', { jsno: false }, /"jsno"\. Did you mean "json"\?/],
    ['of null', { guard: null }, /"guard"/],
    ['named by a symbol', { [Symbol('@guarded')]: true }, /"@guarded"/],
    ['in the description', { apidoc: { policy: {} } }, /"policy" is in its apidoc, where it has no effect/],
    ['misspelt there', { apidoc: { polciy: {} } }, /"polciy" is in its apidoc.* Did you mean "policy"\?/],
    ['inherited', Object.create({ polciy: {} }), /"polciy"\. Did you mean "policy"\?/],
    [
      'a member of a class',
      new (class {
        get polciy() {
          return {}
        }
      })(),
      /"polciy"\. Did you mean "policy"\?/,
    ],
  ])('%s', async (_what, options, message) => {
    await using server = serverWith(options).server
    await expect(server.ready()).rejects.toThrow(message)
    await expect(server.ready()).rejects.toThrow(/^GET \/door \(registered at .*route-options\.test\.ts:\d+:\d+\)/)
  })

  test.each([
    ['a Promise', Promise.resolve({ policy: {} })],
    ['a Map', new Map([['policy', {}]])],
  ])('%s of options is refused where the route is registered', (what, options) => {
    expect(() => serverWith(options)).toThrow(`GET /door: got ${what} instead of options or a handler`)
    const routes = new RouteCollection()
    expect(() => routes.ws('/live', loose(options), {})).toThrow(`ws /live: the options are ${what}, not an object`)
    expect(() => routes.get('/x', [], () => 1, options as never)).toThrow(
      `the description after the handler is ${what}`,
    )
  })

  test('in a group, in the older form, and on the route of a plugin, which is named', async () => {
    const routes = new RouteCollection()
    routes.group('/g', [], (r) => r.get('/x', loose({ gaurd: 1 }), () => 1))
    await expect(new Server({ router: routes }).ready()).rejects.toThrow(/GET \/g\/x .*"gaurd"/)

    const old = new RouteCollection()
    old.get('/x', [], () => 1, { policy: {} } as never)
    await expect(new Server({ router: old }).ready()).rejects.toThrow('"policy" is in its apidoc')

    const { kernel } = makeKernel()
    const pages = definePlugin({ name: 'pages', setup: (ctx) => ctx.get('/p', loose({ gaurd: 1 }), () => 1) })
    kernel.register(pages())
    await expect(kernel.ready()).rejects.toThrow(/GET \/p \(registered at .*, by the plugin "pages"\): .*"gaurd"/)
  })

  test.each([
    ['with the plugin that reads it', true],
    ['where that is turned off', false],
  ])('in the description, %s', async (_where, openapi) => {
    const { server } = serverWith({ apidoc: { polciy: {}, rateLimit: {} } }, { plugins: { openapi, rateLimit: true } })
    await expect(server.ready()).rejects.toThrow(
      /: 2 options are wrong:\n- "polciy" is in its apidoc.*\n- "rateLimit" is in its apidoc/,
    )
  })

  test('a kernel takes a description without reading it, in the older form as well', async () => {
    const { kernel, router } = makeKernel()
    router.get('/old', [], () => 1, { summary: 'old' })
    router.get('/new', { apidoc: { summary: 'new' } }, () => 1)
    await kernel.ready()
    expect(router.routes.map(({ options }) => options.apidoc)).toEqual([{ summary: 'old' }, { summary: 'new' }])
    await kernel.close()
  })

  test('a late one is left out and logged, not left open', async () => {
    const { server, log } = serverWith({})
    await server.ready()
    server.get('/late', loose({ polciy: {} }), () => 'open')
    ;(await server.inject.get('/late')).assertStatus(404)
    expect(log.map(({ message }) => message)).toEqual(['a route was registered after boot and is ignored'])
    await server.close()
  })

  test('a kernel knows the options of its plugins, and `policy` without its plugin does not open a route', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', loose({ policy: {} }), () => 'open')
    await expect(kernel.ready()).rejects.toThrow('no registered plugin takes the route option "policy"')
    const guarded = new Kernel(kernelOptions.parse({ router, gracefulShutdown: false })).register(policy())
    await expect(guarded.ready()).rejects.toThrow('policy.manager')
  })

  test('one that an onRoute hook asks for is known without a declaration, unless the hook goes through all of them', async () => {
    const seen: unknown[] = []
    const asks = definePlugin({
      name: 'asks',
      setup: (ctx) => ctx.onRoute((route) => void seen.push((route.options as { max?: number }).max)),
    })
    const asked = serverWith({ max: 3 }, { plugins: [asks()] }).server
    await asked.ready()
    expect(seen).toEqual([3])
    await asked.close()
    await using misspelt = serverWith({ mxa: 3 }, { plugins: [asks()] }).server
    await expect(misspelt.ready()).rejects.toThrow('"mxa"')

    const prints = definePlugin({
      name: 'prints',
      setup: (ctx) => ctx.onRoute((route) => void seen.push(JSON.stringify(route.options))),
    })
    await using printed = serverWith({ polciy: {} }, { plugins: [prints()] }).server
    await expect(printed.ready()).rejects.toThrow('"polciy". Did you mean "policy"?')
  })

  test('those of a plugin hold in its scope and below, and nowhere else', async () => {
    const { kernel, router } = makeKernel()
    const inner = definePlugin({ name: 'inner', setup: (ctx) => ctx.get('/deep', loose({ max: 1 }), () => 1) })
    const outer = definePlugin({
      name: 'outer',
      scoped: true,
      setup(ctx) {
        ctx.register(limited())
        ctx.register(inner(), { prefix: '/in' })
        ctx.get('/near', loose({ max: 1 }), () => 1)
      },
    })
    kernel.register(outer())
    await kernel.ready()
    expect((await send(kernel, '/in/deep')).status).toBe(200)
    expect((await send(kernel, '/near')).status).toBe(200)
    router.get('/far', loose({ max: 1 }), () => 1)
    expect((await send(kernel, '/far')).status).toBe(404)
  })
})

describe('an option whose plugin is in the catalog and not on the server', () => {
  test.each<[string, object]>([
    ['rateLimit', { rateLimit: { limit: 5 } }],
    ['timeout', { timeout: 500 }],
    ['helmet', { helmet: {} }],
    ['upload', { upload: { maxFiles: 1 } }],
    ['urlencoded', { urlencoded: { sizeLimit: '1kb' } }],
  ])('%s, on which a route counts, fails the boot with the plugin to register', async (plugin, options) => {
    await using server = serverWith(options).server
    await expect(server.ready()).rejects.toThrow(
      `the plugin "${plugin}", which takes the route option "${plugin}", is not registered in its scope. Register it, plugins: { ${plugin}: … }, or turn it off, plugins: { ${plugin}: false }`,
    )
    await using off = serverWith(options, { plugins: { [plugin]: false } }).server
    ;(await off.inject.get('/door')).assertStatus(200)
  })

  test.each<[string, object]>([
    ['auth', { auth: true }],
    ['idempotency', { idempotency: true }],
  ])('%s, on which callers rely, fails the boot also where it was turned off', async (plugin, options) => {
    for (const plugins of [{}, { [plugin]: false }])
      await expect(serverWith(options, { plugins }).server.ready()).rejects.toThrow(
        new RegExp(
          `GET /door .*the plugin "${plugin}", .* Register it, plugins: \\{ ${plugin}: … \\}, or remove the option`,
        ),
      )
  })

  test('false is valid without the plugin', async () => {
    const { server, log } = serverWith({ rateLimit: false, timeout: false, helmet: false, upload: false, cache: false })
    ;(await server.inject.get('/door')).assertStatus(200)
    expect(log).toEqual([])
    await server.close()
  })

  test('one that promises nothing is a warning, once for all its routes', async () => {
    const { server, log } = serverWith({ cache: { ttl: 5 }, log: true })
    server.get('/second', { cache: true }, () => 1)
    ;(await server.inject.get('/door')).assertStatus(200).assertHeaderNotExists('x-cache')
    expect(log.map(({ level, message }) => `${level} ${message}`)).toEqual([
      expect.stringMatching(/^warn GET \/door \(.+\) and 1 more: the plugin "cache", which takes .* is not registered/),
      expect.stringMatching(/^warn GET \/door \(.+\): the plugin "log"/),
    ])
    await server.close()
  })
})

test('the route options of a definition are checked where it is defined', () => {
  for (const wrong of ['max', [5], 5]) {
    expect(() => definePlugin({ name: 'p', routeOptions: wrong as never })).toThrow('routeOptions must be an object')
  }
})

describe('an invalid middleware fails where it is registered', () => {
  const handler = () => 1
  const wrong: [string, unknown, string][] = [
    ['a plugin that was not called', policy, 'is the plugin "policy", which belongs in register()'],
    ['a registration', policy(), 'is an object, not a function'],
    ['a text', 'auth', 'is a string, not a function'],
  ]
  test.each(wrong)('%s', (_what, given, why) => {
    const routes = new RouteCollection()
    const list = [() => {}, given] as never[]
    expect(() => routes.get('/a', loose({ middlewares: list }), handler)).toThrow(`options.middlewares[1] ${why}`)
    expect(() => routes.get('/a', list, handler)).toThrow(`middleware 1 ${why}`)
    expect(() => routes.group('/a', list, () => {})).toThrow(`group /a: middleware 1 ${why}`)
  })
})

test('a list of middlewares that is null fails where its route is registered', () => {
  const routes = new RouteCollection()
  const register = (options: object) => () => routes.get('/a', loose(options), () => 1)
  expect(register({ middlewares: null })).toThrow(/^GET \/a: options.middlewares is null, not an array/)
  expect(register(Object.create({ middlewares: null }))).toThrow(/options.middlewares is null/)
})

describe('a guard that is added to a list after the list was used', () => {
  const deny: Middleware = (_req, res) => res.forbidden()
  const open: Middleware = (_req, _res, next) => next()

  test('guards the routes of a group and a route itself until the server boots, then the list is closed', async () => {
    const [outer, inner, own] = [[open], [open], [open]]
    const { server } = serverWith({})
    server.group('/outer', outer, (group) => {
      group.get('/a', () => 'open')
      group.group('/inner', inner, (nested) => nested.get('/b', () => 'open'))
    })
    server.group('/inner', inner, (group) => group.get('/c', () => 'open'))
    server.get('/own', { middlewares: own }, () => 'open')
    outer.push(deny)
    own.push(deny)
    const paths = ['/outer/a', '/outer/inner/b', '/own', '/inner/c']
    const responses = await Promise.all(paths.map((path) => server.inject.get(path)))
    expect(responses.map((response) => response.statusCode())).toEqual([403, 403, 403, 200])
    for (const list of [outer, inner, own]) expect(() => list.push(deny)).toThrow(TypeError)
    await server.close()
  })

  test.each([
    ['undefined', undefined, 'is nothing, not a function'],
    ['a plugin', policy, 'is the plugin "policy", which belongs in register()'],
  ])('fails the boot if it is %s', async (_what, given, why) => {
    const list = [open]
    const { server } = serverWith({})
    server.group('/area', list, (group) => group.get('/a', () => 'open'))
    list.push(given as never)
    await expect(server.ready()).rejects.toThrow(`GET /area/a: a middleware in "group" ${why}`)
  })
})

describe('what was given for a route, once the route is registered', () => {
  const deny: Middleware = (_req, res) => res.forbidden()

  test('a guard that is taken from a list, or replaced there, fails the boot', async () => {
    for (const which of [0, 1]) {
      const other: Middleware = (req, res, next) => deny(req, res, next)
      const [group, own] = which === 0 ? [[deny], [other]] : [[other], [deny]]
      const list = [group, own][which]!
      const { server } = serverWith({})
      server.group('/area', group, (routes) => routes.get('/a', { middlewares: own }, () => 'open'))
      list[0] = (_req, _res, next) => next()
      await expect(server.ready()).rejects.toThrow(
        /GET \/area\/a \(registered at .*\): the middleware deny is no longer in the list/,
      )
    }
  })

  test('its options may be changed and used again, without any effect on it', async () => {
    const inherited: { middlewares?: Middleware[] } = { middlewares: [deny] }
    const options: { middlewares?: Middleware[] } = { middlewares: [deny] }
    const { server } = serverWith({})
    server.get('/a', options, () => 'open')
    server.get('/b', Object.create(inherited), () => 'open')
    server.any('/c', options, () => 'open')
    delete inherited.middlewares
    options.middlewares = []
    Reflect.set(options, 'unknown', true)
    const responses = await Promise.all(['/a', '/b', '/c'].map((path) => server.inject.get(path)))
    expect(responses.map((response) => response.statusCode())).toEqual([403, 403, 403])
    await server.close()
  })
})

test('a group that is defined asynchronously fails at once, whatever comes of it', () => {
  const routes = new RouteCollection()
  const later = async () => {
    throw new Error('no one hears of this')
  }
  // @ts-expect-error the compiler refuses a promise
  expect(() => routes.group('/a', later)).toThrow('group /a: define is asynchronous')
})

test('an option of a plugin is unknown where another plugin of the same name is registered nearer', async () => {
  const guard = definePlugin({
    name: 'guard',
    routeOptions: { locked: option.flag() },
    setup: (ctx) =>
      ctx.onRoute((route) => {
        if (route.settings.locked) route.add('guard', (_req, res) => res.forbidden())
      }),
  })
  const other = definePlugin({ name: 'guard', setup() {} })
  const area = (inner: typeof other) =>
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.register(inner())
        ctx.get('/door', loose({ locked: true }), () => 'open')
      },
    })()
  const { kernel } = makeKernel()
  kernel.register(guard())
  kernel.register(area(other))
  await expect(kernel.ready()).rejects.toThrow('no registered plugin takes the route option "locked"')

  const again = makeKernel().kernel
  again.register(guard())
  again.register(area(guard as typeof other))
  expect((await send(again, '/door')).status).toBe(403)
  await again.close()
})
