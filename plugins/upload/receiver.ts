import { tmpdir } from 'node:os'
import {
  BadRequestError,
  defineErrors,
  type Middleware,
  PayloadTooLargeError,
  type RawRequest,
  type Request,
  type Response,
  Trace,
  type TraceOutcome,
} from '../../kernel/index.ts'
import { refuseEncoded, utf8Text } from '../shared/http/body-parser.ts'
import { addPair } from '../shared/http/query.ts'
import { StoredFile } from './file.ts'
import { limitsOf, type UploadLimits, type UploadSettings } from './options.ts'
import { type PartHeader, readPartHeader } from './part-header.ts'
import { type Part, type PartBody, PartReader } from './parts.ts'
import { diskStore, type FileContent, memoryStore, type Store, type Stored, sinkStore } from './store.ts'

export const { FileTooLargeError } = defineErrors({
  FileTooLargeError: [413, (what: string, limit: number) => `${what} is larger than ${limit} bytes`],
})

/** Reads one multipart body into fields and files. If that fails, the files already stored are released. */
class FormReceiver {
  readonly #limits: UploadLimits
  readonly #store: Store
  readonly #reader: PartReader
  readonly #fields: Record<string, string | string[]> = Object.create(null)
  readonly #files: StoredFile[] = []
  #fieldCount = 0

  constructor(boundary: string, limits: UploadLimits, store: Store) {
    this.#limits = limits
    this.#store = store
    this.#reader = new PartReader(boundary, limits.maxFiles + limits.maxFields)
  }

  /** Reads the form to its end. */
  async receive({ raw, signal: ofRequest }: Request) {
    const { maxTotalSize } = this.#limits
    const onAbort = () => {
      const reason: unknown = ofRequest.reason
      const left = reason instanceof DOMException && reason.name === 'AbortError'
      this.#reader.fail(left ? BadRequestError('the client disconnected before the form was complete') : reason)
    }
    if (ofRequest.aborted) onAbort()
    ofRequest.addEventListener('abort', onAbort, { once: true })
    try {
      const tooLarge = () => FileTooLargeError('the form', maxTotalSize)
      const feeding = this.#reader.feed(raw.stream(), maxTotalSize, tooLarge)
      for await (const part of this.#reader.parts()) await this.#take(part)
      // Bytes after the last boundary also count, and must have arrived before a response is sent.
      await feeding
    } catch (error) {
      this.#reader.fail(error)
    } finally {
      ofRequest.removeEventListener('abort', onAbort)
    }
    const { signal } = this.#reader
    if (!signal.aborted) return { fields: this.#fields, files: this.#files }
    await Promise.all(this.#files.map((file) => file.release(true)))
    throw signal.reason
  }

  async #take({ header: raw, body }: Part): Promise<void> {
    const header = readPartHeader(raw)
    if (header.filename === undefined) await this.#takeField(header.field, body)
    else await this.#takeFile(header, header.filename, body)
  }

  async #takeField(name: string, body: PartBody): Promise<void> {
    const { maxFields, maxFieldSize } = this.#limits
    if (++this.#fieldCount > maxFields) throw PayloadTooLargeError(`${maxFields} fields`)
    const chunks: Uint8Array[] = []
    let size = 0
    await body.each((chunk) => {
      size += chunk.length
      if (size <= maxFieldSize) chunks.push(chunk)
      else this.#reader.fail(PayloadTooLargeError(`${maxFieldSize} bytes in the field "${shown(name)}"`))
    })
    const value = utf8Text(Buffer.concat(chunks))
    if (value === undefined) throw BadRequestError(`the field "${shown(name)}" is not UTF-8`)
    addPair(this.#fields, name, value)
  }

  async #takeFile({ field, mimeType, unnamed }: PartHeader, filename: string, body: PartBody): Promise<void> {
    const { maxFiles, maxFileSize } = this.#limits
    let size = 0
    const count = (piece: Uint8Array) => {
      size += piece.length
      if (size > maxFileSize) this.#reader.fail(FileTooLargeError(`the file "${shown(field)}"`, maxFileSize))
    }
    const read = async () => {
      const next = await body.next()
      if (!next.done) count(next.value)
      if (size > maxFileSize) throw this.#reader.signal.reason
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
          if (size <= maxFileSize) take(piece)
        })
      },
    }
    let stored: Stored | undefined
    try {
      stored = await this.#store.write({ field, filename, mimeType, content, signal: this.#reader.signal })
      // Bytes that a sink has not read still count, and precede the next part.
      while (!(await read()).done);
    } catch (error) {
      await stored?.release?.(true)
      throw error
    }
    this.#files.push(new StoredFile({ field, filename, mimeType, size }, stored))
  }
}

/** A client's name as messages show it: shortened, and on one line. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100)).slice(1, -1)
}

/** The reading of a form with files. */
export interface UploadTrace extends TraceOutcome {
  /** The request whose body is the form. */
  readonly request: Request
  /** How many files it has; 0 until it has been read. */
  files: number
  /** The total size of its files in bytes; 0 until it has been read. */
  bytes: number
}

const uploadTrace = new Trace<UploadTrace>('upload')

/** The store for these settings. */
export function storeOf({ storage, folder }: UploadSettings, warn: (error: unknown) => void): Store {
  if (storage === 'memory') return memoryStore
  return storage === 'disk' ? diskStore(folder ?? tmpdir()) : sinkStore(storage, warn)
}

/**
 * The middleware that parses forms; `keep` receives the files of a request before any other code can read them.
 */
export function receiver(
  settings: UploadSettings,
  store: Store,
  keep: (req: Request, res: Response, files: readonly StoredFile[]) => void,
): Middleware {
  const limits = limitsOf(settings)
  return function upload(req, res, next) {
    const { raw } = req
    if (!raw.hasBody) return next()
    const boundary = boundaryOf(raw.header('content-type'))
    if (boundary === undefined) return next()
    refuseEncoded(raw)
    if (Number(raw.header('content-length')) > limits.maxTotalSize) return refuseUnread(raw, limits.maxTotalSize)
    return followed(new FormReceiver(boundary, limits, store), req).then((received) => {
      if (received.files.length > 0) keep(req, res, received.files)
      req.body = received.fields
      return next()
    })
  }
}

/** Refuses an oversized form unread: `bytes` refuses a length above its limit without reading, and abandons the rest of the body. */
async function refuseUnread(raw: RawRequest, limit: number): Promise<void> {
  await raw.bytes(limit).catch(() => {})
  throw FileTooLargeError('the form', limit)
}

function followed(form: FormReceiver, request: Request) {
  return uploadTrace.run(
    () => ({ request, files: 0, bytes: 0 }),
    async (event) => {
      const received = await form.receive(request)
      const bytes = received.files.reduce((sum, { size }) => sum + size, 0)
      if (event !== undefined) Object.assign(event, { files: received.files.length, bytes })
      return received
    },
  )
}

const multipart = /^[\t ]*multipart\/form-data[\t ]*(?:;|$)/i
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
// RFC 2046 section 5.1.1: 1 to 70 of these characters, with no space at the end. Unquoted, clients use more of them than a token
// allows, but no semicolon, comma or space.
const quotedBoundary = '"([0-9A-Za-z\'()+_,./:=? -]{0,69}[0-9A-Za-z\'()+_,./:=?-])"'
const bareBoundary = "([0-9A-Za-z'()+_./:=?-]{1,70})"
// With two boundaries, this parser and another reader could each use a different one.
const other = `[\\t ]*;[\\t ]*(?!boundary=)${token}=(?:${token}|"[^"\\\\\\x00-\\x1f]*")`
const form = new RegExp(
  `^[\\t ]*multipart/form-data(?:${other})*[\\t ]*;[\\t ]*boundary=(?:${quotedBoundary}|${bareBoundary})(?:${other})*[\\t ;]*$`,
  'i',
)

/**
 * The boundary of a multipart form; `undefined` for any other body. Parses strictly (RFC 9110 section 8.3.1): a content type that begins as
 * a multipart form must have exactly one.
 */
function boundaryOf(header: string | undefined): string | undefined {
  if (header === undefined || !multipart.test(header)) return undefined
  const [, quoted, bare] = form.exec(header) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw BadRequestError('the content type of the form has no valid boundary')
  return boundary
}
