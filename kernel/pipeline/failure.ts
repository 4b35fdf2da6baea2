import { isFrameworkError } from '../support/errors.ts'

const reported = new WeakMap<object, Error>()

/**
 * Lets `onError` hooks see a failure that is answered where it is found and therefore not thrown: a request that is not
 * valid, say. They see it before its answer is sent.
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

/** What was reported of a response, once. */
export function takeReported(res: object): Error | undefined {
  const error = reported.get(res)
  if (error !== undefined) reported.delete(res)
  return error
}

/** What was thrown; in place of what no one can look at, a proxy that was revoked for example, an error that says so. */
export function legible(thrown: unknown): unknown {
  try {
    void (isFrameworkError(thrown) || thrown instanceof Error)
    return thrown
  } catch (cause) {
    return new Error('the thrown value cannot be read', { cause })
  }
}

/**
 * Whether the framework answers this failure itself: what it raised for the client (400, 404, 413, 503 …). A 500 of
 * its own, a stopped chain for example, is an application's mistake and goes where thrown errors go.
 */
export function isAnsweredByFramework(error: unknown): error is Error & { status: number; code: string } {
  return isFrameworkError(error) && error.status !== 500
}
