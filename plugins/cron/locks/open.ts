import type { CronLockSettings } from '../options.ts'
import { type CronLock, lockTtl } from './contract.ts'

/** Opens the lock that the option describes; its package is loaded only here. */
export async function openLock(given: CronLockSettings): Promise<{ lock: CronLock; ttl: number }> {
  if ('claim' in given) return { lock: given, ttl: lockTtl }
  const { redis, postgres, ttl } = given
  if (redis !== undefined) return { lock: await (await import('./redis.ts')).openRedisLock(redis), ttl }
  return { lock: await (await import('./postgres.ts')).openPostgresLock(postgres!), ttl }
}
