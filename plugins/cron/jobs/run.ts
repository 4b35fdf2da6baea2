import type { Logger } from '../../../kernel/index.ts'

/** The argument of a job. */
export interface CronRun {
  /** The name of the job. */
  readonly name: string
  /** The time of the tick; runs may begin later than that. */
  readonly scheduledAt: Date
  /** Aborts when the server or the service closes, and when the lock of this run was lost. */
  readonly signal: AbortSignal
  /** The logger of the server or the service, with the name of the job. */
  readonly logger: Logger
}

/** A job. The run ends when its promise settles. */
export type CronHandler = (run: CronRun) => unknown

/** One run that has ended. */
export interface CronRecord {
  /** The time of the tick. */
  readonly scheduledAt: Date
  /** When it began. */
  readonly startedAt: Date
  /** When its promise settled. */
  readonly endedAt: Date
  /** Milliseconds between the two. */
  readonly durationMs: number
  /** `failed` when it has thrown or rejected. */
  readonly outcome: 'ok' | 'failed'
  /** The message of the thrown error. */
  readonly error?: string
}

/** The outcomes of the ticks of a job since its service started. */
export interface CronCounts {
  /** Runs that ended without an error. */
  readonly ok: number
  /** Runs that threw or rejected. */
  readonly failed: number
  /** Ticks that came while the job was still running. */
  readonly skipped: number
  /** Ticks that passed while the process could not run them: it was blocked, or the machine asleep. */
  readonly missed: number
  /** Ticks that another instance has run. */
  readonly elsewhere: number
  /** Ticks that no one has run, because the lock was not available. */
  readonly unlocked: number
}

/** A job as `CronService.jobs` shows it. */
export interface CronJobInfo {
  /** The name of the job. */
  readonly name: string
  /** The pattern as it was given. */
  readonly pattern: string
  /** The zone that the pattern is read in; `undefined`: that of the process. */
  readonly timezone: string | undefined
  /** `running`: at this moment; `stopped`: by its handle, or because the service is not running. */
  readonly state: 'scheduled' | 'running' | 'stopped'
  /** When the present run began, the oldest of several. */
  readonly runningSince: Date | undefined
  /** The time of the next tick; `undefined` for a stopped job, and for a pattern that never comes again. */
  readonly next: Date | undefined
  /** The last runs, the newest first. */
  readonly runs: readonly CronRecord[]
  /** How the ticks ended so far. */
  readonly counts: CronCounts
}
