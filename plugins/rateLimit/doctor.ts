import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import { isStore, type RateLimitSettings } from './options.ts'

export const checks: readonly DoctorCheck<RateLimitSettings>[] = [
  notForProduction('rateLimit.memory-store', ({ store }) => store === 'memory', {
    problem: 'requests are counted in memory: each process allows the whole limit by itself',
    remedy: 'Set rateLimit.store to { redis: "redis://…" } or a store of your own',
  }),
  ...redisChecks<RateLimitSettings>('the rateLimit plugin (store redis)', ({ settings: { store } }) =>
    store === 'memory' || isStore(store) ? undefined : store.redis,
  ),
]
