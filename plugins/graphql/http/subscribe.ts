import { AsyncLocalStorage } from 'node:async_hooks'
import type { ExecutionResult } from 'graphql'
import type { Request, Response } from '../../../kernel/index.ts'
import { connectionsOf } from '../../shared/http/connections.ts'
import { comment, EventStream } from '../../shared/http/event-stream.ts'
import { describeError, describeResult } from '../execution/mask-errors.ts'
import type { Graphql } from '../packages.ts'

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
    return send(engine, req, res, results[Symbol.asyncIterator](), (result) => described(result as ExecutionResult))
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
  describe?: (result: unknown) => unknown,
): Response {
  let forget: (() => void) | undefined
  const stream = eventStream({
    events,
    ...(describe && { describe }),
    failed: (error) => ({ errors: [describeError(graphql, error, req)] }),
    keepAlive,
    onEnd: () => {
      streams.delete(stop)
      forget?.()
    },
  })
  // Without `complete`: the client should reconnect.
  const stop = () => stream.end()
  streams.add(stop)
  forget = connectionsOf(req.server)?.hold(req, stop)
  // Ends the source immediately, even while it waits for an event that may never come.
  req.raw.onSettled(stop)
  if (req.server.closing.aborted) stop()
  return stream.respond(res)
}

const complete = 'event: complete\ndata: \n\n'

/** The parts of an event stream. */
export interface EventStreamParts {
  readonly events: AsyncIterator<unknown>
  /** Turns what `events` gives into what is sent; without it, that is sent as it is. */
  readonly describe?: (value: unknown) => unknown
  /** Turns a failure of `events` into the last event. */
  readonly failed: (error: unknown) => unknown
  /** Milliseconds between comments, so that proxies do not consider the stream dead. */
  readonly keepAlive: number
  /** Called once when the stream has ended, regardless of which side ended it. */
  readonly onEnd: () => void
}

function eventOf(value: unknown): string {
  // JSON contains no line breaks, so it fits on one line of data.
  return `event: next\ndata: ${JSON.stringify(value)}\n\n`
}

/**
 * Writes events in the form of «GraphQL over SSE», distinct connections mode: `next` for each event, `complete` at the end.
 *
 * Requests an event only when the last one has been taken, so that a slow reader delays the source rather than filling the memory.
 */
export function eventStream(parts: EventStreamParts): EventStream {
  const { events, describe = (value) => value, failed, keepAlive, onEnd } = parts
  let isDone = false
  // The stream may be ended from anywhere, such as a request of another tenant; its source is still that of this request.
  const leave = AsyncLocalStorage.bind(() => events.return?.())
  async function pull(): Promise<void> {
    try {
      const { done, value } = await events.next()
      isDone = done === true
      stream.write(isDone ? complete : eventOf(describe(value)))
    } catch (error) {
      // The source would continue if only a value could not be written as JSON, so it is ended in any case.
      stream.write(eventOf(failed(error)) + complete)
      stream.end()
    }
    if (isDone) stream.end()
  }
  function ended(): void {
    onEnd()
    // If ending the source fails, there is no one left to report it to.
    if (!isDone) new Promise((resolve) => resolve(leave())).catch(() => {})
  }
  // Sent immediately, so that the client knows that it is connected.
  const stream = new EventStream(comment, keepAlive, ended, pull)
  return stream
}
