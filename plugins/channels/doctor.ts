import type { DoctorCheck } from '../toolkit/doctor/check.ts'
import { redisChecks } from '../toolkit/doctor/redis.ts'
import type { ChannelsSettings } from './options.ts'

export const checks: readonly DoctorCheck<ChannelsSettings>[] = [
  {
    code: 'channels.memory-store',
    level: 'warning',
    production: true,
    find({ settings }) {
      if (settings.store !== 'memory') return undefined
      return {
        problem: 'the channels are kept in memory: what one process publishes reaches no client of another',
        remedy: 'Set channels.store to a Redis ({ url })',
      }
    },
  },
  {
    code: 'channels.unused',
    level: 'hint',
    find({ listing, plugin, booted }) {
      const isUsed = listing.routes.some(
        ({ record, reachedBy }) => record.options.channels && reachedBy.get('channels') === plugin,
      )
      if (!booted || isUsed) return undefined
      return {
        problem: 'no route has the option channels, so that no client can join one',
        remedy: 'Give a route the option channels, or remove the plugin',
      }
    },
  },
  ...redisChecks<ChannelsSettings>('the channels plugin (store redis)', ({ settings: { store } }) =>
    store === 'memory' ? undefined : { address: store },
  ),
]
