import { Readable } from 'node:stream'
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

/** One way to read the three kinds of stream, and to let go of them. */
export interface BodySource {
  /** The next piece. A promise also for what is there already. */
  next(): Promise<{ done?: boolean; value?: unknown }>
  /** Nobody reads on: destroys, cancels or returns the source, also while a `next` is pending. Never throws. */
  cancel(): void
}

/**
 * How much of a body that nobody reads is taken off the wire, so that its connection can go on with the next request; where
 * more is to come, the connection ends instead. Without a limit a 404 took 3 GB in 4 s.
 */
export const mostUnread = 262_144

/** Opens a stream for reading piece by piece. */
export function openSource(body: StreamBody): BodySource {
  if (body instanceof Readable) {
    const iterator = body[Symbol.asyncIterator]()
    // Leaving before the first `next` would otherwise leave an 'error' of the source without a listener.
    body.on('error', ignore)
    return { next: () => iterator.next(), cancel: () => void body.destroy() }
  }
  if (typeof (body as ReadableStream).getReader === 'function') {
    const reader = (body as ReadableStream<unknown>).getReader()
    return {
      next: () => reader.read() as Promise<{ done?: boolean; value?: unknown }>,
      cancel: () => void reader.cancel().catch(ignore),
    }
  }
  const iterator = (body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    cancel: () => {
      try {
        // A generator that waits for something runs its `finally` only after that: its own affair is `req.signal`.
        iterator.return?.()?.then(undefined, ignore)
      } catch {
        // The client has gone; there is nobody left to tell.
      }
    },
  }
}

/** A piece as it can be written; anything but text and bytes would be an exception deep inside the runtime. */
export function asChunk(value: unknown): string | Uint8Array {
  if (typeof value === 'string' || value instanceof Uint8Array) return value
  throw new TypeError(
    `a streamed body must be made of strings or Uint8Arrays, got ${value === null ? 'null' : typeof value}`,
  )
}

/** The length a reply promises, `undefined` when it promises none. */
export function declaredLength(headers: readonly string[]): number | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-length') return Number(headers[i + 1])
  return undefined
}

/**
 * Holds a stream to its declared length: a piece too many would be read as the head of the next answer, and a missing
 * one leaves the client waiting, so both end the connection instead.
 */
export function lengthGuard(declared: number | undefined): { add(bytes: number): void; end(): void } {
  let sent = 0
  return {
    add(bytes) {
      sent += bytes
      if (declared !== undefined && sent > declared) throw mismatch(declared)
    },
    end() {
      if (declared !== undefined && sent < declared) throw mismatch(declared)
    },
  }
}

function mismatch(declared: number): Error {
  return new Error(`a streamed body did not have the ${declared} bytes that its content-length declares`)
}

function ignore(): void {}
