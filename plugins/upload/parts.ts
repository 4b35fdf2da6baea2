import { Dicer } from '@fastify/busboy'
import { BadRequestError, PayloadTooLargeError } from '../../kernel/index.ts'
import type { RawHeader } from './part-header.ts'

/** More than the longest file name of any system needs, three times over. */
const maxHeaderBytes = 16_384
const maxHeaderLines = 32
/** Bytes are handed on in pieces of this size: how much is parsed at once does not depend on the sender. */
const pieceBytes = 16_384

/** One part of a form; the next one comes when this one has been read to its end. */
export interface Part {
  readonly header: RawHeader
  readonly body: AsyncIterable<Uint8Array>
}

type PartStream = Dicer.PartStream

/**
 * Takes a multipart body apart while it arrives, with backpressure: nothing is kept beyond a few pieces.
 *
 * The library leaves out what it cannot read and reports some failures only on streams that nobody may be reading any
 * more (three of multer's advisories); here all of them end in {@link parts}.
 */
export class PartReader {
  readonly #dicer: Dicer
  readonly #waiting: { header: RawHeader; stream: PartStream }[] = []
  /** The part whose header is not complete. */
  #unread: { stream: PartStream; from: number } | undefined
  #current: PartStream | undefined
  #failure: { readonly error: unknown } | undefined
  #complete = false
  /** Bytes handed to the parser. */
  #written = 0
  #wakeReader: (() => void) | undefined
  #wakeWriter: (() => void) | undefined

  readonly #maxParts: number
  #count = 0

  constructor(boundary: string, maxParts: number) {
    this.#maxParts = maxParts
    // Its types leave `maxHeaderSize` out.
    const config = { boundary, maxHeaderPairs: maxHeaderLines, maxHeaderSize: maxHeaderBytes } as Dicer.Config
    this.#dicer = new Dicer(config)
    this.#dicer.on('part', (stream: PartStream) => this.#begin(stream))
    this.#dicer.on('error', () => this.fail(BadRequestError('the form ends before its last boundary')))
    this.#dicer.on('finish', () => {
      this.#mustHaveHeader()
      this.#complete = true
      this.#wakeReader?.()
      this.#wakeWriter?.()
    })
  }

  /** Feeds the body, counting what arrives; ends when the body does, or at the first failure. Never rejects. */
  async feed(body: AsyncIterable<Uint8Array>, limit: number, tooLarge: () => Error): Promise<void> {
    const iterator = body[Symbol.asyncIterator]()
    let size = 0
    try {
      while (this.#failure === undefined) {
        // A sender that pauses must not keep a failure from being answered.
        const next = await this.#unlessFailed(iterator.next())
        if (next === undefined) break
        if (next.done) {
          if (!this.#complete) this.#dicer.end()
          return
        }
        size += next.value.length
        if (size > limit) this.fail(tooLarge())
        else await this.#write(next.value)
      }
    } catch (error) {
      this.fail(error)
    }
    // Not waited for either: a generator leaves only when the piece it waits for has arrived.
    void iterator.return?.()?.then(undefined, ignore)
  }

  /** Ends everything with an error: the part that is being read, and {@link parts}. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = { error }
    const cause = error instanceof Error ? error : new Error(String(error))
    this.#current?.destroy(cause)
    for (const { stream } of this.#waiting) stream.destroy()
    this.#unread?.stream.destroy()
    this.#wakeReader?.()
    this.#wakeWriter?.()
  }

  /** The parts in their order. @throws what {@link fail} was called with. */
  async *parts(): AsyncGenerator<Part> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      const part = this.#waiting.shift()
      if (part !== undefined) {
        this.#current = part.stream
        yield { header: part.header, body: part.stream }
        this.#current = undefined
      } else if (this.#complete) return
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
    }
  }

  /** The first failure: what followed from it, on streams that broke off, tells less. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  async #write(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length && this.#failure === undefined && !this.#complete; from += pieceBytes) {
      const length = Math.min(pieceBytes, chunk.length - from)
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve
        try {
          this.#dicer.write(Buffer.from(chunk.buffer, chunk.byteOffset + from, length), () => resolve())
        } catch {
          // A boundary behind the last one trips the library.
          this.fail(BadRequestError('the form is malformed'))
        }
      })
      this.#written += length
      // The parser cuts a header at its limit without a word.
      if (this.#unread !== undefined && this.#written - this.#unread.from > maxHeaderBytes * 2) this.#failHeader()
    }
  }

  #unlessFailed<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      // The last boundary wakes as well: a body that is left before its end costs the connection.
      this.#wakeWriter = () => {
        if (this.#failure !== undefined) resolve(undefined)
      }
      promise.then(resolve, reject)
    })
  }

  #begin(stream: PartStream): void {
    this.#mustHaveHeader()
    // Failures are reported by `fail`; without a listener one would end the process.
    stream.on('error', ignore)
    if (this.#failure !== undefined) return
    // Counted where they are found: one piece has hundreds of empty parts.
    if (++this.#count > this.#maxParts) this.fail(PayloadTooLargeError(`${this.#maxParts} parts`))
    this.#unread = { stream, from: this.#written }
    stream.once('header', (header: object) => {
      this.#unread = undefined
      if (sizeOf(header as RawHeader) >= maxHeaderBytes - 4) this.#failHeader()
      this.#waiting.push({ header: header as RawHeader, stream })
      this.#wakeReader?.()
    })
  }

  #mustHaveHeader(): void {
    if (this.#unread !== undefined) this.fail(BadRequestError('a part of the form has no header'))
  }

  #failHeader(): void {
    this.fail(BadRequestError(`the header of a part has more than ${maxHeaderBytes} bytes or ${maxHeaderLines} lines`))
  }
}

/** The bytes of a header; as many as the limit for one that has as many lines as the parser reads. */
function sizeOf(header: RawHeader): number {
  let size = 0
  let lines = 0
  for (const name in header) {
    for (const value of header[name]!) {
      size += name.length + value.length + 4
      lines++
    }
  }
  return lines >= maxHeaderLines ? maxHeaderBytes : size
}

function ignore(): void {}
