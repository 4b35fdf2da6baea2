import { definePlugin } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

const answers = (name: string, path = '/', only?: string) =>
  definePlugin({
    name,
    setup(ctx) {
      ctx.fallback(path, (req, res) => {
        if (only === undefined || req.path === only) res.text(name)
      })
    },
  })

describe('a fallback', () => {
  test('answers requests without a route, and leaves the rest to 404', async () => {
    const { kernel } = makeKernel()
    kernel.register(answers('files', '/', '/a')())
    kernel.get('/route', () => 'route')
    kernel.post('/a', () => 'posted')
    expect((await send(kernel, '/a')).text).toBe('files')
    expect((await send(kernel, '/a', 'POST')).text).toBe('"posted"')
    expect((await send(kernel, '/route')).text).toBe('"route"')
    expect((await send(kernel, '/b')).json).toMatchObject({ code: 'RouteNotFoundError' })
    expect((await send(kernel, '/route', 'PUT')).status).toBe(405)
  })

  test('with the longest path comes first, at the path itself and below it only', async () => {
    const { kernel } = makeKernel()
    kernel.register(answers('all')())
    kernel.register(answers('deep', '/x/y', '/x/y/1')())
    kernel.register(answers('x', '/x')())
    const text = async (path: string) => (await send(kernel, path)).text
    expect(await text('/x/y/1')).toBe('deep')
    expect(await text('/x/y/2')).toBe('x')
    expect(await text('/x')).toBe('x')
    expect(await text('/xy')).toBe('all')
    expect(await text('/%78/1')).toBe('x')
    expect(await text('//x')).toBe('all')
  })

  test('may be async, and its failure is one of the request', async () => {
    const { kernel } = makeKernel()
    const plugin = definePlugin({
      name: 'async',
      setup(ctx) {
        ctx.fallback('/', async (req, res) => {
          await undefined
          if (req.path === '/throw') throw new Error('on purpose')
          if (req.path === '/yes') res.text('yes')
        })
      },
    })
    kernel.register(plugin())
    expect((await send(kernel, '/yes')).text).toBe('yes')
    expect((await send(kernel, '/no')).status).toBe(404)
    expect((await send(kernel, '/throw')).status).toBe(500)
  })

  test('runs after every middleware of its scope, and of the root', async () => {
    const { kernel } = makeKernel()
    const order: string[] = []
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.use((_req, _res, next) => {
          order.push('area')
          return next()
        })
        ctx.register(answers('inside', '/files')())
      },
    })
    kernel.register(area(), { prefix: '/area' })
    kernel.register(answers('outside')())
    kernel.use((_req, _res, next) => {
      order.push('root')
      return next()
    })
    expect((await send(kernel, '/area/files/1')).text).toBe('inside')
    expect(order.splice(0)).toEqual(['root', 'area'])
    expect((await send(kernel, '/area/other')).text).toBe('outside')
    expect(order.splice(0)).toEqual(['root'])
  })

  test('is never reached without the guards of its own scope', async () => {
    const { kernel } = makeKernel()
    const guarded = definePlugin({
      name: 'guarded',
      scoped: true,
      setup(ctx) {
        ctx.use((_req, res) => void res.unauthorized())
        ctx.register(answers('secret', '/x')())
      },
    })
    const beside = definePlugin({
      name: 'beside',
      scoped: true,
      setup(ctx) {
        ctx.post('/x/y', () => 'posted')
      },
    })
    kernel.register(guarded())
    kernel.register(beside())
    expect((await send(kernel, '/x/z')).status).toBe(401)
    // A 405 belongs to the other scope, whose middlewares do not guard this one.
    expect((await send(kernel, '/x/y')).status).toBe(405)
  })

  test('is shown in the tree, and refused after boot or when it is not a function', async () => {
    const { kernel } = makeKernel()
    let late = () => {}
    const plugin = definePlugin({
      name: 'late',
      setup(ctx) {
        expect(() => ctx.fallback('/', 5 as never)).toThrow(/fallback\(\) of the plugin "late" takes a function/)
        ctx.fallback('/x', () => {})
        late = () => ctx.fallback('/', () => {})
      },
    })
    kernel.register(plugin())
    await kernel.ready()
    expect(late).toThrow(/adds a fallback after boot/)
    expect(kernel.printPlugins()).toContain('late')
  })
})
