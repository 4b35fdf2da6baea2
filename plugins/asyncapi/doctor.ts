import type { DoctorCheck } from '../shared/doctor/check.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import { type asyncapiOptions, unguarded } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof asyncapiOptions>>[] = [
  {
    code: 'asyncapi.public',
    level: 'warning',
    production: true,
    find: ({ settings }) => unguarded(settings),
  },
]
