import { Dicer } from '@fastify/busboy'
import { BadRequestError, PayloadTooLargeError } from '../../kernel/index.ts'
import { type Deferred, deferred } from '../shared/values/promises.ts'
import type { RawHeader } from './part-header.ts'

/** Three times the longest file name of any system. */
const maxHeaderBytes = 16_384
const maxHeaderLines = 32
/** Bytes are parsed in pieces of this size, so that the sender does not decide how much is parsed at once. */
const pieceBytes = 65_536

/** One part of a form; the next one comes once this one has been read to its end. */
export interface Part {
  readonly header: RawHeader
  readonly body: PartBody
}

type PartStream = Dicer.PartStream

/**
 * Parses a multipart body as it arrives, with backpressure: only a few pieces are in memory at a time.
 *
 * The library skips parts that it cannot read, and reports some failures only on streams that may no longer be
 * read (three of multer's advisories); here all failures surface in {@link parts}.
 */
export class PartReader {
  readonly #dicer: Dicer
  readonly #waiting: { header: RawHeader; stream: PartStream }[] = []
  /** The part whose header is not complete yet. */
  #unread: { stream: PartStream; from: number } | undefined
  #current: PartStream | undefined
  /** Aborted by the first failure: later ones, on streams that broke off, are less useful. */
  readonly #failed = new AbortController()
  #complete = false
  /** Bytes passed to the parser, up to the end of the current piece. */
  #written = 0
  #wakeReader: (() => void) | undefined
  #wakeWriter: (() => void) | undefined
  /** Stops reading the body. */
  #leave: (() => void) | undefined

  readonly #maxParts: number
  #count = 0

  constructor(boundary: string, maxParts: number) {
    this.#maxParts = maxParts
    // The library's types lack `maxHeaderSize`. It drains after each piece.
    const headers = { maxHeaderPairs: maxHeaderLines, maxHeaderSize: maxHeaderBytes }
    this.#dicer = new Dicer({ boundary, highWaterMark: 1, ...headers } as Dicer.Config)
    this.#dicer.on('drain', () => this.#wakeWriter?.())
    this.#dicer.on('part', (stream: PartStream) => this.#begin(stream))
    this.#dicer.on('error', () => this.fail(BadRequestError('the form ends before its last boundary')))
    this.#dicer.on('finish', () => {
      this.#mustHaveHeader()
      this.#complete = true
      this.#wakeReader?.()
      this.#wakeWriter?.()
    })
  }

  /** Feeds the body to the parser, counting the bytes; resolves at the end of the body or at the first failure. Never rejects. */
  feed(body: AsyncIterable<Uint8Array>, limit: number, tooLarge: () => Error): Promise<void> {
    const iterator = body[Symbol.asyncIterator]()
    return new Promise((resolve) => {
      // A sender that pauses must not delay the response to a failure; a generator can be left only once the awaited piece has arrived.
      this.#leave = () => {
        void iterator.return?.()?.then(undefined, ignore)
        resolve()
      }
      void this.#feedFrom(iterator, limit, tooLarge).then(resolve)
    })
  }

  async #feedFrom(iterator: AsyncIterator<Uint8Array>, limit: number, tooLarge: () => Error): Promise<void> {
    let size = 0
    try {
      while (!this.signal.aborted) {
        const next = await iterator.next()
        if (this.signal.aborted) return
        if (next.done) {
          this.#leave = undefined
          if (!this.#complete) this.#dicer.end()
          return
        }
        size += next.value.length
        if (size > limit) return this.fail(tooLarge())
        const writing = this.#write(next.value)
        if (writing !== undefined) await writing
      }
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends everything with an error: the part that is being read, and {@link parts}. */
  fail(error: unknown): void {
    if (this.signal.aborted) return
    this.#failed.abort(error)
    const cause = error instanceof Error ? error : new Error(String(error))
    this.#current?.destroy(cause)
    for (const { stream } of this.#waiting) stream.destroy()
    this.#unread?.stream.destroy()
    this.#leave?.()
    this.#wakeReader?.()
    this.#wakeWriter?.()
  }

  /** Yields the parts in order. @throws the argument of {@link fail}. */
  async *parts(): AsyncGenerator<Part> {
    for (;;) {
      this.signal.throwIfAborted()
      const part = this.#waiting.shift()
      if (part !== undefined) {
        this.#current = part.stream
        yield { header: part.header, body: new PartBody(part.stream) }
        this.#current = undefined
      } else if (this.#complete) return
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
    }
  }

  /** Aborts with the first failure. */
  get signal(): AbortSignal {
    return this.#failed.signal
  }

  /** Returns a promise if the parser does not accept the whole chunk immediately. */
  #write(chunk: Uint8Array): Promise<void> | undefined {
    const fits = chunk.length <= (this.#unread === undefined ? pieceBytes : maxHeaderBytes)
    return fits ? this.#writePiece(chunk) : this.#writePieces(chunk)
  }

  async #writePieces(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length && !this.signal.aborted; ) {
      // While a header is incomplete, at most as much as its limit.
      const length = Math.min(this.#unread === undefined ? pieceBytes : maxHeaderBytes, chunk.length - from)
      const writing = this.#writePiece(chunk.subarray(from, from + length))
      if (writing !== undefined) await writing
      from += length
    }
  }

  #writePiece(piece: Uint8Array): Promise<void> | undefined {
    // Bytes after the last boundary are only counted.
    if (this.#complete) return undefined
    this.#written += piece.length
    try {
      this.#dicer.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length))
    } catch {
      // Either `#begin` threw, or the library did, at a boundary after the last one.
      this.fail(BadRequestError('the form is malformed'))
    }
    // The parser silently truncates a header at its limit.
    if (this.#unread !== undefined && this.#written - this.#unread.from > maxHeaderBytes) this.#failHeader()
    if (this.#dicer.writableLength === 0 || this.signal.aborted || this.#complete) return undefined
    return new Promise((resolve) => {
      this.#wakeWriter = resolve
    })
  }

  #begin(stream: PartStream): void {
    this.#mustHaveHeader()
    // Failures are reported by `fail`; without a listener a failure would end the process.
    stream.on('error', ignore)
    // Counted as soon as they are found: one piece may contain thousands of empty parts.
    if (++this.#count > this.#maxParts) this.fail(PayloadTooLargeError(`${this.#maxParts} parts`))
    // Throws to leave the parser, which would create a stream for each further part of the piece: 80 ms for 64 kB of boundaries.
    this.signal.throwIfAborted()
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

/**
 * The content of a part, piece by piece as the parser finds it: the iterator of a stream would join received pieces
 * into new memory, which took a quarter of the time of an upload.
 */
export class PartBody implements AsyncIterator<Uint8Array, undefined> {
  readonly #stream: PartStream
  readonly #pieces: Uint8Array[] = []
  /** The readers that are waiting for a piece. */
  readonly #readers: Deferred<IteratorResult<Uint8Array, undefined>>[] = []
  #take: ((piece: Uint8Array) => void) | undefined
  #isOver = false
  #error: Error | undefined

  constructor(stream: PartStream) {
    this.#stream = stream
    stream.on('data', (piece: Uint8Array) => this.#found(piece))
    stream.once('end', () => {
      this.#isOver = true
      for (const { resolve } of this.#readers.splice(0)) resolve({ done: true, value: undefined })
    })
    stream.once('error', (error: Error) => {
      this.#error = error
      for (const { reject } of this.#readers.splice(0)) reject(error)
    })
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    const value = this.#pieces.shift()
    if (value !== undefined) return Promise.resolve({ done: false, value })
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    if (this.#stream.isPaused()) this.#stream.resume()
    const reader = deferred<IteratorResult<Uint8Array, undefined>>()
    this.#readers.push(reader)
    return reader.promise
  }

  /** Passes on all remaining pieces, without backpressure and without a promise for each piece. */
  async each(take: (piece: Uint8Array) => void): Promise<void> {
    for (const piece of this.#pieces.splice(0)) take(piece)
    this.#take = take
    await this.next()
  }

  #found(piece: Uint8Array): void {
    const reader = this.#take === undefined ? this.#readers.shift() : undefined
    if (this.#take !== undefined) this.#take(piece)
    else if (reader !== undefined) reader.resolve({ done: false, value: piece })
    else {
      this.#pieces.push(piece)
      this.#stream.pause()
    }
  }
}

/** The size of a header in bytes; the limit itself if it has as many lines as the parser reads at most. */
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
