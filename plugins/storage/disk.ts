import type { Readable } from 'node:stream'
import { isFrameworkError, OptionError, quoted, Trace, type TraceOutcome } from '../../kernel/index.ts'
import { dispositionOf } from '../shared/http/sent-file.ts'
import { option } from '../shared/options/index.ts'
import { objectPrefix, objectRoot, reachesTenants } from '../shared/values/tenants.ts'
import { bodyOf, checkContentType, contentTypeOf, type StorageData } from './data.ts'
import { missing, StorageUrlError } from './errors.ts'
import { checkPrefix, checkReach, nameOf, providerKey } from './key.ts'
import type { StorageEntry, StorageMetadata, StorageProvider } from './providers/contract.ts'
import { bytesOf } from './providers/memory.ts'
import { type StorageSink, type StorageSinkOptions, sinkInto } from './sink.ts'

/** The result of `getObject` for each mode. */
export interface StorageContents {
  /** All bytes of the object. */
  raw: Uint8Array
  /** The whole object, decoded as UTF-8. */
  text: string
  /** A stream of the bytes, which the caller must read to its end or destroy. */
  stream: Readable
}

/** The form in which `getObject` returns an object. */
export type StorageMode = keyof StorageContents

/** Options of `getDownloadUrl`. */
export interface DownloadUrlOptions {
  /** Seconds for which the address is valid. Default 3600, at most 604800 (7 days). */
  expirySeconds?: number
  /** The name under which a browser saves the object, in any script. Default: the last segment of the key. */
  filename?: string
  /** Whether a browser saves the object or shows it. Default `'attachment'` with a `filename`, otherwise that of the provider. */
  disposition?: 'attachment' | 'inline'
  /** The content type of the response. Default: that of the object. */
  contentType?: string
}

/** A signature of S3 can be valid for seven days. */
const expiry = option.int({ min: 1, max: 7 * 24 * 3600, unit: 'seconds' }).default(3600)

const downloadUrlOptions = option
  .shape({
    expirySeconds: expiry,
    // An address has to fit into a request.
    filename: option.name(/^.{1,255}$/s, 'a name of at most 255 characters'),
    disposition: option.oneOf('attachment', 'inline'),
    contentType: option.name(),
  })
  .typed<DownloadUrlOptions>()

/** One operation on one object. */
export interface StorageTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The name of the disk. */
  readonly disk: string
  /** The operation; `head` asks for the metadata. */
  readonly operation: 'put' | 'read' | 'head' | 'remove' | 'copy' | 'move'
  /** The key of the object; for a copy or a move, the key of the original. */
  readonly key: string
  /** The new key, of a copy or a move. */
  readonly to?: string
}

const storageTrace = new Trace<StorageTrace>('storage')

/** Adds the key to an error, for its handler. */
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
  /** The name of the provider, as configured. */
  readonly name: string
  /** The server that it belongs to; a script has none. @internal */
  server: object | undefined
  readonly #provider: StorageProvider

  /** @internal */
  constructor(name: string, provider: StorageProvider) {
    this.name = name
    this.#provider = provider
  }

  #do<Value>(
    operation: StorageTrace['operation'],
    key: string,
    work: (key: string) => Promise<Value>,
    to?: string,
  ): Promise<Value> {
    const full = providerKey(key)
    return storageTrace.run(
      () => ({ server: this.server, disk: this.name, operation, key, ...(to !== undefined && { to }) }),
      () => about(key, work(full)),
    )
  }

  /**
   * Stores an object, replacing any with the same key; it becomes visible once all of it is stored. If a stream fails, the
   * call rejects with its error and the previous object stays.
   *
   * The content type defaults to that of the Blob or of the key's extension, `text/plain` for a string, or `application/octet-stream`.
   *
   * @throws (as a rejection) StorageKeyError; StorageDataError for data of another type; StorageUnavailableError.
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * await storage.putObject('reports/1.json', JSON.stringify({ sold: 3 }), 'application/json')
   */
  async putObject(key: string, data: StorageData, contentType?: string): Promise<void> {
    const body = await bodyOf(data)
    try {
      await this.#do('put', key, (full) => this.#provider.put(full, body, contentTypeOf(key, data, contentType)))
    } finally {
      // A failed call reads no further, and the producer of the stream must learn of it.
      if (!(body instanceof Uint8Array)) body.destroy()
    }
  }

  /**
   * Returns an object as bytes, as text, or as a stream that must be read or destroyed.
   *
   * @throws (as a rejection) FileNotFoundError, which becomes a 404 if it is not caught; StorageKeyError;
   * StorageUnavailableError.
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * server.get('/reports/:id', async (req, res) => res.stream(await storage.getObject(`reports/${req.params.id}`, 'stream')))
   */
  async getObject<Mode extends StorageMode = 'raw'>(key: string, mode?: Mode): Promise<StorageContents[Mode]>
  async getObject(key: string, mode: StorageMode = 'raw'): Promise<StorageContents[StorageMode]> {
    if (!['raw', 'text', 'stream'].includes(mode)) throw OptionError('mode', quoted(mode), '"raw", "text" or "stream"')
    const how = mode !== 'stream' && this.#provider.readWhole !== undefined ? 'readWhole' : 'read'
    const found = await this.#do<Readable | Uint8Array | undefined>('read', key, (full) => this.#provider[how]!(full))
    if (found === undefined) throw missing(key)
    if (mode === 'stream') return found as Readable
    return inMode(found instanceof Uint8Array ? found : await bytesOf(found), mode)
  }

  /** Removes an object; a missing one is not an error. */
  async deleteObject(key: string): Promise<void> {
    await this.#do('remove', key, (full) => this.#provider.remove(full))
  }

  /** Whether there is an object with this key. */
  async exists(key: string): Promise<boolean> {
    return (await this.#do('head', key, (full) => this.#provider.head(full))) !== undefined
  }

  /** Returns the size, time and media type of an object, without its content. @throws (as a rejection) FileNotFoundError. */
  async metadata(key: string): Promise<StorageMetadata> {
    const metadata = await this.#do('head', key, (full) => this.#provider.head(full))
    if (metadata === undefined) throw missing(key)
    return metadata
  }

  /**
   * Lists every object whose key begins with the prefix, which may end within a segment; the provider's pages are fetched
   * as they are needed.
   *
   * @example
   * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
   * for await (const { key, size } of storage.list('reports/')) console.log(key, size)
   */
  list(prefix = ''): AsyncIterable<StorageEntry> {
    checkPrefix(prefix)
    checkReach(prefix)
    const ofTenant = objectPrefix()
    const entries = this.#provider.list(`${ofTenant}${prefix}`)
    return ofTenant !== '' || reachesTenants(objectRoot) ? withoutTenants(entries, ofTenant) : entries
  }

  /** Copies an object with its content type. @throws (as a rejection) FileNotFoundError. */
  async copy(from: string, to: string): Promise<void> {
    await this.#transfer('copy', from, to)
  }

  /** Changes the key of an object. @throws (as a rejection) FileNotFoundError. */
  async move(from: string, to: string): Promise<void> {
    if (this.#provider.move !== undefined) return this.#transfer('move', from, to)
    await this.#transfer('copy', from, to)
    if (from !== to) await this.deleteObject(from)
  }

  async #transfer(operation: 'copy' | 'move', from: string, to: string): Promise<void> {
    const target = providerKey(to)
    if (from === to) return void (await this.metadata(from))
    if (!(await this.#do(operation, from, (full) => this.#provider[operation]!(full, target), to))) throw missing(from)
  }

  /**
   * Returns an address that lets anyone who has it read the object for this many seconds, 3600 by default and 7 days at most. The
   * object need not exist. The options also choose the name under which a browser saves it.
   *
   * @throws (as a rejection) StorageUrlError if the provider has no addresses; OptionError.
   * @example
   * const storage = new Storage({ bucket: new S3StorageProvider({ bucket: 'invoices' }) })
   * const url = await storage.getDownloadUrl('c8df3683.pdf', { filename: 'Invoice 7.pdf', expirySeconds: 60 })
   */
  async getDownloadUrl(key: string, options: number | DownloadUrlOptions = {}): Promise<string> {
    const full = providerKey(key)
    const given = typeof options === 'object' ? options : { expirySeconds: options }
    const { expirySeconds, filename, disposition, contentType } = downloadUrlOptions.parse(given, 'getDownloadUrl')
    if (this.#provider.downloadUrl === undefined) throw this.#noUrl('getDownloadUrl')
    const isNamed = filename !== undefined || disposition !== undefined
    return this.#provider.downloadUrl(full, expirySeconds, {
      contentDisposition: isNamed ? dispositionOf(filename ?? nameOf(key), disposition) : undefined,
      contentType: contentType === undefined ? undefined : checkContentType(contentType),
    })
  }

  /**
   * Returns an address to which the object can be sent with PUT, only with this content type; without one the sender may choose any.
   * Azure does not sign the content type, so there the sender can always choose it.
   */
  async getUploadUrl(key: string, expirySeconds = 3600, contentType?: string): Promise<string> {
    const full = providerKey(key)
    expiry.parse(expirySeconds, 'expirySeconds')
    const type = contentType === undefined ? undefined : checkContentType(contentType)
    if (this.#provider.uploadUrl === undefined) throw this.#noUrl('getUploadUrl')
    return this.#provider.uploadUrl(full, expirySeconds, type)
  }

  /** Returns the public address of an object; whether the object is public depends on the settings at the provider. */
  async getPublicUrl(key: string): Promise<string> {
    const full = providerKey(key)
    if (this.#provider.publicUrl === undefined) throw this.#noUrl('getPublicUrl')
    return this.#provider.publicUrl(full)
  }

  /**
   * Returns a sink for the upload plugin: files are stored here as they arrive, and removed again if their request
   * fails. The `result` of a file has its key.
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

/** The entries with the keys that their tenant knows; application-wide work does not see those of tenants. */
async function* withoutTenants(entries: AsyncIterable<StorageEntry>, { length }: string): AsyncGenerator<StorageEntry> {
  for await (const entry of entries)
    if (length > 0 || !entry.key.startsWith(objectRoot)) yield { ...entry, key: entry.key.slice(length) }
}

const inMode = (bytes: Uint8Array, mode: 'raw' | 'text'): Uint8Array | string =>
  mode === 'raw' ? bytes : new TextDecoder().decode(bytes)
