import { toJson } from '../http/response/json.ts'
import { FileNotFoundError, isFrameworkError } from '../support/errors.ts'

/** Whether answers to failures carry `stack` and `cause`: `'auto'` means while `NODE_ENV` is `development`. */
export type ExposeErrorDetails = boolean | 'auto'

// One setting of the module: with several servers the newest one's value applies to all, as documented.
let exposure: ExposeErrorDetails = false

export function setExposure(value: ExposeErrorDetails): void {
  exposure = value
}

export function exposesDetails(): boolean {
  return exposure === 'auto' ? process.env.NODE_ENV === 'development' : exposure
}

/** The body of every failure that the framework answers itself. */
export interface FailureBody {
  code: string
  message: string
  stack?: string
  cause?: unknown
}

/** A cause as plain data; an error inside would be `{}` in JSON. */
function describeCause(cause: unknown): unknown {
  try {
    if (cause instanceof Error) return { name: cause.name, message: cause.message, stack: cause.stack }
    toJson(cause)
    return cause
  } catch {
    return 'a cause that cannot be written as JSON'
  }
}

// What the framework answers has a form of its own, whatever schema a route has for that status.
const failureBodies = new WeakSet<object>()

/** Marks a body as one of the framework's own. */
export function asFailureBody<Body extends object>(body: Body): Body {
  failureBodies.add(body)
  return body
}

/** Whether a body is one of the framework's own: response schemas leave it alone. */
export function isFailureBody(body: unknown): boolean {
  return typeof body === 'object' && body !== null && failureBodies.has(body)
}

/** `{ code, message }`, with stack and cause while they are exposed. */
export function failureBody(error: Error & { code?: unknown }): FailureBody {
  const code = isFrameworkError(error) ? error.code : error.constructor.name || 'INTERNAL_ERROR'
  const message = code === FileNotFoundError.code && !exposesDetails() ? FileNotFoundError().message : error.message
  const body: FailureBody = { code, message }
  if (exposesDetails()) {
    if (error.stack !== undefined) body.stack = error.stack
    if (error.cause !== undefined) body.cause = describeCause(error.cause)
  }
  return asFailureBody(body)
}

const reported = new WeakMap<object, Error>()

/**
 * Lets `onError` hooks see a failure that is answered where it is found and therefore not thrown: a request that is not
 * valid, say. They see it before its answer is sent.
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

/** What was thrown; in place of what nobody can look at, a proxy that was revoked for example, an error that says so. */
export function legible(thrown: unknown): unknown {
  try {
    void (isFrameworkError(thrown) || thrown instanceof Error)
    return thrown
  } catch (cause) {
    return new Error('what was thrown cannot be read', { cause })
  }
}

/**
 * Whether the framework answers this failure itself: what it raised for the client (400, 404, 413, 503 …). A 500 of
 * its own, a stopped chain for example, is an application's mistake and goes where thrown errors go.
 */
export function isAnsweredByFramework(error: unknown): error is Error & { status: number; code: string } {
  return isFrameworkError(error) && error.status !== 500
}
