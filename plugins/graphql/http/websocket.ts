import type {
  ExecutionArgs,
  ExecutionResult,
  FormattedExecutionResult,
  GraphQLError,
  GraphQLFormattedError,
} from 'graphql'
import type { WebSocket as Protocol, Server } from 'graphql-ws'
import { parse } from 'secure-json-parse'
import type { Request, Response } from '../../../kernel/index.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { nestsDeeperThan } from '../../shared/values/json-dangers.ts'
import { safely } from '../../shared/values/safely.ts'
import type { ServerSocket } from '../../websocket/index.ts'
import type { Operation } from '../execution/documents.ts'
import type { Variables } from '../execution/execute.ts'
import { describeError, describeResult } from '../execution/mask-errors.ts'
import { isRefusal, type Refusal, type SentError } from '../execution/refusal.ts'
import type { ContextFunction, SocketSettings } from '../options.ts'
import type { Graphql } from '../packages.ts'
import type { Engine } from './handler.ts'
import { askedByBody } from './request.ts'

/** The sub-protocol of graphql-ws. */
export const subProtocol = 'graphql-transport-ws'

/** Close code for a message that does not belong to the protocol. */
const badRequest = 4400
/** Close code for a failure of the server. */
const internalError = 4500

/** The default for a JSON body, and the message around what would be the body. */
const maxDepth = 65

/** The members of the websocket plugin's socket that GraphQL needs. */
type Socket = Pick<ServerSocket<Exchange, string>, 'data' | 'protocol' | 'send' | 'drained' | 'close'>

/** The request that opened a socket, and the functions through which the protocol handles its messages. */
interface Exchange {
  readonly req: Request
  readonly res: Response
  receive: (text: string) => Promise<void>
  closed: (code: number, reason: string) => Promise<void>
  /** How many operations have begun, except for streams that are open: their context is made, their resolvers run, or they subscribe. */
  running: number
  readonly streams: Set<Results>
}

/** The results of a subscription. */
type Results = AsyncIterable<ExecutionResult> & Pick<AsyncGenerator<ExecutionResult, void, void>, 'next' | 'return'>

/** An operation that a client has started. */
interface Started extends ExecutionArgs {
  readonly operation: Operation
  readonly exchange: Exchange
}

export interface SocketOptions {
  readonly engine: () => Engine | Refusal
  readonly context: ContextFunction | undefined
  readonly settings: SocketSettings
}

/** Makes the handlers of a websocket that speaks the protocol of graphql-ws, with the documents, limits and error masks used over HTTP. */
export async function openSockets(options: SocketOptions) {
  const feature = 'the graphql plugin (option "websocket")'
  const { makeServer } = await peer('graphql-ws', () => import('graphql-ws'), feature)
  // The copy of the class against which graphql-ws checks errors.
  const { GraphQLError: ErrorClass } = await peer('graphql', () => import('graphql'), feature)
  const server = makeServer(callbacksOf(options, ErrorClass)) as unknown as Server<Exchange>
  return {
    data: (req: Request, res: Response): Exchange => {
      return { req, res, receive: async () => {}, closed: async () => {}, running: 0, streams: new Set() }
    },
    open(socket: Socket): void {
      const exchange = socket.data
      const protocol: Protocol = {
        protocol: socket.protocol,
        // Awaited by the source of events, so that it waits for a client that reads slowly.
        send(text) {
          socket.send(text)
          return socket.drained()
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage(receive) {
          exchange.receive = receive
        },
      }
      exchange.closed = server.opened(protocol, exchange)
    },
    message(socket: Socket, text: string | Uint8Array): void {
      const { receive, req } = socket.data
      if (typeof text !== 'string') return void socket.close(badRequest, 'a message is text')
      // Refused as in a body: what nests too deep for those that call themselves for each level, and keys that would reach a prototype.
      if (nestsDeeperThan(maxDepth, text) || safely(() => parse(text)) === undefined)
        return void socket.close(badRequest, 'Invalid message')
      // Not awaited: `receive` settles only after a subscription's last event, and the client's `complete` must be received before that.
      receive(text).catch((error: unknown) => {
        const isClients = (error as Error).message.startsWith('Unexpected message')
        if (!isClients) req.log.error({ err: error }, 'GraphQL: a websocket failed')
        socket.close(isClients ? badRequest : internalError, isClients ? 'Invalid message' : 'Internal server error')
      })
    },
    close({ data: { closed, streams } }: Socket, code: number, reason: string): Promise<void> {
      const done = closed(code, reason)
      // What graphql-ws does not know: it forgets one of two streams to which a client has given the same id in succession.
      for (const stream of streams) stream.return().catch(() => {})
      return done
    },
  }
}

/** Makes the callbacks that graphql-ws calls for each operation. */
function callbacksOf({ engine, context, settings }: SocketOptions, ErrorClass: Graphql['GraphQLError']) {
  /** The described form of errors, ready to be sent: graphql-ws itself accepts only errors of the package graphql. */
  const described = new WeakMap<GraphQLError, SentError>()
  const refuse = (errors: readonly SentError[]): readonly GraphQLError[] =>
    errors.map((sent) => {
      const error = new ErrorClass(sent.message)
      described.set(error, sent)
      return error
    })
  const prepare = async (ctx: Context, payload: object): Promise<Started | readonly GraphQLError[]> => {
    const asked = askedByBody(payload)
    if (isRefusal(asked)) return refuse(asked.errors)
    const ready = engine()
    if (isRefusal(ready)) return refuse(ready.errors)
    const operation = ready.find(asked)
    if (isRefusal(operation)) return refuse(operation.errors)
    const excess = operation.checkCost?.(asked.variables)
    if (excess !== undefined) return refuse(excess.errors)
    const { connectionParams, extra: exchange } = ctx
    const { req, res } = exchange
    try {
      const contextValue =
        context === undefined ? { req, res, connectionParams } : await context({ req, res, connectionParams })
      const { document, name: operationName } = operation
      const variableValues = asked.variables as { readonly [name: string]: unknown }
      return { schema: ready.schema, document, operationName, variableValues, contextValue, operation, exchange }
    } catch (error) {
      return refuse([describeError(ready.graphql, error, req)])
    }
  }
  // Not counted in `ctx.subscriptions`, from which `complete` of the client removes operations that go on: a client that completes each
  // one at once could have any number of them.
  const start = async (ctx: Context, payload: object) => {
    const { extra: exchange } = ctx
    if (exchange.running + exchange.streams.size >= settings.maxOperations) {
      const message = `A websocket may have ${settings.maxOperations} operations at once.`
      return refuse([{ message, extensions: { code: 'LIMIT_EXCEEDED' } }])
    }
    exchange.running++
    // If it rejects, the websocket is closed.
    const started = await prepare(ctx, payload)
    if (!('operation' in started)) exchange.running--
    return started
  }
  const run = async (args: ExecutionArgs): Promise<ExecutionResult | Results> => {
    const { operation, contextValue, variableValues, exchange } = args as Started
    try {
      const result = (await operation.run(contextValue, variableValues as Variables)) as ExecutionResult | Results
      return Symbol.asyncIterator in result ? opened(result, exchange.streams) : result
    } catch (error) {
      // Happens when a `subscribe` function returns something other than events; thrown, it would end all operations of the websocket.
      return { errors: [error as GraphQLError] }
    } finally {
      exchange.running--
    }
  }
  // Operations run only with an engine.
  const ready = () => engine() as Engine
  return {
    connectionInitWaitTimeout: settings.connectionInitTimeout,
    onSubscribe: (ctx: object, _id: string, payload: object) => start(ctx as Context, payload),
    execute: run,
    subscribe: run,
    onNext: (ctx: object, _id: string, _payload: object, _args: object, result: ExecutionResult) =>
      describeResult(ready().graphql, result, (ctx as Context).extra.req, ready().hints) as FormattedExecutionResult,
    onError: (ctx: object, _id: string, _payload: object, errors: readonly GraphQLError[]) =>
      errors.map(
        (error) => described.get(error) ?? describeError(ready().graphql, error, (ctx as Context).extra.req),
      ) as GraphQLFormattedError[],
  }
}

/** The results of a subscription, which are among the streams until they have ended or the client has left: a source may wait on. */
function opened(source: Results, streams: Set<Results>): Results {
  const leave = () => void streams.delete(stream)
  const stream: Results = {
    next() {
      const result = source.next()
      result.then(({ done }) => done && leave(), leave)
      return result
    },
    return() {
      leave()
      return source.return()
    },
    [Symbol.asyncIterator]: () => stream,
  }
  streams.add(stream)
  return stream
}

interface Context {
  readonly extra: Exchange
  readonly connectionParams?: Readonly<Record<string, unknown>>
}
