import type { DoctorCheck } from '../../shared/doctor/check.ts'
import { publicPage } from '../../shared/doctor/public-page.ts'
import type { SettingsOf } from '../../shared/options/index.ts'
import type { cronUiOptions } from '../options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof cronUiOptions>>[] = [
  {
    code: 'cronUi.public',
    level: 'warning',
    production: true,
    find: ({ settings }) =>
      publicPage(
        settings,
        `the jobs at ${settings.path}`,
        'Guard the page: cron: { ui: { middlewares: [staffOnly] } }',
      ),
  },
]
