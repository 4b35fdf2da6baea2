import { definePlugin, type Request, type WorkerPlace } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { storesOf } from '../shared/development/connections.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import type { BreakerOptions } from '../shared/stores/breaker.ts'
import { openRedis } from '../shared/stores/redis-client.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { CacheDataTrace } from './data.ts'
import type { CacheTrace } from './middleware.ts'
import { type CacheSettings, cacheOfRoute, cacheOptions } from './options.ts'
import { CacheService, openServices } from './service.ts'

const work: readonly WorkKind[] = [
  workKind<CacheTrace>({
    channel: 'cache',
    form: 'moment',
    list: { id: 'cache', title: 'Cache' },
    help: 'Requests to routes with a cache: hit, miss, wait (for the one that computes it) or bypass',
    span: () => 'cache',
    note: ({ outcome }) => outcome,
    labels: { outcome: { attribute: 'framework.cache.outcome', of: ({ outcome }) => outcome.toLowerCase() } },
    request: ({ response }) => (response as { readonly request?: Request }).request,
    metric: 'cache.requests',
  }),
  workKind<CacheDataTrace>({
    channel: 'cache.data',
    form: 'moment',
    list: { id: 'cache', title: 'Cache' },
    help: 'Lookups of data: hit, stale, wait (for the one that computes it) or miss',
    span: () => 'cache data',
    title: ({ key }) => key,
    note: ({ outcome }) => outcome,
    labels: { outcome: { attribute: 'framework.cache.outcome', of: ({ outcome }) => outcome } },
    attributes: ({ key }) => ({ 'framework.cache.key': key }),
  }),
]

/** The part of a key that patterns are compared with; the rest distinguishes responses of the same address. */
const publicPart = (key: string) => key.split('#', 1)[0]!

/**
 * Caches whole responses of the routes with the option `cache`, and data with `getOrSet` of its service; computes each only once for any
 * number of simultaneous requests.
 *
 * Responses are kept in memory by default, up to 64 MB; `provider: 'redis'` shares them between all processes of an application and
 * needs the package `ioredis`. Every response of such a route has the header `x-cache`: `HIT`, `MISS`, `WAIT` or `BYPASS`. Requests with
 * `authorization` or `cookie` are not cached unless the route says otherwise. While Redis is down, requests are served uncached.
 *
 * @example
 * import { getCacheService, router, Server } from 'framework'
 *
 * router.get('/books/:id', { cache: { ttl: 60, tags: ['books', 'book::id'] } }, (req) => ({ id: req.params.id }))
 * router.put('/books/:id', async (req, res) => {
 *   await getCacheService()?.invalidate([`book:${req.params.id}`])
 *   res.noContent()
 * })
 * new Server({ plugins: { cache: { defaultTtl: 30 } } })
 */
export const cache = definePlugin({
  name: 'cache',
  access: false,
  options: cacheOptions,
  inspector: () => [
    {
      title: 'Cache entries',
      columns: ['Key', 'For'],
      rows: (services, limit) =>
        (services.get('cache').store?.keys?.(limit) ?? []).map((key) => {
          const id = publicPart(key)
          return { id, cells: [id, key.slice(id.length + 1)] }
        }),
      actions: [
        {
          name: 'Remove',
          async run(services, key) {
            const count = await services.get('cache').invalidatePattern(key)
            return count === 1 ? '1 entry was removed.' : `${count} entries were removed.`
          },
        },
      ],
    },
  ],
  work,
  routeOptions: { cache: cacheOfRoute },
  openapi: { failures },
  // A cache without its store computes every response.
  reaches: ({ provider, redis }) => storesOf(provider === 'redis' ? { redis } : undefined),
  health: {
    cache: {
      check: (services) => services.get('cache').store!.check?.(),
      onFailure: 'degraded',
      remedy: 'Start its Redis, or correct cache.redis',
    },
  },
  doctor: async () => (await import('./doctor.ts')).checks,
  provide(settings) {
    const cache = new CacheService(settings)
    openServices.add(cache)
    return { cache }
  },
  close: ({ cache }) => void openServices.delete(cache),
  memory: { provider: 'memory' },
  async setup(ctx, settings) {
    const service = ctx.services.get('cache')
    // Loaded here, so that only servers with this plugin load the caching modules.
    const { routeCache } = await import('./middleware.ts')
    ctx.onDrain(() => service.idle())
    ctx.onClose((timeLeft) => service.close(timeLeft))
    ctx.onRoute((route) => {
      const own = route.settings.cache
      if (own === undefined) return
      if (settings.provider === 'memory' && own.tags.length > 0) refuseToForget(ctx.server.worker)
      route.add('around', routeCache(service, route, own, settings.lockTimeout))
    })
    if (settings.provider === 'memory') {
      const { MemoryStore } = await import('./stores/memory.ts')
      const store = new MemoryStore(settings.maxSize)
      announceBackend(ctx.server, 'cache', store, { limit: 200 })
      service.connect(store, ctx.log, () => refuseToForget(ctx.server.worker))
      return
    }
    const { redisStore } = await import('./stores/redis.ts')
    const open = await openRedis(settings.redis, 'the cache plugin (provider "redis")')
    const onChange: BreakerOptions['onChange'] = (state, error) => {
      if (state === 'up') ctx.log.warn('Redis responds again: requests are cached')
      else if (state === 'refused')
        ctx.log.warn({ err: error }, 'Redis refuses a command: the request is served uncached')
      else ctx.log.warn({ err: error }, 'Redis does not respond: requests are served uncached')
    }
    const { lockTimeout, redis } = settings
    const store = redisStore(open, { prefix: redis.prefix, lockTimeout, onChange })
    announceBackend(ctx.server, 'cache', store, { limit: 200 })
    service.connect(store, ctx.log)
  },
})

/** Refuses several workers: the others would continue to serve outdated responses. */
function refuseToForget(worker: WorkerPlace | undefined): void {
  refuseSeveral(worker, 'cached responses, which can be invalidated, are kept', 'Set cache.provider to "redis"')
}

/** The error responses of a cached route, for the API description. */
function failures({ options: { cache }, settings }: DescribedRoute): { readonly [status: string]: string } {
  if (cache === undefined || cache === false) return {}
  const { lockBehavior = (settings as CacheSettings).lockBehavior } = cache === true ? {} : cache
  return lockBehavior === 'fail' ? { 503: 'ServiceUnavailable' } : {}
}
