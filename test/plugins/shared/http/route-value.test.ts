import { type ApiDoc, definePlugin, type RouteOptions, RouteValue } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

test('a value belongs to the compiled route: HEAD has that of GET, a 404 has none, a route registered anew has its own', async () => {
  const { kernel, router } = makeKernel()
  const values = new RouteValue<string>()
  kernel.register(
    definePlugin({
      name: 'marks',
      setup(ctx) {
        ctx.onRoute((route) => {
          const { summary } = route.options.apidoc || ({} as ApiDoc)
          if (typeof summary === 'string') values.set(route, summary)
        })
        ctx.onSend((req, res) => void res.setHeader('x-value', values.of(req) ?? 'none'))
      },
    })(),
  )
  const marked = (summary: string): RouteOptions => ({ apidoc: { summary } })
  const seen = async (url: string, method?: string) => (await send(kernel, url, method)).headers['x-value']
  router.get('/a', marked('first'), () => 1)
  router.get('/b', () => 1)
  expect(await seen('/a')).toBe('first')
  expect(await seen('/a', 'HEAD')).toBe('first')
  expect(await seen('/a', 'PUT')).toBe('none')
  expect(await seen('/b')).toBe('none')
  expect(await seen('/nowhere')).toBe('none')
  router.clearRoutes()
  router.get('/a', () => 1)
  expect(await seen('/a')).toBe('none')
})
