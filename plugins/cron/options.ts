import { described, type Logger, type Middleware } from '../../kernel/index.ts'
import { operatorPageOptions } from '../shared/development/operator-page.ts'
import { lockTtl } from '../shared/locks/contract.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { type CronPattern, parsePattern } from '../shared/schedule/pattern.ts'
import { postgresStore } from '../shared/stores/postgres.ts'
import { redisStore } from '../shared/stores/redis-store.ts'
import { sourcesOption } from '../shared/work/service-classes.ts'
import type { BaseCronClass } from './jobs/base-cron.ts'
import type { CronHandle } from './jobs/handle.ts'
import { type CronJobOptions, cronJobOptions, timezone } from './jobs/job-options.ts'
import type { CronHandler } from './jobs/run.ts'
import type { CronLock, CronPostgresOptions, CronRedisOptions } from './locks/lock.ts'

/**
 * The lock through which instances agree on which of them runs a tick: in `redis` or in `postgres`, given as an address or options, or a
 * lock of your own. An instance that has not renewed its claim for `ttl` milliseconds, default 30000, is considered dead.
 */
export type CronLockOption =
  | { readonly redis: string | CronRedisOptions; readonly ttl?: number }
  | { readonly postgres: string | CronPostgresOptions; readonly ttl?: number }
  | CronLock

/** A job of one server, as an object. */
export interface CronJobSource {
  /** The pattern, as of `cron(pattern)`. */
  readonly schedule: string
  /** Called at each tick. */
  readonly handler: CronHandler
  /** The options, as of `cron(pattern, options)`. */
  readonly options?: CronJobOptions
}

/** Jobs to load at the start: a glob of files, a class, a handle that was started, or an object. */
export type CronSource = string | BaseCronClass | CronHandle | CronJobSource

/** The page that shows the jobs. */
export interface CronUiOptions {
  /** The path of the page. Default `/crons`. */
  path?: string
  /** Middlewares that decide who may see the page. Without any, the page is public, but cannot run a job. */
  middlewares?: readonly Middleware[]
}

/** Options of a service. */
export interface CronServiceOptions {
  /** The files and classes with jobs, and jobs of this server: globs, classes, handles, objects. Default `['src/crons/**\/*.{ts,js}']`, and every imported class. */
  crons?: readonly CronSource[]
  /** The time zone of jobs that set none. Default: the zone of the process. */
  timezone?: string
  /** How several instances agree on which of them runs a tick. Default none: every instance runs every job. */
  lock?: CronLockOption
  /** The number of ended runs that are remembered for each job. Default 20. */
  history?: number
}

/** Options of the plugin. */
export interface CronOptions extends CronServiceOptions {
  /** A page that shows the jobs. Default: none. */
  ui?: boolean | CronUiOptions
}

const ownLock = option.value<CronLock>('a lock', (given) => typeof Object(given).claim === 'function')
const lockTakes = '{ redis } or { postgres } with an address or options, or a lock ({ claim, renew, release })'
const storedLock = option
  .shape({
    redis: redisStore({ prefix: 'cron', timeout: 2_000 }).optional(),
    postgres: postgresStore('framework_cron'),
    ttl: option.int({ min: 1000, max: 3_600_000 }).says('whole milliseconds from 1000 to 3600000').default(lockTtl),
  })
  .into((given, place) => {
    const both = given.redis !== undefined
    if (both === (given.postgres !== undefined))
      place.wrong(described(`an object with ${both ? 'both redis and' : 'neither redis nor'} postgres`), lockTakes)
    return given
  })

const patternTakes = 'a pattern such as "0 3 * * *"'
const schedule = option.custom<string, CronPattern>(patternTakes, (given, place) => {
  if (typeof given !== 'string') return void place.wrong(given, patternTakes)
  try {
    return parsePattern(given)
  } catch (error) {
    return void place.problem(`the option "${place.path}": ${(error as Error).message}`)
  }
})

const listedJob = option.shape({
  schedule: schedule.required(),
  handler: option.fn<CronHandler>('a function of the run').required(),
  options: cronJobOptions.says('an object such as { name: "cleaning" }'),
})

const sources = sourcesOption<CronSource, SettingsOf<typeof listedJob>>(
  listedJob,
  `a glob such as 'src/crons/**/*.js', a class that extends BaseCron, a handle, or { schedule, handler, options }. A function becomes a job by cron('0 3 * * *').start(handler)`,
)

const service = {
  crons: sources.says("a list of globs ('src/crons/**/*.js'), classes, handles and { schedule, handler }"),
  timezone,
  lock: option.either(ownLock, storedLock).says(lockTakes),
  history: option.int({ min: 0, max: 10_000 }).default(20),
}

const logger = option.having<Logger>(['info', 'warn', 'error', 'child'], 'a logger')

export const cronServiceOptions = option.shape({ ...service, logger }).typed<CronServiceOptions & { logger?: Logger }>()

export type CronSettings = SettingsOf<typeof cronServiceOptions>
export type CronLockSettings = NonNullable<CronSettings['lock']>

export const cronUiOptions = option.shape(operatorPageOptions('/crons')).typed<CronUiOptions>()

/** @internal */
export const cronOptions = option
  .shape({ ...service, ui: option.feature(cronUiOptions).default(false) })
  .typed<CronOptions>()
