import type { Logger } from '../../../kernel/index.ts'

/** The argument of a job. */
export interface CronRun {
  /** The name of the job. */
  readonly name: string
  /** The time of the tick; a run may begin later. */
  readonly scheduledAt: Date
  /** Aborts when the server or the service closes, at the `timeout`, and when the lock of this run is lost. */
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
  /** When the run began. */
  readonly startedAt: Date
  /** When the promise of the run settled. */
  readonly endedAt: Date
  /** Milliseconds between `startedAt` and `endedAt`. */
  readonly durationMs: number
  /** `failed` when the job threw or rejected. */
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
  /** Ticks that were due while the job was still running. */
  readonly skipped: number
  /** Ticks that passed while the process could not run them: it was blocked, or the machine was asleep. */
  readonly missed: number
  /** Ticks that another instance ran. */
  readonly elsewhere: number
  /** Ticks that no instance ran, because the lock was not available. */
  readonly unlocked: number
}

/** A job as listed by `CronService.jobs`. */
export interface CronJobInfo {
  /** The name of the job. */
  readonly name: string
  /** The pattern as given. */
  readonly pattern: string
  /** The time zone of the pattern; `undefined`: the zone of the process. */
  readonly timezone: string | undefined
  /** `running`: right now; `stopped`: by its handle, or because the service is not running. */
  readonly state: 'scheduled' | 'running' | 'stopped'
  /** When the current run began; if there are several, the oldest of them. */
  readonly runningSince: Date | undefined
  /** The time of the next tick; `undefined` for a stopped job, and for a pattern that has no further tick. */
  readonly next: Date | undefined
  /** The last runs, the newest first. */
  readonly runs: readonly CronRecord[]
  /** The outcomes of the ticks so far. */
  readonly counts: CronCounts
}
