import { described, type Logger, type Middleware } from '../../kernel/index.ts'
import { operatorPageOptions } from '../shared/development/operator-page.ts'
import { foreignOption } from '../shared/options/foreign-options.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { addressOption } from '../shared/stores/address.ts'
import { redisOptions, redisPrefix, redisUrl } from '../shared/stores/redis.ts'
import { sourceList } from '../shared/work/service-classes.ts'
import type { BaseCronClass } from './jobs/base-cron.ts'
import type { CronHandle } from './jobs/handle.ts'
import { timezone } from './jobs/job-options.ts'
import {
  type CronLock,
  type CronPostgresClient,
  type CronPostgresOptions,
  type CronRedisClient,
  type CronRedisOptions,
  lockTtl,
} from './locks/contract.ts'

/**
 * The lock through which instances agree on which of them runs a tick: in `redis` or in `postgres`, given as an address or options, or a
 * lock of your own. An instance that has not renewed its claim for `ttl` milliseconds, default 30000, is considered dead.
 */
export type CronLockOption =
  | { readonly redis: string | CronRedisOptions; readonly ttl?: number }
  | { readonly postgres: string | CronPostgresOptions; readonly ttl?: number }
  | CronLock

/** Jobs to load at the start: a glob of files, a class, or a handle that was started. */
export type CronSource = string | BaseCronClass | CronHandle

/** The page that shows the jobs. */
export interface CronUiOptions {
  /** The path of the page. Default `/crons`. */
  path?: string
  /** Middlewares that decide who may see the page. Without any, the page is public, but cannot run a job. */
  middlewares?: readonly Middleware[]
}

/** Options of a service. */
export interface CronServiceOptions {
  /** The files and classes with jobs: globs, classes, handles. Default `['src/crons/**\/*.{ts,js}']`, and every imported class. */
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

const redisLock = redisOptions({
  client: option.having<CronRedisClient>(['eval'], 'a client of ioredis'),
  prefix: redisPrefix('cron'),
})

const table = 'a name of lower-case letters, digits and _'
const postgresMembers = {
  url: addressOption('postgres'),
  client: option.having<CronPostgresClient>(['query'], 'a pool of pg'),
  table: option.name(/^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/, table).default('framework_cron'),
}
/** Options of a pool of `pg` that are often misspelt. */
const ofPool = ['host', 'port', 'user', 'password', 'database', 'connectionString', 'ssl', 'max', 'min', 'Client']
const postgresLock = option
  .shape(postgresMembers, foreignOption([...Object.keys(postgresMembers), ...ofPool]))
  .says('options of a pool of pg')
  .typed<CronPostgresOptions>()

const ownLock = option.value<CronLock>('a lock', (given) => typeof Object(given).claim === 'function')
const lockTakes = '{ redis } or { postgres } with an address or options, or a lock ({ claim, renew, release })'
const storedLock = option
  .shape({
    redis: option.either(
      redisUrl.into((url, place) => redisLock.read({ url }, place)),
      redisLock,
    ),
    postgres: option.either(
      addressOption('postgres').into((url, place) => postgresLock.read({ url }, place)),
      postgresLock,
    ),
    ttl: option.int({ min: 1000, max: 3_600_000 }).says('whole milliseconds from 1000 to 3600000').default(lockTtl),
  })
  .into((given, place) => {
    const both = given.redis !== undefined && given.postgres !== undefined
    const none = given.redis === undefined && given.postgres === undefined
    if (both || none)
      place.wrong(described(`an object with ${both ? 'both redis and' : 'neither redis nor'} postgres`), lockTakes)
    return given
  })

const service = {
  crons: sourceList<CronSource>(
    `a glob such as 'src/crons/**/*.js', a class that extends BaseCron, or a handle. A function becomes a job by cron('0 3 * * *').start(handler)`,
  ).says("a list of globs ('src/crons/**/*.js'), classes and handles"),
  timezone,
  lock: option.either(ownLock, storedLock).says(lockTakes),
  history: option.int({ min: 0, max: 10_000 }).default(20),
}

function withSources<Given extends { readonly crons: readonly CronSource[] | undefined }>(given: Given) {
  return { ...given, crons: given.crons ?? ['src/crons/**/*.{ts,js}'], isDefaultGlob: given.crons === undefined }
}

const logger = option.having<Logger>(['info', 'warn', 'error', 'child'], 'a logger')

export const cronServiceOptions = option
  .shape({ ...service, logger })
  .into(withSources)
  .typed<CronServiceOptions & { logger?: Logger }>()

export type CronSettings = SettingsOf<typeof cronServiceOptions>
export type CronLockSettings = NonNullable<CronSettings['lock']>
export type CronRedisSettings = SettingsOf<typeof redisLock>
export type CronPostgresSettings = SettingsOf<typeof postgresLock>

export const cronUiOptions = option.shape(operatorPageOptions('/crons')).typed<CronUiOptions>()

const ui = option
  .either(option.flag(), cronUiOptions)
  .into((given) => (given === true ? {} : given))
  .default(false)

export const cronOptions = option
  .shape({ ...service, ui })
  .into(withSources)
  .typed<CronOptions>()
