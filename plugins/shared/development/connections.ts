import { announcePluginData } from '../../../kernel/index.ts'
import { addressOf, shownAddress } from '../stores/address.ts'
import type { PostgresStoreOptions } from '../stores/postgres.ts'
import { type RedisAddress, shownRedis } from '../stores/redis.ts'
import type { PanelServices } from './panels.ts'

announcePluginData('connects')

/** What a plugin has to do with, for the map of the application. */
export interface PluginConnection {
  /** `machine`: what it reaches outside of the process. `work`: what it runs without a request, such as a job. */
  readonly kind: 'machine' | 'work'
  /** The name of a machine: its system and its address without credentials. Work has the name of its span. */
  readonly name: string
}

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** What the plugin reaches outside of the process, and what it runs without a request; called each time. For the plugin `inspector`. */
    readonly connects?: (settings: never, services: PanelServices) => readonly PluginConnection[]
  }
}

/** A machine of the map: of its address, nothing before the host and nothing after the question mark is shown. */
export const machine = (system: string, address: string): PluginConnection => ({
  kind: 'machine',
  name: `${system} at ${URL.canParse(address) ? shownAddress(address) : address.replace(/^.*@/s, '')}`,
})

/** The Redis or Postgres of an option `store` or `lock`. */
export function storesOf(store: unknown): PluginConnection[] {
  const { redis, postgres } = Object(store) as {
    redis?: RedisAddress & { address?: RedisAddress; client?: object }
    postgres?: PostgresStoreOptions
  }
  return [
    ...(redis ? [machine('Redis', shownRedis(redis.address ?? redis, redis.client))] : []),
    ...(postgres && !postgres.client ? [machine('Postgres', addressOf('postgres', postgres.url))] : []),
  ]
}
