import type { DoctorCheck } from '../shared/doctor/check.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import { type openapiOptions, unguarded } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof openapiOptions>>[] = [
  {
    code: 'openapi.public',
    level: 'warning',
    production: true,
    find: ({ settings }) => unguarded(settings),
  },
]
