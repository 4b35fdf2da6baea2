import type { Logger } from '../../../kernel/index.ts'

/** The argument of a job. */
export interface CronRun {
  readonly name: string
  /** The time of the tick; runs may begin later than that. */
  readonly scheduledAt: Date
  /** Aborts when the server or the service closes, and when the lock of this run was lost. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

/** A job. The run ends when its promise settles. */
export type CronHandler = (run: CronRun) => unknown

/** One run that has ended. */
export interface CronRecord {
  readonly scheduledAt: Date
  readonly startedAt: Date
  readonly endedAt: Date
  readonly durationMs: number
  readonly outcome: 'ok' | 'failed'
  /** The message of the thrown error. */
  readonly error?: string
}

/** The outcomes of the ticks of a job since its service started. */
export interface CronCounts {
  readonly ok: number
  readonly failed: number
  /** Ticks that came while the job was still running. */
  readonly skipped: number
  /** Ticks that passed while the process was blocked, or the machine asleep. */
  readonly missed: number
  /** Ticks that another instance ran. */
  readonly elsewhere: number
  /** Undecided ticks, because the lock was not available. */
  readonly unlocked: number
}

/** A job as {@link CronService.jobs} shows it. */
export interface CronJobInfo {
  readonly name: string
  readonly pattern: string
  readonly timezone: string | undefined
  /** `running`: at this moment; `stopped`: by its handle, or because the service is not running. */
  readonly state: 'scheduled' | 'running' | 'stopped'
  /** When the present run began, the oldest of several. */
  readonly runningSince: Date | undefined
  readonly next: Date | undefined
  /** The last runs, the newest first. */
  readonly runs: readonly CronRecord[]
  readonly counts: CronCounts
}
