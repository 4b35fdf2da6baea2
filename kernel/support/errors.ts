/** Marks every error class of the framework; `Symbol.for`, so that two copies of the package recognise each other's errors. */
const brand = Symbol.for('framework.error')

/**
 * The base of every error that the framework itself raises.
 *
 * `code` is the class name, `status` the HTTP status of a response made from it. Applications recognise an
 * error by its `code`; the public entry point does not export the classes.
 *
 */
export class FrameworkError extends Error {
  /** The name of the error: `BadRequestError`. It stays the same from version to version. */
  readonly code: string
  /** The status of a response that is made from it; 500 for a mistake in the application. */
  readonly status: number

  constructor(code: string, status: number, message: string, options?: ErrorOptions) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.name = code
    this.code = code
    this.status = status
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Whether a thrown value is one of the framework's own errors, from any copy of the package.
 *
 * @example
 * ctx.onError((error, req) => {
 *   if (!isFrameworkError(error)) req.log.error({ err: error }, 'a mistake of the application')
 * })
 */
export function isFrameworkError(value: unknown): value is FrameworkError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[brand] === true
}

/** The message of a thrown value, as a part of another message. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const reported = Symbol.for('framework.reportedTogether')

/**
 * Marks an error that a plugin finds in its environment, such as a package that is not installed: it says nothing about the
 * other plugins, so the boot continues to find all such errors, and reports them in one error.
 */
export function reportedTogether<Failure extends Error>(error: Failure): Failure {
  return Object.defineProperty(error, reported, { value: true })
}

export function isReportedTogether(error: unknown): boolean {
  return (error as { readonly [reported]?: unknown } | undefined)?.[reported] === true
}

/**
 * Whether a value is the status of a failure.
 *
 * @example
 * isFailureStatus(404) // true
 */
export function isFailureStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
}

/**
 * `RouteNotFoundError` → `ROUTE_NOT_FOUND`, the prefix of messages that clients receive: of every status but 500.
 *
 * @example
 * messagePrefix('RouteNotFoundError') // 'ROUTE_NOT_FOUND'
 */
export function messagePrefix(code: string): string {
  return code
    .replace(/Error$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()
}

type Template<Values extends readonly unknown[]> = (...values: Values) => string

/** The result of {@link defineError}: a function that is called without `new`, with the values of its template. */
export interface ErrorFactory<Values extends readonly unknown[]> {
  (...values: Values): FrameworkError
  /** The code that its errors have: `BadRequestError`. */
  readonly code: string
  /** The status that its errors are answered with. */
  readonly status: number
}

/**
 * Declares one kind of error: code, status and a typed message template. Default status: 500, a mistake in the application, whose message
 * clients do not receive; any other message begins with the code in upper snake case.
 *
 * @example
 * const PortInUse = defineError('PortInUseError', (port: number) => "taken: " + port)
 * throw PortInUse(3000)
 */
export function defineError<Values extends readonly unknown[]>(
  code: string,
  ...given: [status: number, template: Template<Values>] | [template: Template<Values>]
): ErrorFactory<Values> {
  const [status, template] = given.length === 1 && typeof given[0] === 'function' ? [500, given[0]] : given
  // Otherwise it would break only where the error is thrown, which tests rarely reach.
  if (typeof code !== 'string' || !/^[A-Za-z]\w*$/.test(code))
    throw ErrorDefinitionError(String(code), 'the code is a name: "PortInUseError"')
  if (!isFailureStatus(status)) {
    throw ErrorDefinitionError(code, 'the status is a whole number from 400 to 599')
  }
  if (typeof template !== 'function') {
    throw ErrorDefinitionError(code, 'the message is made by a function: (port: number) => "taken: " + port')
  }
  // A response is `{ code, message }`; a mistake in the application is printed with its name, which the prefix would repeat.
  const prefix = status === 500 ? '' : `${messagePrefix(code)}: `
  const make = (...values: Values): FrameworkError => {
    const error = new FrameworkError(code, status, prefix + template(...values))
    // The stack begins at the caller of the factory.
    Error.captureStackTrace?.(error, make)
    return error
  }
  return Object.assign(make, { code, status })
}

type Row = Template<never> | readonly [status: number, template: Template<never>]
type ValuesOf<Given> = Given extends readonly [number, infer Message]
  ? ValuesOf<Message>
  : Given extends Template<infer Values>
    ? Values
    : never

/**
 * Defines several errors in a table: by their codes, the function that makes the message, or the status and that function.
 *
 * @example
 * const { PortInUseError, PortForbiddenError } = defineErrors({
 *   PortInUseError: (port: number) => `the port ${port} is taken`,
 *   PortForbiddenError: [403, (port: number) => `the port ${port} is not for you`],
 * })
 * throw PortInUseError(3000)
 */
export function defineErrors<const Rows extends { readonly [code: string]: Row }>(
  rows: Rows,
): { readonly [Code in keyof Rows]: ErrorFactory<ValuesOf<Rows[Code]>> } {
  const all = Object.entries(rows).map(([code, row]) => [code, defineError(code, ...([row].flat() as [Template<[]>]))])
  return Object.fromEntries(all)
}

/**
 * Says that a function of the framework was called with arguments that it does not accept.
 *
 * @example
 * throw ArgumentsError('mailer.send', 'a function that writes the email')
 */
export const ArgumentsError = defineError('ArgumentsError', (call: string, takes: string) => `${call}() takes ${takes}`)

/** Sets `error.cause` and returns the error: for errors that wrap another failure. */
export function withCause<E extends Error>(error: E, cause: unknown): E {
  Object.defineProperty(error, 'cause', { value: cause, configurable: true, writable: true })
  return error
}

// Answered over HTTP with `{ code, message }`.
export const { RouteNotFoundError, MethodNotAllowedError, ErrorDefinitionError } = defineErrors({
  RouteNotFoundError: [404, (method: string, path: string) => `Cannot ${method} ${path}`],
  MethodNotAllowedError: [405, (method: string, path: string) => `Cannot ${method} ${path}`],
  ErrorDefinitionError: (code: string, why: string) => `defineError(${code}): ${why}`,
})
/**
 * 400: the request cannot be read or does not make sense; the message is for the client.
 *
 * @example
 * throw BadRequestError('the query parameter "page" takes a number')
 */
export const BadRequestError = defineError('BadRequestError', 400, (what: string) => what)
/**
 * 413: the body is larger than the given limit.
 *
 * @example
 * throw PayloadTooLargeError('1 MB')
 */
export const PayloadTooLargeError = defineError(
  'PayloadTooLargeError',
  413,
  (limit: string) => `the body is larger than ${limit}`,
)
/**
 * 415: the route does not accept bodies of this type.
 *
 * @example
 * throw UnsupportedMediaTypeError('the body has to be text/csv')
 */
export const UnsupportedMediaTypeError = defineError('UnsupportedMediaTypeError', 415, (what: string) => what)
/**
 * 426: the request has to ask for another protocol (RFC 9110 section 15.5.22).
 *
 * @example
 * throw UpgradeRequiredError('this address is for websockets')
 */
export const UpgradeRequiredError = defineError('UpgradeRequiredError', 426, (what: string) => what)
/**
 * 503: the request took longer than its limit.
 *
 * @example
 * throw RequestTimeoutError('the report took longer than 5 seconds')
 */
export const RequestTimeoutError = defineError('RequestTimeoutError', 503, (what: string) => what)
/**
 * 503: the server no longer accepts requests, because it is closing.
 *
 * @example
 * throw ServerClosingError()
 */
export const ServerClosingError = defineError('ServerClosingError', 503, () => 'the server is shutting down')
/**
 * 404: the file does not exist. The name is for the log: answers say the same about every file, so that clients do not learn file names.
 *
 * @example
 * throw FileNotFoundError('reports/2026.pdf')
 */
export const FileNotFoundError = defineError('FileNotFoundError', 404, (name?: string) =>
  name === undefined ? 'the file does not exist' : `the file ${JSON.stringify(name)} does not exist`,
)
