import { defineMiddleware, definePlugin } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel, pause } from '../../../support/kernel.ts'

function application() {
  const made = makeKernel()
  made.router.get(
    '/posts/:id',
    [
      function author(_req, _res, next) {
        return next()
      },
    ],
    function showPost() {},
  )
  made.kernel.use(function everywhere(_req, _res, next) {
    return next()
  })
  made.kernel.register(
    definePlugin({
      name: 'audit',
      version: '1.2.0',
      provide: (_options: { keep: number; sink: string; level?: string }) => ({ audit: [] }),
      async setup(ctx) {
        await pause(5)
        ctx.get('/audit', () => [])
        ctx.onReady(() => pause(5))
        ctx.onClose(() => pause(5))
        ctx.register(
          definePlugin({
            name: 'admin',
            scoped: true,
            setup(inner) {
              inner.use(function requireRole(_req, res) {
                res.forbidden()
              })
              inner.get('/stats', function stats() {})
            },
          })(),
          { prefix: '/admin' },
        )
      },
    })({ keep: 5, sink: 'secret', level: undefined }),
  )
  return made
}

test('the tree shows the contributions of each plugin, and the time of each phase', async () => {
  const { kernel } = application()
  await kernel.ready()
  await kernel.close()
  const [first, audit] = kernel.plugins.children
  expect(kernel.plugins.name).toBe('root')
  expect(first).toMatchObject({ name: 'everywhere', middlewares: ['everywhere'] })
  expect(audit).toMatchObject({
    name: 'audit',
    version: '1.2.0',
    scoped: false,
    services: ['audit'],
    routes: ['GET /audit'],
    hooks: ['onReady', 'onClose'],
    children: [
      { name: 'admin', scoped: true, prefix: '/admin', middlewares: ['requireRole'], routes: ['GET /admin/stats'] },
    ],
  })
  for (const phase of ['boot', 'ready', 'close'] as const) expect(audit?.ms[phase]).toBeGreaterThan(3)
})

test('the printed tree draws it', async () => {
  const { kernel } = application()
  await kernel.ready()
  const lines = kernel.printPlugins().split('\n')
  expect(lines[0]).toMatch(/^root {26}boot \d+\.\d ms$/)
  expect(lines[1]).toMatch(/^├─ everywhere {17}(boot \d+\.\d ms)? +uses everywhere$/)
  expect(lines[2]).toMatch(
    /^└─ audit 1\.2\.0 {16}boot \d+\.\d · ready \d+\.\d ms {2}provides audit · onReady, onClose · GET \/audit · options keep, sink$/,
  )
  expect(lines[3]).toMatch(/^ {3}└─ admin \(scoped, \/admin\) .*uses requireRole · GET \/admin\/stats$/)
  await kernel.close()
  expect(kernel.printPlugins()).toMatch(/boot \d+\.\d · ready \d+\.\d · close \d+\.\d ms/)
})

test('options are shown by name, never by value, and omitted ones are not shown', () => {
  const { kernel } = application()
  expect(kernel.plugins.children[1]?.options).toEqual(['keep', 'sink'])
  expect(JSON.stringify(kernel.plugins) + kernel.printPlugins()).not.toContain('secret')
  expect(kernel.plugins.children[0]?.options).toEqual([])
})

test('the printed routes show each chain by name, and whose route it is', async () => {
  const { kernel } = application()
  await kernel.ready()
  expect(kernel.printRoutes()).toBe(
    [
      'GET  /audit        everywhere > development/inspection.test.ts:26  by audit',
      'GET  /admin/stats  everywhere > requireRole > stats                by admin',
      'GET  /posts/:id    everywhere > author > showPost',
    ].join('\n'),
  )
})

test('explain shows the steps of a request that a fallback may answer', async () => {
  const { kernel } = application()
  const files = definePlugin({
    name: 'files',
    setup(ctx) {
      ctx.use(function countDownloads(_req, _res, next) {
        return next()
      })
      ctx.fallback('/', function serveFile() {})
      ctx.fallback('/deep', () => {})
      ctx.post('/posted', () => 1)
    },
  })
  kernel.register(definePlugin({ name: 'all', setup: (ctx) => ctx.fallback('/', function page() {}) })())
  kernel.register(files(), { prefix: '/files' })
  await kernel.ready()
  const everywhere = { slot: 'scope', name: 'everywhere', plugin: 'everywhere', scope: 'root' }
  const count = { slot: 'scope', name: 'countDownloads', plugin: 'files', scope: 'files' }
  const page = { slot: 'fallback', name: 'page', plugin: 'all', scope: 'root' }
  const serve = { slot: 'fallback', name: 'serveFile', plugin: 'files', scope: 'files' }
  const deep = { slot: 'fallback', name: '/files/deep/*', plugin: 'files', scope: 'files' }
  const steps = (method: string, path: string) => kernel.explain(method, path).steps
  expect(steps('GET', '/nowhere')).toEqual([everywhere, page])
  expect(steps('GET', '/files/a')).toEqual([everywhere, count, serve, page])
  expect(steps('GET', '/files/deep/a')).toEqual([everywhere, count, deep, serve, page])
  expect(steps('GET', '/files/posted')).toEqual([everywhere, count, serve, page])
  // A 405 of the root meets no guard of the scope, and none of its files.
  expect(steps('PUT', '/posts/1')).toEqual([everywhere, page])
  expect(steps('GET', '/%zz')).toEqual([everywhere])
})

test('a middleware without a name has its place in place of one', async () => {
  const { kernel, router } = makeKernel()
  const user = defineMiddleware((_req, _res, next) => next())
  kernel.use(user, (_req, _res, next) => next())
  router.get('/x', { middlewares: [user, (_req, _res, next) => next()] }, () => 'x')
  await kernel.ready()
  const names = kernel.explain('GET', '/x').steps.map(({ name }) => name.replace(/\d+/, 'LINE'))
  const anonymous = 'anonymous (development/inspection.test.ts:LINE)'
  expect(names).toEqual([anonymous, anonymous, anonymous, anonymous, 'development/inspection.test.ts:LINE'])
  expect(kernel.explain('GET', '/x').steps[0]).toMatchObject({ name: kernel.explain('GET', '/x').steps[2]?.name })
  expect(kernel.printPlugins()).toContain('anonymous (development/inspection.test.ts:')
})

test('explain lists the steps with slot, plugin and scope', async () => {
  const { kernel } = application()
  expect(() => kernel.explain('GET', '/')).toThrow(/explain\(\) needs a booted server/)
  expect(() => kernel.printRoutes()).toThrow(/await server.ready\(\)/)
  await kernel.ready()
  expect(kernel.explain('get', '/admin/stats')).toEqual({
    route: 'GET /admin/stats',
    params: {},
    steps: [
      { slot: 'scope', name: 'everywhere', plugin: 'everywhere', scope: 'root' },
      { slot: 'scope', name: 'requireRole', plugin: 'admin', scope: 'admin' },
      { slot: 'handler', name: 'stats', plugin: 'admin', scope: 'admin' },
    ],
  })
  expect(kernel.explain('HEAD', '/posts/5?x=1')).toMatchObject({ route: 'GET /posts/:id', params: { id: '5' } })
  expect(kernel.explain('PUT', '/admin/stats')).toMatchObject({
    route: undefined,
    steps: [{ name: 'everywhere' }, { name: 'requireRole', scope: 'admin' }],
  })
  expect(kernel.explain('GET', '/nope')).toEqual({
    route: undefined,
    params: {},
    steps: [{ slot: 'scope', name: 'everywhere', plugin: 'everywhere', scope: 'root' }],
  })
})
