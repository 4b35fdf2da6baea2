import type { ExecutionResult } from 'graphql'
import type { Request, Response } from '../../../kernel/index.ts'
import { describeError, describeResult } from '../execution/mask-errors.ts'
import type { Graphql } from '../packages.ts'
import { eventStream } from './event-stream.ts'

/** What event streams need of the engine. */
export interface Events {
  readonly graphql: Graphql
  /** Whether errors may suggest names from the schema. */
  readonly hints: boolean
  readonly keepAlive: number
  /** One function for each open event stream, which ends it. */
  readonly streams: Set<() => void>
}

/** Responds to an operation with server-sent events: a subscription with many, any other operation with one event. */
export async function sendEvents(engine: Events, req: Request, res: Response, run: () => unknown): Promise<Response> {
  const { graphql, hints } = engine
  const described = (result: ExecutionResult) => describeResult(graphql, result, req, hints)
  try {
    const results = (await run()) as ExecutionResult | AsyncIterable<ExecutionResult>
    if (!(Symbol.asyncIterator in results)) return sendEvent(engine, req, res, described(results))
    return send(engine, req, res, describedBy(described, results[Symbol.asyncIterator]()))
  } catch (error) {
    // Happens when a `subscribe` function returns something other than events.
    return sendEvent(engine, req, res, { errors: [describeError(graphql, error, req)] })
  }
}

/** Responds with one event. */
export function sendEvent(engine: Events, req: Request, res: Response, value: unknown): Response {
  return send(engine, req, res, one(value))
}

async function* one(value: unknown): AsyncGenerator<unknown> {
  yield value
}

function send(
  { graphql, keepAlive, streams }: Events,
  req: Request,
  res: Response,
  events: AsyncIterator<unknown>,
): Response {
  const stream = eventStream({
    events,
    failed: (error) => ({ errors: [describeError(graphql, error, req)] }),
    keepAlive,
    onEnd: () => streams.delete(stop),
  })
  const stop = () => stream.stop()
  streams.add(stop)
  // Ends the source immediately, even while it waits for an event that may never come.
  req.raw.onSettled(stop)
  if (req.server.closing.aborted) stop()
  res.setHeader('content-type', 'text/event-stream; charset=utf-8')
  res.setHeader('cache-control', 'no-cache, no-store')
  res.setHeader('x-accel-buffering', 'no')
  return res.stream(stream)
}

function describedBy(
  describe: (result: ExecutionResult) => unknown,
  results: AsyncIterator<ExecutionResult>,
): AsyncIterator<unknown> {
  return {
    async next() {
      const { done, value } = await results.next()
      return done === true ? { done, value: undefined } : { done: false, value: describe(value) }
    },
    async return() {
      await results.return?.()
      return { done: true, value: undefined }
    },
  }
}
