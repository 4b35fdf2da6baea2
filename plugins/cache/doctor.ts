import type { DoctorCheck } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import { productionWarning, unused } from '../shared/doctor/usual.ts'
import { severalWorkers } from './doctor-workers.ts'
import type { CacheSettings } from './options.ts'

export const checks: readonly DoctorCheck<CacheSettings>[] = [
  productionWarning('cache.memory-store', ({ settings, server }) => {
    const several = settings.provider === 'memory' ? severalWorkers(server.worker) : undefined
    if (several === undefined) return undefined
    return {
      problem: `answers are cached in the memory of each process, and there are several (${several}): invalidate() reaches one`,
      remedy: 'Set cache.provider to "redis"',
    }
  }),
  unused('cache', {
    problem: 'no route has the option cache, so that nothing is cached',
    remedy: 'Give a route the option cache, or remove the plugin',
  }),
  ...redisChecks<CacheSettings>('the cache plugin (provider "redis")', ({ settings: { provider, redis } }) =>
    provider === 'redis' ? redis : undefined,
  ),
]
