import { quoted } from '../../../kernel/index.ts'
import { option, type SettingsOf } from '../../shared/options/index.ts'
import { zoneByName } from '../../shared/schedule/zone.ts'
import { safely } from '../../shared/values/safely.ts'
import { timeoutOption } from '../../shared/work/attempt.ts'
import type { CronErrorHandler } from '../failures.ts'

/** Options of one job. */
export interface CronJobOptions {
  /** The name in logs, on the page and in the lock. Default: the pattern, then `pattern #2`; for a method, `Class.method`. */
  name?: string
  /** Called with the error that the handler throws. */
  onFailed?: CronErrorHandler
  /** The time zone of the pattern, from the IANA database. Default: the zone of the service, otherwise that of the process. */
  timezone?: string
  /** What a tick does while the job is running. Default `'skip'`. */
  overlap?: 'skip' | 'queue' | 'allow'
  /** What happens to ticks that passed while the process could not run them. Default `'run-once'`. */
  missed?: 'run-once' | 'skip'
  /** `false`: the job runs in every instance, although the service has a lock. Default true. */
  lock?: boolean
  /** Milliseconds after which a run counts as failed and its `signal` aborts, so that the next tick runs. Default: none. */
  timeout?: number
}

const zoneTakes = 'a time zone such as "Europe/Rome"'
export const timezone = option.custom<string, string>(zoneTakes, (given, place) => {
  const isZone = typeof given === 'string' && given !== '' && safely(() => zoneByName(given)) !== undefined
  return isZone ? given : void place.wrong(quoted(given), zoneTakes)
})

/** Excludes NUL, which Postgres cannot store, and lone surrogates, which cannot be written in an address. */
const jobName = /^(?=.*\S)[^\0\p{Surrogate}]{1,200}$/su

export const cronJobOptions = option
  .shape({
    name: option.name(jobName, 'a string of at most 200 characters, without NUL or unpaired surrogates'),
    onFailed: option.fn<CronErrorHandler>('a function of the error'),
    timezone,
    overlap: option.oneOf('skip', 'queue', 'allow').default('skip'),
    missed: option.oneOf('run-once', 'skip').default('run-once'),
    lock: option.flag().default(true),
    timeout: timeoutOption,
  })
  .says('an object such as { name: "cleaning" }; the handler goes to start: cron(pattern).start(handler)')
  .typed<CronJobOptions>()

export type CronJobSettings = SettingsOf<typeof cronJobOptions>
