import type { CronService } from './service.ts'

export { BaseCron, type BaseCronClass } from './base-cron.ts'
export { type CronClock, type MemoryClock, memoryClock } from './clock.ts'
export { type CronErrorHandler, setCronGlobalErrorHandler } from './failures.ts'
export { type CronHandle, cronJob } from './handle.ts'
export type {
  CronClaim,
  CronClaimed,
  CronLock,
  CronPostgresClient,
  CronPostgresOptions,
  CronRedisClient,
  CronRedisOptions,
} from './locks/contract.ts'
export { memoryCronLock } from './locks/memory.ts'
export type {
  CronJobOptions,
  CronLockOption,
  CronOptions,
  CronServiceOptions,
  CronSource,
  CronUiOptions,
} from './options.ts'
export { cron } from './plugin.ts'
export type { CronCounts, CronHandler, CronJobInfo, CronRecord, CronRun } from './run.ts'
export { CronService } from './service.ts'
export { cronUi } from './ui.ts'

// In the file that declares the interface: merging into the door would hide it from applications that merge into theirs.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The jobs of this server: `jobs()`, `trigger(name)`, `idle()`. */
    cron: CronService
  }
}
