import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { LocksSettings } from './options.ts'

export const checks: readonly DoctorCheck<LocksSettings>[] = [
  notForProduction('locks.memory-store', ({ store }) => store === 'memory', {
    problem: 'locks are kept in memory: a second process does not see them',
    remedy: 'Set locks.store to { redis: "redis://…" } or { postgres: "postgres://…" }',
  }),
  ...redisChecks<LocksSettings>(
    'the locks plugin (store redis)',
    ({ settings: { store } }) => (store !== 'memory' && 'redis' in store ? store.redis : undefined),
    { code: 'locks.redis-evicts', level: 'warning', what: 'locks, which two processes then hold' },
  ),
]
