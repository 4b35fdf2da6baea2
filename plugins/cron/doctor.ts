import { type DoctorCheck, missingPackage } from '../shared/doctor/check.ts'
import { postgresClock } from '../shared/doctor/postgres.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import { peer } from '../shared/environment/optional-package.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import { isMemoryLock } from './locks/lock.ts'
import type { CronLockSettings, cronOptions } from './options.ts'

type Settings = SettingsOf<typeof cronOptions>

/** Returns a lock in Redis or Postgres; `undefined` for a lock of the application's own. */
const stored = (lock: CronLockSettings | undefined) => (lock === undefined || 'claim' in lock ? undefined : lock)

export const checks: readonly DoctorCheck<Settings>[] = [
  missingPackage(() => peer('node-schedule', () => import('node-schedule'), 'the cron plugin')),
  {
    code: 'cron.no-lock',
    level: 'hint',
    production: true,
    find({ settings: { lock } }) {
      if (lock !== undefined && !isMemoryLock(lock)) return undefined
      return {
        problem: 'cron has no lock: where several instances of the application run, each runs every job',
        remedy: 'Set cron.lock to { redis } or { postgres }, or run one instance',
      }
    },
  },
  ...redisChecks<Settings>('the cron plugin (lock redis)', ({ settings }) => stored(settings.lock)?.redis, {
    code: 'cron.redis-evicts',
    level: 'warning',
    what: 'the locks of jobs, which then run twice',
  }),
  postgresClock('the cron plugin (lock postgres)', ({ settings }) => {
    const postgres = stored(settings.lock)?.postgres
    if (postgres === undefined) return undefined
    const { client, table, ...address } = postgres
    return client === undefined ? { address } : { client }
  }),
]
