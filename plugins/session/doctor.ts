import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import { secretChecks } from '../shared/doctor/secrets.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { sessionOptions } from './options.ts'

type Settings = SettingsOf<typeof sessionOptions>

export const checks: readonly DoctorCheck<Settings>[] = [
  {
    code: 'session.csrf-missing',
    level: 'warning',
    find({ listing }) {
      const isSafe = (method: string) => ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'].includes(method)
      const open = listing.routes.filter(
        ({ record: { method, options }, plugin, reachedBy }) =>
          plugin === 'application' &&
          !isSafe(method) &&
          reachedBy.has('session') &&
          !reachedBy.has('csrf') &&
          options.csrf !== false,
      )
      if (open.length === 0) return undefined
      const { method, path } = open[0]!.record
      const more = open.length === 1 ? '' : ` and ${open.length - 1} more`
      return {
        problem: `pages of other origins can send requests with the session of a user to ${method} ${path}${more}`,
        remedy: 'Register the plugin csrf: plugins: { csrf: true }',
      }
    },
  },
  ...secretChecks<Settings>('session', ({ secret }) => secret),
  notForProduction('session.memory-store', ({ store }) => store.kind === 'memory', {
    problem: 'sessions are kept in memory: every restart ends them, and a second process knows none of them',
    remedy: 'Set session.store to { redis: "redis://…" } or a store of your own',
  }),
  notForProduction('session.cookie-insecure', ({ cookie }) => cookie.secure === false, {
    problem: 'session.cookie.secure is false: browsers send the session over plain http, where it can be read',
    remedy: 'Leave it out: the cookie is secure where the request came by https',
  }),
  ...redisChecks<Settings>(
    'the session plugin (store redis)',
    ({ settings: { store } }) => (store.kind === 'redis' ? store.redis : undefined),
    { code: 'session.redis-evicts', level: 'warning', what: 'sessions' },
  ),
]
