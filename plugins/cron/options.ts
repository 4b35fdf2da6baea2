import { checkOptions, type Logger, type Middleware, OptionError, quoted } from '../../kernel/index.ts'
import { checkSources } from '../shared/service-class.ts'
import type { BaseCronClass } from './base-cron.ts'
import type { CronClock } from './clock.ts'
import type { CronErrorHandler } from './failures.ts'
import type { CronHandle } from './handle.ts'
import type { CronLock, CronPostgresOptions, CronRedisOptions } from './locks/contract.ts'
import { zoneByName } from './zone.ts'

/** Options of one job. */
export interface CronJobOptions {
  /** What it is called in logs, on the page and by the lock. Default: the pattern, then `pattern #2`; of a method, `Class.method`. */
  name?: string
  /** Told of what the handler throws. */
  onFailed?: CronErrorHandler
  /** A zone of the IANA database. Default: that of the service, else that of the process. */
  timezone?: string
  /** What a tick does while the job is running. Default `'skip'`. */
  overlap?: 'skip' | 'queue' | 'allow'
  /** What becomes of ticks that passed while nobody could look. Default `'run-once'`. */
  missed?: 'run-once' | 'skip'
  /** `false`: runs in every instance, although the service has a lock. Default true. */
  lock?: boolean
}

/** Where instances agree who runs a tick. */
export type CronLockOption =
  | { readonly redis: string | CronRedisOptions; readonly ttl?: number }
  | { readonly postgres: string | CronPostgresOptions; readonly ttl?: number }
  | CronLock

/** What is loaded when the jobs start: globs of files, classes, and handles that were started. */
export type CronSource = string | BaseCronClass | CronHandle

/** The page that shows the jobs. */
export interface CronUiOptions {
  /** Default `/crons`. */
  path?: string
  /** Who may see it. Without any, everybody may, and nobody can run a job from it. */
  middlewares?: readonly Middleware[]
}

/** Options of a service. */
export interface CronServiceOptions {
  /** Default `['src/crons/**\/*.{ts,js}']`, and every class that was imported. */
  crons?: readonly CronSource[]
  /** The zone of jobs that name none. Default: that of the process. */
  timezone?: string
  lock?: CronLockOption
  /** How many ended runs of a job are remembered. Default 20. */
  history?: number
  /** Default: that of the machine. */
  clock?: CronClock
}

/** Options of the plugin. */
export interface CronOptions extends CronServiceOptions {
  /** Shows the jobs on a page. Default: none. */
  ui?: boolean | CronUiOptions
}

export interface CronSettings {
  readonly crons: readonly CronSource[]
  /** Whether nobody has said which files. */
  readonly isDefaultGlob: boolean
  readonly timezone: string | undefined
  readonly lock: CronLockOption | undefined
  readonly history: number
  readonly clock: CronClock | undefined
}

const serviceOptions = ['crons', 'timezone', 'lock', 'history', 'clock']

/** What a page takes, with its defaults. */
export function uiSettingsOf(options: CronUiOptions): Required<CronUiOptions> {
  checkOptions('cronUi', options, ['path', 'middlewares'])
  const { path = '/crons', middlewares = [] } = options
  if (typeof path !== 'string' || !/^\/[^?#*:]*$/.test(path)) {
    throw OptionError('cronUi.path', quoted(path), 'a path that begins with "/", without parameters')
  }
  if (!Array.isArray(middlewares) || middlewares.some((one) => typeof one !== 'function')) {
    throw OptionError('cronUi.middlewares', middlewares, 'a list of middlewares')
  }
  return { path: path.replace(/\/+$/, '') || '/', middlewares }
}

/** The options of a service with every default in place, checked. */
export function settingsOf(options: CronServiceOptions & { logger?: Logger }, more: readonly string[]): CronSettings {
  checkOptions('cron', options, [...serviceOptions, ...more])
  const { crons, timezone, lock, history = 20, clock } = options
  checkTimezone('cron.timezone', timezone)
  if (!Number.isInteger(history) || history < 0 || history > 10_000) {
    throw OptionError('cron.history', quoted(history), 'a whole number from 0 to 10000')
  }
  if (clock !== undefined && (typeof clock?.now !== 'function' || typeof clock.at !== 'function')) {
    throw OptionError('cron.clock', clock, 'a clock: { now, at }')
  }
  return {
    crons: sourcesOf(crons) ?? ['src/crons/**/*.{ts,js}'],
    isDefaultGlob: crons === undefined,
    timezone,
    lock: checkLock(lock),
    history,
    clock,
  }
}

function sourcesOf(crons: unknown): readonly CronSource[] | undefined {
  if (crons === undefined) return undefined
  if (!Array.isArray(crons)) {
    throw OptionError('cron.crons', crons, "a list of globs ('src/crons/**/*.js'), classes and handles")
  }
  const takes = `a glob such as 'src/crons/**/*.js', a class that extends BaseCron, or a handle. A function becomes a job by cron('0 3 * * *').start(handler)`
  checkSources('cron.crons', crons, takes)
  return crons
}

export function checkTimezone(option: string, timezone: unknown): void {
  if (timezone === undefined) return
  try {
    if (typeof timezone !== 'string' || timezone === '') throw new RangeError('no name')
    zoneByName(timezone)
  } catch {
    throw OptionError(option, quoted(timezone), 'a time zone such as "Europe/Rome"')
  }
}

function checkLock(lock: unknown): CronLockOption | undefined {
  if (lock === undefined) return undefined
  const takes = '{ redis } or { postgres } with an address or options, or a lock ({ claim, renew, release })'
  if (typeof lock !== 'object' || lock === null) throw OptionError('cron.lock', lock, takes)
  if (typeof (lock as CronLock).claim === 'function') return lock as CronLock
  checkOptions('cron.lock', lock, ['redis', 'postgres', 'ttl'])
  const { redis, postgres, ttl } = lock as { redis?: unknown; postgres?: unknown; ttl?: unknown }
  const [place] = [redis, postgres].filter((one) => one !== undefined)
  const isPlace = typeof place === 'string' || (typeof place === 'object' && place !== null)
  if (!isPlace || (redis !== undefined && postgres !== undefined)) throw OptionError('cron.lock', lock, takes)
  if (ttl !== undefined && (!Number.isInteger(ttl) || (ttl as number) < 1000 || (ttl as number) > 3_600_000)) {
    throw OptionError('cron.lock.ttl', quoted(ttl), 'whole milliseconds from 1000 to 3600000')
  }
  return lock as CronLockOption
}

/** NUL is nothing that Postgres keeps, and half of a pair of surrogates has no form in an address. */
const isName = (name: unknown) =>
  typeof name === 'string' && name.trim() !== '' && name.length <= 200 && !/\0|\p{Surrogate}/u.test(name)

/** @throws OptionError */
export function checkJobOptions(options: CronJobOptions): void {
  const shape = 'an object such as { name: "cleaning" }; what runs goes to start: cron(pattern).start(handler)'
  if (typeof options === 'function') throw OptionError('cron (the options of a job)', options, shape)
  checkOptions('cron', options, ['name', 'onFailed', 'timezone', 'overlap', 'missed', 'lock'])
  const { name, onFailed, timezone, overlap, missed, lock } = options
  if (name !== undefined && !isName(name)) {
    throw OptionError(
      'cron.name',
      quoted(name),
      'a text of at most 200 characters, without NUL and unpaired surrogates',
    )
  }
  if (onFailed !== undefined && typeof onFailed !== 'function') {
    throw OptionError('cron.onFailed', onFailed, 'a function of the error')
  }
  checkTimezone('cron.timezone', timezone)
  if (overlap !== undefined && !['skip', 'queue', 'allow'].includes(overlap)) {
    throw OptionError('cron.overlap', quoted(overlap), '"skip", "queue" or "allow"')
  }
  if (missed !== undefined && !['run-once', 'skip'].includes(missed)) {
    throw OptionError('cron.missed', quoted(missed), '"run-once" or "skip"')
  }
  if (lock !== undefined && typeof lock !== 'boolean') throw OptionError('cron.lock', quoted(lock), 'true or false')
}
