import { type Context, definePlugin, type Middleware, type Request, type Response } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import type { AccessDemands, GuardedWay } from '../shared/development/access.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import type { ServiceState } from '../shared/stores/breaker.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { Count, Limiter, RateLimitTrace } from './limiter.ts'
import {
  deadline,
  isStore,
  type OwnLimit,
  type RateLimitSettings,
  type Rule,
  rateLimitOfRoute,
  rateLimitOptions,
} from './options.ts'
import { type Counter, type Limits, limitsOfScopes } from './stores/contract.ts'

const work: readonly WorkKind[] = [
  workKind<RateLimitTrace>({
    channel: 'rateLimit',
    form: 'moment',
    list: { id: 'rateLimit', title: 'Rate limits' },
    help: 'Requests that a rate limit has counted, by the limit (of the server, of the route or of the subject) and the outcome',
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
  access: { guards },
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
  inspector: () => [
    {
      title: 'Rate limits',
      columns: ['For', 'Requests of a client', 'Within, s', 'Accepted', 'Refused', 'With'],
      rows(services) {
        const all = limitsOfScopes.get(services)?.shown ?? []
        return all.map((one) => [one.name, one.limits, one.windows, one.accepted, one.refused, one.statusCode])
      },
    },
  ],
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
    /** Makes the function of the limit of a route, with a counter of its own unless it only has another cost. */
    const own = (limit: OwnLimit | undefined, count: Count, server: Count): Limiter | false | undefined =>
      limit && limiterOf(limit.rule, limits, limit.sharesCount ? server : count)
    const name = ctx.scope === '' ? '*' : `*/${ctx.scope}`
    const counts = {
      server: { name, kind: 'server', takes: false } as Count,
      subject: { name: `@${name}`, kind: 'subject', takes: false } as Count,
    }
    const ofServer = limiterOf(settings as Rule, limits, counts.server)
    const ofSubjects = settings.subject && limiterOf(settings.subject as Rule, limits, counts.subject)
    const ofRoutes = new RouteValue<Limiter | false>()
    let countsCallers = ofSubjects !== false
    ctx.onRoute((route) => {
      const { address, subject } = route.settings.rateLimit ?? {}
      const name = `${route.isAny ? 'any' : route.method} ${route.path}`
      ofRoutes.set(route, own(address, { name, kind: 'route', takes: false }, counts.server))
      const limiter = own(subject, { name: `@${name}`, kind: 'subject', takes: false }, counts.subject) ?? ofSubjects
      subjectLimiters.set(route, { limiter, of: ctx.services })
      // After all middlewares of scopes and groups, one of which finds out who is calling.
      if (!limiter) return
      countsCallers = true
      route.add('group', function rateLimitOfSubject(req, res, next) {
        const there = subjectLimiters.of(req)
        return there?.limiter && there.of === ctx.services ? limited(there.limiter, req, res, next) : next()
      })
    })

    ctx.onReady(() => {
      if (countsCallers && !ctx.hasPlugin('auth'))
        ctx.log.warn('rateLimit.subject counts the callers that "req.user" names, and this scope has no plugin auth')
    })
    ctx.use(function rateLimit(req, res, next) {
      const limiter = ofRoutes.of(req) ?? ofServer
      return limiter === false ? next() : limited(limiter, req, res, next)
    })
  },
})

/** The limit of the callers of a route: that of the innermost scope with this plugin. */
const subjectLimiters = new RouteValue<{ readonly limiter: Limiter | false; readonly of: object }>()

function limited(limiter: Limiter, req: Request, res: Response, next: Parameters<Middleware>[2]) {
  const passes = limiter(req, res)
  if (passes instanceof Promise) return passes.then((settled) => (settled ? next() : undefined))
  return passes ? next() : undefined
}

/** The limit of a way in, for `framework access`. */
function guards({ options, settings }: GuardedWay): AccessDemands | undefined {
  if (options?.rateLimit === false) return undefined
  const [own, of] = [options?.rateLimit ?? {}, settings as Rule]
  const { limit = of.limit, windowMs = of.windowMs } = own
  const isOfServer = own.limit === undefined && own.windowMs === undefined
  const windows = own.windows ?? (isOfServer ? of.windows : undefined) ?? [{ limit, windowMs }]
  const said = windows.map((one) => `${Number(one.limit) || 'a function'} in ${one.windowMs / 1_000} s`)
  return { limit: said.join(', ') }
}

/** The refusals, for the API description. */
function failures({ options, settings }: DescribedRoute): { readonly [status: string]: string } {
  if (options.rateLimit === false) return {}
  const of = settings as RateLimitSettings
  const { subject, ...address } = options.rateLimit ?? {}
  const rules = [
    { ...of, ...address },
    ...(subject !== false && (subject ?? of.subject) ? [{ ...of.subject, ...subject }] : []),
  ]
  return Object.assign(
    {},
    ...rules.map(({ statusCode = 429, onStoreFailure }) => ({
      [statusCode]: 'TooManyRequests',
      ...(onStoreFailure === 'refuse' && { 503: 'ServiceUnavailable' }),
    })),
  )
}

async function openCounter(
  given: RateLimitSettings['store'],
  { server, log }: Pick<Context, 'server' | 'log'>,
): Promise<Counter> {
  const memory = new (await import('./stores/memory.ts')).MemoryStore()
  if (given === 'memory') {
    // As a shared store that does not respond: the process counts, or refuses.
    const fallback = (count: () => unknown, args: readonly unknown[]) =>
      args.at(-1) === 'refuse' ? undefined : count()
    announceBackend(server, 'rateLimit', memory, { methods: ['hit', 'take'], limit: deadline, fallback })
    return memory
  }
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
