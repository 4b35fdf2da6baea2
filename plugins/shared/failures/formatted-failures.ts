import type { Request } from '../../../kernel/http/request/request.ts'
import type { Failure, FailureAnswer, Failures, OnFormatFailure } from '../../../kernel/http/response/error-body.ts'
import { toJson } from '../../../kernel/http/response/json.ts'
import { FileNotFoundError, isFailureStatus, isFrameworkError } from '../../../kernel/support/errors.ts'
import { isProduction, nodeEnv } from '../environment/node-env.ts'
import { hideInText, hideMarked } from '../values/marked.ts'
import { safely } from '../values/safely.ts'
import { codeOf, describedError, phraseOf } from './described-error.ts'
import { missingMember } from './missing-members.ts'

/** Whether responses to failures have `stack` and `cause`; `'auto'` means only if `NODE_ENV` is `development`. */
export type ExposeErrorDetails = boolean | 'auto'

// One setting for the whole module: with several servers, the newest one's value applies to all, as documented.
let exposure: ExposeErrorDetails = false

/**
 * Sets for this process whether responses to failures have the message, stack and cause of errors that were not written for
 * clients: the option `exposeErrorDetails` of a server. The last call applies.
 *
 * @example
 * setExposure('auto')
 */
export function setExposure(value: ExposeErrorDetails): void {
  exposure = value
}

/**
 * Whether responses to failures may say more than their code: the setting of `setExposure`, where `'auto'` is true only with
 * `NODE_ENV=development`.
 *
 * @example
 * const detail = exposesDetails() ? 'the disk is full' : undefined
 */
export const exposesDetails = (): boolean => (exposure === 'auto' ? nodeEnv() === 'development' : exposure)

/** Whether clients receive details of errors that were not meant for them; never in production, whatever the option says. */
export const exposesMistakes = (): boolean => exposesDetails() && !isProduction()

/** The body of every failure to which the framework itself responds, in the default format. */
export interface FailureBody {
  /** The name of the error, which clients may compare: `RouteNotFoundError`. */
  code: string
  /** What went wrong, for people; it may change from version to version. */
  message: string
  /** The stack of the thrown value, only from status 500 on and with `exposeErrorDetails`; in production not for a mistake in the application. */
  stack?: string
  /** The `cause` of the thrown value, only with `exposeErrorDetails`; in production not for a mistake in the application. */
  cause?: unknown
}

/** Makes the response to a failure. */
export type FailureFormat = (failure: Failure, req: Request | undefined) => FailureAnswer | undefined

/** A format's part of the API description. */
export interface DescribedFormat {
  readonly contentType: string
  /** The schema of its bodies; `'problem'` for that of Problem Details, `undefined` if it is unknown. */
  readonly schema: object | 'problem' | undefined
}

/** Responds to failures of one server; without a format, as `{ code, message }`. */
export class FormattedFailures implements Failures {
  readonly #format: FailureFormat | undefined
  /** The description of a format other than the default one. */
  readonly described: DescribedFormat | undefined

  constructor(format?: FailureFormat, described?: DescribedFormat) {
    this.#format = format
    this.described = described
  }

  of(error: unknown): Failure {
    try {
      if (isFrameworkError(error) && error.status !== 500) {
        const { status, code } = error
        const isFile = code === FileNotFoundError.code && !exposesDetails()
        const message = isFile ? FileNotFoundError().message : error.message
        return { status, code, message, error, unhandled: false, body: bodyOf(status, code, message, error) }
      }
      const described = describedError(error)
      if (described !== undefined) {
        const { status, code = ownName(error) ?? codeOf(status), type, headers, exposes } = described
        const details = exposes ? described.details : undefined
        const message = exposes ? (error as Error).message : phraseOf(status)
        const shown = exposes || exposesMistakes() ? error : undefined
        const body = { ...bodyOf(status, code, message, shown), ...details }
        return { status, code, message, type, details, headers, error, unhandled: false, body }
      }
    } catch {
      // A getter or a proxy has thrown.
    }
    return this.mistake(error)
  }

  mistake(error: unknown): Failure {
    try {
      // A message or a stack of an application may contain anything: production never shows it, whatever the option says.
      if (exposesMistakes()) {
        const code = nameOf(error)
        const message = hideInText(error instanceof Error ? error.message : String(error))
        return { status: 500, code, message, error, unhandled: true, body: bodyOf(500, code, message, error) }
      }
    } catch {
      // As above.
    }
    return { status: 500, code: unnamed, message: phraseOf(500), error, unhandled: true, body: undefined }
  }

  remark({ error, unhandled }: Failure, req: Request): string {
    return missingMember(req, error) + (unhandled ? strangeStatus(error) : '')
  }

  /** A format that fails, or whose result cannot be written, is reported, and the default is used. */
  answer(failure: Failure, req: Request | undefined, onFailure: OnFormatFailure): FailureAnswer | undefined {
    const { status, code, message, body, details } = failure
    if (this.#format !== undefined) {
      try {
        const formatted = this.#format(failure, req)
        return formatted && { ...formatted, body: copyOf(formatted.body) }
      } catch (error) {
        onFailure(error, `the error format of the server failed over ${status} ${code}`)
      }
    }
    if (body === undefined || details === undefined) return body && { body: { ...body } }
    try {
      return { body: copyOf(body) }
    } catch (error) {
      onFailure(error, `the details of ${status} ${code} are left out`)
      return { body: { code, message } }
    }
  }
}

/** Why the status of an error differs from that of its response. */
function strangeStatus(error: unknown): string {
  if (!(error instanceof Error) || isFrameworkError(error)) return ''
  const { status, statusCode = status } = error as Error & { status?: unknown; statusCode?: unknown }
  if (!isFailureStatus(statusCode)) return ''
  return `. Its status ${statusCode} is not used for the response, because it may be an upstream's. To choose the status, throw an HttpError`
}

/** The description of a server's format; `undefined` for the default one. */
export function describedFormat(failures: Failures): DescribedFormat | undefined {
  return failures instanceof FormattedFailures ? failures.described : undefined
}

/** A cause as plain data; an error would be `{}` in JSON. */
function describeCause(cause: unknown, hasStack: boolean): unknown {
  return safely((): unknown => {
    if (cause instanceof Error)
      return { name: cause.name, message: cause.message, ...(hasStack && { stack: cause.stack }) }
    toJson(cause)
    return cause
  }, 'a cause that cannot be written as JSON')
}

/** `{ code, message }`, with the cause while it is exposed, and from 500 on the stack: below, the client is wrong and not the code. */
function bodyOf(status: number, code: string, message: string, error: unknown): FailureBody {
  const body: FailureBody = { code, message }
  if (exposesDetails() && error instanceof Error) {
    const hasStack = status >= 500
    if (hasStack && error.stack !== undefined) body.stack = hideInText(error.stack)
    if (error.cause !== undefined) body.cause = hideMarked(describeCause(error.cause, hasStack))
  }
  return body
}

const unnamed = 'INTERNAL_ERROR'

function nameOf(error: unknown): string {
  if (isFrameworkError(error)) return error.code
  return error instanceof Error ? error.constructor.name || unnamed : unnamed
}

/** The name of the error's class, if it is more specific than `Error`. */
function ownName(error: unknown): string | undefined {
  const name = nameOf(error)
  return name === unnamed || name === 'Error' ? undefined : name
}

/** A copy that can be marked as the body of a failure: handlers may also respond with the original. The copy can certainly be serialised. */
function copyOf(body: object | string): object | string {
  return typeof body === 'string' ? body : (JSON.parse(toJson(body)) as object)
}
