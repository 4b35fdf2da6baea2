import type { Readable } from 'node:stream'
import type { Context, HookTypes, Response } from '../../../kernel/index.ts'

/** Does work in the context of a request. */
type Within = <Result>(work: () => Result) => Result

/** Enters the context of a request again for what comes after its chain: hooks, the error handler, and the pieces of its body. */
export function lateWithin(ctx: Pick<Context, 'onLate' | 'onSend'>, within: HookTypes['onLate']): void {
  ctx.onLate(within)
  ctx.onSend((req, res) => bodyWithin(res, (work) => within(req, work)))
}

/** Makes the pieces of a streamed body within a context: they are made in that of their reader. */
function bodyWithin(res: Response, within: Within): void {
  const { payload } = res
  if (payload instanceof ReadableStream) res.replaceBody(readWithin(within, payload))
  else if (isIterable(payload) && 'pipe' in payload) keepWithin(within, payload as Readable)
  else if (isIterable(payload)) {
    // If the iterable is sent as JSON, this has serialised it.
    const body = res.encode()
    if (isIterable(body)) res.replaceBody(iterateWithin(within, () => body[Symbol.asyncIterator]()))
  }
}

const isIterable = (body: unknown): body is AsyncIterable<Uint8Array | string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

function iterateWithin<Piece>(within: Within, iterate: () => AsyncIterator<Piece>): AsyncIterable<Piece> {
  return {
    [Symbol.asyncIterator]() {
      const source = within(iterate)
      return {
        next: () => within(() => source.next()),
        return: (value?: unknown) =>
          within(() => source.return?.(value) ?? Promise.resolve({ done: true, value: undefined })),
      }
    },
  }
}

function readWithin(within: Within, body: ReadableStream): ReadableStream {
  const reader = body.getReader()
  return new ReadableStream(
    {
      start: (controller) => void reader.closed.catch((error: unknown) => controller.error(error)),
      async pull(controller) {
        const { done, value } = await within(() => reader.read())
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => within(() => reader.cancel(reason)),
    },
    // Pieces are made when the response asks for them, not in advance.
    { highWaterMark: 0 },
  )
}

/** The stream itself remains the body: its reader needs its events. */
function keepWithin(within: Within, stream: Readable): void {
  const iterate = stream[Symbol.asyncIterator].bind(stream)
  const destroy = stream.destroy.bind(stream)
  Object.assign(stream, {
    ...iterateWithin(within, iterate),
    destroy: (error?: Error) => within(() => destroy(error)),
  })
}
