import type { ExecutionResult, GraphQLSchema } from 'graphql'
import Negotiator from 'negotiator'
import { isPromise, presetHeaders, type RawRequest, type Request, type Response } from '../../../kernel/index.ts'
import { mediaTypeOf } from '../../shared/http/media-type.ts'
import type { FindOperation, Operation } from '../execution/documents.ts'
import { type Described, describeError, describeResult, httpOf } from '../execution/mask-errors.ts'
import { isRefusal, type Refusal, refuse, refuseFailure } from '../execution/refusal.ts'
import type { GraphqlSettings } from '../options.ts'
import type { Graphql } from '../packages.ts'
import { type Asked, askedByBody, askedByQuery } from './request.ts'
import { type Events, sendEvent, sendEvents } from './subscribe.ts'

/** What is needed to execute requests with a schema. */
export interface Engine extends Events {
  readonly schema: GraphQLSchema
  readonly find: FindOperation
}

interface HandlerOptions extends Pick<GraphqlSettings, 'csrfPrevention' | 'context'> {
  /** Returns the engine, or a refusal if the schema cannot be built. */
  readonly engine: () => Engine | Refusal
  /** Responds to browsers with the GraphiQL page; `undefined`: there is no page. */
  readonly page: ((req: Request, res: Response) => unknown) | undefined
}

const jsonType = /^[\t ]*application\/json[\t ]*(?:;|$)/i

/**
 * Makes the handlers of both methods. They determine the accepted types, whether the request is allowed and which operation it wants, then
 * execute it.
 *
 * They remain synchronous as long as the context and the resolvers are: a promise here would be a cost for every request.
 */
export function handlersOf({ engine, csrfPrevention, context, page }: HandlerOptions) {
  const handle = (req: Request, res: Response, wanted: Wanted, read: () => Asked | Refusal): unknown => {
    if (csrfPrevention && !isPreflighted(req.raw)) return sendRefusal(req, res, wanted, crossSite)
    if (wanted === 'nothing') return sendRefusal(req, res, wanted, notAcceptable)
    const asked = read()
    if (isRefusal(asked)) return sendRefusal(req, res, wanted, asked)
    const ready = engine()
    if (isRefusal(ready)) return sendRefusal(req, res, wanted, ready)
    const { graphql, hints } = ready
    const operation = ready.find(asked)
    if (isRefusal(operation)) {
      // Also as an event: browsers show scripts nothing of an event stream whose status is not 200.
      if (wanted === 'events' && operation.legacy) return sendEvent(ready, req, res, { errors: operation.errors })
      return sendRefusal(req, res, wanted, operation)
    }
    const unfit = unfitFor(operation, req.method, wanted) ?? operation.checkCost?.(asked.variables)
    if (unfit !== undefined) return sendRefusal(req, res, wanted, unfit)
    const execute = (value: unknown): unknown => {
      // The context function may already have refused the request.
      if (res.answered) return res
      if (wanted === 'events') return sendEvents(ready, req, res, () => operation.run(value, asked.variables))
      const finish = (result: ExecutionResult) =>
        sendResult(req, res, wanted, describeResult(graphql, result, req, hints), result.errors)
      const result = operation.run(value, asked.variables)
      return isPromise(result) ? result.then(finish) : finish(result)
    }
    if (context === undefined) return execute({ req, res })
    const failed = (error: unknown) => failContext(graphql, error, req, res, wanted)
    let value: unknown
    try {
      value = context({ req, res })
    } catch (error) {
      return failed(error)
    }
    return isPromise(value) ? value.then(execute, failed) : execute(value)
  }
  return {
    get(req: Request, res: Response): unknown {
      const wanted = wantedBy(req.raw.header('accept'), page !== undefined)
      if (wanted === 'page') return page!(req, res)
      return handle(req, res, wanted, () => askedByQuery(req.query))
    },
    post(req: Request, res: Response): unknown {
      const wanted = wantedBy(req.raw.header('accept'), false)
      const contentType = req.raw.header('content-type')
      if (contentType !== 'application/json' && !jsonType.test(contentType ?? '')) {
        const got = contentType === undefined ? 'there is no content-type' : 'this content-type is not supported'
        return sendRefusal(req, res, wanted, refuse(415, `A request is application/json; ${got}.`))
      }
      return handle(req, res, wanted, () => askedByBody(req.body))
    },
  }
}

const preflightHeaders = ['apollo-require-preflight', 'x-apollo-operation-name', 'graphql-require-preflight']
const simpleTypes = new Set(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])

/**
 * Whether a browser would send a preflight before this request if a page of another origin made it: the request has one of the headers
 * that require a preflight, or a content type that no form can have (Fetch Standard, CORS-safelisted request-header).
 */
function isPreflighted(raw: RawRequest): boolean {
  const contentType = raw.header('content-type')
  if (contentType === 'application/json') return true
  if (preflightHeaders.some((name) => (raw.header(name) ?? '') !== '')) return true
  const type = mediaTypeOf(contentType)
  return type !== '' && !simpleTypes.has(type)
}

const crossSite = refuse(
  400,
  'A page of another site could have sent this request. Send it with the content-type application/json, or with a header such as graphql-require-preflight: 1.',
)
const notAcceptable = refuse(
  406,
  'Responses are application/json, application/graphql-response+json or text/event-stream.',
)

/** Returns why an operation cannot be executed with this method and this form; `undefined` if it can. */
function unfitFor(operation: Operation, method: string, wanted: Wanted): Refusal | undefined {
  const { type } = operation
  if (type === 'query') return undefined
  if (type === 'subscription') {
    if (wanted === 'events') return undefined
    return refuse(406, 'The response to a subscription is text/event-stream only: send accept: text/event-stream.')
  }
  return method === 'POST' ? undefined : refuse(405, 'A mutation is sent with POST.', 'BAD_REQUEST', 'POST')
}

function failContext(graphql: Graphql, error: unknown, req: Request, res: Response, wanted: Wanted): Response {
  const status = setHttp(res, [error], 400) ?? 500
  return sendRefusal(req, res, wanted, refuseFailure(status, describeError(graphql, error, req)))
}

/** Sets the headers of errors with `extensions.http`; returns the status of them, if it is one from `least` on. */
function setHttp(res: Response, errors: readonly unknown[], least: number): number | undefined {
  const { status = 0, headers } = httpOf(errors) ?? {}
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, String(value))
  return Number.isInteger(status) && status >= least && status <= 599 ? status : undefined
}

/** The form of the response that a client wants; `json` is `application/json`, with the statuses that older clients expect. */
type Wanted = 'json' | 'response' | 'events' | 'page' | 'nothing'

const types = {
  'application/json': 'json',
  'application/graphql-response+json': 'response',
  'text/html': 'page',
  'text/event-stream': 'events',
} as const
const withPage = Object.keys(types)
const withoutPage = withPage.filter((type) => type !== 'text/html')
// Removed because Negotiator treats a parameter as a part of the type; JSON is always UTF-8.
const utf8 = /;[\t ]*charset="?utf-8"?/gi

/**
 * Reads an `Accept` header (RFC 9110 section 12.5.1). If it is missing, empty or shows no preference, the response is
 * `application/json`, as clients from before 2025 expect.
 */
function wantedBy(accept: string | undefined, hasPage: boolean): Wanted {
  if (!accept || accept === '*/*' || accept === 'application/json') return 'json'
  const negotiator = new Negotiator({ headers: { accept: accept.replace(utf8, '') } })
  const type = negotiator.mediaType(hasPage ? withPage : withoutPage)
  return type === undefined ? 'nothing' : types[type as keyof typeof types]
}

const responseType = presetHeaders({ 'content-type': 'application/graphql-response+json; charset=utf-8' })
const notStored = presetHeaders({ 'cache-control': 'no-store' })

/** Responds with a result; `described` is what the client receives, `thrown` contains the errors as they were thrown. */
function sendResult(
  req: Request,
  res: Response,
  wanted: Wanted,
  described: Described,
  thrown?: readonly unknown[],
): Response {
  if (wanted === 'response') res.setHeaders(responseType)
  // Without a header that forbids it, an intermediate cache may keep the response to a GET for any length of time.
  if (req.method !== 'POST' && res.getHeader('cache-control') === undefined) res.setHeaders(notStored)
  if (described.errors !== undefined) {
    // GraphQL over HTTP, section 6.4: without data, the status shows the failure, except to clients of application/json.
    if (wanted === 'response' && !('data' in described)) res.status(400)
    const status = setHttp(res, thrown ?? [], 200)
    if (status !== undefined) res.status(status)
  }
  return res.json(described)
}

/** Responds to a request that is not executed. */
function sendRefusal(req: Request, res: Response, wanted: Wanted, refusal: Refusal): Response {
  const { status, legacy, errors, allow } = refusal
  if (allow !== undefined) res.setHeader('allow', allow)
  res.status(legacy && wanted !== 'response' ? 200 : status)
  if (wanted === 'response') res.setHeaders(responseType)
  if (req.method !== 'POST') res.setHeaders(notStored)
  return res.json({ errors })
}
