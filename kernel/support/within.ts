import { type Clock, clock } from './clock.ts'

/**
 * Whether a value has a `then`, whichever library it comes from.
 *
 * @example
 * isPromise(Promise.resolve()) // true
 */
export function isPromise(value: unknown): value is Promise<unknown> {
  // Functions are included: some libraries make callable promises for remote calls.
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && typeof (value as { then?: unknown }).then === 'function'
}

/**
 * Settles as the promise does if that happens within `ms` milliseconds, otherwise with the result or error of `late`. The work then
 * continues, and its outcome is lost. `by` is `systemClock` for work of another machine or process, and for closing.
 *
 * @example
 * const answer = await within(fetch('http://localhost'), 500, () => {
 *   throw new Error('no response within 500 ms')
 * })
 */
export function within<Value, Late>(
  promise: PromiseLike<Value>,
  ms: number,
  late: () => Late,
  by: Clock = clock,
): Promise<Value | Awaited<Late>> {
  return new Promise((resolve, reject) => {
    // What `late` throws rejects the inner promise.
    const timer = by.setTimeout(() => resolve(new Promise<Late>((settle) => settle(late())) as never), ms)
    const inTime =
      <Outcome>(settle: (outcome: Outcome) => void) =>
      (outcome: Outcome) => {
        by.clear(timer)
        settle(outcome)
      }
    promise.then(inTime(resolve), inTime(reject))
  })
}

/**
 * Whether a promise is fulfilled within `ms` milliseconds; if it rejects, so does the result.
 *
 * @example
 * await isInTime(pool.query('select 1'), 500) // true, unless the database is slow
 */
export function isInTime(promise: PromiseLike<unknown>, ms: number, by?: Clock): Promise<boolean> {
  return within(
    promise.then(() => true),
    ms,
    () => false,
    by,
  )
}
