import {
  checkOptions,
  defineError,
  isFailureStatus,
  OptionError,
  quoted,
  type Request,
  type Response,
  sendFailure,
} from '../../kernel/index.ts'
import type { Issue } from '../toolkit/schema/issue.ts'
import { type Part, rowsOf, type ValidationIssue } from './issues.ts'

/** All mistakes in a request, over all its parts. */
export interface ValidationError extends Error {
  /** `ValidationError`, which clients may compare. */
  readonly code: string
  /** 422; a handler may answer with another status. */
  readonly status: number
  /** Each thing that is wrong, with the part of the request that it is in. */
  readonly errors: readonly ValidationIssue[]
  /** The validator's own errors: of the one failed part, or a list of them. */
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
  // The message of every answer, without the prefix of the framework's other errors.
  return Object.assign(makeError(), { message: 'validation failed', errors: rowsOf(failed), cause })
}

/** Answers an invalid request; the status is preset to 422, a returned value becomes the body. */
export type ValidationErrorCallback = (req: Request, res: Response, error: ValidationError) => unknown

/** How such requests are answered: a status, and the body made from the error. */
export interface ValidationErrorOptions {
  /** The status of the answer. Default 422. */
  status?: number
  /** Makes the body. Default: the format of the server for failures, with the list of errors. */
  map?(error: ValidationError, req: Request): unknown
}

/** How requests that are not valid are answered: by a function, or by a status and a body. */
export type ValidationErrorHandler = ValidationErrorCallback | ValidationErrorOptions

/** The default answer. */
function answerDefault(error: ValidationError, req: Request, res: Response, status: number): Response {
  return sendFailure(req, res, error, { status, errors: error.errors })
}

/** Both forms of a handler as one function; the options are checked here. */
export function toCallback(handler: ValidationErrorHandler): ValidationErrorCallback {
  if (typeof handler === 'function') return handler
  const name = 'setValidationErrorHandler'
  if (typeof handler !== 'object' || handler === null) {
    throw OptionError(name, handler, 'a function (req, res, error) or { status, map(error, req) }')
  }
  checkOptions(name, handler, ['status', 'map'])
  const { status = 422, map } = handler
  if (!isFailureStatus(status)) {
    throw OptionError(`${name}.status`, quoted(status), 'a whole number from 400 to 599')
  }
  if (map !== undefined && typeof map !== 'function') throw OptionError(`${name}.map`, map, 'a function (error, req)')
  return async function validationError(req, res, error) {
    if (map === undefined) answerDefault(error, req, res, status)
    else res.status(status).send(await map(error, req))
  }
}

/** Answers a failed request; one that the handler does not answer has the default answer. */
export function answerFailure(
  error: ValidationError,
  req: Request,
  res: Response,
  handler: ValidationErrorCallback | undefined,
): unknown {
  res.status(422)
  if (handler === undefined) return answerDefault(error, req, res, 422)
  const settle = (value: unknown) => {
    if (res.answered) return
    if (value !== undefined && value !== res) res.send(value)
    else answerDefault(error, req, res, res.statusCode)
  }
  const result = handler(req, res, error)
  return result instanceof Promise ? result.then(settle) : settle(result)
}
