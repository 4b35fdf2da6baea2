import type { ExecutionResult, GraphQLSchema } from 'graphql'
import type { Request, Response } from '../../../kernel/index.ts'
import type { Operation } from '../execution/documents.ts'
import { coercion, type Variables } from '../execution/execute.ts'
import { describeError, describeResult } from '../execution/mask-errors.ts'
import type { Refusal } from '../execution/refusal.ts'
import type { Graphql } from '../packages.ts'
import { eventStream } from './event-stream.ts'

/** Responds to operations with server-sent events: a subscription with many, any other operation with one event. */
export class EventResponses {
  readonly #graphql: Graphql
  readonly #schema: GraphQLSchema
  readonly #keepAlive: number
  readonly #hints: boolean
  readonly #stops: Set<() => void>

  /** `stops` receives one function for each open stream, which ends it. */
  constructor(
    graphql: Graphql,
    schema: GraphQLSchema,
    stops: Set<() => void>,
    { keepAlive, hints }: { readonly keepAlive: number; readonly hints: boolean },
  ) {
    this.#stops = stops
    this.#hints = hints
    this.#graphql = graphql
    this.#schema = schema
    this.#keepAlive = keepAlive
  }

  /** Responds with the results of an operation. */
  async send(
    req: Request,
    res: Response,
    operation: Operation,
    context: unknown,
    variables: Variables,
  ): Promise<Response> {
    try {
      const results =
        operation.type === 'subscription'
          ? await this.#subscribe(operation, context, variables)
          : await operation.run(context, variables)
      if (Symbol.asyncIterator in results) {
        return this.#send(req, res, this.#described(results[Symbol.asyncIterator](), req))
      }
      return this.#send(req, res, one(describeResult(this.#graphql, results, req, this.#hints)))
    } catch (error) {
      // Happens when a `subscribe` function returns something other than events.
      return this.#send(req, res, one({ errors: [describeError(this.#graphql, error, req)] }))
    }
  }

  /** Responds with a refusal, also as an event: browsers show scripts nothing of an event stream whose status is not 200. */
  refuse(req: Request, res: Response, { errors }: Refusal): Response {
    return this.#send(req, res, one({ errors }))
  }

  #send(req: Request, res: Response, events: AsyncIterator<unknown>): Response {
    const stream = eventStream({
      events,
      failed: (error) => ({ errors: [describeError(this.#graphql, error, req)] }),
      keepAlive: this.#keepAlive,
      onEnd: () => this.#stops.delete(stop),
    })
    const stop = () => stream.stop()
    this.#stops.add(stop)
    // Ends the source immediately, even while it waits for an event that may never come.
    req.raw.onSettled(stop)
    if (req.server.closing.aborted) stop()
    res.setHeader('content-type', 'text/event-stream; charset=utf-8')
    res.setHeader('cache-control', 'no-cache, no-store')
    res.setHeader('x-accel-buffering', 'no')
    return res.stream(stream)
  }

  async #subscribe(operation: Operation, contextValue: unknown, variableValues: Variables) {
    const { document, name: operationName } = operation
    return this.#graphql.subscribe({
      schema: this.#schema,
      document,
      contextValue,
      variableValues,
      operationName,
      options: coercion,
    })
  }

  #described(results: AsyncIterator<ExecutionResult>, req: Request): AsyncIterator<unknown> {
    const graphql = this.#graphql
    const hints = this.#hints
    return {
      async next() {
        const { done, value } = await results.next()
        return done === true
          ? { done, value: undefined }
          : { done: false, value: describeResult(graphql, value, req, hints) }
      },
      async return() {
        await results.return?.()
        return { done: true, value: undefined }
      },
    }
  }
}

async function* one(value: unknown): AsyncGenerator<unknown> {
  yield value
}
