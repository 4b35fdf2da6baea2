// Not the global: a test may fake it, and a stream would wait for ever.
import { setImmediate } from 'node:timers'

/**
 * How many bytes of an unread body are read and discarded so that its connection can continue with the next request; where
 * more is to come, the connection ends instead. Without a limit, a 404 received 3 GB in 4 s.
 */
export const mostUnread = 262_144

/** A piece in a form that can be written; anything but strings and bytes would cause an exception deep inside the runtime. */
export function asChunk(value: unknown): string | Uint8Array {
  if (typeof value === 'string' || value instanceof Uint8Array) return value
  throw new TypeError(
    `a streamed body must be made of strings or Uint8Arrays, got ${value === null ? 'null' : typeof value}`,
  )
}

/** The length that a reply declares; `undefined` if it declares none. */
export function declaredLength(headers: readonly string[]): number | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-length') return Number(headers[i + 1])
  return undefined
}

/**
 * Limits a stream to its declared length: an extra piece would be read as the head of the next response, and a missing
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

/** How long one stream may occupy the process. */
const sliceMs = 2

// Bound before the clock can be faked.
const clock = performance.now.bind(performance)

/**
 * Gives other work a turn from time to time.
 *
 * A source that always has a piece ready and a client that accepts each piece immediately use only microtasks: no timer, no other
 * request and no event of the source itself runs in between (measured: for 1.9 s, with 400 MB in pieces of 1 kB).
 */
export class Slices {
  #since = clock()

  /** Returns a promise when the turn has been long enough. */
  next(): Promise<void> | undefined {
    if (clock() - this.#since < sliceMs) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#since = clock()
        resolve()
      })
    })
  }
}
