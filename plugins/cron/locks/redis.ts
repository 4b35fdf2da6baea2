import { readFileSync } from 'node:fs'
import { connectRedis } from '../../shared/stores/redis.ts'
import type { CronRedisSettings } from '../options.ts'
import { aheadMs, type CronClaimed, type CronLock, type CronRedisClient, rememberMs } from './contract.ts'

const claimScript = readFileSync(new URL('./redis/claim.lua', import.meta.url), 'utf8')

const renewScript = readFileSync(new URL('./redis/renew.lua', import.meta.url), 'utf8')

const releaseScript = readFileSync(new URL('./redis/release.lua', import.meta.url), 'utf8')

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
