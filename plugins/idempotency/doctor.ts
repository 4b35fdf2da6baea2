import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { IdempotencySettings } from './options.ts'

export const checks: readonly DoctorCheck<IdempotencySettings>[] = [
  notForProduction('idempotency.memory-store', ({ store }) => store === 'memory', {
    problem: 'idempotency keys are kept in memory: a retried request runs again in another process, or after a restart',
    remedy: 'Set idempotency.store to "database" or { redis: "redis://…" }',
  }),
  ...redisChecks<IdempotencySettings>('the idempotency plugin (store redis)', ({ settings: { store } }) =>
    typeof store === 'object' && 'redis' in store ? store.redis : undefined,
  ),
]
