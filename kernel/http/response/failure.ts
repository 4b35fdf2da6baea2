import type { Request } from '../request/request.ts'
import type { Response } from './response.ts'
import type { KernelResponse } from './response-buffer.ts'

/** A failure that is to be answered. */
export interface Failure {
  /** The status of the answer, from 400 to 599. */
  readonly status: number
  /** The name of the error; `INTERNAL_ERROR` where no one may know more. */
  readonly code: string
  /** What went wrong, in words that any client may read. */
  readonly message: string
  /** A URI that names the kind of problem, where the error has one. */
  readonly type?: string | undefined
  /** What is not valid in a request, one row each. */
  readonly errors?: readonly object[] | undefined
  /** What an `HttpError` says beside its code and its message. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** Headers of the error; the answer has them in any format. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What was thrown. It is not to be sent: it was not written for strangers. */
  readonly error: unknown
  /** Whether no one has answered for what was thrown: a 500 that is a mistake of the application. */
  readonly unhandled: boolean
  /** The body in the default format; `undefined` for none. */
  readonly body: object | undefined
}

/** What a failure is answered with: JSON, or a string of the type that the headers name. */
export interface FailureAnswer {
  /** An object is sent as JSON, a string as it is. */
  readonly body: object | string
  /** Headers that go with this form of the body; `content-type` for one that is not JSON. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Receives what went wrong with an answer that is given all the same. */
export type OnFormatFailure = (error: unknown, message: string) => void

/** The one place that says what failures are answered with. The kernel is handed it. */
export interface Failures {
  /** What may be said of something that was thrown or raised. Never throws. */
  of(error: unknown): Failure
  /** The same of what is a mistake of the application, whatever it says itself. */
  mistake(error: unknown): Failure
  /**
   * The answer; `undefined` is an empty body. There is no request where its head could not be read. Never throws, and the body is an object of
   * its own that can be written.
   */
  answer(failure: Failure, req: Request | undefined, onFailure: OnFormatFailure): FailureAnswer | undefined
}

// What failures are answered with has a form of its own, whatever schema a route has for that status.
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
 * Answers with a failure in the format of the server; for failures that are answered where they are found, and not thrown.
 *
 * `more` says what differs from what the error says: `{ status: 400, errors }`; with `body` another body of the default format.
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
  // What errors of other packages name as headers may be anything; and their failure is not to become another one.
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
  // Every response is one.
  return (res as KernelResponse).answer(kind, body, failure.status)
}

function changed(failure: Failure, more: Partial<Failure>): Failure {
  if ('body' in more) return { ...failure, ...more }
  const { message = failure.message, errors } = more
  return { ...failure, ...more, body: { ...failure.body, message, ...(errors && { errors }) } }
}
