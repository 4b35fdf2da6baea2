import { addressOf, shownAddress } from '../stores/address.ts'
import type { PostgresStoreOptions } from '../stores/postgres.ts'
import { type RedisAddress, shownRedis } from '../stores/redis.ts'
import type { PanelServices } from './panels.ts'

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /**
     * What the plugin reaches outside of the process: systems, with addresses without credentials. For the map of the plugin `inspector`.
     * Default: the Redis or Postgres of its option `store` or `lock`.
     */
    readonly reaches?: (settings: never, services: PanelServices) => readonly string[]
    /** What the plugin runs without a request, such as jobs, by the names of their spans. For the map of the plugin `inspector`. */
    readonly runs?: (services: PanelServices) => readonly string[]
  }
}

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
