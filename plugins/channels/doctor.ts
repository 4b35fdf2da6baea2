import { type DoctorCheck, notForProduction, unused } from '../shared/doctor/check.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { ChannelsSettings } from './options.ts'

export const checks: readonly DoctorCheck<ChannelsSettings>[] = [
  notForProduction('channels.memory-store', ({ store }) => store === 'memory', {
    problem: 'the channels are kept in memory: a message from one process does not reach the clients of another',
    remedy: 'Set channels.store to { redis: "redis://…" }',
  }),
  unused('channels', {
    problem: 'no route has the option channels, so no client can join one',
    remedy: 'Give a route the option channels, or remove the plugin',
  }),
  ...redisChecks<ChannelsSettings>('the channels plugin (store redis)', ({ settings: { store } }) =>
    store === 'memory' ? undefined : { address: store.redis },
  ),
]
