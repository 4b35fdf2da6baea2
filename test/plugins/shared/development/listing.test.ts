import { definePlugin } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel } from '../../../support/kernel.ts'

const handler = () => {}
const names = (reachedBy: ReadonlyMap<string, unknown>) => [...reachedBy.keys()]

test('registrations, with their owners and the plugins that reach them', async () => {
  const { kernel, router } = makeKernel()
  const inner = definePlugin({ name: 'inner', setup: (ctx) => ctx.get('/in', handler) })
  const outer = definePlugin({
    name: 'outer',
    setup(ctx, _options: { size: number }) {
      ctx.get('/out', handler)
      ctx.register(inner(), { prefix: '/deep' })
    },
  })
  kernel.register(outer({ size: 5 }))
  kernel.get('/own', handler)
  router.get('/mounted', handler)
  const rows = () =>
    kernel.listing.routes.map(({ record, plugin, reachedBy }) => [record.path, plugin, ...names(reachedBy)])
  expect(rows()).toEqual([
    ['/own', 'application', 'outer'],
    ['/mounted', 'application', 'outer'],
  ])
  await kernel.ready()
  expect(rows()).toEqual([
    ['/own', 'application', 'outer'],
    ['/out', 'outer', 'outer'],
    ['/deep/in', 'inner', 'outer', 'inner'],
    ['/mounted', 'application', 'outer'],
  ])
  expect(kernel.listing.plugins.map(({ definition, options }) => [definition.name, options])).toEqual([
    ['outer', { size: 5 }],
    ['inner', undefined],
  ])
  await kernel.close()
})

test('a plugin registered again nearer takes the place of the outer one', async () => {
  const { kernel } = makeKernel()
  const limit = definePlugin({ name: 'limit', setup(_ctx, _options: { max: number }) {} })
  const scope = definePlugin({
    name: 'scope',
    setup(ctx) {
      ctx.register(limit({ max: 2 }))
      ctx.get('/in', handler)
    },
  })
  kernel.register(limit({ max: 1 }))
  kernel.register(scope(), { prefix: '/a' })
  kernel.get('/own', handler)
  await kernel.ready()
  expect(kernel.listing.routes.map(({ record, reachedBy }) => [record.path, reachedBy.get('limit')?.options])).toEqual([
    ['/own', { max: 1 }],
    ['/a/in', { max: 2 }],
  ])
  await kernel.close()
})

test('once booted it is the same until the routes change, and has no route that cannot be served', async () => {
  const { kernel, router } = makeKernel()
  kernel.register(
    definePlugin({
      name: 'picky',
      setup(ctx) {
        ctx.onRoute(({ path }) => {
          if (path === '/bad') throw new Error('not this one')
        })
      },
    })(),
  )
  await kernel.ready()
  const before = kernel.listing
  expect(kernel.listing).toBe(before)
  router.get('/good', handler)
  router.get('/bad', handler)
  expect(kernel.listing).not.toBe(before)
  expect(kernel.listing.routes.map(({ record }) => record.path)).toEqual(['/good'])
  router.clearRoutes()
  expect(kernel.listing.routes).toEqual([])
  await kernel.close()
})
