import type { StreamBody } from './raw.ts'

/** Releases a stream that will not be sent: its file, socket or generator must not stay open. */
export function disposeStream(body: StreamBody): void {
  if (body instanceof ReadableStream) {
    body.cancel().catch(() => {})
    return
  }
  if ('destroy' in body && typeof body.destroy === 'function') {
    if ('on' in body && typeof body.on === 'function') body.on('error', () => {})
    body.destroy()
    return
  }
  // A generator that never started has nothing to clean up; one that did runs its `finally`.
  const iterator = (body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  iterator.return?.(undefined)?.then(undefined, () => {})
}

export function isStream(body: unknown): body is StreamBody {
  if (typeof body !== 'object' || body === null) return false
  return body instanceof ReadableStream || Symbol.asyncIterator in body
}
