import { Readable } from 'node:stream'
import { defineErrors, type Middleware, PayloadTooLargeError, type Request, type Response } from '../../kernel/index.ts'
import { PreconditionFailedError, sendOpenFile } from '../shared/http/file-response.ts'
import { mediaTypeOfFile } from '../shared/http/media-types.ts'
import { dispositionOf } from '../shared/http/sent-file.ts'
import { judgeConditions } from '../shared/http/validators.ts'
import { safely } from '../shared/values/safely.ts'
import { missing } from './errors.ts'
import { checkKey, nameOf } from './key.ts'
import type { StorageEntry } from './providers/contract.ts'
import { entryOf, type LocalStorageProvider } from './providers/local.ts'
import type { Grant, SignedUrls } from './providers/signed-urls.ts'

const { StorageAddressError, StorageOrderError, StoragePartError } = defineErrors({
  StorageAddressError: [403, (why: string) => `the address of an object ${why}`],
  StoragePartError: [400, () => 'an upload is a whole object, without Content-Range'],
  StorageOrderError: () =>
    'the body of an upload was already read. List the plugin storage before json and every other plugin that reads bodies',
})

/** The signed addresses of a disk: downloads with GET and HEAD, uploads with PUT. */
export function addressesOf(provider: LocalStorageProvider, urls: SignedUrls) {
  const prefix = `${urls.path}/`
  /** Returns what the address of a request grants: `undefined` if it is forged or has expired, `false` for a request to something else. */
  const grantOf = (req: Request): Grant | false | undefined => {
    const method = req.method === 'HEAD' ? 'GET' : req.method
    if (!req.path.startsWith(prefix) || (method !== 'GET' && method !== 'PUT')) return false
    const key = safely(() => decodeURIComponent(req.path.slice(prefix.length)))
    return key === undefined ? undefined : urls.grant(method, key, req.query)
  }
  const serve: Middleware = function storageAddresses(req, res, next) {
    const grant = grantOf(req)
    if (grant === false) return next()
    if (grant === undefined) throw StorageAddressError('is not valid or has expired')
    checkKey(grant.key)
    if (req.method !== 'PUT') return download(provider, grant, req, res)
    return upload(provider, urls, grant, req).then(() => void res.noContent())
  }
  // `serve` reports what fails here, to those that `auth` lets in.
  return { serve, admits: (req: Request) => Boolean(safely(() => grantOf(req))) }
}

async function download(provider: LocalStorageProvider, grant: Grant, req: Request, res: Response): Promise<void> {
  const { key, contentDisposition } = grant
  const file = await provider.file(key)
  if (file === undefined) throw missing(key)
  const { handle, stats } = file
  try {
    const validators = validatorsOf(entryOf(key, stats))
    const type = grant.contentType ?? file.contentType
    res
      // Uploaded content must not run as a page of this origin.
      .header('content-security-policy', "sandbox; default-src 'none'")
      .header('x-content-type-options', 'nosniff')
      .header('content-disposition', contentDisposition ?? dispositionOf(nameOf(key)))
      .header('cache-control', 'private, no-cache')
      .header('etag', validators.etag)
      .header('last-modified', validators.lastModified)
    const isSent = await sendOpenFile(req, res, { handle, size: Number(stats.size), type, validators })
    if (!isSent) await handle.close()
  } catch (error) {
    await handle.close().catch(() => {})
    throw error
  }
}

/** The tag is that of `metadata`, and strong: an upload can name the object that it replaces. */
const validatorsOf = ({ etag, lastModified }: StorageEntry) => ({ etag, lastModified: lastModified.toUTCString() })

async function upload(provider: LocalStorageProvider, urls: SignedUrls, grant: Grant, req: Request): Promise<void> {
  const { key, contentType } = grant
  // A body that has already been read would be stored as empty.
  if (req.body !== undefined) throw StorageOrderError()
  if (contentType !== undefined && req.raw.header('content-type') !== contentType)
    throw StorageAddressError(`accepts the content type ${contentType} only`)
  if (Number(req.raw.header('content-length')) > urls.maxUploadSize)
    throw PayloadTooLargeError(`${urls.maxUploadSize} bytes`)
  // RFC 9110 section 14.5: the part would become the whole object.
  if (req.raw.header('content-range') !== undefined) throw StoragePartError()
  if (['if-match', 'if-none-match', 'if-unmodified-since'].some((name) => req.raw.header(name) !== undefined)) {
    const entry = await provider.head(key)
    if (judgeConditions(req.headers, entry && validatorsOf(entry), true) === 412) throw PreconditionFailedError()
  }
  async function* counted(): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of req.raw.stream()) {
      size += chunk.length
      if (size > urls.maxUploadSize) throw PayloadTooLargeError(`${urls.maxUploadSize} bytes`)
      yield chunk
    }
  }
  // Unless the address has a type, it comes from the key: with a type of the sender's choice a browser might run the content.
  await provider.put(key, Readable.from(counted(), { objectMode: false }), contentType ?? mediaTypeOfFile(key))
}
