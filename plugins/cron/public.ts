// The names that `framework` has as well.
import type { CronService } from './service.ts'

export { type CronErrorHandler, setCronGlobalErrorHandler } from './failures.ts'
export { BaseCron } from './jobs/base-cron.ts'
export type { CronHandle } from './jobs/handle.ts'
export type { CronJobOptions } from './jobs/job-options.ts'
export type { CronHandler, CronJobInfo, CronRun } from './jobs/run.ts'
export { type CronLock, memoryCronLock } from './locks/lock.ts'
export type { CronOptions } from './options.ts'
export { CronService } from './service.ts'
export { cronUi } from './ui/ui.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The cron jobs of this server: `jobs()`, `trigger(name)`, `idle()`. */
    cron: CronService
  }
}
