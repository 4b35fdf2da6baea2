import { type Context, definePlugin, option } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

const empty = (name: string, dependencies: string[] = []) => definePlugin({ name, dependencies, setup() {} })

describe('errors of the plugin tree name the plugin and the remedy', () => {
  test('a missing dependency, with the nearest name', async () => {
    const { kernel } = makeKernel()
    kernel.register(empty('audti')())
    kernel.register(empty('reports', ['audit'])())
    await expect(kernel.ready()).rejects.toThrow(
      /"reports" depends on "audit", which is not registered.*Did you mean "audti"\? Otherwise register "audit"/,
    )
  })

  test('a missing dependency that is like nothing there', async () => {
    const { kernel } = makeKernel()
    kernel.register(empty('reports', ['database'])())
    await expect(kernel.ready()).rejects.toThrow(
      /"reports" depends on "database".*Register it, for example plugins: \[database\(\), reports\(\)\]. Registered: nothing/,
    )
  })

  test('a member that is misspelt, and none that is its author’s own', () => {
    const define = (member: string) => () => definePlugin({ name: 'p', [member]: () => {} })
    expect(define('setUp')).toThrow('"setUp" is not a member of a plugin; did you mean "setup"?')
    expect(define('provides')).toThrow('did you mean "provide"?')
    expect(define('homepage')).not.toThrow()
  })

  test.each([
    ['request', 'body'],
    ['request', 'timeLimit'],
    ['response', 'payload'],
    ['response', 'started'],
  ])('a decoration of what every %s has of its own, %s', async (target, member) => {
    const { kernel } = makeKernel()
    const setup = (ctx: Context) => ctx.decorate(target as 'request', { [member]: { value: 1 } })
    kernel.register(definePlugin({ name: 'p', setup })())
    await expect(kernel.ready()).rejects.toThrow(
      `decorates the ${target} with "${member}", which is a field of the kernel`,
    )
  })

  test('a cycle, with its whole path', async () => {
    const { kernel } = makeKernel()
    kernel.register(empty('a', ['b'])())
    kernel.register(empty('b', ['c'])())
    kernel.register(empty('c', ['a'])())
    await expect(kernel.ready()).rejects.toThrow(/in a cycle: a → b → c → a/)
  })

  test('a cycle that others wait for', async () => {
    const { kernel } = makeKernel()
    kernel.register(empty('z', ['a'])())
    kernel.register(empty('a', ['b'])())
    kernel.register(empty('b', ['a'])())
    await expect(kernel.ready()).rejects.toThrow(/in a cycle: a → b → a/)
  })

  test('a duplicate, with both places', () => {
    const { kernel } = makeKernel()
    kernel.register(empty('twice')())
    expect(() => kernel.register(empty('twice')())).toThrow(
      /"twice" is registered twice in one scope: at .*errors\.test\.ts:\d+:\d+ and at .*errors\.test\.ts:\d+:\d+/,
    )
  })

  test('a service that two plugins provide', () => {
    const { kernel } = makeKernel()
    kernel.register(definePlugin({ name: 'one', provide: () => ({ db: 1 }) })())
    expect(() => kernel.register(definePlugin({ name: 'two', provide: () => ({ db: 2 }) })())).toThrow(
      /the service "db" is provided by "one" and by "two"/,
    )
  })

  test('a service that no one provides, with the nearest name and the existing ones', () => {
    const { kernel } = makeKernel()
    kernel.register(definePlugin({ name: 'one', provide: () => ({ cache: 1 as never }) })())
    expect(() => kernel.services.get('cahce' as never)).toThrow(
      /no service "cahce" here. Did you mean "cache"\? Otherwise register the plugin that provides "cahce". Some come when the server boots: await server.ready\(\). Provided here: cache/,
    )
    expect(kernel.services.find('cahce' as never)).toBeUndefined()
  })

  test('registering, using and a kept context after boot', async () => {
    const { kernel } = makeKernel()
    let kept:
      | { use(fn: () => void): void; get(path: string, handler: () => void): void; onClose(fn: () => void): void }
      | undefined
    kernel.register(
      definePlugin({
        name: 'keeper',
        setup(ctx) {
          kept = ctx
        },
      })(),
    )
    await kernel.ready()
    expect(() => kernel.register(empty('late')())).toThrow(/register\(\) was called after boot/)
    expect(() => kernel.use(() => {})).toThrow(/use\(\) was called after boot/)
    expect(() => kept?.use(() => {})).toThrow(/"keeper" adds the middleware .* after boot/)
    expect(() => kept?.onClose(() => {})).toThrow(/"keeper" adds the hook onClose after boot/)
    expect(() => kept?.get('/x', () => {})).toThrow(/"keeper" registers the route GET \/x after boot/)
  })

  test('another contract version, with both numbers', () => {
    const { kernel } = makeKernel()
    const foreign = { plugin: { name: 'old' }, options: undefined, [Symbol.for('framework.plugin')]: 7 }
    expect(() => kernel.register(foreign as never)).toThrow(/"old" was built for plugin contract 7, this is contract 1/)
  })

  test('a setup that throws, with the cause kept', async () => {
    const { kernel } = makeKernel()
    const cause = new Error('no route to database')
    kernel.register(
      definePlugin({
        name: 'db',
        setup() {
          throw cause
        },
      })(),
    )
    const error = await kernel.ready().catch((e: Error) => e)
    expect(error).toMatchObject({
      code: 'PluginSetupError',
      message: expect.stringMatching(/"db" failed in setup: no route to database/),
      cause,
    })
  })

  test('a setup that never ends', async () => {
    const { kernel } = makeKernel({ bootTimeout: 50 })
    kernel.register(definePlugin({ name: 'hung', setup: () => new Promise(() => {}) })())
    await expect(kernel.ready()).rejects.toThrow(/"hung" did not finish its setup within 50 ms.*raise bootTimeout/)
  })

  test('a provide that throws, or is async', () => {
    const { kernel } = makeKernel()
    const throws = definePlugin({
      name: 'p',
      provide(): object {
        throw new Error('nope')
      },
    })
    expect(() => kernel.register(throws())).toThrow(/"p" failed in provide: nope/)
    const rejected = () => Promise.reject(new Error('later'))
    // biome-ignore lint/suspicious/noThenProperty: what is asynchronous need be no promise
    const thenable = () => ({ then() {} })
    for (const provide of [async () => ({}), rejected, thenable]) {
      const late = definePlugin({ name: 'q', provide: provide as () => object })
      expect(() => makeKernel().kernel.register(late())).toThrow(/"q" failed in provide: it is async/)
    }
    for (const wrong of [[], 'db', 5, null]) {
      const plugin = definePlugin({ name: 'r', provide: (() => wrong) as () => object })
      expect(() => makeKernel().kernel.register(plugin())).toThrow(
        /"r" failed in provide: it does not return an object/,
      )
    }
  })

  test('a service that is undefined; none of the others is left', async () => {
    const { kernel } = makeKernel()
    const lost = definePlugin({ name: 'lost', provide: () => ({ one: 1, two: undefined }) })
    expect(() => kernel.register(lost())).toThrow('the plugin "lost" provides the service "two", which is undefined')
    expect(kernel.services.names()).toEqual([])
    kernel.register(definePlugin({ name: 'late', setup: (ctx) => ctx.provide('three' as never, undefined as never) })())
    await expect(kernel.ready()).rejects.toThrow('the plugin "late" provides the service "three", which is undefined')
  })

  test('a service that exists already; none of the others is kept', () => {
    const { kernel } = makeKernel()
    const plugin = (name: string, services: object) => definePlugin({ name, provide: () => services })()
    kernel.register(plugin('first', { two: 2 }))
    expect(() => kernel.register(plugin('second', { one: 1, two: 2 }))).toThrow('provided by "first" and by "second"')
    expect(kernel.services.names()).toEqual(['two'])
    kernel.register(plugin('second', { one: 1 }))
    expect(kernel.services.names()).toEqual(['one', 'two'])
  })

  test.each([
    [
      [{}, { prefix: '/api' }, {}],
      "limited() takes its options and how to register it: { prefix: '/path' }, nothing more",
    ],
    [[{}, { prefx: '/api' }], 'Unknown option "limited.prefx". Did you mean "prefix"?'],
    [[{}, { prefix: undefined }], 'the option "limited.prefix" is undefined; it takes a path: \'/admin\''],
    [[{}, { prefix: 5 }], 'the option "limited.prefix" is 5'],
    [[{}, { prefix: 'api' }], 'the path "api" does not begin with "/"'],
    [[{}, '/api'], 'limited'],
    [[{}, null], 'limited'],
  ])('a factory that is given %j', (args, message) => {
    const factory = empty('limited') as unknown as (...args: unknown[]) => unknown
    expect(() => factory(...args)).toThrow(message)
  })

  test('a prefix under which nothing has a route: a guard there would guard nothing', async () => {
    const { kernel, router } = makeKernel()
    router.get('/api/books', () => [])
    const limit = definePlugin({ name: 'limit', setup: (ctx) => ctx.use((_req, res) => res.tooManyRequests()) })
    kernel.register(limit(undefined, { prefix: '/api' }))
    await expect(kernel.ready()).rejects.toThrow(
      /the plugin "limit" is registered under the prefix \/api \(at .*errors\.test\.ts:\d+:\d+\), but no route is in it, so what it adds would reach no request/,
    )
    const { kernel: other } = makeKernel()
    const books = definePlugin({ name: 'books', setup: (ctx) => ctx.get('/books', () => []) })
    const api = definePlugin({
      name: 'api',
      setup(ctx) {
        ctx.register(limit())
        ctx.register(books())
      },
    })
    other.register(api(undefined, { prefix: '/api' }))
    expect(await send(other, '/api/books')).toMatchObject({ status: 429 })
  })

  test('two prefixes for one registration', () => {
    const { kernel } = makeKernel()
    expect(() => kernel.register(empty('a')(undefined, { prefix: '/one' }), { prefix: '/two' })).toThrow(
      'the plugin "a" was given the prefix /one already: keep one of the two',
    )
  })

  test('a factory that was not called and needs options', () => {
    const { kernel } = makeKernel()
    const needy = definePlugin({ name: 'needy', provide: (options: { keep: number }) => ({ size: options.keep }) })
    expect(() => kernel.register(needy as never)).toThrow(
      /"needy" failed in provide: .*Its factory was passed without being called: .* write needy\(\{ … \}\)/,
    )
  })

  test('a factory that was not called and needs none works', async () => {
    const { kernel } = makeKernel()
    kernel.register(empty('plain') as never)
    await kernel.ready()
    expect(kernel.plugins.children.map((node) => node.name)).toEqual(['plain'])
  })

  test.each([[{}], [5], ['cors'], [null], [[]]])('a value that is not a plugin: %j', (value) => {
    const { kernel } = makeKernel()
    expect(() => kernel.register(value as never)).toThrow(/is neither a plugin nor a middleware/)
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: 'x', setup: 5 }],
    [{ name: 'x', dependencies: 'y' }],
  ])('a definition that is wrong: %j', (definition) => {
    expect(() => definePlugin(definition as never)).toThrow(/definePlugin\(/)
  })

  test('a ready hook and a listen hook that throw', async () => {
    const { kernel } = makeKernel()
    kernel.register(
      definePlugin({ name: 'warm', setup: (ctx) => ctx.onReady(() => Promise.reject(new Error('cold'))) })(),
    )
    await expect(kernel.listen()).rejects.toThrow(/"warm" failed in a ready hook: cold/)
    const other = makeKernel().kernel
    other.register(
      definePlugin({ name: 'jobs', setup: (ctx) => ctx.onListen(() => Promise.reject(new Error('no broker'))) })(),
    )
    await expect(other.listen()).rejects.toThrow(/"jobs" failed in a listen hook: no broker/)
    expect(other.isListening).toBe(false)
  })

  test('a decoration that exists already', async () => {
    const { kernel } = makeKernel()
    const decorates = (name: string) =>
      definePlugin({ name, setup: (ctx) => ctx.decorate('request', { user: { value: name } }) })()
    kernel.register(decorates('one'))
    kernel.register(decorates('two'))
    await expect(kernel.ready()).rejects.toThrow(
      /"two" decorates the request with "user", which the plugin "one" \(registered at .*errors\.test\.ts:\d+:\d+\) already added\. Choose another/,
    )
  })

  test.each([
    ['req', { user: { value: 1 } }, 'decorates "req"; it takes "request" or "response"'],
    ['request', { user: () => 1 }, 'decorates the request with "user", which is not a property descriptor: { get()'],
    ['response', { user: { writable: true } }, 'the response with "user", which is not a property descriptor'],
    ['request', { user: 'ann' }, 'the request with "user", which is not a property descriptor'],
  ])('a decoration of %s that would add nothing', async (target, members, message) => {
    const { kernel } = makeKernel()
    const setup = (ctx: Context) => ctx.decorate(target as 'request', members as never)
    kernel.register(definePlugin({ name: 'p', setup })())
    await expect(kernel.ready()).rejects.toThrow(message)
  })

  test('a definition whose setup is an object, or whose options are not a check', () => {
    expect(() => definePlugin({ name: 'p', provide: { a: 1 } } as never)).toThrow(
      'definePlugin(p): provide must be a function, and its type is object',
    )
    expect(() => definePlugin({ name: 'p', options: { a: option.int() } } as never)).toThrow(
      'options must be a shape of checks, option.shape({ … }), a Standard Schema or a function',
    )
  })

  test('an onRoute hook that is async: its additions would come too late', async () => {
    const { kernel } = makeKernel()
    kernel.get('/door', () => 'open')
    const setup = (ctx: Context) =>
      ctx.onRoute(async (route) => {
        await Promise.resolve()
        route.add('guard', (_req, res) => res.forbidden())
      })
    kernel.register(definePlugin({ name: 'guards', setup })())
    await expect(kernel.ready()).rejects.toThrow(
      /GET \/door cannot be compiled: an onRoute hook must be synchronous, but this one returned a promise.* \(plugin "guards"\)/,
    )
  })

  test('a plugin in several scopes decorates once; in one scope a name is taken', async () => {
    const { kernel } = makeKernel()
    const user = definePlugin({
      name: 'user',
      scoped: true,
      setup: (ctx) => {
        ctx.decorate('request', { user: { value: 'ann' } })
        ctx.get('/user', () => 'ann')
      },
    })
    kernel.register(user(), { prefix: '/a' })
    kernel.register(definePlugin({ name: 'area', scoped: true, setup: (ctx) => ctx.register(user()) })())
    await kernel.ready()
    const { kernel: other } = makeKernel()
    const twice = definePlugin({
      name: 'twice',
      setup(ctx) {
        ctx.decorate('request', { user: { value: 'ann' } })
        ctx.decorate('request', { user: { value: 'bob' } })
      },
    })
    other.register(twice())
    await expect(other.ready()).rejects.toThrow(/the plugin "twice" \(.+\) already added/)
  })
})
