/**
 * Settles as the promise does when that happens within `ms` milliseconds; else with what `late` returns or throws. What the promise
 * fails with after that is lost.
 *
 * @example
 * const answer = await within(fetch('http://localhost'), 500, () => {
 *   throw new Error('no answer within 500 ms')
 * })
 */
export async function within<Value, Late>(
  promise: PromiseLike<Value>,
  ms: number,
  late: () => Late,
): Promise<Value | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<Late>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }, ms)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a promise is fulfilled within `ms` milliseconds; when it is rejected, the result is. */
export function isInTime(promise: PromiseLike<unknown>, ms: number): Promise<boolean> {
  return within(
    promise.then(() => true),
    ms,
    () => false,
  )
}
