import { addressOf, shownAddress } from '../stores/address.ts'
import type { PostgresStoreOptions } from '../stores/postgres.ts'
import { type RedisAddress, shownRedis } from '../stores/redis.ts'

/** A machine of the map: of its address, nothing before the host and nothing after the question mark is shown. With "/" in a password, its rest counts as the path. */
export const machine = (system: string, address: string): string =>
  `${system} at ${(URL.canParse(address) ? shownAddress(address) : address).replace(/^.*@/s, '')}`

/** The Redis or Postgres of a store, as `redisStore` and `postgresStore` read its options. */
export function storesOf(store: unknown): string[] {
  const { redis, postgres } = Object(store) as {
    redis?: RedisAddress & { address?: RedisAddress; client?: object }
    postgres?: PostgresStoreOptions
  }
  if (redis) return [machine('Redis', shownRedis(redis.address ?? redis, redis.client))]
  return postgres && !postgres.client ? [machine('Postgres', addressOf('postgres', postgres.url))] : []
}
