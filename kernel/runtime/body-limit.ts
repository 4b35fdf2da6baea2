import { Buffer } from 'node:buffer'
import { type FrameworkError, PayloadTooLargeError } from '../support/errors.ts'

/** Refuses a body by its length, the declared one before any of it is read, and one that does not compare: Bun and Deno join two equal ones to `9, 9`. */
export function refuseLength(length: string | number | null | undefined, limit: number): FrameworkError | undefined {
  return Number(length ?? 0) <= limit ? undefined : tooLarge(limit)
}

const tooLarge = (limit: number) => PayloadTooLargeError(`${limit} bytes`)

/** The parts of a body that have arrived, counted whatever length was declared: the other place where a body is refused for its size. */
export class LimitedBody {
  readonly limit: number
  size = 0
  readonly #chunks: Uint8Array[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  /** Adds a part; returns the error for a body that is now too large, whose last part is dropped. */
  add(chunk: Uint8Array): FrameworkError | undefined {
    this.size += chunk.byteLength
    if (this.size > this.limit) return tooLarge(this.limit)
    this.#chunks.push(chunk)
    return undefined
  }

  /** All parts in one piece of memory. */
  whole(): Uint8Array {
    const chunks = this.#chunks
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.size)
  }
}

/** Reads a whole body, whatever length was declared. */
export async function collected(parts: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const body = new LimitedBody(limit)
  for await (const part of parts) {
    const refusal = body.add(part)
    if (refusal !== undefined) throw refusal
  }
  return body.whole()
}
