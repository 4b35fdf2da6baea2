import type { BlobServiceClient, ContainerClient, UserDelegationKey } from '@azure/storage-blob'
import { peer } from '../../shared/environment/optional-package.ts'
import { StorageUrlError } from '../errors.ts'
import type { Backend } from './backend.ts'

export const feature = 'the storage in Azure Blob (AzureBlobStorageProvider)'

const hour = 3_600_000
const week = 7 * 24 * hour

/** Signs addresses of blobs: with the account key, or with a key that the service issues for a token. */
export class BlobAddresses {
  readonly #backend: Backend
  #lent: UserDelegationKey | undefined

  constructor(backend: Backend) {
    this.#backend = backend
  }

  async sign(client: ContainerClient, key: string, letters: string, expirySeconds: number): Promise<string> {
    const sdk = await peer('@azure/storage-blob', () => import('@azure/storage-blob'), feature)
    const blob = client.getBlobClient(key)
    const permissions = sdk.BlobSASPermissions.parse(letters)
    const expiresOn = new Date(Date.now() + expirySeconds * 1000)
    if (!('getToken' in client.credential)) {
      try {
        return await blob.generateSasUrl({ permissions, expiresOn })
      } catch (error) {
        const remedy = 'Signed addresses need the key of the account or a token: use a client that has one'
        throw Object.assign(StorageUrlError(this.#backend.name, 'signed address', remedy), { cause: error })
      }
    }
    const lent = await this.#lend(new sdk.BlobServiceClient(serviceOf(client), pipelineOf(client)), expiresOn)
    const what = { containerName: client.containerName, blobName: key, permissions, expiresOn }
    return `${blob.url}?${sdk.generateBlobSASQueryParameters(what, lent, client.accountName)}`
  }

  /** Returns a key that is valid as long as the address, and can sign further addresses for the next hour. */
  async #lend(service: BlobServiceClient, until: Date): Promise<UserDelegationKey> {
    if (this.#lent !== undefined && this.#lent.signedExpiresOn >= until) return this.#lent
    const now = Date.now()
    const end = Math.min(until.getTime() + hour, now + week)
    // Clocks may differ by minutes; a key is valid for a week at most.
    const start = Math.max(now - hour / 4, end - week)
    const ask = (abortSignal: AbortSignal) =>
      service.getUserDelegationKey(new Date(start), new Date(end), { abortSignal })
    this.#lent = await this.#backend.ask(ask)
    return this.#lent
  }
}

function serviceOf(client: ContainerClient): string {
  return client.url.replace(/\/[^/]*\/?$/, '')
}

/** The client's pipeline, with all its settings: proxies, retries, the token. The type declarations hide it. */
function pipelineOf(client: ContainerClient): ConstructorParameters<typeof BlobServiceClient>[1] {
  return (client as unknown as { pipeline: ConstructorParameters<typeof BlobServiceClient>[1] }).pipeline
}
