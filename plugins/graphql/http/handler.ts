import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { isPromise, type Request, type Response } from '../../../kernel/index.ts'
import { chooseOperation, type Documents, type Operation } from '../execution/documents.ts'
import { describeError, describeResult, httpOf } from '../execution/mask-errors.ts'
import { isRefusal, type Refusal, refuse, refuseFailure } from '../execution/refusal.ts'
import type { ContextFunction } from '../options.ts'
import type { Graphql } from '../packages.ts'
import { isPreflighted } from './csrf.ts'
import { type Wanted, wantedBy } from './negotiate.ts'
import { type Asked, askedByBody, askedByQuery } from './request.ts'
import { sendRefusal, sendResult } from './send.ts'
import type { EventResponses } from './subscribe.ts'

/** What is needed to execute requests with a schema. */
export interface Engine {
  readonly graphql: Graphql
  readonly schema: GraphQLSchema
  readonly documents: Documents
  readonly events: EventResponses
  /** Whether errors may suggest names from the schema. */
  readonly hints: boolean
}

export interface HandlerOptions {
  /** Returns the engine, or a refusal if the schema cannot be built. */
  readonly engine: () => Engine | Refusal
  /** One function for each open event stream, which ends it. */
  readonly streams: ReadonlySet<() => void>
  readonly csrfPrevention: boolean
  readonly context: ContextFunction | undefined
  /** Responds to browsers with the GraphiQL page; `undefined`: there is no page. */
  readonly page: ((req: Request, res: Response) => unknown) | undefined
}

const jsonType = /^[\t ]*application\/json[\t ]*(?:;|$)/i

/**
 * Handles one request: determines the accepted types, whether the request is allowed and which operation it wants, then executes it.
 *
 * Remains synchronous as long as the context and the resolvers are: a promise here would be a cost for every request.
 */
export class GraphqlHandler {
  readonly #options: HandlerOptions

  constructor(options: HandlerOptions) {
    this.#options = options
  }

  /** The options that websockets share with HTTP requests. */
  get shared(): Pick<HandlerOptions, 'engine' | 'context'> {
    return this.#options
  }

  /** Ends the open event streams. */
  endStreams(): void {
    for (const end of this.#options.streams) end()
  }

  readonly get = (req: Request, res: Response): unknown => {
    const { page } = this.#options
    const wanted = wantedBy(req.raw.header('accept'), page !== undefined)
    if (wanted === 'page') return page!(req, res)
    return this.#handle(req, res, wanted, () => askedByQuery(req.query))
  }

  readonly post = (req: Request, res: Response): unknown => {
    const wanted = wantedBy(req.raw.header('accept'), false)
    const contentType = req.raw.header('content-type')
    if (contentType !== 'application/json' && !jsonType.test(contentType ?? '')) {
      const got = contentType === undefined ? 'there is no content-type' : 'this content-type is not supported'
      return sendRefusal(req, res, wanted, refuse(415, `A request is application/json; ${got}.`))
    }
    return this.#handle(req, res, wanted, () => askedByBody(req.body))
  }

  #handle(req: Request, res: Response, wanted: Wanted, read: () => Asked | Refusal): unknown {
    const { csrfPrevention, engine } = this.#options
    if (csrfPrevention && !isPreflighted(req.raw)) return sendRefusal(req, res, wanted, crossSite)
    if (wanted === 'nothing') return sendRefusal(req, res, wanted, notAcceptable)
    const asked = read()
    if (isRefusal(asked)) return sendRefusal(req, res, wanted, asked)
    const ready = engine()
    if (isRefusal(ready)) return sendRefusal(req, res, wanted, ready)
    const { documents, events, graphql, hints } = ready
    const operations = documents.read(asked.query)
    const operation = isRefusal(operations) ? operations : chooseOperation(operations, asked.operationName)
    if (isRefusal(operation)) {
      const asEvent = wanted === 'events' && operation.legacy
      return asEvent ? events.refuse(req, res, operation) : sendRefusal(req, res, wanted, operation)
    }
    const unfit = unfitFor(operation, req.method, wanted) ?? operation.checkCost?.(asked.variables)
    if (unfit !== undefined) return sendRefusal(req, res, wanted, unfit)
    const execute = (value: unknown): unknown => {
      // The context function may already have refused the request.
      if (res.answered) return res
      if (wanted === 'events') return events.send(req, res, operation, value, asked.variables)
      const finish = (result: ExecutionResult) =>
        sendResult(req, res, wanted, describeResult(graphql, result, req, hints), result.errors)
      const result = operation.run(value, asked.variables)
      return isPromise(result) ? result.then(finish) : finish(result)
    }
    const { context } = this.#options
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
  const status = httpOf([error])?.status
  const described = describeError(graphql, error, req)
  const isStatus = Number.isInteger(status) && status! >= 400 && status! <= 599
  return sendRefusal(req, res, wanted, refuseFailure(isStatus ? status! : 500, described))
}
