import { cache, controller, get, router, Server } from 'framework'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

test('@cache on a class and on a method is the route option; the method has the last word', async () => {
  router.clearRoutes()
  let runs = 0
  @controller('/numbers')
  @cache({ ttl: 60, tags: ['numbers'] })
  class Numbers {
    @get('/one')
    one() {
      return ++runs
    }
    @get('/two/:id')
    @cache({ ttl: 5, tags: ['two::id'] })
    two() {
      return ++runs
    }
  }
  expect(Numbers).toBeTypeOf('function')
  const server = new Server({ logger: memoryLogger(), gracefulShutdown: false, plugins: { cache: true } })
  for (const path of ['/numbers/one', '/numbers/two/7']) {
    for (const how of ['MISS', 'HIT']) (await server.inject.get(path)).assertHeader('x-cache', how)
  }
  const service = server.services.get('cache')
  expect(await service.invalidate(['numbers'])).toBe(1)
  expect(await service.invalidate(['two:7'])).toBe(1)
  await server.close()
  router.clearRoutes()
})

test('a wrong ttl in @cache fails the boot and names the route', async () => {
  router.clearRoutes()
  @controller('/wrong')
  class Wrong {
    @get('/')
    @cache({ ttl: 86_401 })
    show() {}
  }
  expect(Wrong).toBeTypeOf('function')
  const server = new Server({ logger: memoryLogger(), gracefulShutdown: false, plugins: { cache: true } })
  await expect(server.ready()).rejects.toThrow(/GET \/wrong.*cache\.ttl/)
  router.clearRoutes()
})
