import { connectRedis, type RedisAddress } from '../../shared/stores/redis.ts'
import type { RateLimitRedisSettings } from '../options.ts'
import type { Hit, RateLimitStore } from './contract.ts'

/** The address of Redis. */
export interface RateLimitRedisOptions extends RedisAddress {
  /** The prefix of the keys. Default `rate-limit`. */
  readonly prefix?: string
}

// Incrementing and setting the expiry are one step, so that no key can be left without an expiry.
const lua = `
local count = redis.call('incr', KEYS[1])
local rest = redis.call('pttl', KEYS[1])
if rest < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  rest = tonumber(ARGV[1])
end
return { count, rest }`

/** The part of the client that is used: it sends the hash of the script, or the whole script if Redis does not know it. */
interface Counting {
  defineCommand(name: string, script: { readonly numberOfKeys: number; readonly lua: string }): void
  countHit(key: string, windowMs: number): Promise<[count: number, resetMs: number]>
}

/** Counts in Redis, for all processes together. The store can be opened while Redis cannot be reached: its hits then fail immediately. */
export async function openRedisStore(
  { prefix, ...address }: RateLimitRedisSettings,
  commandTimeout: number,
): Promise<RateLimitStore> {
  const feature = 'the rateLimit plugin (store redis)'
  const client = await connectRedis<Counting>(address, { feature, commandTimeout })
  client.defineCommand('countHit', { numberOfKeys: 1, lua })
  return {
    async hit(key, windowMs): Promise<Hit> {
      const [count, resetMs] = await client.countHit(`${prefix}:${key}`, windowMs)
      return { count, resetMs }
    },
    close: () => client.disconnect(),
  }
}
