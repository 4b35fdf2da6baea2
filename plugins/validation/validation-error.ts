import { defineError, type Request, type Response, sendFailure } from '../../kernel/index.ts'
import { afterwards } from '../shared/http/bodies.ts'
import { option } from '../shared/options/index.ts'
import { type Issue, maxIssues } from '../shared/schema/verdict.ts'
import { unlessLate } from '../shared/values/safely.ts'

/** The parts of a request, in the order in which their mistakes are reported. */
export const parts = ['headers', 'params', 'query', 'body', 'all'] as const
export type Part = (typeof parts)[number]

/** One row of the list in a validation error. */
export interface ValidationIssue extends Issue {
  /** The part of the request that it is in: `body`, `query`, `headers`, `params`, or `all` for the schema of several parts. */
  part: Part
}

/** The maximum size of all rows, in bytes: paths contain keys that a client chose, which must not make a response of 100 kB. */
const maxBytes = 8_192

function short(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`
}

/** Keeps a validator's details about its rule small, whatever the schema contains, such as an `enum` of a thousand values. */
function smallParams(params: Record<string, unknown>): Record<string, unknown> {
  const small: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === 'string') small[name] = short(value, 128)
    else if (typeof value === 'number' || typeof value === 'boolean' || value === null) small[name] = value
    else if (Array.isArray(value)) {
      const plain = value.filter((one) => one === null || ['string', 'number', 'boolean'].includes(typeof one))
      small[name] = plain.slice(0, 20).map((one) => (typeof one === 'string' ? short(one, 64) : one))
    }
  }
  return small
}

/** The rows of all failed parts, cut to the size limit; the first row is always included. */
function rowsOf(failed: readonly { part: Part; issues: readonly Issue[] }[]): ValidationIssue[] {
  const rows: ValidationIssue[] = []
  let left = maxBytes
  for (const { part, issues } of failed) {
    for (const { path, keyword, message, params } of issues.slice(0, maxIssues)) {
      const row = {
        part,
        path: short(path, 256),
        keyword: short(keyword, 64),
        message: short(message, 256),
        params: smallParams(params),
      }
      left -= Buffer.byteLength(JSON.stringify(row))
      if (left < 0 && rows.length > 0) return rows
      rows.push(row)
    }
  }
  return rows
}

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

/** The response to invalid requests: a status, messages, and a function that makes the body from the error. */
export interface ValidationErrorOptions {
  /** The status of the response. Default 422. */
  status?: number
  /** Returns the message of one mistake, in the language of the client for example; `undefined` keeps that of the validator. */
  message?(issue: ValidationIssue, req: Request): string | undefined
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
    message: option.fn<NonNullable<ValidationErrorOptions['message']>>('a function (issue, req) => string'),
    map: option.fn<NonNullable<ValidationErrorOptions['map']>>('a function (error, req)'),
  })
  .says('a function (req, res, error) or { status, message(issue, req), map(error, req) }')
  .required()
  .typed<ValidationErrorOptions>()

/** The result of `message`: anything else, such as a promise, would be an empty object in the response. */
function stringOf(said: string | undefined): string | undefined {
  if (said === undefined || typeof said === 'string') return said
  unlessLate<unknown>(said)
  throw new TypeError('message(issue, req) of setValidationErrorHandler returns a string or undefined')
}

/** Both forms of a handler as one function; the options are checked here. */
export function toCallback(handler: ValidationErrorHandler): ValidationErrorCallback {
  if (typeof handler === 'function') return handler
  const { status, message, map } = errorOptions.parse(handler, 'setValidationErrorHandler')
  return async function validationError(req, res, error) {
    if (message !== undefined) {
      const errors = error.errors.map((row) => ({ ...row, message: stringOf(message(row, req)) ?? row.message }))
      Object.assign(error, { errors })
    }
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
  return afterwards(res, () => handler(req, res, error), settle)
}
