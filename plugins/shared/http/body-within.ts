import type { Response } from '../../../kernel/index.ts'

/** Does work in the context of a request. */
type Within = <Result>(work: () => Result) => Result

/** Makes the pieces of a streamed body within a context, in an `onSend` hook: they are made after the chain has ended, in the context of their reader. */
export function bodyWithin(res: Response, within: Within): void {
  if (!isPlainIterable(res.payload)) return
  // If the iterable is sent as JSON, this has serialised it.
  const body = res.encode()
  if (isPlainIterable(body)) res.replaceBody(iterateWithin(within, body))
}

/** Whether a body is a generator or another plain iterable, as opposed to a stream, which is read in its own way. */
function isPlainIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  if (typeof body !== 'object' || body === null || body instanceof ReadableStream) return false
  return Symbol.asyncIterator in body && !('pipe' in body)
}

function iterateWithin<Piece>(within: Within, body: AsyncIterable<Piece>): AsyncIterable<Piece> {
  return {
    [Symbol.asyncIterator]() {
      const source = within(() => body[Symbol.asyncIterator]())
      return {
        next: () => within(() => source.next()),
        return: (value?: unknown) =>
          within(() => source.return?.(value) ?? Promise.resolve({ done: true, value: undefined })),
      }
    },
  }
}
