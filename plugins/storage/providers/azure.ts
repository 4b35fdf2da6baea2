import type { Readable } from 'node:stream'
import type { BlobServiceClient, ContainerClient, UserDelegationKey } from '@azure/storage-blob'
import { clock, OptionError } from '../../../kernel/index.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { variable } from '../../shared/environment/process.ts'
import { option, type SettingsOf } from '../../shared/options/index.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { StorageUrlError } from '../errors.ts'
import { timeout } from '../options.ts'
import { Backend, ifThere, partSize, partsAtOnce } from './backend.ts'
import type { StorageBody, StorageDownloadHeaders, StorageEntry, StorageMetadata, StorageProvider } from './contract.ts'

/** Options of `AzureBlobStorageProvider`. */
export interface AzureBlobStorageOptions {
  /** The name of the container, which must already exist. */
  container: string
  /** The address of the account with its key. Default: `AZURE_STORAGE_CONNECTION_STRING`. */
  connectionString?: string
  /** A `ContainerClient` instead of the connection string, with a token credential for example. */
  client?: object
  /** Milliseconds for which the service may stay silent. Default 10000. */
  timeout?: number
}

const feature = 'the storage in Azure Blob (AzureBlobStorageProvider)'

const hour = 3_600_000
const week = 7 * 24 * hour

const azureOptions = option
  .shape({
    container: option.name().says('the name of a container').required(),
    connectionString: option.text().says('the connection string of a storage account').secret(),
    client: option.value<object>('a ContainerClient', (given) => typeof Object(given).getBlobClient === 'function'),
    timeout,
  })
  .typed<AzureBlobStorageOptions>()

/**
 * Keeps objects in a container of Azure Blob Storage. Needs `@azure/storage-blob`.
 *
 * @throws OptionError.
 * @example
 * const blobs = new AzureBlobStorageProvider({ container: 'reports', connectionString: process.env.BLOBS ?? 'unset' })
 * const storage = new Storage({ blobs }, { defaultProvider: 'blobs' })
 */
export class AzureBlobStorageProvider implements StorageProvider {
  readonly #options: SettingsOf<typeof azureOptions>
  readonly #backend: Backend
  /** A key that the service has issued for a token. */
  #lent: UserDelegationKey | undefined
  readonly #client = new Memoized(() => this.#open())

  constructor(options: AzureBlobStorageOptions) {
    this.#options = azureOptions.parse(options, 'AzureBlobStorageProvider')
    const { container, timeout } = this.#options
    this.#backend = new Backend(`the container "${container}" of Azure Blob Storage`, timeout)
  }

  get where(): string {
    return this.#backend.name
  }

  async #open(): Promise<ContainerClient> {
    const { client, container } = this.#options
    if (client !== undefined) return client as ContainerClient
    const sdk = await peer('@azure/storage-blob', () => import('@azure/storage-blob'), feature)
    const { connectionString = variable('AZURE_STORAGE_CONNECTION_STRING') ?? '' } = this.#options
    const retryOptions = { maxTries: 3, retryDelayInMs: 100, maxRetryDelayInMs: 1000 }
    try {
      return sdk.BlobServiceClient.fromConnectionString(connectionString, { retryOptions }).getContainerClient(
        container,
      )
    } catch {
      // The library's own message may show the given string.
      const what = 'the connection string of a storage account, here or in AZURE_STORAGE_CONNECTION_STRING'
      throw OptionError('AzureBlobStorageProvider.connectionString', connectionString, what)
    }
  }

  /** `undefined` for a missing blob. */
  async #find<Result>(question: (client: ContainerClient, abortSignal: AbortSignal) => Promise<Result>) {
    const client = await this.#client.get()
    const answer = this.#backend.ask((signal) => question(client, signal))
    return ifThere(answer, 'ContainerNotFound')
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    const blob = (await this.#client.get()).getBlockBlobClient(key)
    const headers = { blobHTTPHeaders: { blobContentType: contentType } }
    if (body instanceof Uint8Array) {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      await this.#backend.ask((abortSignal) => blob.uploadData(bytes, { ...headers, abortSignal }), body.length)
      return
    }
    await this.#backend.send(body, (stream, abortSignal) =>
      blob.uploadStream(stream, partSize, partsAtOnce, { ...headers, abortSignal }),
    )
  }

  async read(key: string): Promise<Readable | undefined> {
    const found = await this.#find((client, abortSignal) =>
      client.getBlobClient(key).download(0, undefined, { maxRetryRequests: 0, abortSignal }),
    )
    return found && this.#backend.receive(found.readableStreamBody as Readable, found.contentLength)
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    const found = await this.#find((client, abortSignal) => client.getBlobClient(key).getProperties({ abortSignal }))
    if (found === undefined) return undefined
    const { contentType = 'application/octet-stream' } = found
    return { ...entryOf(key, found), contentType }
  }

  async remove(key: string): Promise<void> {
    await this.#find((client, abortSignal) =>
      client.getBlobClient(key).delete({ deleteSnapshots: 'include', abortSignal }),
    )
  }

  async *list(prefix: string): AsyncGenerator<StorageEntry> {
    const client = await this.#client.get()
    const cut = new AbortController()
    const options = { abortSignal: cut.signal, ...(prefix !== '' && { prefix }) }
    const pages = client.listBlobsFlat(options).byPage()
    try {
      for (;;) {
        const page = await this.#backend.ask(() => pages.next())
        if (page.done) return
        for (const { name, properties } of page.value.segment.blobItems) yield entryOf(name, properties)
      }
    } finally {
      // A page that arrives late would keep its connection open.
      cut.abort()
    }
  }

  async copy(from: string, to: string): Promise<boolean> {
    const source = (await this.#client.get()).getBlobClient(from).url
    const poller = await this.#find((client, abortSignal) =>
      client.getBlobClient(to).beginCopyFromURL(source, { abortSignal, intervalInMs: 100 }),
    )
    if (poller === undefined) return false
    // Waits as long as the service reports that the copy is in progress.
    while (!poller.isDone()) {
      await this.#backend.ask(() => poller.poll())
      if (!poller.isDone()) await clock.sleep(100)
    }
    return true
  }

  async downloadUrl(key: string, expirySeconds: number, headers: StorageDownloadHeaders): Promise<string> {
    return this.#sign(key, 'r', expirySeconds, headers)
  }

  /** An address for uploads: the client must send the header `x-ms-blob-type: BlockBlob`, and chooses the content type. */
  async uploadUrl(key: string, expirySeconds: number): Promise<string> {
    return this.#sign(key, 'cw', expirySeconds)
  }

  /** Signs with the account key, or with a key that the service issues for a token. */
  async #sign(key: string, letters: string, expirySeconds: number, headers?: StorageDownloadHeaders): Promise<string> {
    const client = await this.#client.get()
    const sdk = await peer('@azure/storage-blob', () => import('@azure/storage-blob'), feature)
    const blob = client.getBlobClient(key)
    const expiresOn = new Date(clock.now() + expirySeconds * 1000)
    const granted = { permissions: sdk.BlobSASPermissions.parse(letters), expiresOn, ...headers }
    if (!('getToken' in client.credential)) {
      try {
        return await blob.generateSasUrl(granted)
      } catch (error) {
        const remedy = 'Signed addresses need the key of the account or a token: use a client that has one'
        throw Object.assign(StorageUrlError(this.#backend.name, 'signed address', remedy), { cause: error })
      }
    }
    // With all settings of the client: proxies, retries, the token. The type declarations hide them.
    const { pipeline } = client as unknown as { pipeline: ConstructorParameters<typeof BlobServiceClient>[1] }
    const service = new sdk.BlobServiceClient(client.url.replace(/\/[^/]*\/?$/, ''), pipeline)
    const lent = await this.#lend(service, expiresOn)
    const what = { containerName: client.containerName, blobName: key, ...granted }
    return `${blob.url}?${sdk.generateBlobSASQueryParameters(what, lent, client.accountName)}`
  }

  /** Returns a key that is valid as long as the address, and can sign further addresses for the next hour. */
  async #lend(service: BlobServiceClient, until: Date): Promise<UserDelegationKey> {
    if (this.#lent !== undefined && this.#lent.signedExpiresOn >= until) return this.#lent
    const now = clock.now()
    const end = Math.min(until.getTime() + hour, now + week)
    // Clocks may differ by minutes; a key is valid for a week at most.
    const start = Math.max(now - hour / 4, end - week)
    const ask = (abortSignal: AbortSignal) =>
      service.getUserDelegationKey(new Date(start), new Date(end), { abortSignal })
    this.#lent = await this.#backend.ask(ask)
    return this.#lent
  }

  async publicUrl(key: string): Promise<string> {
    const url = new URL((await this.#client.get()).getBlobClient(key).url)
    // Removes a shared access signature of the connection string: it may grant more than reading, and more than this blob.
    url.search = ''
    return url.href
  }

  async ping(): Promise<void> {
    const client = await this.#client.get()
    await this.#backend.ask((abortSignal) => client.getProperties({ abortSignal }))
  }
}

interface Properties {
  readonly contentLength?: number
  readonly lastModified?: Date
  readonly etag?: string
}

/** An entry of a list. Azure's lists omit the quotes that the tag has in headers. */
const entryOf = (
  key: string,
  { contentLength = 0, lastModified = new Date(0), etag = '' }: Properties,
): StorageEntry => ({ key, size: contentLength, lastModified, etag: etag.startsWith('"') ? etag : `"${etag}"` })
