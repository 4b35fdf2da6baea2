import { type Context, definePlugin, type Middleware } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import type { ServiceState } from '../shared/stores/breaker.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { Count, RateLimitTrace } from './limiter.ts'
import { deadline, isStore, type RateLimitSettings, rateLimitOfRoute, rateLimitOptions } from './options.ts'
import { type Counter, type Limits, limitsOfScopes } from './stores/contract.ts'

const work: readonly WorkKind[] = [
  workKind<RateLimitTrace>({
    channel: 'rateLimit',
    form: 'moment',
    list: { id: 'rateLimit', title: 'Rate limits' },
    help: 'Requests that a rate limit has counted, by the limit (of the server or of the route) and what became of them',
    span: () => 'rate limit',
    note: ({ limit }) => `refused by the limit of the ${limit}`,
    labels: {
      limit: { attribute: 'framework.rate_limit.limit', of: ({ limit }) => limit },
      outcome: { attribute: 'framework.rate_limit.outcome', of: ({ accepted }) => (accepted ? 'accepted' : 'refused') },
    },
    request: ({ request }) => request,
    // Accepted requests are not worth a row, which would come with each of them.
    isNotable: ({ accepted }) => !accepted,
    metric: 'rate_limit.requests',
  }),
]

/**
 * Refuses clients that send too many requests: 100 requests a minute by default, then 429 `TooManyRequestsError` with `Retry-After`.
 *
 * The route option `rateLimit` sets a limit for the route alone, or `false` for no limit. Requests are counted in memory, or in Redis for
 * several processes.
 *
 * @example
 * new Server({ plugins: { rateLimit: { limit: 300, windowMs: 60_000 } } })
 */
export const rateLimit = definePlugin({
  name: 'rateLimit',
  options: rateLimitOptions,
  routeOptions: { rateLimit: rateLimitOfRoute },
  openapi: { failures },
  health: {
    rateLimit: {
      check: (services) => limitsOfScopes.get(services)!.counter.check?.(),
      onFailure: (services) => (limitsOfScopes.get(services)!.onStoreFailure === 'refuse' ? 'error' : 'degraded'),
      remedy: 'Start the store of the rate limits, or correct rateLimit.store',
    },
  },
  memory: { store: 'memory' },
  doctor: async () => (await import('./doctor.ts')).checks,
  inspector: async () => (await import('./inspector.ts')).panels,
  work,
  async setup(ctx, settings) {
    if (settings.store === 'memory') {
      // Each process would allow the whole limit.
      refuseSeveral(
        ctx.server.worker,
        'requests are counted',
        'Set rateLimit.store to { redis: "redis://…" } or a store of your own',
      )
    }
    // Not on import: a server without limits should load neither these modules nor their packages.
    const { limiterOf } = await import('./limiter.ts')
    const counter = await openCounter(settings.store, ctx)
    ctx.onClose(() => counter.close?.())

    // By scope: two scopes may count in one Redis, each with a limit of its own.
    const limits: Limits = { shown: [], counter, onStoreFailure: settings.onStoreFailure }
    limitsOfScopes.set(ctx.services, limits)
    const ofServer = limiterOf(settings, limits, 'server', ctx.scope === '' ? '*' : `*/${ctx.scope}`)
    const ofRoutes = new RouteValue<Count>()
    const hasTenants = ctx.hasPlugin('tenant')
    ctx.onRoute((route) => {
      const own = route.settings.rateLimit
      const name = `${route.isAny ? 'any' : route.method} ${route.path}`
      const limiter = own === undefined ? ofServer : own && limiterOf(own, limits, 'route', name)
      const { tenant = hasTenants } = route.options
      if (!limiter || !tenant) return ofRoutes.set(route, limiter ? limiter.count : free)
      ofRoutes.set(route, limiter.countFirst)
      route.add('guard', limited(limiter.countForTenant))
    })

    ctx.use(limited((req, res) => (ofRoutes.of(req) ?? ofServer.count)(req, res)))
  },
})

const free: Count = () => true

/** The step that counts. */
const limited = (count: Count): Middleware =>
  function rateLimit(req, res, next) {
    const passes = count(req, res)
    if (passes instanceof Promise) return passes.then((settled) => (settled ? next() : undefined))
    return passes ? next() : undefined
  }

/** The refusals, for the API description. */
function failures({ options, settings }: DescribedRoute): { readonly [status: string]: string } {
  if (options.rateLimit === false) return {}
  const { statusCode, onStoreFailure } = { ...(settings as RateLimitSettings), ...options.rateLimit }
  return { [statusCode]: 'TooManyRequests', ...(onStoreFailure === 'refuse' && { 503: 'ServiceUnavailable' }) }
}

async function openCounter(
  given: RateLimitSettings['store'],
  { server, log }: Pick<Context, 'server' | 'log'>,
): Promise<Counter> {
  const memory = new (await import('./stores/memory.ts')).MemoryStore()
  if (given === 'memory') return memory
  const { openRedisStore, sharedCounter } = await import('./stores/shared.ts')
  const { store, timeout } = isStore(given) ? { store: given, timeout: deadline } : await openRedisStore(given.redis)
  announceBackend(server, 'rateLimit', store)
  const options = {
    timeout,
    onChange(state: ServiceState, error: unknown) {
      if (state === 'up') log.warn('the store of the rate limits works again')
      else
        log.warn(
          { err: error },
          'the store of the rate limits fails; until it is back, each process counts on its own, or refuses where onStoreFailure is "refuse"',
        )
    },
  }
  return sharedCounter(store, memory, options)
}
