import { ArgumentsError, checkOptions, isFailureStatus, presetHeaders } from '../../../kernel/index.ts'
import { codeOf, type DescribedError, describesResponse, headersOfBody, phraseOf } from './described-error.ts'

/** The body of an `HttpError` in the default format. */
export interface HttpErrorBody {
  readonly code: string
  readonly message: string
}

const bodySchema = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
}
const vendor = 'framework'

/** Whether a schema is `HttpError` itself, which stands for the body of a failure in the format of the server. */
export function isFailureSchema(schema: unknown): boolean {
  return (schema as { '~standard'?: { vendor?: unknown } } | null | undefined)?.['~standard']?.vendor === vendor
}

/** Members that have a meaning of their own in the failure formats. */
export const standardMembers = [
  'code',
  'message',
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'stack',
  'cause',
] as const

type WithoutStandard = { readonly [Name in (typeof standardMembers)[number]]?: never }

/** The details next to the code and the message: any object without the standard members. */
// The first alternative is for object literals, the second for types that are interfaces.
export type HttpErrorDetails = (WithoutStandard & { readonly [name: string]: unknown }) | (WithoutStandard & object)

/** The parts of an `HttpError` other than its status. */
export interface HttpErrorOptions {
  /** The code by which programs recognise it. Default: made from the status, `NotFoundError` for 404. */
  code?: string
  /** The message for people. Default: the phrase of the status, `Not Found`. */
  message?: string
  /** Headers of the response. */
  headers?: Readonly<Record<string, string>>
  /** Further members of the body, next to the code and the message. */
  details?: HttpErrorDetails
  /** A URI that names the kind of problem, the member `type` of Problem Details. */
  type?: string
  /** The cause, for the log. */
  cause?: unknown
  /** Whether the message and the details are sent. Default: below 500. */
  expose?: boolean
}

const names = ['code', 'message', 'headers', 'details', 'type', 'cause', 'expose']

/**
 * An error that can be thrown from anywhere to respond to a request: in the failure format of the server, unless an error handler responds.
 *
 * @throws ArgumentsError for a status that is not that of a failure, an unknown option, and details that would replace
 * members of the format itself.
 * @example
 * router.get('/books/:id', (req) => {
 *   throw new HttpError(404, { code: 'BookNotFoundError', message: `There is no book ${req.params.id}` })
 * })
 */
export class HttpError extends Error {
  /**
   * A Standard Schema for its body, so that `responses` can have the class for failures of a route: `{ 200: Book, 404: HttpError }`.
   */
  static readonly '~standard': {
    readonly version: 1
    readonly vendor: typeof vendor
    readonly validate: (value: unknown) => { readonly value: HttpErrorBody }
    readonly types?: { readonly input: HttpErrorBody; readonly output: HttpErrorBody } | undefined
    readonly jsonSchema: { readonly input: () => object; readonly output: () => object }
  } = {
    version: 1,
    vendor,
    validate: (value) => ({ value: value as HttpErrorBody }),
    jsonSchema: { input: () => bodySchema, output: () => bodySchema },
  }

  /** The status of the response, from 400 to 599. */
  readonly status: number
  /** The code in the body, for programs; the default follows from the status: `NotFoundError`. */
  readonly code: string
  /** Headers of the response, which it has in any format. */
  readonly headers: Readonly<Record<string, string>>
  /** Further members of the body, by name. */
  readonly details: Readonly<Record<string, unknown>>
  /** A URI that names the kind of problem (RFC 9457 section 3.1.1), for the format `problem`. */
  readonly type: string | undefined
  /** Whether the message and the details are sent to clients: by default true below 500, false from 500 on. */
  readonly expose: boolean

  constructor(status: number, options: HttpErrorOptions = {}) {
    if (!isFailureStatus(status)) throw wrong(`a status from 400 to 599, not ${JSON.stringify(status)}`)
    if (typeof options !== 'object' || options === null)
      throw wrong(`an object after the status: new HttpError(${status}, { message: 'why' })`)
    checkOptions('HttpError', options, names)
    const { code = codeOf(status), message = phraseOf(status), headers = {}, details = {}, type, cause } = options
    if (typeof code !== 'string' || code === '') throw wrong('a code that is a string')
    if (typeof message !== 'string') throw wrong('a message that is a string')
    if (options.expose !== undefined && typeof options.expose !== 'boolean') throw wrong('expose: true or false')
    if (type !== undefined && (typeof type !== 'string' || !URL.canParse(type, 'http://localhost')))
      throw wrong('a type that is a URI')
    checkDetails(details)
    const { flat } = presetHeaders(headers)
    const taken = headersOfBody.find((name) => flat.includes(name))
    if (taken !== undefined) throw wrong(`headers without ${taken}, which follows from the body of the response`)
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'HttpError'
    this.status = status
    this.code = code
    this.headers = headers
    this.details = details as Readonly<Record<string, unknown>>
    this.type = type
    this.expose = options.expose ?? status < 500
  }

  /** @internal */
  get [describesResponse](): DescribedError {
    const { status, code, type, details, headers, expose } = this
    return { status, code, type, details, headers, exposes: expose }
  }
}

function checkDetails(details: unknown): void {
  if (typeof details !== 'object' || details === null || Array.isArray(details))
    throw wrong('details that are an object')
  const taken = standardMembers.find((name) => Object.hasOwn(details, name))
  if (taken !== undefined) throw wrong(`details without "${taken}", which is reserved. Choose another name`)
}

const wrong = (what: string) => ArgumentsError('new HttpError', what)
