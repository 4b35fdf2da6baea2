import { type CacheService, type getCacheService, router, Server } from 'framework'
import { type CacheOptions, cache } from 'framework/plugins/cache'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { cache: true } })
new Server({ plugins: { cache: { provider: 'redis', redis: { url: 'redis://127.0.0.1' }, lockBehavior: 'fail' } } })
const options: CacheOptions = { defaultTtl: 5, maxSize: '10mb', lockTimeout: 100 }
const server = new Server([cache(options)])
type _provided = Expect<Equal<typeof server.services.cache, CacheService>>

router.get('/a', { cache: true }, () => 1)
router.get('/a/:id', { cache: { ttl: 60, tags: ['a', 'a::id'], shared: true } }, (req) => {
  type _id = Expect<Equal<typeof req.params.id, string>>
  return req.params.id
})
router.post('/b', { cache: { include: { body: true, headers: ['x-a'], key: (req) => req.path } } }, () => 1)

type _service = Expect<Equal<ReturnType<typeof getCacheService>, CacheService | undefined>>
type _count = Expect<Equal<ReturnType<CacheService['invalidate']>, Promise<number>>>

// @ts-expect-error there is no such provider
new Server({ plugins: { cache: { provider: 'disk' } } })
// @ts-expect-error a misspelt option
new Server({ plugins: { cache: { defaultTTL: 5 } } })
// @ts-expect-error seconds are a number
router.get('/c', { cache: { ttl: '60s' } }, () => 1)
// @ts-expect-error tags are a list
router.get('/c', { cache: { tags: 'a' } }, () => 1)
// @ts-expect-error a body is part of the key or it is not mentioned
router.post('/c', { cache: { include: { body: false } } }, () => 1)
