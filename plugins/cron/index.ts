export type { BaseCronClass } from './jobs/base-cron.ts'
export { cronJob } from './jobs/handle.ts'
export type { CronRunTrace } from './jobs/job.ts'
export type { CronCounts, CronRecord } from './jobs/run.ts'
export type {
  CronClaim,
  CronClaimed,
  CronPostgresClient,
  CronPostgresOptions,
  CronRedisClient,
  CronRedisOptions,
} from './locks/lock.ts'
export type { CronJobSource, CronLockOption, CronServiceOptions, CronSource, CronUiOptions } from './options.ts'
export { cron } from './plugin.ts'
export * from './public.ts'
