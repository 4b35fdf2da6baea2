import { option, type SettingsOf } from '../shared/options/index.ts'
import { type RedisAddress, redisOptions, redisPrefix } from '../shared/stores/redis.ts'
import { inRedis, orAddress, type StoreInRedis } from '../shared/stores/redis-store.ts'

/** The Redis that connects several instances. */
export interface ChannelsRedisOptions extends RedisAddress {
  /** Prefix of the keys. Default `channels`. */
  readonly prefix?: string
}

/** Options of the plugin `channels`. */
export interface ChannelsOptions {
  /** Where channels are kept: in `'memory'`, for one process, or in a Redis, for several: `'redis'` or `{ redis }`. Default `'memory'`. */
  store?: 'memory' | StoreInRedis<ChannelsRedisOptions>
  /** Maximum number of channels that one client may be in at the same time. Default 100. */
  maxChannelsPerClient?: number
  /** Timeout of a channel's `join` and `publish` in milliseconds; a timeout is a refusal. Default 5000. */
  timeout?: number
  /** Bytes that may wait in a stream of events; beyond that it ends, and its client reconnects with its last event id. Default `'1mb'`. */
  maxBuffered?: number | string
  /** Milliseconds between two comments that keep a stream of events open. Default 15000. */
  keepAlive?: number
}

const redis = orAddress(redisOptions({ prefix: redisPrefix('channels') }))

export const channelsOptions = option
  .shape({
    store: option.either(option.oneOf('memory'), inRedis(redis)).default('memory'),
    maxChannelsPerClient: option.int({ min: 1 }).default(100),
    timeout: option.ms({ above: 0 }).default(5000),
    maxBuffered: option.size().default('1mb'),
    keepAlive: option.ms({ min: 1000 }).default(15_000),
  })
  .typed<ChannelsOptions>()

export type ChannelsSettings = SettingsOf<typeof channelsOptions>
export type ChannelsRedisSettings = SettingsOf<typeof redis>
