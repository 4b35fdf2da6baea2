import type { DoctorCheck } from '../toolkit/doctor/check.ts'
import { publicPage } from '../toolkit/doctor/public-page.ts'
import type { SettingsOf } from '../toolkit/options/index.ts'
import type { asyncapiOptions } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof asyncapiOptions>>[] = [
  {
    code: 'asyncapi.public',
    level: 'warning',
    production: true,
    find: ({ settings }) =>
      publicPage(
        settings.routeOptions,
        `the message description at ${settings.path}.json`,
        'Set asyncapi.middlewares or asyncapi.policy',
      ),
  },
]
