import { BadRequestError, defineErrors, PayloadTooLargeError } from '../../kernel/index.ts'
import { utf8Text } from '../shared/http/body-parser.ts'
import { addPair } from '../shared/http/query.ts'
import { StoredFile } from './file.ts'
import type { UploadLimits } from './options.ts'
import { type PartHeader, readPartHeader } from './part-header.ts'
import { type Part, type PartBody, PartReader } from './parts.ts'
import type { FileContent, Store, Stored } from './store.ts'

export const { FileTooLargeError } = defineErrors({
  FileTooLargeError: [413, (what: string, limit: number) => `${what} is larger than ${limit} bytes`],
})

/** A form that has been read to its end. */
export interface ReceivedForm {
  readonly fields: Record<string, string | string[]>
  readonly files: readonly StoredFile[]
}

/** Reads one multipart body into fields and files. If that fails, the files already stored are released. */
export class FormReceiver {
  readonly #limits: UploadLimits
  readonly #store: Store
  readonly #reader: PartReader
  /** For this request alone: a client that leaves is only one of the ways in which an upload can end. */
  readonly #abort = new AbortController()
  readonly #fields: Record<string, string | string[]> = Object.create(null)
  readonly #files: StoredFile[] = []
  #fieldCount = 0

  constructor(boundary: string, limits: UploadLimits, store: Store) {
    this.#limits = limits
    this.#store = store
    this.#reader = new PartReader(boundary, limits.maxFiles + limits.maxFields)
  }

  /** Ends the upload with an error. */
  fail(error: unknown): void {
    this.#reader.fail(error)
    this.#abort.abort(error)
  }

  async receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedForm> {
    const { totalSize } = this.#limits
    const feeding = this.#reader.feed(body, totalSize, () => FileTooLargeError('the form', totalSize))
    try {
      for await (const part of this.#reader.parts()) await this.#take(part)
      // Bytes after the last boundary also count, and must have arrived before a response is sent.
      await feeding
    } catch (error) {
      this.fail(error)
    }
    const { failure } = this.#reader
    if (failure === undefined) return { fields: this.#fields, files: this.#files }
    // Also when the body itself failed.
    this.#abort.abort(failure.error)
    await Promise.all(this.#files.map((file) => file.release(true)))
    throw failure.error
  }

  async #take({ header: raw, body }: Part): Promise<void> {
    const header = readPartHeader(raw)
    if (header.filename === undefined) await this.#takeField(header.field, body)
    else await this.#takeFile(header, header.filename, body)
  }

  async #takeField(name: string, body: PartBody): Promise<void> {
    const { maxFields, fieldSize } = this.#limits
    if (++this.#fieldCount > maxFields) throw PayloadTooLargeError(`${maxFields} fields`)
    const chunks: Uint8Array[] = []
    let size = 0
    await body.each((chunk) => {
      size += chunk.length
      if (size <= fieldSize) chunks.push(chunk)
      else this.fail(PayloadTooLargeError(`${fieldSize} bytes in the field "${shown(name)}"`))
    })
    const value = utf8Text(Buffer.concat(chunks))
    if (value === undefined) throw BadRequestError(`the field "${shown(name)}" is not UTF-8`)
    addPair(this.#fields, name, value)
  }

  async #takeFile({ field, mimeType, unnamed }: PartHeader, filename: string, body: PartBody): Promise<void> {
    const { maxFiles, fileSize } = this.#limits
    let size = 0
    const count = (piece: Uint8Array) => {
      size += piece.length
      if (size > fileSize) this.fail(FileTooLargeError(`the file "${shown(field)}"`, fileSize))
    }
    const read = async () => {
      const next = await body.next()
      if (!next.done) count(next.value)
      if (size > fileSize) throw this.#reader.failure!.error
      return next
    }
    const isFull = this.#files.length >= maxFiles
    if (isFull && !unnamed) throw PayloadTooLargeError(`${maxFiles} files`)
    const first = await read()
    // This is an empty file input.
    if (unnamed && first.done) return
    if (isFull) throw PayloadTooLargeError(`${maxFiles} files`)
    const content: FileContent = {
      async *[Symbol.asyncIterator]() {
        for (let next = first; !next.done; next = await read()) yield next.value
      },
      async each(take) {
        if (first.done) return
        take(first.value)
        await body.each((piece) => {
          count(piece)
          if (size <= fileSize) take(piece)
        })
      },
    }
    let stored: Stored | undefined
    try {
      stored = await this.#store.write({ field, filename, mimeType, content, signal: this.#abort.signal })
      // Bytes that a sink has not read still count, and precede the next part.
      while (!(await read()).done);
    } catch (error) {
      await stored?.release(true)
      throw error
    }
    this.#files.push(new StoredFile({ field, filename, mimeType, size }, stored))
  }
}

/** A client's name as messages show it: shortened, and on one line. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100)).slice(1, -1)
}
