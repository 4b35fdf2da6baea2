import type { PostgresStoreSettings } from '../stores/postgres.ts'
import { openRedis } from '../stores/redis-client.ts'
import type { RedisStoreSettings } from '../stores/redis-store.ts'
import type { LockStore } from './contract.ts'

/** One of both. */
interface StoredLocks {
  readonly redis?: RedisStoreSettings | undefined
  readonly postgres?: PostgresStoreSettings | undefined
}

/** Opens locks in Redis or Postgres, whose package is loaded only here. They also work while the store cannot be reached. `feature`: `the locks plugin (store`. */
export async function openLocks({ redis, postgres }: StoredLocks, feature: string): Promise<LockStore> {
  if (redis === undefined) return (await import('./postgres.ts')).openPostgresLocks(postgres!, `${feature} postgres)`)
  const { client, close } = await openRedis(redis, `${feature} redis)`)
  return (await import('./redis.ts')).redisLocks(client, redis.prefix, close)
}
