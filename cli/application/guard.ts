import { within } from '../../kernel/support/within.ts'
import { deferred } from '../../plugins/shared/values/promises.ts'
import { CommandFailure } from '../failure.ts'

/** Reports a failure, with file and line of the application if there are any. */
export async function failed(what: string, error: unknown): Promise<never> {
  if (error instanceof CommandFailure) throw error
  const { describeFailure } = await import('../typescript/failure.ts')
  throw new CommandFailure(`${what}: ${describeFailure(error)}`, error)
}

const events = ['uncaughtException', 'unhandledRejection'] as const
/** The handlers of lost errors, the innermost last: an import within a command reports its own errors. */
const waiting: ((error: unknown) => void)[] = []
const reportToInnermost = (error: unknown) => waiting.at(-1)?.(error)

/** Calls `report` with each uncaught error from now on, until the returned function is called. */
export function watchLostErrors(report: (error: unknown) => void): () => void {
  if (waiting.length === 0) for (const event of events) process.on(event, reportToInnermost)
  waiting.push(report)
  return () => {
    waiting.splice(waiting.lastIndexOf(report), 1)
    if (waiting.length === 0) for (const event of events) process.off(event, reportToInnermost)
  }
}

/**
 * Runs code that may leave a promise unhandled or throw in a timer: such an error rejects here; otherwise it would end the process
 * with a stack and without closing anything. `described` makes the error that rejects.
 */
export async function withLostErrors<Result>(run: () => Promise<Result>, described = (lost: unknown) => lost) {
  const { promise: lost, reject } = deferred<never>()
  lost.catch(() => {})
  const stop = watchLostErrors((error) => reject(described(error)))
  // Node.js would end the process without a word.
  const onIdle = () => reject(new CommandFailure('the command awaits something that never settles'))
  process.once('beforeExit', onIdle)
  try {
    const result = await Promise.race([run(), lost])
    // An unhandled promise in the last line, such as that of `server.listen()`, is reported after this turn.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), lost])
    return result
  } finally {
    process.off('beforeExit', onIdle)
    stop()
  }
}

/** More seconds than any module needs: otherwise one that awaits a promise that never settles would be awaited for ever. */
export const defaultTimeout = 30

/** Imports a module of the application, for at most `timeout` seconds, if a flag of the command sets them; whatever the module does, the process continues until the failure can be reported. */
export async function guardImport<Result>(
  file: string,
  timeout: number | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  const seconds = timeout ?? defaultTimeout
  // The module may end the process: the only thing left is to report that this was not intended.
  const onExit = (code: number) => {
    process.stderr.write(`${file} ended the process with code ${code} while it was imported\n`)
    // Its own code could be one with a meaning, such as the 3 of `access --check`.
    process.exitCode = 1
  }
  process.once('exit', onExit)
  const late = () => {
    const remedy = timeout === undefined ? '' : ' (--timeout <seconds> waits longer)'
    throw new CommandFailure(
      `${file} has not finished after ${seconds} s: it awaits something that never settles${remedy}`,
    )
  }
  try {
    return await withLostErrors(() => within(run(), seconds * 1000, late))
  } catch (error) {
    return await failed(`${file} cannot be imported`, error)
  } finally {
    process.off('exit', onExit)
  }
}
