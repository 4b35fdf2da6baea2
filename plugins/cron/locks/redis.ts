import { connectRedis } from '../../shared/stores/redis.ts'
import type { CronRedisSettings } from '../options.ts'
import { aheadMs, type CronClaimed, type CronLock, type CronRedisClient, rememberMs } from './contract.ts'

// KEYS the last tick with its owner, the running owner; ARGV tick (or nothing), owner, ttl, exclusive, ahead, remember.
// The time is taken from Redis: the clocks of the instances differ.
const claimScript = `
local tick, owner, exclusive = ARGV[1], ARGV[2], ARGV[4]
if tick ~= '' then
  local last = redis.call('GET', KEYS[1])
  if last then
    local split = string.find(last, ':')
    if tonumber(string.sub(last, 1, split - 1)) >= tonumber(tick) and string.sub(last, split + 1) ~= owner then return 'taken' end
  end
  local time = redis.call('TIME')
  if tonumber(tick) > time[1] * 1000 + time[2] / 1000 + tonumber(ARGV[5]) then return 'early' end
end
local holder = redis.call('GET', KEYS[2])
local busy = holder and holder ~= owner
if busy and exclusive == 'wait' then return 'busy' end
if tick ~= '' then
  local by = owner
  if busy and exclusive == 'true' then by = '' end
  redis.call('SET', KEYS[1], tick .. ':' .. by, 'PX', ARGV[6])
end
if busy and exclusive == 'true' then return 'busy' end
if exclusive ~= 'false' then redis.call('SET', KEYS[2], owner, 'PX', ARGV[3]) end
return 'claimed'`

const renewScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`

/** Timeout of a command; after it, the caller asks again. */
const commandTimeout = 2_000

/** Opens a lock in Redis; this works even while Redis cannot be reached. */
export async function openRedisLock({ client, prefix, ...address }: CronRedisSettings): Promise<CronLock> {
  const use = { feature: 'the cron plugin (lock redis)', commandTimeout }
  const own = client === undefined ? await connectRedis<CronRedisClient>(address, use) : undefined
  const redis = client ?? own!
  // The braces put both keys of a job into the same slot of a cluster.
  const key = (job: string, what: string) => `${prefix}:{${job}}:${what}`
  return {
    async claim({ job, tick, owner, ttl, exclusive }) {
      const keys = [key(job, 'tick'), key(job, 'run')]
      const values = [tick ?? '', owner, ttl, String(exclusive), aheadMs, rememberMs]
      return (await redis.eval(claimScript, 2, ...keys, ...values)) as CronClaimed
    },
    renew: async ({ job, owner, ttl }) => (await redis.eval(renewScript, 1, key(job, 'run'), owner, ttl)) === 1,
    async release({ job, owner }) {
      await redis.eval(releaseScript, 1, key(job, 'run'), owner)
    },
    close: () => own?.disconnect(),
  }
}
