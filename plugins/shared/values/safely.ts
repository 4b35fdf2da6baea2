import { isPromise } from '../../../kernel/index.ts'
import { safely } from '../../../kernel/support/safely.ts'

export { safely }

/** Returns a value; or `undefined` for a promise, whose rejection then ends no process. */
export function unlessLate<Value>(value: Value | Promise<Value>): Value | undefined {
  if (!isPromise(value)) return value
  Promise.resolve(value).catch(() => {})
  return undefined
}

/** Returns the result of a function; if it throws, that is the cause of the error that `failure` makes of its message. */
export function orFail<Result>(work: () => Result, failure: (why: string) => Error): Result {
  try {
    return work()
  } catch (error) {
    throw Object.assign(failure(messageOf(error)), { cause: error })
  }
}

/** The message of a thrown value, which may be anything: an object that cannot be converted to a string, for example. */
export function messageOf(thrown: unknown): string {
  return safely(
    () => String(thrown instanceof Error ? thrown.message : thrown),
    'something that cannot be written as text',
  )
}

/** A text as Postgres keeps it, which has no place for NUL and half a surrogate pair. */
export const keptText = (text: unknown): string => String(text).replace(/\0|\p{Surrogate}/gu, '\ufffd')
