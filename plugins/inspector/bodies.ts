import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import type { RawRequest, Reply, StreamBody } from '../../kernel/index.ts'
import { openSource } from '../shared/http/streams.ts'

const none = new Uint8Array(0)

/** Collects the bytes of a body as they pass, up to a limit. */
export class CapturedBody {
  readonly #limit: number
  readonly #grow: (bytes: number) => void
  /** Called when more bytes of a stream have passed than are kept. */
  readonly onCut: ((size: number) => void) | undefined
  /** One array for all chunks: in a stream of single bytes, each chunk would take a hundred times its size. */
  #all = none
  #length = 0
  /** The number of bytes that have passed. */
  size = 0
  /** Whether all bytes have passed. */
  isComplete = false
  /** Why the bytes ended before all had passed. */
  failure: { readonly error: unknown } | undefined

  constructor(limit: number, grow: (bytes: number) => void, onCut?: (size: number) => void) {
    this.#limit = limit
    this.#grow = grow
    this.onCut = onCut
  }

  /** Adds the whole of a body that is a string. */
  addText(text: string): void {
    const bytes = Buffer.from(text)
    if (bytes.byteLength <= this.#limit) {
      this.#all = bytes
      this.#length = this.size = bytes.byteLength
      this.#grow(bytes.byteLength)
    } else this.add(bytes)
  }

  add(chunk: Uint8Array): void {
    const room = this.#limit - this.size
    this.size += chunk.byteLength
    if (room <= 0) return
    const part = chunk.subarray(0, room)
    const length = this.#length + part.byteLength
    if (length > this.#all.byteLength) {
      const larger = new Uint8Array(Math.min(this.#limit, Math.max(length, 2 * this.#all.byteLength)))
      larger.set(this.#all)
      this.#grow(larger.byteLength - this.#all.byteLength)
      this.#all = larger
    }
    // A copy: the reader may reuse the memory of the chunk.
    this.#all.set(part, this.#length)
    this.#length = length
  }

  get isCut(): boolean {
    return this.size > this.#limit
  }

  bytes(): Uint8Array {
    return this.#all.subarray(0, this.#length)
  }
}

/**
 * Keeps what is read of a request and what is sent in response. It sets members of this one raw request, which hide those of its class,
 * so that requests are not slowed down where nothing records them.
 */
export function captureBodies(
  raw: RawRequest,
  received: CapturedBody,
  sent: CapturedBody,
  onReply: (reply: Reply) => void,
): void {
  const { bytes, stream, respond } = raw
  if (raw.hasBody) {
    raw.bytes = async (limit) => {
      const all = await bytes.call(raw, limit)
      received.add(all)
      received.isComplete = true
      return all
    }
    raw.stream = () => passing(stream.call(raw), received)
  }
  raw.respond = (reply) => {
    onReply(reply)
    const { body } = reply
    if (typeof body === 'string') sent.addText(body)
    else if (body instanceof Uint8Array) sent.add(body)
    else if (body !== null) {
      const passed = passing(body as AsyncIterable<Uint8Array | string>, sent) as StreamBody
      return respond.call(raw, { ...reply, body: passed })
    }
    sent.isComplete = true
    return respond.call(raw, reply)
  }
}

/** Passes on the chunks and keeps them. Not a generator, which does not end its source if it was never started. */
function passing<Chunk extends Uint8Array | string>(
  body: AsyncIterable<Chunk>,
  kept: CapturedBody,
): AsyncIterable<Chunk> {
  return {
    [Symbol.asyncIterator]() {
      const source = openSource(body as StreamBody)
      let isWanted = true
      return {
        async next() {
          try {
            const one = (await source.next()) as IteratorResult<Chunk>
            if (one.done === true) kept.isComplete = true
            else kept.add(typeof one.value === 'string' ? Buffer.from(one.value) : one.value)
            if (kept.isCut) kept.onCut?.(kept.size)
            return one
          } catch (error) {
            // A client that has left ends the source, which may fail then.
            if (isWanted) kept.failure = { error }
            throw error
          }
        },
        async return() {
          // Not the iterator of a stream, which ends the stream only if it was started, and only after the chunk it waits for.
          isWanted = false
          source.cancel()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

const decoders = new Map([
  ['gzip', zlib.gunzip],
  ['deflate', zlib.inflate],
  ['br', zlib.brotliDecompress],
] as const)
/** `finishFlush`: what there is of a body that was cut is shown; for brotli, this number is the default. */
const options = { maxOutputLength: 4 * 1024 * 1024, finishFlush: zlib.constants.Z_SYNC_FLUSH }

/** Reverses a content coding; returns the bytes as they are if that is not possible. */
export async function decoded(bytes: Uint8Array, encoding: string | undefined): Promise<Uint8Array> {
  const decode = decoders.get(encoding?.trim().toLowerCase() as 'gzip')
  return decode === undefined ? bytes : promisify(decode)(bytes, options).catch(() => bytes)
}
