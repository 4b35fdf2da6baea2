import type { Readable } from 'node:stream'
import { safely } from '../support/safely.ts'
import type { StreamBody } from './raw.ts'

/** Releases a stream that will not be sent: its file, socket or generator must not stay open. */
export function disposeStream(body: StreamBody): void {
  // It throws if it is already being read: its reader releases it.
  safely(() => openSource(body).cancel())
}

export function isStream(body: unknown): body is StreamBody {
  if (typeof body !== 'object' || body === null) return false
  return body instanceof ReadableStream || Symbol.asyncIterator in body
}

/**
 * Keeps a stream that waits to be sent from ending the process: a stream of Node.js that fails without a listener throws its error
 * where it cannot be caught, and a step or a hook may wait before anyone reads it. Its reader gets the error all the same.
 */
export function holdStream(body: StreamBody): void {
  if (typeof (body as Readable).destroy === 'function') (body as Readable).on?.('error', ignore)
}

/** A common way to read the three kinds of stream, and to release them. */
export interface BodySource {
  /** The next piece; a promise even for a piece that has already arrived. */
  next(): Promise<{ done?: boolean; value?: unknown }>
  /** Ends reading: destroys, cancels or returns the source, even while a `next` is pending. Never throws. */
  cancel(): void
  /** Calls back when the source fails while no `next` is pending (a pending one would reject); not where a source cannot report it. */
  onFailure?(listener: (error: unknown) => void): void
}

/** Opens a stream for reading piece by piece. */
export function openSource(body: StreamBody): BodySource {
  if (typeof (body as Readable).destroy === 'function') {
    const stream = body as Readable
    const iterator = stream[Symbol.asyncIterator]()
    // Otherwise, after leaving before the first `next`, an 'error' of the source would have no listener.
    stream.on?.('error', ignore)
    return {
      next: () => iterator.next(),
      cancel: () => void stream.destroy(),
      onFailure: (listener) => void stream.once?.('error', listener),
    }
  }
  if (typeof (body as ReadableStream).getReader === 'function') {
    const reader = (body as ReadableStream<unknown>).getReader()
    return {
      next: () => reader.read() as Promise<{ done?: boolean; value?: unknown }>,
      cancel: () => void reader.cancel().catch(ignore),
      onFailure: (listener) => void reader.closed.catch(listener),
    }
  }
  const iterator = (body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    // A waiting generator runs its `finally` only after its wait: it can listen to `req.signal` itself. If that fails, there is no one left to
    // report to.
    cancel: () => void safely(() => iterator.return?.()?.then(undefined, ignore)),
  }
}

export function ignore(): void {}
