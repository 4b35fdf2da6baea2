import type { DoctorCheck } from '../toolkit/doctor/check.ts'
import type { SettingsOf } from '../toolkit/options/index.ts'
import type { trustProxyOptions } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof trustProxyOptions>>[] = [
  {
    code: 'trustProxy.everyone',
    level: 'warning',
    production: true,
    find({ settings }) {
      if (settings.trustedProxies !== true) return undefined
      return {
        problem: 'trustProxy.trustedProxies is true: every client chooses the address that it has for limits and logs',
        remedy: 'Name the proxies (["10.0.0.0/8"]), or how many there are: 1',
      }
    },
  },
]
