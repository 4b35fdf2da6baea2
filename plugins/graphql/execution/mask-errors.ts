import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Request } from '../../../kernel/index.ts'
import { exposesDetails, exposesMistakes } from '../../shared/failures/formatted-failures.ts'
import type { Graphql } from '../packages.ts'
import { type SentError, worded } from './refusal.ts'

/** The effect on the response of an error that a resolver throws deliberately. */
export interface HttpExtension {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const maskedMessage = 'Internal server error'
const maskedCode = 'INTERNAL_SERVER_ERROR'

/** A mistake of the server, which graphql-js reports as an error of its own, and the compiler as a `GraphQLError`. */
const nullMessage = 'Cannot return null for non-nullable field'

function isGraphqlError(graphql: Graphql, error: unknown): error is GraphQLError {
  return error instanceof graphql.GraphQLError || (error as Partial<Error> | null)?.name === 'GraphQLError'
}

/** Returns the cause that the client must not see; `undefined` for a `GraphQLError`, which is meant for the client. */
function hiddenCause({ originalError, message }: GraphQLError): Error | undefined {
  if (originalError == null) return message.startsWith(nullMessage) ? new Error(message) : undefined
  return originalError.name === 'GraphQLError' ? undefined : originalError
}

/**
 * Describes an error for the client: a `GraphQLError` as it is, any other error without its message, unless details are
 * exposed. Hidden errors are logged with their path.
 */
export function describeError(graphql: Graphql, error: unknown, req: Request): SentError {
  // Members of other errors are not used: the `path` of a node:fs error is a place on the disk.
  if (!isGraphqlError(graphql, error)) return hide(error, {}, req)
  const { locations, path, extensions, message, stack } = error
  const where = { ...(locations && { locations }), ...(path && { path }) }
  const cause = hiddenCause(error)
  if (cause !== undefined) return hide(cause, where, req)
  const { http: _http, ...rest } = extensions ?? {}
  const shown = exposesDetails() ? { ...rest, stack } : rest
  return { message, ...where, ...(Object.keys(shown).length > 0 && { extensions: shown }) }
}

type Where = Pick<SentError, 'locations' | 'path'>

function hide(cause: unknown, where: Where, req: Request): SentError {
  const { path } = where
  const err = cause ?? new Error(`${cause} was thrown`)
  req.log.error({ err, ...(path && { path: path.join('.') }) }, 'GraphQL: an error was hidden from the client')
  if (!exposesMistakes()) return { message: maskedMessage, ...where, extensions: { code: maskedCode } }
  const { message, stack } = cause instanceof Error ? cause : { message: String(cause), stack: undefined }
  return { message, ...where, extensions: { code: maskedCode, ...(stack !== undefined && { stack }) } }
}

/** A result in the form in which clients receive it, errors first. */
export interface Described {
  readonly errors?: readonly SentError[]
  readonly data?: unknown
  readonly extensions?: unknown
}

/** Describes the errors of a result. Without data, they come from invalid variables, and contain hints if those may be shown. */
export function describeResult(graphql: Graphql, result: ExecutionResult, req: Request, hints: boolean): Described {
  if (result.errors === undefined) return result
  const wasExecuted = 'data' in result
  const errors = result.errors.map((error) => {
    const described = describeError(graphql, error, req)
    if (wasExecuted) return described
    const extensions = { code: 'BAD_USER_INPUT', ...described.extensions }
    return { ...described, message: worded(described.message, hints), extensions }
  })
  const { extensions } = result
  return { errors, ...(wasExecuted && { data: result.data }), ...(extensions && { extensions }) }
}

/** Returns the status and headers of the first error with `extensions.http`. */
export function httpOf(errors: readonly unknown[]): HttpExtension | undefined {
  for (const error of errors) {
    const http = (error as Partial<GraphQLError> | undefined)?.extensions?.http
    if (typeof http === 'object' && http !== null) return http as HttpExtension
  }
  return undefined
}
