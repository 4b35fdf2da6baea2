import type { CallSite, Logger } from '../../../kernel/index.ts'
import type { CronPattern } from '../../shared/schedule/pattern.ts'
import { Declarations, type Runner } from '../../shared/work/declarations.ts'
import { Running } from '../../shared/work/running.ts'
import type { CronJobSettings } from './job-options.ts'
import type { CronHandler } from './run.ts'

/**
 * One job of this process with its runs in all services: a service that takes over a job from another one respects the job's `overlap`
 * while the last run in the other service continues.
 */
export class Activity extends Running {
  /** Returns the handle's declaration. Only for handles: a method has a declaration in each service, with its own instance. */
  readonly ofHandle: (() => Declared) | undefined

  constructor(ofHandle?: () => Declared) {
    super()
    this.ofHandle = ofHandle
  }
}

/** A job declared by a handle or by a method of a class. */
export interface Declared {
  readonly name: string
  /** Whether the name is the same in other instances of the application. */
  readonly isNamed: boolean
  readonly pattern: CronPattern
  readonly options: CronJobSettings
  /** Where `cron` was called. */
  readonly place: CallSite
  /** The same object for a job throughout this process: services with an instance of the same class share it. */
  readonly activity: Activity
  handler: CronHandler
}

/** A service, as far as it runs jobs. */
export interface JobRunner extends Runner<Activity> {
  /** Ends the ticks of a job. */
  drop(activity: Activity): void
  /** Removes a job from the list, since it has ended permanently. */
  forget(activity: Activity): void
}

/** The started jobs of handles, and the jobs of the classes that a runner has: each job runs in one runner. */
export const declarations = new Declarations<Activity, JobRunner>()

/** Opens a runner; `own` are the jobs of the classes of which it has an instance, as other runners may. */
export async function openRunner(runner: JobRunner, own: Iterable<Activity>): Promise<void> {
  for (const activity of own) if (!declarations.has(activity)) void declarations.add(activity)
  await declarations.open(runner)
}

/** Closes a runner; its own jobs move to another runner that has the class, or end. */
export function closeRunner(runner: JobRunner, own: Iterable<Activity>): void {
  declarations.leave(runner)
  for (const activity of own) {
    if (!declarations.runners.some((other) => other.takes(activity))) declarations.remove(activity)
  }
}

export function stopJob(activity: Activity): void {
  declarations.remove(activity)?.drop(activity)
}

/** Ends a job in the runner that has it. */
export function endJob(activity: Activity): void {
  stopJob(activity)
  for (const runner of declarations.runners) runner.forget(activity)
}

/** Logs each started handle that no runner runs, once. */
export function reportStarted(log: Logger, remedy: string): void {
  declarations.reportIdle(({ ofHandle }) => {
    if (ofHandle === undefined) return
    const { name, place } = ofHandle()
    log.warn(`the cron job "${name}" (${place}) was started, but nothing in this process runs it: ${remedy}`)
  })
}
