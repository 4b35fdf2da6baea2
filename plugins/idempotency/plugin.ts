import { type Context, defineErrors, definePlugin, type RouteOptions } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { keepBytes } from '../shared/http/body-parser.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { IdempotencyKeys } from './keys.ts'
import { type IdempotencySettings, idempotencyOfRoute, idempotencyOptions } from './options.ts'
import type { IdempotencyStore } from './stores/contract.ts'

const { IdempotencyDatabaseError } = defineErrors({
  IdempotencyDatabaseError: () =>
    'idempotency.store is "database", which needs the plugin database, registered before it: plugins: { database: { url }, idempotency: { store: "database" } }',
})

/** By the services of their scope. */
const keysOfScopes = new WeakMap<object, IdempotencyKeys>()

/**
 * Carries a request with the header `Idempotency-Key` out once, on routes with the option `idempotency`, and repeats its response for further
 * attempts, with the header `Idempotent-Replayed: true`.
 *
 * While the first attempt runs, the response to others is 409, and to another request with the same key 422. A key belongs to a caller: by default
 * the `id` of `req.user`. While the store fails, requests with a key are refused with 503.
 *
 * @example
 * const server = new Server({
 *   plugins: { database: { url: 'sqlite::memory:' }, idempotency: { store: 'database' } },
 * })
 * server.post('/orders', { idempotency: { required: true }, transaction: true }, async (req, res) => {
 *   await req.database.query('insert into orders (book) values (?)', [7])
 *   res.created()
 * })
 */
export const idempotency = definePlugin({
  name: 'idempotency',
  access: false,
  options: idempotencyOptions,
  routeOptions: { idempotency: idempotencyOfRoute },
  openapi: {
    components: {
      responses: {
        IdempotencyConflict: {
          description: 'The first request with this `Idempotency-Key` is still running, or its response was not kept.',
        },
        IdempotencyMismatch: { description: 'The `Idempotency-Key` was sent with another method, address or body.' },
      },
    },
    describe,
    failures: ({ options }: DescribedRoute) =>
      options.idempotency
        ? { 400: 'BadRequest', 409: 'IdempotencyConflict', 422: 'IdempotencyMismatch', 503: 'ServiceUnavailable' }
        : {},
  },
  health: {
    idempotency: {
      check: (services) => keysOfScopes.get(services)!.check(),
      remedy: 'Start the store of the idempotency keys, or correct idempotency.store',
    },
  },
  memory: { store: 'memory' },
  doctor: async () => (await import('./doctor.ts')).checks,
  async setup(ctx, settings) {
    const store = await openStore(ctx, settings)
    announceBackend(ctx.server, 'idempotency', store, { limit: 3_000 })
    const keys = new IdempotencyKeys(store, settings, ctx.scope, ctx.log)
    keysOfScopes.set(ctx.services, keys)
    ctx.onClose(() => keys.close())
    ctx.onRoute((route) => {
      const own = route.settings.idempotency
      if (!own) return
      keepBytes(route)
      // After the validation, and before the transaction of the handler.
      route.add('input', keys.guard(own))
      if (settings.store === 'database' && route.options.transaction) route.add('around', keys.keepInTransaction)
    })
    ctx.onSend(function idempotencyOnSend(req, res) {
      return keys.finish(req, res)
    })
  },
})

async function openStore(ctx: Context, { store }: IdempotencySettings): Promise<IdempotencyStore> {
  if (store === 'memory') {
    refuseSeveral(
      ctx.server.worker,
      'idempotency keys are kept',
      'Set idempotency.store to "database" or { redis: "redis://…" }',
    )
    return (await import('./stores/memory.ts')).memoryStore()
  }
  if (store === 'database') {
    const database = ctx.services.find('databases')?.client()
    // A client without a layer has not been opened yet.
    if (database?.layer === undefined) throw IdempotencyDatabaseError()
    return (await import('./stores/database.ts')).openDatabaseStore(database)
  }
  return 'swap' in store ? store : (await import('./stores/redis.ts')).openRedisStore(store.redis)
}

/** The header, for the API description. */
function describe({ idempotency: own }: RouteOptions): RouteOptions[] {
  if (!own) return []
  const required = typeof own === 'object' && own.required === true
  const description =
    'A new random value for each operation, the same for each of its attempts: it is carried out once.'
  const header = { name: 'Idempotency-Key', in: 'header', required, description } as const
  return [{ apidoc: { parameters: [{ ...header, schema: { type: 'string', minLength: 1, maxLength: 255 } }] } }]
}
