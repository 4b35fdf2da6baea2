import { isFrameworkError } from '../support/errors.ts'

const reported = new WeakMap<object, Error>()

/**
 * Lets `onError` hooks see a failure that is answered where it occurs and therefore not thrown, such as an invalid request.
 * They see it before its answer is sent.
 *
 * @example
 * router.post('/orders', (req, res) => {
 *   reportFailure(res, new Error('the order has no items'))
 *   return res.status(422).json({ error: 'no items' })
 * })
 */
export function reportFailure(res: object, error: Error): void {
  reported.set(res, error)
}

/** Returns the failure that was reported for a response, once. */
export function takeReported(res: object): Error | undefined {
  const error = reported.get(res)
  if (error !== undefined) reported.delete(res)
  return error
}

/** The thrown value, or, where it cannot be inspected (such as a revoked proxy), an error that describes it. */
export function legible(thrown: unknown): unknown {
  try {
    void (isFrameworkError(thrown) || thrown instanceof Error)
    return thrown
  } catch (cause) {
    return new Error('the thrown value cannot be read', { cause })
  }
}

/**
 * Whether the framework answers this failure itself: one that it raised for the client (400, 404, 413, 503 …). A 500 that it
 * raises, such as for a stopped chain, is a mistake in the application and is treated like any thrown error.
 */
export function isAnsweredByFramework(error: unknown): error is Error & { status: number; code: string } {
  return isFrameworkError(error) && error.status !== 500
}
