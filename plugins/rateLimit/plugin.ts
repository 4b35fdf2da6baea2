import { type DescribedRoute, definePlugin, type Logger, RouteValue } from '../../kernel/index.ts'
import { InsuredStore } from './insured-store.ts'
import type { Limiter } from './limiter.ts'
import { type RateLimitOptions, type RateLimitRule, ruleOf, ruleOfRoute } from './options.ts'
import { openRedisStore, type RateLimitRedisOptions } from './redis-store.ts'
import type { RateLimitStore } from './store.ts'

/**
 * Refuses clients that ask too often: 100 requests a minute by default, then 429 `TooManyRequestsError` with `Retry-After`.
 *
 * The route option `rateLimit` takes a limit of the route alone, or `false` for none. Counted in memory, or in Redis for
 * several processes.
 *
 * @example
 * new Server({ plugins: { rateLimit: { limit: 300, windowMs: 60_000 } } })
 */
export const rateLimit = definePlugin({
  name: 'rateLimit',
  routeOptions: ['rateLimit'],
  openapi: { failures },
  async setup(ctx, options: RateLimitOptions = {}) {
    const rule = ruleOf(options)
    // Not on import: a server without it should load neither them nor their packages.
    const [{ limiterOf }, { MemoryStore }] = await Promise.all([import('./limiter.ts'), import('./memory-store.ts')])
    const store = await openStore(options.store, new MemoryStore(), ctx.log)
    ctx.onClose(() => store.close?.())

    // By scope: two of them may count in one Redis, and each has a limit of its own.
    const ofServer = limiterOf(rule, store, ctx.scope === '' ? '*' : `*/${ctx.scope}`)
    const ofRoutes = new RouteValue<Limiter | false>()
    ctx.onRoute((route) => {
      const own: unknown = route.options.rateLimit
      if (own === undefined) return
      const name = `${route.method} ${route.path}`
      ofRoutes.set(route, own === false ? false : limiterOf(ruleOfRoute(own as RateLimitRule, rule), store, name))
    })

    ctx.use(function rateLimit(req, res, next) {
      const limiter = ofRoutes.of(req) ?? ofServer
      if (limiter === false) return next()
      const passes = limiter(req, res)
      if (passes instanceof Promise) return passes.then((settled) => (settled ? next() : undefined))
      return passes ? next() : undefined
    })
  },
})

/** For the API description. */
function failures({ options, settings }: DescribedRoute): { readonly [status: string]: string } {
  if (options.rateLimit === false) return {}
  const { statusCode = 429 } = { ...(settings as RateLimitOptions | undefined), ...options.rateLimit }
  return { [statusCode]: 'TooManyRequests' }
}

async function openStore(
  option: RateLimitOptions['store'],
  memory: RateLimitStore,
  log: Logger,
): Promise<RateLimitStore> {
  if (option === undefined || option === 'memory') return memory
  // A function under that name makes it a store; no option of a Redis is called so.
  const isStore = typeof (option as RateLimitStore).hit === 'function'
  const store = isStore ? (option as RateLimitStore) : await openRedisStore(option as RateLimitRedisOptions)
  return new InsuredStore(store, memory, (isDown, error) => {
    if (isDown) log.warn({ err: error }, 'the store of the rate limits fails; this process counts for itself')
    else log.warn('the store of the rate limits works again')
  })
}
