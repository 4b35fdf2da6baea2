import type { CronLockOption } from '../options.ts'
import type { CronLock } from './contract.ts'

const defaultTtl = 30_000

/** The lock that an option means; its package is loaded here. */
export async function openLock(option: CronLockOption): Promise<{ lock: CronLock; ttl: number }> {
  if ('claim' in option) return { lock: option, ttl: defaultTtl }
  const { ttl = defaultTtl } = option
  if ('redis' in option) return { lock: await (await import('./redis.ts')).openRedisLock(option.redis), ttl }
  return { lock: await (await import('./postgres.ts')).openPostgresLock(option.postgres), ttl }
}
