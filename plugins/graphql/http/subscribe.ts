import type { ExecutionResult } from 'graphql'
import { clock, type Request, type Response } from '../../../kernel/index.ts'
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
  const stream = eventStream({
    events,
    ...(describe && { describe }),
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

const comment = ':\n\n'
const complete = 'event: complete\ndata: \n\n'

/** The parts of an event stream. */
export interface EventStreamParts {
  readonly events: AsyncIterator<unknown>
  /** Turns what `events` gives into what is sent; without it, that is sent as it is. */
  readonly describe?: (value: unknown) => unknown
  /** Turns a failure of `events` into the last event. */
  readonly failed: (error: unknown) => unknown
  /** Milliseconds after which a stream without events sends a comment, so that proxies do not consider it dead. */
  readonly keepAlive: number
  /** Called once when the stream has ended, regardless of which side ended it. */
  readonly onEnd: () => void
}

/** A stream of server-sent events that can be ended from outside. */
interface EventStream extends AsyncIterable<string> {
  /** Ends the stream without `complete`: the client should reconnect. */
  stop(): void
}

function eventOf(value: unknown): string {
  // JSON contains no line breaks, so it fits on one line of data.
  return `event: next\ndata: ${JSON.stringify(value)}\n\n`
}

/**
 * Writes events in the form of «GraphQL over SSE», distinct connections mode: `next` for each event, `complete` at the end.
 *
 * Requests an event only when the last one has been taken, so that a slow reader delays the source rather than filling the memory.
 * Not an async generator, whose `return()` would wait for an event that may never come.
 */
export function eventStream({
  events,
  describe = (value) => value,
  failed,
  keepAlive,
  onEnd,
}: EventStreamParts): EventStream {
  let asked = false
  let arrived: { readonly text: string; readonly last: boolean } | undefined
  let wake: (() => void) | undefined
  let isOpen = false
  let isOver = false

  function end(): void {
    if (isOver) return
    isOver = true
    onEnd()
    wake?.()
  }
  function stop(): void {
    if (isOver) return
    end()
    leave()
  }
  function leave(): void {
    // If ending the source fails, there is no one left to report it to.
    new Promise((resolve) => resolve(events.return?.())).catch(() => {})
  }
  function ask(): void {
    asked = true
    events
      .next()
      .then(({ done, value }) => arrive(done === true ? complete : eventOf(describe(value)), done === true))
      .catch((error: unknown) => {
        // The source would continue if only a value could not be written as JSON, so it is ended in any case.
        leave()
        arrive(eventOf(failed(error)) + complete, true)
      })
  }
  function arrive(text: string, last: boolean): void {
    arrived = { text, last }
    wake?.()
  }
  /** Waits for an event or the end; resolves with `true` if `keepAlive` passes without either. */
  function silence(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(true), keepAlive)
      wake = () => {
        clock.clear(timer)
        resolve(false)
      }
    })
  }

  async function next(): Promise<IteratorResult<string, undefined>> {
    // Sent immediately, so that the client knows that it is connected.
    if (!isOpen) {
      isOpen = true
      return { done: false, value: comment }
    }
    while (!isOver) {
      if (arrived !== undefined) {
        const { text, last } = arrived
        arrived = undefined
        asked = false
        if (last) end()
        return { done: false, value: text }
      }
      if (!asked) ask()
      if (await silence()) return { done: false, value: comment }
      wake = undefined
    }
    return { done: true, value: undefined }
  }

  const iterator = {
    next,
    async return(): Promise<IteratorResult<string, undefined>> {
      stop()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator, stop }
}
