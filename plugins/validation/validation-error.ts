import { defineError, type Request, type Response, sendFailure } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import type { Issue } from '../shared/schema/verdict.ts'
import { type Part, rowsOf, type ValidationIssue } from './issues.ts'

/** All mistakes in a request, in all its parts. */
export interface ValidationError extends Error {
  /** The code: `ValidationError`, which clients may compare. */
  readonly code: string
  /** The status: 422; a handler may respond with another one. */
  readonly status: number
  /** The mistakes, each with the part of the request that it is in. */
  readonly errors: readonly ValidationIssue[]
  /** The validator's own errors: those of the failed part, or a list if several parts failed. */
  readonly cause: unknown
}

/** One part that failed, with its validator's errors. */
export interface FailedPart {
  readonly part: Part
  readonly issues: readonly Issue[]
  readonly cause: unknown
}

const makeError = defineError('ValidationError', 422, () => 'validation failed')

export function validationError(failed: readonly FailedPart[]): ValidationError {
  const cause = failed.length === 1 ? failed[0]!.cause : failed.map((one) => one.cause)
  // Every response has this message, without the prefix of the framework's other errors.
  return Object.assign(makeError(), { message: 'validation failed', errors: rowsOf(failed), cause })
}

/** Responds to an invalid request; the status is preset to 422, a returned value becomes the body. */
export type ValidationErrorCallback = (req: Request, res: Response, error: ValidationError) => unknown

/** The response to invalid requests: a status, and a function that makes the body from the error. */
export interface ValidationErrorOptions {
  /** The status of the response. Default 422. */
  status?: number
  /** Makes the body. Default: the server's format for failures, with the list of errors. */
  map?(error: ValidationError, req: Request): unknown
}

/** The response to invalid requests: by a function, or with a status and a body. */
export type ValidationErrorHandler = ValidationErrorCallback | ValidationErrorOptions

/** Sends the default response. */
function respondByDefault(error: ValidationError, req: Request, res: Response, status: number): Response {
  return sendFailure(req, res, error, { status, errors: error.errors })
}

const errorOptions = option
  .shape({
    status: option.int({ min: 400, max: 599 }).default(422),
    map: option.fn<NonNullable<ValidationErrorOptions['map']>>('a function (error, req)'),
  })
  .says('a function (req, res, error) or { status, map(error, req) }')
  .required()
  .typed<ValidationErrorOptions>()

/** Both forms of a handler as one function; the options are checked here. */
export function toCallback(handler: ValidationErrorHandler): ValidationErrorCallback {
  if (typeof handler === 'function') return handler
  const { status, map } = errorOptions.parse(handler, 'setValidationErrorHandler')
  return async function validationError(req, res, error) {
    if (map === undefined) respondByDefault(error, req, res, status)
    else res.status(status).send(await map(error, req))
  }
}

/** Responds to an invalid request; if the handler does not respond, the default response is sent. */
export function refuseInvalid(
  error: ValidationError,
  req: Request,
  res: Response,
  handler: ValidationErrorCallback | undefined,
): unknown {
  res.status(422)
  if (handler === undefined) return respondByDefault(error, req, res, 422)
  const settle = (value: unknown) => {
    if (res.answered) return
    if (value !== undefined && value !== res) res.send(value)
    else respondByDefault(error, req, res, res.statusCode)
  }
  const result = handler(req, res, error)
  return result instanceof Promise ? result.then(settle) : settle(result)
}
