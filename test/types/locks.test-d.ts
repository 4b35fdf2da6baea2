import { type CacheService, type HeldLock, type LockService, Server } from 'framework'
import { locks } from 'framework/plugins/locks'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { locks: true } })
for (const store of [
  'memory',
  'redis',
  'postgres',
  { redis: 'redis://a' },
  { url: 'redis://a' },
  { postgres: 'postgres://a' },
] as const)
  locks({ store, ttl: 5_000 })
locks({ store: { postgres: { host: 'db', ssl: {}, table: 'locks' } } })
// @ts-expect-error no such store
locks({ store: 'valkey' })
// @ts-expect-error no such option
locks({ wait: 5 })

const server = new Server({ plugins: { locks: true, cache: true } })
const service = server.services.get('locks')
type _service = Expect<Equal<typeof service, LockService>>
const result = service.withLock('a', { wait: 5 }, async (held) => {
  type _held = Expect<Equal<typeof held, HeldLock>>
  return held.fence
})
type _result = Expect<Equal<typeof result, Promise<number>>>
const sync = service.withLock('a', {}, () => 'text' as const)
type _sync = Expect<Equal<typeof sync, Promise<'text'>>>
// @ts-expect-error no such option
service.withLock('a', { waits: 5 }, () => {})

const cache = server.services.get('cache')
type _cache = Expect<Equal<typeof cache, CacheService>>
const data = cache.getOrSet('a', { ttl: 5, tags: ['a'] }, async ({ signal }) => {
  type _signal = Expect<Equal<typeof signal, AbortSignal>>
  return signal.aborted ? undefined : { a: 1 }
})
type _data = Expect<Equal<typeof data, Promise<{ a: number } | undefined>>>
// @ts-expect-error no such option
cache.getOrSet('a', { tll: 5 }, () => 1)
