import { Readable } from 'node:stream'
import { OptionError, quoted, type StreamBody } from '../../kernel/index.ts'
import { mediaTypeOfFile } from '../shared/http/media-types.ts'
import { openSource } from '../shared/http/streams.ts'
import { safely } from '../shared/values/safely.ts'
import { StorageDataError } from './errors.ts'
import type { StorageBody } from './providers/contract.ts'

/** The argument of `putObject`. A string is stored as UTF-8. */
export type StorageData =
  | string
  | Uint8Array
  | ArrayBuffer
  | DataView
  | Blob
  | ReadableStream<Uint8Array>
  | Readable
  | AsyncIterable<Uint8Array | string>

/** A Blob of this size or more, perhaps a file of Bun or Deno, is not read into memory. */
const largeBlob = 8 * 1024 ** 2

/** Converts data of any accepted type to bytes or a stream. */
export async function bodyOf(data: unknown): Promise<StorageBody> {
  if (typeof data === 'string') return Buffer.from(data, 'utf8')
  if (data instanceof Uint8Array) return data
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (data instanceof Blob) {
    if (data.size < largeBlob) return new Uint8Array(await data.arrayBuffer())
    return readable(data.stream())
  }
  if (data instanceof Readable) {
    if (data.destroyed || data.readableEnded) throw StorageDataError('a stream that was already read or destroyed')
    return readable(data)
  }
  if (data instanceof ReadableStream) {
    if (isInUse(data)) throw StorageDataError('a stream that was already read or has another reader')
    return readable(data)
  }
  if (typeof (data as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function')
    return readable(data as AsyncIterable<Uint8Array>)
  throw StorageDataError(data === null ? 'null' : `a value of the type ${typeof data}`)
}

/** Whether a stream was read before: it would be stored as empty. Web streams do not show that, but `Response` requires an unread one. */
const isInUse = (stream: ReadableStream) => safely(() => new Response(stream)) === undefined

/**
 * A stream of bytes, which fails if the source yields other chunks. Destroying it ends the source immediately: a generator in
 * between would wait for a chunk that may never come.
 */
function readable(body: StreamBody): Readable {
  const source = openSource(body)
  async function next(): Promise<Uint8Array | null> {
    for (;;) {
      const { done, value } = await source.next()
      if (done) return null
      const chunk = bytesOfChunk(value)
      if (chunk.length > 0) return chunk
    }
  }
  return readableOf(next, source.cancel)
}

/** A stream of the results of `next`, until `null`. `end` releases the source, even if the stream is abandoned. */
export function readableOf(next: () => Promise<Uint8Array | null>, end: () => void): Readable {
  return new Readable({
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      end()
      done(error)
    },
  })
}

function bytesOfChunk(chunk: unknown): Uint8Array {
  if (typeof chunk === 'string') return Buffer.from(chunk, 'utf8')
  if (chunk instanceof Uint8Array) return chunk
  throw StorageDataError(`a stream of the type ${chunk === null ? 'null' : typeof chunk}`)
}

const wellFormed = /^[\w.+*-]+\/[\w.+*-]+(?: *; *[\w.+*-]+=(?:[\w.+*-]+|"[\x20\x21\x23-\x5b\x5d-\x7e]*"))*$/

/** The given content type, otherwise that of the Blob, of the key's extension, or of text. */
export function contentTypeOf(key: string, data: unknown, given: unknown): string {
  if (given !== undefined) return checkContentType(given)
  if (data instanceof Blob && wellFormed.test(data.type)) return data.type
  const known = mediaTypeOfFile(key)
  return known === 'application/octet-stream' && typeof data === 'string' ? 'text/plain; charset=utf-8' : known
}

/** @throws OptionError for an invalid media type, which would become a header of responses. */
export function checkContentType(type: unknown): string {
  if (typeof type !== 'string' || type.length > 255 || !wellFormed.test(type))
    throw OptionError('contentType', quoted(type), 'a media type such as "image/png"')
  return type
}
