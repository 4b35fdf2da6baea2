import type { Readable } from 'node:stream'
import { isFrameworkError, OptionError, quoted, Trace, type TraceOutcome } from '../../kernel/index.ts'
import { bodyOf, checkContentType, contentTypeOf, type StorageData } from './data.ts'
import { missing, StorageUrlError } from './errors.ts'
import { checkKey, checkPrefix } from './key.ts'
import type { StorageEntry, StorageMetadata, StorageProvider } from './providers/contract.ts'
import { type StorageSink, type StorageSinkOptions, sinkInto } from './sink.ts'

/** The result of `getObject`, by mode. */
export interface StorageContents {
  /** All bytes of the object. */
  raw: Uint8Array
  /** All of it as UTF-8. */
  text: string
  /** A stream of the bytes, which the caller reads to its end or destroys. */
  stream: Readable
}

/** The form in which `getObject` returns an object. */
export type StorageMode = keyof StorageContents

/** The longest validity of S3's signatures: seven days. */
const maxExpiry = 7 * 24 * 3600

/** One operation on one object. */
export interface StorageTrace extends TraceOutcome {
  /** The name of the disk. */
  readonly disk: string
  /** What is done: `head` asks for the metadata. */
  readonly operation: 'put' | 'read' | 'head' | 'remove' | 'copy' | 'move'
  /** The key of the object; of a copy or a move the one it is made from. */
  readonly key: string
}

const storageTrace = new Trace<StorageTrace>('storage')

/** Adds the key to a failure, for its handler. */
async function about<Value>(key: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    const isOurs = isFrameworkError(error) && /^Storage(?:Refused|Unavailable)Error$/.test(error.code)
    throw isOurs ? Object.assign(error, { key }) : error
  }
}

/** The objects of one provider. */
export class StorageDisk {
  /** The name of the provider in the map. */
  readonly name: string
  readonly #provider: StorageProvider

  /** @internal */
  constructor(name: string, provider: StorageProvider) {
    this.name = name
    this.#provider = provider
  }

  #do<Value>(operation: StorageTrace['operation'], key: string, work: () => Promise<Value>): Promise<Value> {
    return storageTrace.run(
      () => ({ disk: this.name, operation, key }),
      () => about(key, work()),
    )
  }

  /**
   * Stores an object, replacing the one of that key; it is visible when all of it is stored. A stream that fails makes the
   * call reject with its error, and keeps the previous object.
   *
   * Without a content type it is that of the Blob, of the ending of the key, `text/plain` for a string, or `application/octet-stream`.
   *
   * @throws (as a rejection) StorageKeyError; StorageDataError for data of another type; StorageUnavailableError.
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * await storage.putObject('reports/1.json', JSON.stringify({ sold: 3 }), 'application/json')
   */
  async putObject(key: string, data: StorageData, contentType?: string): Promise<void> {
    const body = await bodyOf(data)
    try {
      checkKey(key)
      await this.#do('put', key, () => this.#provider.put(key, body, contentTypeOf(key, data, contentType)))
    } finally {
      // A failed call reads no further; the producer of the stream must learn that.
      if (!(body instanceof Uint8Array)) body.destroy()
    }
  }

  /**
   * Returns an object as bytes, as text, or as a stream that must be read or destroyed.
   *
   * @throws (as a rejection) FileNotFoundError, which is answered with 404 if it is not caught; StorageKeyError;
   * StorageUnavailableError.
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * server.get('/reports/:id', async (req, res) => res.stream(await storage.getObject(`reports/${req.params.id}`, 'stream')))
   */
  async getObject<Mode extends StorageMode = 'raw'>(key: string, mode?: Mode): Promise<StorageContents[Mode]>
  async getObject(key: string, mode: StorageMode = 'raw'): Promise<StorageContents[StorageMode]> {
    checkKey(key)
    if (!['raw', 'text', 'stream'].includes(mode)) throw OptionError('mode', quoted(mode), '"raw", "text" or "stream"')
    if (mode !== 'stream' && this.#provider.readWhole !== undefined) {
      const bytes = await this.#do('read', key, () => this.#provider.readWhole!(key))
      if (bytes === undefined) throw missing(key)
      return inMode(bytes, mode)
    }
    const stream = await this.#do('read', key, () => this.#provider.read(key))
    if (stream === undefined) throw missing(key)
    return mode === 'stream' ? stream : inMode(await whole(stream), mode)
  }

  /** Removes an object; a missing one is not an error. */
  async deleteObject(key: string): Promise<void> {
    checkKey(key)
    await this.#do('remove', key, () => this.#provider.remove(key))
  }

  /** Whether there is an object of that key. */
  async exists(key: string): Promise<boolean> {
    checkKey(key)
    return (await this.#do('head', key, () => this.#provider.head(key))) !== undefined
  }

  /** Size, times and media type of an object, without its content. @throws (as a rejection) FileNotFoundError. */
  async metadata(key: string): Promise<StorageMetadata> {
    checkKey(key)
    const metadata = await this.#do('head', key, () => this.#provider.head(key))
    if (metadata === undefined) throw missing(key)
    return metadata
  }

  /**
   * Every object whose key begins with the prefix, which may end within a segment; the pages of the provider are fetched
   * while they are read.
   *
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * for await (const { key, size } of storage.list('reports/')) console.log(key, size)
   */
  list(prefix = ''): AsyncIterable<StorageEntry> {
    checkPrefix(prefix)
    return this.#provider.list(prefix)
  }

  /** Copies an object with its content type. @throws (as a rejection) FileNotFoundError. */
  async copy(from: string, to: string): Promise<void> {
    checkKey(from)
    checkKey(to)
    if (from === to) return void (await this.metadata(from))
    if (!(await this.#do('copy', from, () => this.#provider.copy(from, to)))) throw missing(from)
  }

  /** Changes the key of an object. @throws (as a rejection) FileNotFoundError. */
  async move(from: string, to: string): Promise<void> {
    checkKey(from)
    checkKey(to)
    if (from === to) return void (await this.metadata(from))
    if (this.#provider.move !== undefined) {
      if (!(await this.#do('move', from, () => this.#provider.move!(from, to)))) throw missing(from)
      return
    }
    await this.copy(from, to)
    await this.#do('remove', from, () => this.#provider.remove(from))
  }

  /**
   * An address by which anyone who has it can read the object for so many seconds, 3600 by default and 7 days at most. The
   * object need not be there.
   *
   * @throws (as a rejection) StorageUrlError where the provider has no addresses.
   */
  async getDownloadUrl(key: string, expirySeconds = 3600): Promise<string> {
    checkKey(key)
    checkExpiry(expirySeconds)
    if (this.#provider.downloadUrl === undefined) throw this.#noUrl('getDownloadUrl')
    return this.#provider.downloadUrl(key, expirySeconds)
  }

  /**
   * An address to which the object can be sent by PUT, with that content type alone; without one the sender may choose any.
   * Azure signs no content type: there it is always the sender's choice.
   */
  async getUploadUrl(key: string, expirySeconds = 3600, contentType?: string): Promise<string> {
    checkKey(key)
    checkExpiry(expirySeconds)
    const type = contentType === undefined ? undefined : checkContentType(contentType)
    if (this.#provider.uploadUrl === undefined) throw this.#noUrl('getUploadUrl')
    return this.#provider.uploadUrl(key, expirySeconds, type)
  }

  /** The public address of an object; the provider decides whether the object is public. */
  async getPublicUrl(key: string): Promise<string> {
    checkKey(key)
    if (this.#provider.publicUrl === undefined) throw this.#noUrl('getPublicUrl')
    return this.#provider.publicUrl(key)
  }

  /**
   * A sink for the upload plugin: files are stored here while they arrive, and are removed again when their request
   * fails. A file's `result` has its key.
   *
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * const server = new Server({ plugins: { upload: { storage: storage.sink({ prefix: 'avatars/' }) } } })
   * server.post('/avatar', (req, res) => res.created(req.file<StoredUpload>('avatar')?.result))
   */
  sink(options: StorageSinkOptions = {}): StorageSink {
    return sinkInto(this, options)
  }

  #noUrl(method: string): Error {
    return StorageUrlError(this.name, method, this.#provider.noUrls ?? 'Give it that method, or use another provider')
  }

  /** Resolves if the provider works, for health checks. */
  async health(): Promise<void> {
    await this.#provider.ping?.()
  }
}

function inMode(bytes: Uint8Array, mode: 'raw' | 'text'): Uint8Array | string {
  return mode === 'raw' ? bytes : new TextDecoder().decode(bytes)
}

function checkExpiry(seconds: unknown): void {
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1 && seconds <= maxExpiry) return
  throw OptionError('expirySeconds', quoted(seconds), `a whole number of seconds from 1 to ${maxExpiry}`)
}

async function whole(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  const [only] = chunks
  // Not a Buffer: those of a pool expose the rest of its memory.
  const all = chunks.length === 1 ? only! : Buffer.concat(chunks)
  return new Uint8Array(all.buffer, all.byteOffset, all.byteLength)
}
