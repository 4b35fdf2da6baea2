import { within } from '../../kernel/support/within.ts'
import { CommandFailure } from '../failure.ts'

/** Says what failed, with file and line of the application where there is one. */
export async function failed(what: string, error: unknown): Promise<never> {
  if (error instanceof CommandFailure) throw error
  const { describeFailure } = await import('../typescript/failure.ts')
  throw new CommandFailure(`${what}: ${describeFailure(error)}`, { cause: error })
}

const events = ['uncaughtException', 'unhandledRejection'] as const
/** Who waits for lost errors, the innermost last: an import within a command tells of its own. */
const waiting: ((error: unknown) => void)[] = []
const tellInnermost = (error: unknown) => waiting.at(-1)?.(error)

/** From now on calls `tell` with each error that nothing catches, until the function that it gives is called. */
export function watchLostErrors(tell: (error: unknown) => void): () => void {
  if (waiting.length === 0) for (const event of events) process.on(event, tellInnermost)
  waiting.push(tell)
  return () => {
    waiting.splice(waiting.lastIndexOf(tell), 1)
    if (waiting.length === 0) for (const event of events) process.off(event, tellInnermost)
  }
}

/**
 * Runs code that may leave a promise alone or throw in a timer: such an error rejects here, where it would end the process
 * with a stack and nothing closed.
 */
export async function withLostErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  let fail: (error: unknown) => void = () => {}
  const lost = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  lost.catch(() => {})
  const stop = watchLostErrors(fail)
  try {
    const result = await Promise.race([run(), lost])
    // A promise that the last line has left alone, `server.listen()` for one, is told of after this turn.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), lost])
    return result
  } finally {
    stop()
  }
}

/** Seconds that a module has, and how to give it more. */
export interface ImportLimit {
  readonly seconds: number
  readonly remedy?: string
  /** `false`: what it has made may not listen afterwards either. */
  readonly mayListen?: boolean | undefined
}

/** Imports a module of the application: whatever it does, the process goes on until what it did can be told. */
export async function guardImport<Result>(
  file: string,
  { seconds, remedy }: ImportLimit,
  run: () => Promise<Result>,
): Promise<Result> {
  // The module may end the process: that this was not the plan is all that can still be told.
  const onExit = (code: number) => {
    process.stderr.write(`${file} ended the process with code ${code} while it was imported\n`)
    if (code === 0) process.exitCode = 1
  }
  process.once('exit', onExit)
  const late = () => {
    const why = `${file} has not finished after ${seconds} s: it awaits something that never settles${remedy === undefined ? '' : ` (${remedy})`}`
    throw new CommandFailure(why)
  }
  try {
    return await withLostErrors(() => within(run(), seconds * 1000, late))
  } catch (error) {
    return await failed(`${file} cannot be imported`, error)
  } finally {
    process.off('exit', onExit)
  }
}
