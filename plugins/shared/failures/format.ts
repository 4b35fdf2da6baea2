import { type Failure, isPromise, type Request } from '../../../kernel/index.ts'
import * as option from '../options/option.ts'
import { defined } from '../values/json.ts'
import { phraseOf, withoutPrefix } from './described-error.ts'
import { type FailureBody, type FailureFormat, FormattedFailures } from './formatted-failures.ts'
import { nearestTo, withPage } from './page.ts'

const problemType = 'application/problem+json'

/** Problem Details (RFC 9457), with the code and the error's details as extension members. */
const problem: FailureFormat = (failure, req) => {
  const { status, code, message, type = 'about:blank', errors, details, body } = failure
  const title = phraseOf(status)
  const detail = withoutPrefix(code, message)
  const { stack, cause } = (body ?? {}) as Partial<FailureBody>
  const members = defined({
    type,
    title,
    status,
    detail: detail === title ? undefined : detail,
    // An occurrence has the id of its request, which is also in the log and in `x-request-id`. A path would repeat the client's input.
    instance: req && `urn:request:${req.id}`,
    code,
    errors,
    stack,
    cause,
    ...nearestMember(failure, req),
  })
  // First for the order, and again last because nothing may replace the standard members.
  return { headers: { 'content-type': problemType }, body: { ...members, ...details, ...members } }
}

/** In development, the member `nearest` of the body of a 404 or 405: the routes that the client may have meant. */
function nearestMember(failure: Failure, req: Request | undefined): { readonly nearest?: readonly string[] } {
  const nearest = nearestTo(failure, req)
  return nearest.length === 0 ? {} : { nearest }
}

/** Makes the body of a failure; `req` is `undefined` where the head of the request could not be read. */
export type ErrorFormatter = (failure: Failure, req: Request | undefined) => object & { readonly then?: never }

/** A custom format, with its part of the API description. */
export interface CustomErrorFormat {
  /** Makes the body of a failure; synchronous. If it throws, that is logged and the default format is used. */
  body: ErrorFormatter
  /** The schema of its bodies, for the API description: a schema of any kind. */
  schema?: object
  /** The media type of the bodies. Default `application/json`. */
  contentType?: string
}

/** The form of the body of every failure, whatever raised it. */
export type ErrorFormat = 'default' | 'problem' | ErrorFormatter | CustomErrorFormat

const formatter = option.fn<ErrorFormatter>('a function (failure, req) => body')
const custom = option.shape({
  body: formatter.required(),
  schema: option.value<object>('a schema', (given) => given instanceof Object),
  contentType: option.name(/^[\w.+-]+\/[\w.+-]+(?:; ?[\w=-]+)*$/, 'a media type such as "application/vnd.error+json"'),
})

/** The option `errorFormat` of a server. */
const forms = option.either(option.oneOf('default', 'problem'), formatter, custom)
export const errorFormat = forms.default('default').into((given) => {
  if (given === 'default')
    return new FormattedFailures(
      withPage((failure, req) => failure.body && { body: { ...failure.body, ...nearestMember(failure, req) } }),
    )
  if (given === 'problem')
    return new FormattedFailures(withPage(problem), { contentType: problemType, schema: 'problem' })
  const { body, schema, contentType } =
    typeof given === 'function' ? { body: given, schema: undefined, contentType: undefined } : given
  const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
  const format = withPage((failure, req) => ({ body: checked(body(shown(failure), req)), headers }))
  return new FormattedFailures(format, { contentType: contentType ?? 'application/json', schema })
})

/**
 * The argument of a format. The format cannot change the failure; and the thrown value, which may contain the credentials of an upstream,
 * is not in the result of `{ ...failure }`.
 */
function shown({ error, body, ...visible }: Failure): Failure {
  const hidden = { error: { value: error }, body: { value: body } }
  return Object.freeze(Object.defineProperties(visible, hidden)) as Failure
}

/** Checks the result of a format: a promise would be `{}` in JSON, and the response to a failure waits for nothing. */
function checked(body: unknown): object {
  const isPending = isPromise(body)
  // Its failure would otherwise end the process as an unhandled rejection.
  if (isPending) body.then(undefined, () => {})
  const why = isPending ? 'a promise' : typeof body === 'object' && body !== null ? undefined : typeof body
  if (why !== undefined) throw new TypeError(`errorFormat returned ${why}; it returns the body, an object`)
  return body as object
}
