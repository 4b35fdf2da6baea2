import { readFileSync } from 'node:fs'
import type { Kernel } from '../../kernel/index.ts'
import { type DoctorCheck, productionWarning, unused } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import { safely } from '../shared/values/safely.ts'
import type { CacheSettings } from './options.ts'

export const checks: readonly DoctorCheck<CacheSettings>[] = [
  productionWarning('cache.memory-store', ({ settings, server }) => {
    const several = settings.provider === 'memory' ? severalWorkers(server.worker) : undefined
    if (several === undefined) return undefined
    return {
      problem: `there are several processes (${several}), and each caches responses in its own memory: invalidate() reaches only one`,
      remedy: 'Set cache.provider to "redis"',
    }
  }),
  unused('cache', {
    problem: 'no route has the option cache, so no response is cached',
    remedy: 'Give a route the option cache, or remove the plugin if nothing uses getOrSet',
  }),
  ...redisChecks<CacheSettings>('the cache plugin (provider "redis")', ({ settings: { provider, redis } }) =>
    provider === 'redis' ? redis : undefined,
  ),
]

type Manifest = { readonly scripts?: Readonly<Record<string, string>> | null } | null

/** The sign that the application runs in several processes, as far as one of them can see it. */
function severalWorkers(own: Kernel['worker']): string | undefined {
  if (own !== undefined && own.of > 1) return `this is worker ${own.number} of ${own.of}`
  const manifest = safely(() => JSON.parse(readFileSync('package.json', 'utf8')) as Manifest)
  const scripts = Object.entries(manifest?.scripts ?? {})
  const found = scripts.find(([, text]) => /\bstart\b/.test(text) && workers.test(text))
  return found && `the script "${found[0]}" of package.json runs ${workers.exec(found[1])![0]}`
}

const workers = /(?:--workers|-w)[= ](?:max|[2-9]\d*|1\d+)\b/
