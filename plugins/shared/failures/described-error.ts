import { STATUS_CODES } from 'node:http'
import { isFailureStatus, messagePrefix } from '../../../kernel/support/errors.ts'

/** Marks an error that describes its response, such as `HttpError`. A registered symbol, as there may be two copies of the package. */
export const describesResponse = Symbol.for('framework.httpError')

// The failure format makes the body, and the body has its own length.
export const headersOfBody = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding']

/** An error's description of its response. */
export interface DescribedError {
  readonly status: number
  readonly code?: string
  readonly type?: string | undefined
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a client may read the message and the details. */
  readonly exposes: boolean
}

/**
 * An error's description of its response: for an `HttpError` from any copy of the package, or an error in the form of the package
 * `http-errors` with `expose: true`. A status alone is not enough: the status of an upstream's response, such as 401, would become ours.
 */
export function describedError(thrown: unknown): DescribedError | undefined {
  if (!(thrown instanceof Error)) return undefined
  const own = (thrown as { readonly [describesResponse]?: DescribedError })[describesResponse]
  // The error may have been changed since it was created.
  if (own !== undefined) return isFailureStatus(own.status) ? own : undefined
  const { statusCode, status = statusCode, expose, headers } = thrown as Error & { readonly [name: string]: unknown }
  if (expose !== true || !isFailureStatus(status)) return undefined
  return { status, exposes: true, headers: plainHeaders(headers) }
}

function plainHeaders(headers: unknown): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return {}
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !headersOfBody.includes(name.toLowerCase())))
}

/** The phrase of a status: `Not Found`. */
export const phraseOf = (status: number): string =>
  STATUS_CODES[status] ?? (status < 500 ? 'Client Error' : 'Server Error')

/** `Not Found` → `NotFoundError`, like the names of the framework's own errors. */
export function codeOf(status: number): string {
  const words = phraseOf(status)
    .replace(/[^\w ]/g, '')
    .split(' ')
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`.replace(
    /ErrorError$/,
    'Error',
  )
}

/** A message without its code: the framework's messages begin with it, which is a separate member in a body, and nothing that a person needs. */
export function withoutPrefix(code: string, message: string): string {
  const prefix = `${messagePrefix(code)}: `
  return message.startsWith(prefix) ? message.slice(prefix.length) : message
}
