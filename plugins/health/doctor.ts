import type { DoctorCheck } from '../shared/doctor/check.ts'
import { probes, reasonOf } from './checks.ts'
import type { HealthSettings } from './options.ts'

export const checks: readonly DoctorCheck<HealthSettings>[] = [
  {
    code: 'health.check-fails',
    level: 'warning',
    network: true,
    async find({ services, booted }) {
      if (!booted) return []
      const { results } = await probes.get(services)!()
      return Object.entries(results).flatMap(([name, result]) => {
        const { outcome, remedy } = result
        const reason = reasonOf(result)
        if (outcome === 'ok') return []
        const isError = outcome === 'error'
        return {
          problem: `the health check "${name}" ${isError ? 'fails, so the server is not ready' : 'is degraded'}${reason === undefined ? '' : `: ${reason}`}`,
          remedy: `${remedy ?? 'Start the service that it checks, or correct the options that name it'}, or run this where the application runs`,
          about: name,
          level: isError ? 'warning' : 'hint',
        } as const
      })
    },
  },
]
