import type { DoctorCheck } from '../toolkit/doctor/check.ts'
import { publicPage } from '../toolkit/doctor/public-page.ts'
import type { SettingsOf } from '../toolkit/options/index.ts'
import type { openapiOptions } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof openapiOptions>>[] = [
  {
    code: 'openapi.public',
    level: 'warning',
    production: true,
    find: ({ settings }) =>
      publicPage(
        settings.routeOptions,
        `the API description at ${settings.path}`,
        'Set openapi.middlewares or openapi.policy',
      ),
  },
]
