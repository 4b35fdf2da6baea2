import { definePlugin, type Middleware, type Registrable } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

const mark =
  (name: string): Middleware =>
  (_req, res, next) => {
    res.appendHeader('x-marks', name)
    return next()
  }

test('a middleware reaches the routes of its scope and below, and no sibling', async () => {
  const { kernel, router } = makeKernel()
  router.get('/open', () => 'open')
  kernel.register(
    definePlugin({
      name: 'admin',
      scoped: true,
      setup(ctx) {
        ctx.use(mark('admin'))
        ctx.get('/admin', () => 'admin')
        ctx.register(definePlugin({ name: 'inner', setup: (inner) => inner.get('/inner', () => 'inner') })())
      },
    })(),
  )
  kernel.register(definePlugin({ name: 'other', scoped: true, setup: (ctx) => ctx.get('/other', () => 'other') })())
  expect((await send(kernel, '/admin')).headers['x-marks']).toBe('admin')
  expect((await send(kernel, '/inner')).headers['x-marks']).toBe('admin')
  expect((await send(kernel, '/other')).headers['x-marks']).toBeUndefined()
  expect((await send(kernel, '/open')).headers['x-marks']).toBeUndefined()
  expect((await send(kernel, '/missing')).headers['x-marks']).toBeUndefined()
})

test('an unscoped plugin shares the context it is registered in', async () => {
  const { kernel, router } = makeKernel()
  router.get('/open', () => 'open')
  kernel.register(definePlugin({ name: 'shared', setup: (ctx) => ctx.use(mark('shared')) })())
  expect((await send(kernel, '/open')).headers['x-marks']).toBe('shared')
  expect((await send(kernel, '/missing')).headers['x-marks']).toBe('shared')
})

test('a prefix of the definition follows that of the registration, and creates a scope as well', async () => {
  const { kernel } = makeKernel()
  const shop = definePlugin({
    name: 'shop',
    prefix: '/shops/:shop',
    setup(ctx) {
      ctx.use(mark('shop'))
      ctx.get('/', (req) => `${ctx.prefix} ${req.params.shop}`)
      ctx.group('/items', [(req, res, next) => next(void res.setHeader('x-shop', req.params.shop))], (items) => {
        items.get('/:item', (req) => req.params.shop + req.params.item)
      })
    },
  })
  kernel.get('/', () => 'open')
  kernel.register(shop())
  kernel.register(definePlugin({ name: 'v1', scoped: true, setup: (ctx) => ctx.register(shop(), { prefix: '/v1' }) })())
  expect((await send(kernel, '/shops/a')).json).toBe('/shops/:shop a')
  expect((await send(kernel, '/v1/shops/b')).json).toBe('/v1/shops/:shop b')
  const item = await send(kernel, '/shops/a/items/1')
  expect([item.json, item.headers['x-shop'], item.headers['x-marks']]).toEqual(['a1', 'a', 'shop'])
  expect((await send(kernel, '/')).headers['x-marks']).toBeUndefined()
})

test.each([
  ['', /prefix must be a path/],
  [5, /prefix must be a path/],
  ['shops', /shops/],
  ['/files/*', /cannot end in a wildcard/],
])('a prefix of a definition that cannot be one is refused: %j', (prefix, message) => {
  expect(() => definePlugin({ name: 'a', prefix: prefix as '/a', setup() {} })).toThrow(message)
})

test('a prefix makes a scope and goes before every route, nested ones too', async () => {
  const { kernel } = makeKernel()
  const leaf = definePlugin({
    name: 'leaf',
    setup(ctx) {
      ctx.get('/', () => ctx.prefix)
      ctx.get('/:id', (req) => req.params.id)
      ctx.group('/deep', (routes) => routes.get('/er', () => 'deeper'))
    },
  })
  kernel.register(definePlugin({ name: 'api', setup: (ctx) => ctx.register(leaf(), { prefix: '/v1' }) })(), {
    prefix: '/api',
  })
  expect((await send(kernel, '/api/v1')).json).toBe('/api/v1')
  expect((await send(kernel, '/api/v1/7')).json).toBe('7')
  expect((await send(kernel, '/api/v1/deep/er')).json).toBe('deeper')
  expect((await send(kernel, '/v1')).status).toBe(404)
})

test('the middlewares of the scopes run root first', async () => {
  const { kernel } = makeKernel()
  kernel.use(mark('root'))
  kernel.register(
    definePlugin({
      name: 'outer',
      scoped: true,
      setup(ctx) {
        ctx.use(mark('outer'))
        ctx.register(
          definePlugin({
            name: 'inner',
            scoped: true,
            setup(inner) {
              inner.use(mark('inner'))
              inner.get('/x', { middlewares: [mark('route')] }, () => 'x')
            },
          })(),
        )
      },
    })(),
  )
  kernel.use(mark('root later'))
  expect((await send(kernel, '/x')).headers['x-marks']).toBe('root, root later, outer, inner, route')
})

test('services are seen by descendants, shadowed by nearer ones, and hidden from siblings', async () => {
  const { kernel } = makeKernel()
  const seen: Record<string, unknown> = {}
  const db = (name: string, value: string, scoped: boolean, then?: () => ReturnType<typeof look>) =>
    definePlugin({
      name,
      scoped,
      provide: () => ({ db: value }),
      setup: (ctx) => (then === undefined ? undefined : ctx.register(then())),
    })()
  const look = (name: string) =>
    definePlugin({
      name,
      setup(ctx) {
        seen[name] = ctx.services.find('db' as never)
      },
    })()
  kernel.register(db('one', 'root', false))
  kernel.register(db('two', 'nearer', true, () => look('below')))
  kernel.register(look('beside'))
  await kernel.ready()
  expect(seen).toEqual({ below: 'nearer', beside: 'root' })
  expect((kernel.services as unknown as { db: string }).db).toBe('root')
})

test('a scope may register a plugin of an ancestor again, and the nearer one applies', async () => {
  const { kernel } = makeKernel()
  const cors = definePlugin({ name: 'cors', setup: (ctx) => ctx.use(mark('cors')) })
  kernel.register(cors())
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        expect(ctx.hasPlugin('cors')).toBe(true)
        ctx.register(cors())
        ctx.get('/area', () => 'area')
      },
    })(),
  )
  expect((await send(kernel, '/area')).headers['x-marks']).toBe('cors')
})

test('a bare middleware is never taken for the plugin of the same name', async () => {
  const { kernel, router } = makeKernel()
  router.get('/open', () => 'open')
  kernel.use(function guard(_req, res) {
    res.forbidden()
  })
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.register(definePlugin({ name: 'guard', setup() {} })())
        ctx.get('/area', () => 'area')
      },
    })(),
  )
  expect((await send(kernel, '/area')).status).toBe(403)
})

test('a scoped plugin takes the place of an ancestor’s in its own scope only', async () => {
  const { kernel } = makeKernel()
  kernel.register(definePlugin({ name: 'marks', setup: (ctx) => ctx.use(mark('outer')) })())
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.get('/area', () => 'area')
        ctx.register(
          definePlugin({
            name: 'marks',
            scoped: true,
            setup(inner) {
              inner.use(mark('inner'))
              inner.get('/inner', () => 'inner')
            },
          })(),
        )
      },
    })(),
  )
  expect((await send(kernel, '/area')).headers['x-marks']).toBe('outer')
  expect((await send(kernel, '/inner')).headers['x-marks']).toBe('inner')
})

test('the nearest error handler answers', async () => {
  const { kernel, router } = makeKernel()
  const fail = () => {
    throw new Error('x')
  }
  router.get('/root', fail)
  kernel.setErrorHandler((_req, res) => res.status(418).json('root'))
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.setErrorHandler((_req, res) => res.status(400).json('area'))
        ctx.get('/area', fail)
      },
    })(),
  )
  expect(await send(kernel, '/area')).toMatchObject({ status: 400, text: '"area"' })
  expect(await send(kernel, '/root')).toMatchObject({ status: 418, text: '"root"' })
})

test('ctx.scope names each scope of a server once', async () => {
  const { kernel } = makeKernel()
  const seen: string[] = []
  const see = (name: string, inner?: () => Registrable) =>
    definePlugin({
      name,
      scoped: name !== 'plain',
      setup(ctx) {
        seen.push(ctx.scope)
        ctx.get(`/${seen.length}`, () => name)
        if (inner !== undefined) ctx.register(inner())
      },
    })()
  kernel.register(see('plain'))
  kernel.register(see('shop', () => see('admin')))
  kernel.register(
    see('a b/c%', () => see('admin')),
    { prefix: '/x' },
  )
  await kernel.ready()
  expect(seen).toEqual(['', 'shop', 'shop/admin', 'a%20b%2Fc%25', 'a%20b%2Fc%25/admin'])
})

test('onLate hooks surround what comes after the chain of their scope, the outer one first', async () => {
  const { kernel, router } = makeKernel()
  const calls: string[] = []
  const note = (what: string) => (): void => void calls.push(what)
  const late = (name: string, inner?: () => Registrable) =>
    definePlugin({
      name,
      scoped: true,
      setup(ctx) {
        ctx.onLate((req, work) => {
          calls.push(`${name} ${req.path}`)
          return work()
        })
        ctx.get(`/${name}`, () => Promise.reject(new Error('boom')))
        if (inner !== undefined) ctx.register(inner())
      },
    })()
  const hooks = definePlugin({
    name: 'hooks',
    setup(ctx) {
      ctx.onSend(note('send'))
      ctx.onResponse(note('response'))
      ctx.onError(note('error'))
    },
  })
  kernel.register(hooks())
  kernel.setErrorHandler((_req, res) => {
    calls.push('handler')
    return res.text('failed')
  })
  kernel.register(late('one', () => late('two')))
  router.get('/out', () => 'out')
  await kernel.inject({ url: '/out' })
  expect(calls.splice(0)).toEqual(['send', 'response'])
  await kernel.inject({ url: '/one' })
  expect(calls.splice(0)).toEqual(['error', 'handler', 'send', 'response'].flatMap((what) => ['one /one', what]))
  await kernel.inject({ url: '/two' })
  expect(calls).toEqual(['error', 'handler', 'send', 'response'].flatMap((what) => ['one /two', 'two /two', what]))
})

test('onSend, onResponse and onError reach their scope only', async () => {
  const { kernel, router } = makeKernel()
  const calls: string[] = []
  router.get('/out', () => 'out')
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.onSend((req, res) => {
          calls.push(`send ${req.path}`)
          res.setHeader('x-sent', 'yes')
        })
        ctx.onResponse((req, res, ms) => void calls.push(`response ${req.path} ${res.statusCode} ${typeof ms}`))
        ctx.onError((error, req) => void calls.push(`error ${req.path} ${(error as Error).message}`))
        ctx.get('/in', () => 'in')
        ctx.get('/bad', () => Promise.reject(new Error('bad')))
      },
    })(),
  )
  expect((await send(kernel, '/in')).headers['x-sent']).toBe('yes')
  expect((await send(kernel, '/out')).headers['x-sent']).toBeUndefined()
  await send(kernel, '/bad')
  expect(calls).toEqual([
    'send /in',
    'response /in 200 number',
    'error /bad bad',
    'send /bad',
    'response /bad 500 number',
  ])
})

test('hooks of the root reach 404 and 405 too', async () => {
  const { kernel } = makeKernel()
  const calls: string[] = []
  kernel.register(
    definePlugin({
      name: 'observer',
      setup(ctx) {
        ctx.onSend((_req, res) => void res.setHeader('x-sent', 'yes'))
        ctx.onResponse((_req, res) => void calls.push(String(res.statusCode)))
      },
    })(),
  )
  expect((await send(kernel, '/missing')).headers['x-sent']).toBe('yes')
  expect((await send(kernel, '/%zz')).headers['x-sent']).toBe('yes')
  expect(calls).toEqual(['404', '400'])
})

test('a 405 goes through the middlewares of the scope whose path it is', async () => {
  const { kernel } = makeKernel()
  kernel.register(
    definePlugin({
      name: 'area',
      scoped: true,
      setup(ctx) {
        ctx.use(mark('area'))
        ctx.onSend((_req, res) => void res.setHeader('x-sent', 'area'))
        ctx.get('/area', () => 'area')
      },
    })(),
  )
  expect(await send(kernel, '/area', 'PUT')).toMatchObject({
    status: 405,
    headers: { allow: 'GET', 'x-marks': 'area', 'x-sent': 'area' },
  })
  expect((await send(kernel, '/nowhere')).headers['x-marks']).toBeUndefined()
})

test('a decoration holds for one server only', async () => {
  const one = makeKernel()
  const two = makeKernel()
  for (const { router } of [one, two]) router.get('/', (req) => (req as unknown as { agent?: string }).agent ?? 'none')
  one.kernel.register(
    definePlugin({
      name: 'agent',
      setup: (ctx) =>
        ctx.decorate('request', {
          agent: {
            get(this: { headers: Record<string, string> }) {
              return this.headers['user-agent']
            },
          },
        }),
    })(),
  )
  expect((await send(one.kernel, '/', 'GET', { headers: { 'user-agent': 'me' } })).json).toBe('me')
  expect((await send(two.kernel, '/', 'GET', { headers: { 'user-agent': 'me' } })).json).toBe('none')
})
