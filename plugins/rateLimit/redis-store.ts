import { peer } from '../../kernel/index.ts'
import type { Hit, RateLimitStore } from './store.ts'

/** An address, and everything else that `new Redis()` of `ioredis` takes: `host`, `password`, `tls` … */
export interface RateLimitRedisOptions {
  /** Default `REDIS_URL`, else `redis://127.0.0.1:6379`; not looked at beside `host` or `path`. */
  readonly url?: string
  /** What the keys begin with. Default `rate-limit`. */
  readonly prefix?: string
  readonly [option: string]: unknown
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
export async function openRedisStore({ url, prefix, ...given }: RateLimitRedisOptions): Promise<RateLimitStore> {
  const { Redis } = await peer('ioredis', () => import('ioredis'), 'the rateLimit plugin (store redis)')
  const { RateLimiterRedis } = await import('rate-limiter-flexible')
  const options = {
    connectTimeout: 2_000,
    commandTimeout,
    // Fail at once while there is no connection, and never count a request that was let through long ago.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(50 * 2 ** times, 1_000),
    ...given,
    lazyConnect: true,
  }
  const isPlaced = given.host !== undefined || given.path !== undefined
  const client = isPlaced
    ? new Redis(options)
    : new Redis(url ?? (process.env.REDIS_URL || 'redis://127.0.0.1:6379'), options)
  // Without a listener ioredis writes each failed attempt to the console; each hit that fails tells its reason itself.
  client.on('error', () => {})
  await settled(client.connect())
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: prefix ?? 'rate-limit',
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

/** Waits for a first connection, but not for ever: a Redis may take connections and say nothing. */
function settled(connecting: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 2_000)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    connecting.then(end, end)
  })
}
