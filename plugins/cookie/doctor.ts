import type { DoctorCheck } from '../shared/doctor/check.ts'
import { shortSecret, trackedSecret } from '../shared/doctor/secrets.ts'
import type { CookieSettings } from './options.ts'

export const checks: readonly DoctorCheck<CookieSettings>[] = [
  {
    code: 'cookie.secret-short',
    level: 'warning',
    find: ({ settings }) => shortSecret('cookie.secret', settings.secrets),
  },
  {
    code: 'cookie.secret-in-repository',
    level: 'error',
    production: true,
    find: ({ settings }) => trackedSecret('cookie.secret', settings.secrets),
  },
]
