import { connectRedis, type RedisAddress } from '../../toolkit/redis.ts'
import type { RateLimitRedisSettings } from '../options.ts'
import type { Hit, RateLimitStore } from './contract.ts'

/** Where Redis is. */
export interface RateLimitRedisOptions extends RedisAddress {
  /** What the keys begin with. Default `rate-limit`. */
  readonly prefix?: string
}

// The library counts in whole seconds; here its duration is taken for milliseconds. Incrementing and setting the end are
// one step, so that no key can stay without an end.
const script = `
local count = redis.call('incrby', KEYS[1], ARGV[1])
local rest = redis.call('pttl', KEYS[1])
if rest < 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  rest = tonumber(ARGV[2])
end
return { count, rest }`

/** A request waits no longer than that for its number. */
const commandTimeout = 250

/** Counts in Redis, for all processes together. It exists also while Redis cannot be reached: its hits then fail at once. */
export async function openRedisStore({ prefix, ...address }: RateLimitRedisSettings): Promise<RateLimitStore> {
  const { RateLimiterRedis } = await import('rate-limiter-flexible')
  const client = await connectRedis<object>(address, { feature: 'the rateLimit plugin (store redis)', commandTimeout })
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: prefix,
    // Counted here is all; who is above the limit is decided by the rules.
    points: Number.MAX_SAFE_INTEGER,
    // That of the rule comes with each hit.
    duration: 1,
    customIncrTtlLuaScript: script,
  })
  return {
    async hit(key, windowMs): Promise<Hit> {
      // `consume` would reject, with a value that is no error, for whoever is above the limit.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, 1, { customDuration: windowMs })
      return { count: consumedPoints, resetMs: msBeforeNext }
    },
    close: () => client.disconnect(),
  }
}
