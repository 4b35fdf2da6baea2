import type { AsyncLocalStorage } from 'node:async_hooks'

/** Whether a body is a generator or another plain iterable, as opposed to a stream, which is read in its own way. */
export function isPlainIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  if (typeof body !== 'object' || body === null || body instanceof ReadableStream) return false
  return Symbol.asyncIterator in body && !('pipe' in body)
}

/** The same pieces, each produced within the context: a generator would run in the context of its reader. */
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
