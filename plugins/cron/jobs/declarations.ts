import type { CallSite, Logger } from '../../../kernel/index.ts'
import type { CronPattern } from '../../shared/schedule/pattern.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import { Declarations, type Runner } from '../../shared/work/declarations.ts'
import { Mounts } from '../../shared/work/mounts.ts'
import type { Running } from '../../shared/work/running.ts'
import type { CronJobSettings } from './job-options.ts'
import type { CronHandler } from './run.ts'

/** A job declared by a handle, by a method of a class, or by the option `crons`. */
export interface Declared {
  readonly name: string
  /** Whether the name is the same in other instances of the application. */
  readonly isNamed: boolean
  readonly pattern: CronPattern
  readonly options: CronJobSettings
  /**
   * Its runs in scripts: a service that takes over a job from another one respects its `overlap`. The same object for a job throughout this
   * process, so it also says whether two services have the same job, each with its own instance of a class.
   */
  readonly inScripts: Running
  handler: CronHandler
}

/** The job of a handle. */
export interface StartedJob extends Declared {
  /** Where `cron` was called. */
  readonly place: CallSite
}

/** A service, as far as it runs jobs. */
export interface JobRunner extends Runner<Declared> {
  /** Whether it waits for the ticks of a job; for a server, also whether the job is still running. */
  has(declared: Declared): boolean
  /** Removes a job from the list, since it has ended permanently. */
  forget(declared: Declared): void
}

/** The started jobs of handles: each server runs all of them. */
export const started = new Declarations<StartedJob, JobRunner>()

/** The servers with jobs. */
export const servers = new Mounts<JobRunner>('Say which: server.services.cron')

/** The services of servers and scripts from their start until their last run has ended, the oldest first. */
export const services = new Set<JobRunner>()

/**
 * Whether another service runs a job in place of this one: an older one of the same server, or of scripts, which are one instance of the
 * application; and in place of a script any server.
 */
export function isElsewhere(declared: Declared, by: JobRunner): boolean {
  let isOlder = true
  for (const other of services) {
    if (other === by) isOlder = false
    else if ((other.server === by.server ? isOlder : by.server === undefined) && other.has(declared)) return true
  }
  return false
}

/** Ends a job in every service. */
export function endJob(declared: StartedJob): void {
  void started.remove(declared)
  for (const service of services) service.forget(declared)
}

/** Whether a service runs what belongs to no server, or will. */
export const isServed = (): boolean => servers.size > 0 || services.size > 0

/** Logs each started handle that nothing runs when a server without jobs has booted, once. */
export function reportStarted(server: object, log: Logger, remedies: { hook: string; other: string }): void {
  started.reportIdle(
    ({ name, place }, owner) => {
      const remedy = owner === undefined ? remedies.other : remedies.hook
      log.warn(`the cron job "${name}" (${place}) was started, but nothing in this process runs it: ${remedy}`)
    },
    (owner) => owner === server || (owner === undefined && !isServed()),
  )
}

/** The last numbers of jobs without a name, by pattern: those that belong to all servers, those of one, and the highest of any. */
const ofAll = new Map<string, number>()
const ofOne = new WeakMap<object, Map<string, number>>()
const highest = new Map<string, number>()

/**
 * Returns a function that names a job: by its pattern; further ones of a server are numbered in the order in which they need a name. `owner`
 * is the server that it belongs to; two servers have the same names for jobs of their own.
 */
export function naming(given: string | undefined, pattern: string, owner: () => object | undefined): () => string {
  let name = given
  return () => {
    name ??= nextName(pattern, owner())
    return name
  }
}

function nextName(pattern: string, owner: object | undefined): string {
  const last = (numbers: Map<string, number>) => numbers.get(pattern) ?? 0
  const numbers = owner === undefined ? ofAll : madeIn(ofOne, owner, () => new Map<string, number>())
  const number = 1 + (owner === undefined ? last(highest) : Math.max(last(numbers), last(ofAll)))
  numbers.set(pattern, number)
  highest.set(pattern, Math.max(number, last(highest)))
  return number === 1 ? pattern : `${pattern} #${number}`
}
