import { lockTtl } from '../shared/locks/contract.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { type PostgresStoreOptions, postgresStore } from '../shared/stores/postgres.ts'
import { inRedis, redisStore, type StoreInRedis } from '../shared/stores/redis-store.ts'

/** Where the locks are: in `memory`, for one process, in Redis or in Postgres. */
export type LockStoreOption =
  | 'memory'
  | StoreInRedis
  /** In the Postgres of `DATABASE_URL`, or of an address or options. */
  | 'postgres'
  | {
      /** An address, or options of a pool of `pg`. */
      readonly postgres: string | PostgresStoreOptions
    }

/** Options of the plugin. */
export interface LocksOptions {
  /** Where the locks are. Default `'memory'`, for a single process only. */
  store?: LockStoreOption
  /** Milliseconds, from 1000 to 3600000, after which a holder that does not renew its lock is considered dead. Default 30000. */
  ttl?: number
}

/** Options of one lock. */
export interface LockOptions {
  /** Milliseconds, from 1000 to 3600000, after which a holder that does not renew its lock is considered dead. Default: that of the plugin. */
  ttl?: number
  /** Milliseconds to wait for a lock that another holder has. Default 0. */
  wait?: number
}

const ttl = option.int({ min: 1000, max: 3_600_000 }).says('whole milliseconds from 1000 to 3600000')
const postgres = postgresStore('framework_locks')

const store = option
  .either(
    option.oneOf('memory'),
    inRedis(redisStore({ prefix: 'locks', timeout: 2_000 })),
    option.oneOf('postgres').into(() => ({ postgres: postgres.parse({}) })),
    option.shape({ postgres: postgres.required() }),
  )
  .says('"memory", "redis", { redis: address or options }, "postgres" or { postgres: address or options }')

export const locksOptions = option
  .shape({ store: store.default('memory'), ttl: ttl.default(lockTtl) })
  .typed<LocksOptions>()

export const lockOptions = option.shape({ ttl, wait: option.ms().default(0) }).typed<LockOptions>()

export type LocksSettings = SettingsOf<typeof locksOptions>
