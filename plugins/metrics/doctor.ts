import type { DoctorCheck } from '../shared/doctor/check.ts'
import type { MetricsSettings } from './options.ts'

export const checks: readonly DoctorCheck<MetricsSettings>[] = [
  {
    code: 'metrics.public',
    level: 'error',
    production: true,
    explains: 'MetricsAccessError',
    find({ settings: { path, policy, addresses = [], port, openTelemetry } }) {
      if (policy !== undefined || addresses.length > 0 || port !== undefined || openTelemetry) return undefined
      return {
        problem: `everyone could read the metrics at ${path}, so the server does not start in production`,
        remedy: 'Set metrics.policy, metrics.addresses (["10.0.0.0/8"]), or metrics.port for a port of their own',
      }
    },
  },
]
