import type { Readable } from 'node:stream'
import type * as s3 from '@aws-sdk/client-s3'
import { clock } from '../../../kernel/index.ts'
import { awsCredentials } from '../../shared/environment/aws-credentials.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { option, type SettingsOf } from '../../shared/options/index.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { encodeKey } from '../key.ts'
import { timeout } from '../options.ts'
import { Backend, ifThere, partSize, partsAtOnce } from './backend.ts'
import { type CdnOptions, cdnOf, cdnOptions } from './cdn.ts'
import type { StorageBody, StorageDownloadHeaders, StorageEntry, StorageMetadata, StorageProvider } from './contract.ts'

type S3Command = Exclude<Extract<keyof typeof s3, `${string}Command`>, '$Command'>

/** The SDK with one type for all commands: its own chooses among the overloads of a hundred at each call. */
interface S3Sdk extends Readonly<Record<S3Command, new (input: object) => s3.GetObjectCommand>> {
  readonly S3Client: typeof s3.S3Client
}

/** What is read of the responses. */
type S3Response = Partial<s3.GetObjectCommandOutput> &
  Pick<s3.ListObjectsV2Output, 'Contents' | 'NextContinuationToken'> &
  Pick<s3.CreateMultipartUploadOutput, 'UploadId'> &
  Pick<s3.UploadPartCopyOutput, 'CopyPartResult'>

/** Options of `S3StorageProvider`. */
export interface S3StorageOptions {
  /** The name of the bucket, which must already exist. */
  bucket: string
  /** The region of the bucket. Default: that of the environment, as for every AWS client; `us-east-1` with an `endpoint`. */
  region?: string
  /** The address of a service that speaks the S3 protocol. Default: AWS. */
  endpoint?: string
  /** Whether the bucket is in the path instead of the host. Default: true with an `endpoint`. */
  forcePathStyle?: boolean
  /** The credentials `{ accessKeyId, secretAccessKey, sessionToken? }`, or a provider of them. Default: those of the environment. */
  credentials?: object
  /** An `S3Client` instead of the four options above; it stays open. */
  client?: object
  /** A CDN that serves the bucket: download addresses are signed for it, and public addresses are its own. */
  cdn?: CdnOptions
  /** Milliseconds for which S3 may stay silent. Default 10000. */
  timeout?: number
}

const s3Options = option
  .shape({
    bucket: option.name().says('the name of a bucket').required(),
    region: option.name(),
    endpoint: option.value<string>('an address', (given) => typeof given === 'string' && URL.canParse(given)).secret(),
    forcePathStyle: option.flag(),
    credentials: awsCredentials,
    client: option.value<object>('an S3Client', (given) => typeof Object(given).send === 'function'),
    cdn: cdnOptions.optional(),
    timeout,
  })
  .typed<S3StorageOptions>()

/** The largest object that S3 copies in one call; it supports objects of at most 5 TB in at most 10 000 parts. */
const copyLimit = 5 * 1024 ** 3
const copyPart = 1024 ** 3
const feature = 'the storage in S3 (S3StorageProvider)'

/**
 * Stores objects in a bucket of S3, or of a service that speaks its protocol. Needs `@aws-sdk/client-s3`; streams also need
 * `@aws-sdk/lib-storage`, and addresses `@aws-sdk/s3-request-presigner`.
 *
 * @throws OptionError.
 * @example
 * const bucket = new S3StorageProvider({ bucket: 'reports', region: 'eu-south-1' })
 * const storage = new Storage({ bucket }, { defaultProvider: 'bucket' })
 */
export class S3StorageProvider implements StorageProvider {
  readonly #options: SettingsOf<typeof s3Options>
  readonly #backend: Backend
  readonly #cdn: ReturnType<typeof cdnOf> | undefined
  readonly #parts = new Memoized(() => this.#open())

  constructor(options: S3StorageOptions) {
    this.#options = s3Options.parse(options, 'S3StorageProvider')
    const { bucket, endpoint, cdn, timeout } = this.#options
    this.#cdn = cdn && cdnOf(cdn)
    // Only the origin, because an address may contain a password.
    const where = endpoint === undefined ? '' : ` at ${new URL(endpoint).origin}`
    this.#backend = new Backend(`the bucket "${bucket}" of S3${where}`, timeout)
  }

  get where(): string {
    return this.#backend.name
  }

  /** Loads the packages; connects to nothing. */
  async #open(): Promise<{ readonly sdk: S3Sdk; readonly client: s3.S3Client }> {
    const sdk = (await peer('@aws-sdk/client-s3', () => import('@aws-sdk/client-s3'), feature)) as unknown as S3Sdk
    const { client, endpoint, region = endpoint && 'us-east-1', credentials } = this.#options
    if (client !== undefined) return { sdk, client: client as s3.S3Client }
    const { forcePathStyle = endpoint !== undefined } = this.#options
    const given = { ...(region && { region }), ...(endpoint && { endpoint }), ...(credentials && { credentials }) }
    // Most other services fail on the client's own checksums, which would also become part of addresses.
    const sums = { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' } as const
    return { sdk, client: new sdk.S3Client({ ...(given as object), ...sums, forcePathStyle }) }
  }

  async #send(command: S3Command, input: object, bytes?: number): Promise<S3Response> {
    const { sdk, client } = await this.#parts.get()
    const question = new sdk[command]({ Bucket: this.#options.bucket, ...input })
    return this.#backend.ask((abortSignal) => client.send(question, { abortSignal }), bytes)
  }

  /** Sends a command like `#send`; `undefined` for a missing object. */
  #find(command: S3Command, input: object, bytes?: number): Promise<S3Response | undefined> {
    return ifThere(this.#send(command, input, bytes), 'NoSuchBucket')
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    const input = { Bucket: this.#options.bucket, Key: key, ContentType: contentType }
    if (body instanceof Uint8Array) {
      await this.#send('PutObjectCommand', { ...input, Body: body }, body.length)
      return
    }
    const { client } = await this.#parts.get()
    const lib = await peer('@aws-sdk/lib-storage', () => import('@aws-sdk/lib-storage'), `a stream in ${feature}`)
    await this.#backend.send(body, async (Body, signal) => {
      const upload = new lib.Upload({ client, params: { ...input, Body }, partSize, queueSize: partsAtOnce })
      signal.addEventListener('abort', () => void upload.abort(), { once: true })
      await upload.done()
    })
  }

  async read(key: string): Promise<Readable | undefined> {
    const found = await this.#find('GetObjectCommand', { Key: key })
    return found && this.#backend.receive(found.Body as Readable, found.ContentLength)
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    const found = await this.#find('HeadObjectCommand', { Key: key })
    if (found === undefined) return undefined
    return { ...entryOf(key, found.ContentLength, found), contentType: found.ContentType ?? 'application/octet-stream' }
  }

  async remove(key: string): Promise<void> {
    await this.#find('DeleteObjectCommand', { Key: key })
  }

  async *list(prefix: string): AsyncGenerator<StorageEntry> {
    let token: string | undefined
    do {
      const input = { Prefix: prefix, ...(token !== undefined && { ContinuationToken: token }) }
      const page = await this.#send('ListObjectsV2Command', input)
      for (const one of page.Contents ?? []) yield entryOf(one.Key!, one.Size, one)
      token = page.NextContinuationToken
    } while (token !== undefined)
  }

  async copy(from: string, to: string): Promise<boolean> {
    const source = await this.head(from)
    if (source === undefined) return false
    const CopySource = `${encodeURIComponent(this.#options.bucket)}/${encodeKey(from)}`
    if (source.size > copyLimit) {
      await this.#copyInParts({ ...source, key: to }, { CopySource, CopySourceIfMatch: source.etag })
      return true
    }
    // S3 responds when it has copied everything, which may take long.
    return (await this.#find('CopyObjectCommand', { Key: to, CopySource }, source.size)) !== undefined
  }

  async #copyInParts({ key: Key, size, contentType }: StorageMetadata, source: object): Promise<void> {
    const { UploadId } = await this.#send('CreateMultipartUploadCommand', { Key, ContentType: contentType })
    try {
      const Parts: object[] = []
      for (let at = 0; at < size; at += copyPart) {
        const end = Math.min(at + copyPart, size)
        const part = { Key, UploadId, PartNumber: Parts.length + 1, CopySourceRange: `bytes=${at}-${end - 1}` }
        const { CopyPartResult } = await this.#send('UploadPartCopyCommand', { ...source, ...part }, end - at)
        Parts.push({ ETag: CopyPartResult?.ETag, PartNumber: part.PartNumber })
      }
      await this.#send('CompleteMultipartUploadCommand', { Key, UploadId, MultipartUpload: { Parts } }, size)
    } catch (error) {
      await this.#send('AbortMultipartUploadCommand', { Key, UploadId }).catch(() => {})
      throw error
    }
  }

  async downloadUrl(key: string, expirySeconds: number, headers: StorageDownloadHeaders): Promise<string> {
    if (this.#cdn?.signedUrl) return this.#cdn.signedUrl(key, expirySeconds, headers)
    const { contentDisposition: ResponseContentDisposition, contentType: ResponseContentType } = headers
    const input = { Key: key, ResponseContentDisposition, ResponseContentType }
    return this.#presigned('GetObjectCommand', input, expirySeconds)
  }

  uploadUrl(key: string, expirySeconds: number, contentType: string | undefined): Promise<string> {
    // Otherwise the client could choose the content type itself: HTML instead of a picture.
    const signed = new Set(contentType === undefined ? [] : ['content-type'])
    return this.#presigned('PutObjectCommand', { Key: key, ContentType: contentType }, expirySeconds, signed)
  }

  async publicUrl(key: string): Promise<string> {
    if (this.#cdn !== undefined) return this.#cdn.url(key)
    // The S3 client knows where the bucket is: in the host or in the path, and in which region.
    const url = new URL(await this.#presigned('GetObjectCommand', { Key: key }, 60))
    url.search = ''
    return url.href
  }

  async #presigned(
    command: S3Command,
    input: object,
    expiresIn: number,
    signableHeaders = new Set<string>(),
  ): Promise<string> {
    const { sdk, client } = await this.#parts.get()
    const name = '@aws-sdk/s3-request-presigner'
    const presigner = await peer(name, () => import('@aws-sdk/s3-request-presigner'), `an address of ${feature}`)
    const asked = new sdk[command]({ Bucket: this.#options.bucket, ...input })
    return this.#backend.ask(() =>
      presigner.getSignedUrl(client, asked, { expiresIn, signableHeaders, signingDate: new Date(clock.now()) }),
    )
  }

  async ping(): Promise<void> {
    await this.#send('HeadBucketCommand', {})
  }

  async close(): Promise<void> {
    const parts = this.#parts.release()
    if (this.#options.client === undefined) (await parts?.catch(() => undefined))?.client.destroy()
  }
}

const entryOf = (key: string, size = 0, { LastModified, ETag }: s3._Object): StorageEntry => ({
  key,
  size,
  lastModified: LastModified ?? new Date(0),
  etag: ETag ?? '',
})
