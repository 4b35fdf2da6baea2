import { defineErrors, type Thrown } from '../../kernel/index.ts'
import { globalHandler, notify } from '../shared/work/attempt.ts'
import type { CronRun } from './jobs/run.ts'

export const { CronDestroyedError, CronNameError, CronFileError, CronClassError } = defineErrors({
  CronDestroyedError: (name: string) =>
    `the cron job "${name}" was destroyed and cannot start again. Declare a new one with cron(pattern)`,
  CronNameError: (name: string, why: string) => `"${name}": ${why}`,
  CronFileError: (file: string, why: string) => `the job file ${file} cannot be loaded: ${why}`,
  CronClassError: (name: string, why: string) => `${name}: ${why}`,
})

/** A function that is called with the value that a job threw, and the run that failed. */
export type CronErrorHandler = { handle(error: Thrown, run: CronRun): unknown }['handle']

let global: CronErrorHandler | undefined

/**
 * Sets the function that is called for every job that throws or rejects, in the whole process; `undefined` removes it. Errors are
 * logged in either case.
 *
 * @example
 * setCronGlobalErrorHandler((error, run) => console.error(`${run.name} failed`, error))
 */
export function setCronGlobalErrorHandler(handler: CronErrorHandler | undefined): void {
  global = globalHandler('setCronGlobalErrorHandler', handler)
}

/** The options of a job that concern its failures. */
interface FailureOptions {
  readonly onFailed: CronErrorHandler | undefined
  readonly timeout: number | undefined
}

/** Passes one failure to the handlers, first to that of the job. If a handler itself fails, that is logged. */
export async function notifyFailure(error: unknown, run: CronRun, options: FailureOptions): Promise<void> {
  const message = `the cron job "${run.name}" failed`
  try {
    run.logger.error({ err: error, scheduledAt: run.scheduledAt }, message)
  } catch {
    // A thrown object whose members throw cannot be logged, but the fact that it was thrown can.
    run.logger.error({ scheduledAt: run.scheduledAt }, message)
  }
  for (const [what, handler] of Object.entries({ onFailed: options.onFailed, 'the global error handler': global })) {
    const call = handler && (() => handler(error as Thrown, run))
    await notify(call, `${what} of the cron job "${run.name}"`, run.logger, options.timeout)
  }
}
