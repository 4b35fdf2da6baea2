import type { AsyncLocalStorage } from 'node:async_hooks'

/** Whether a body is a generator or another plain iterable: not a stream, which has its own way of being read. */
export function isPlainIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  if (typeof body !== 'object' || body === null || body instanceof ReadableStream) return false
  return Symbol.asyncIterator in body && !('pipe' in body)
}

/** The same pieces, each made within the context: a generator runs in that of whoever asks for the next piece. */
export function iterateWithin<Store, Piece>(
  storage: AsyncLocalStorage<Store>,
  store: Store,
  body: AsyncIterable<Piece>,
): AsyncIterable<Piece> {
  return {
    [Symbol.asyncIterator]() {
      const source = storage.run(store, () => body[Symbol.asyncIterator]())
      return {
        next: () => storage.run(store, () => source.next()),
        return: (value?: unknown) =>
          storage.run(store, () => source.return?.(value) ?? Promise.resolve({ done: true, value: undefined })),
      }
    },
  }
}
