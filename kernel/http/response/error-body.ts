import type { Request } from '../request/request.ts'
import type { Response } from './response.ts'
import type { KernelResponse } from './response-buffer.ts'

/** A failure that is to be answered. */
export interface Failure {
  /** The status of the response, from 400 to 599. */
  readonly status: number
  /** The code of the error; `INTERNAL_ERROR` where the client must not learn more. */
  readonly code: string
  /** What went wrong, in words that any client may read. */
  readonly message: string
  /** A URI that names the kind of problem, if the error has one. */
  readonly type?: string | undefined
  /** The mistakes in an invalid request, one object each. */
  readonly errors?: readonly object[] | undefined
  /** Members of an `HttpError` other than its code and its message. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** Headers of the error; the response has them in any format. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The thrown value. Do not send it: its text was not written for clients. */
  readonly error: unknown
  /** Whether the error does not define a response of its own: a 500 that is a mistake in the application. */
  readonly unhandled: boolean
  /** The body in the default format; `undefined` for none. */
  readonly body: object | undefined
}

/** The response to a failure: JSON, or a string with the type that the headers name. */
export interface FailureAnswer {
  /** An object is sent as JSON, a string as it is. */
  readonly body: object | string
  /** Headers that go with this form of the body; `content-type` for one that is not JSON. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Receives an error that occurred while a response was made; a response is still sent. */
export type OnFormatFailure = (error: unknown, message: string) => void

/** The one place that decides how failures are answered. The kernel receives it. */
export interface Failures {
  /** What a client may learn of a value that was thrown or raised. Never throws. */
  of(error: unknown): Failure
  /** The same for a mistake in the application, whatever answer the error itself defines. */
  mistake(error: unknown): Failure
  /** What the log adds about a failure, after its message; `''` for nothing. */
  remark(failure: Failure, req: Request): string
  /**
   * The response; `undefined` stands for an empty body. `req` is `undefined` where the head could not be read. Never throws; the body is a
   * new object that the caller may change.
   */
  answer(failure: Failure, req: Request | undefined, onFailure: OnFormatFailure): FailureAnswer | undefined
}

// Bodies of failures have a format of their own, whatever schema a route has for that status.
const failureBodies = new WeakSet<object>()

/**
 * Whether a body is that of a failure: response schemas leave it alone.
 *
 * @example
 * const wrapped = (body: unknown) => (isFailureBody(body) ? body : { data: body })
 */
export function isFailureBody(body: unknown): boolean {
  return typeof body === 'object' && body !== null && failureBodies.has(body)
}

/**
 * Answers with a failure in the format of the server; for failures that are answered where they occur instead of being thrown.
 *
 * `more` overrides members of the error: `{ status: 400, errors }`; its `body` replaces the body in the default format.
 *
 * @example
 * const Locked = defineError('LockedError', 423, (id: string) => `the document ${id} is locked`)
 * server.get('/documents/:id', (req, res) => sendFailure(req, res, Locked(req.params.id)))
 */
export function sendFailure(
  req: Request,
  res: Response,
  error: unknown,
  more?: Partial<Omit<Failure, 'error'>>,
): Response {
  const { errorFormat: failures } = req.server.settings
  const failure = more === undefined ? failures.of(error) : changed(failures.of(error), more)
  const onFailure: OnFormatFailure = (err, message) => req.log.error({ err }, message)
  const answer = failures.answer(failure, req, onFailure)
  // Errors of other packages may have anything as headers; a wrong one must not replace this failure with another.
  for (const [name, value] of res.answered ? [] : Object.entries({ ...failure.headers, ...answer?.headers })) {
    try {
      res.setHeader(name, value)
    } catch (err) {
      onFailure(err, 'a header of a failure is left out')
    }
  }
  const body = answer?.body
  if (typeof body === 'object') failureBodies.add(body)
  const kind = body === undefined ? 'empty' : typeof body === 'string' ? 'text' : 'json'
  // Every response is a KernelResponse.
  return (res as KernelResponse).answer(kind, body, failure.status)
}

function changed(failure: Failure, more: Partial<Failure>): Failure {
  if ('body' in more) return { ...failure, ...more }
  const { message = failure.message, errors } = more
  return { ...failure, ...more, body: { ...failure.body, message, ...(errors && { errors }) } }
}
