import type { Request } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { inRedis, redisStore, type StoreInRedis } from '../shared/stores/redis-store.ts'
import type { IdempotencyStore } from './stores/contract.ts'

/** Whose keys they are, and how long they are kept. */
export interface IdempotencyRule {
  /** Milliseconds for which a response is kept, up to 24 days. Default 86400000, a day. */
  ttl?: number
  /**
   * Returns the caller who owns the key: the same for each of its attempts, and different for each caller. Default: the `id` of `req.user`.
   * A request with a key for which it returns nothing is refused with 400.
   */
  scope?: (req: Request) => string | number | undefined | Promise<string | number | undefined>
}

/** The option of a route. */
export interface IdempotencyRouteOptions extends IdempotencyRule {
  /** Whether a request without the header `Idempotency-Key` is refused with 400. Default: it runs, and is not kept. */
  required?: boolean
}

/** Options of the plugin `idempotency`. */
export interface IdempotencyOptions extends IdempotencyRule {
  /**
   * Where keys and responses are kept: in memory, for a single process; in Redis; in the database of the plugin `database`, in the transaction of
   * a handler that has one; or a store of your own. Default `'memory'`.
   */
  store?: 'memory' | 'database' | StoreInRedis | IdempotencyStore
  /** The largest body that is kept: bytes, or a size such as `'100kb'`. Default `'1mb'`. */
  maxSize?: number | string
}

type Scope = NonNullable<IdempotencyRule['scope']>

const userId: Scope = (req) => (req as { readonly user?: { readonly id?: string | number } }).user?.id

const rule = {
  ttl: option.ms({ min: 1_000 }),
  scope: option.fn<Scope>('a function (req) => string').guard(),
}

const store = option.either(
  option.oneOf('memory', 'database'),
  option.having<IdempotencyStore>(['swap'], 'a store ({ swap })'),
  inRedis(redisStore({ prefix: 'idempotency', timeout: 2_000 })),
)

export const idempotencyOptions = option
  .shape({
    ttl: rule.ttl.default(86_400_000),
    scope: rule.scope.default(userId),
    store: store.default('memory'),
    maxSize: option.size().default('1mb'),
  })
  .typed<IdempotencyOptions>()

export type IdempotencySettings = SettingsOf<typeof idempotencyOptions>

const ofRoute = option.shape({ ...rule, required: option.flag().default(false) })

/** The option of a route; what it leaves out is that of the plugin. */
export const idempotencyOfRoute = option.feature(ofRoute)

export type RouteSettings = SettingsOf<typeof ofRoute>
