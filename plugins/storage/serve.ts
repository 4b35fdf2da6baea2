import { Readable } from 'node:stream'
import { defineErrors, type Middleware, PayloadTooLargeError, type Request, type Response } from '../../kernel/index.ts'
import { sendOpenFile } from '../shared/http/file-response.ts'
import { mediaTypeOfFile } from '../shared/http/media-types.ts'
import { dispositionOf } from '../shared/http/sent-file.ts'
import { fileValidators } from '../shared/http/validators.ts'
import { safely } from '../shared/values/safely.ts'
import { missing } from './errors.ts'
import { checkKey, nameOf } from './key.ts'
import type { LocalStorageProvider } from './providers/local.ts'
import type { Grant, SignedUrls } from './providers/signed-urls.ts'

const { StorageAddressError, StorageOrderError } = defineErrors({
  StorageAddressError: [403, (why: string) => `the address of an object ${why}`],
  StorageOrderError: () =>
    'the body of an upload was already read. List the plugin storage before json and every other plugin that reads bodies',
})

/** Serves the signed addresses of a disk: downloads with GET and HEAD, uploads with PUT. */
export function addressServer(provider: LocalStorageProvider, urls: SignedUrls): Middleware {
  const prefix = `${urls.path}/`
  return function storageAddresses(req, res, next) {
    if (!req.path.startsWith(prefix)) return next()
    if (req.method === 'PUT') return upload(provider, urls, granted(urls, 'PUT', req), req, res)
    if (req.method === 'GET' || req.method === 'HEAD') return download(provider, granted(urls, 'GET', req), req, res)
    return next()
  }
}

function granted(urls: SignedUrls, method: 'GET' | 'PUT', req: Request): Grant {
  const key = safely(() => decodeURIComponent(req.path.slice(urls.path.length + 1)))
  const grant = key === undefined ? undefined : urls.grant(method, key, req.query)
  if (grant === undefined) throw StorageAddressError('is not valid or has expired')
  checkKey(grant.key)
  return grant
}

async function download(provider: LocalStorageProvider, grant: Grant, req: Request, res: Response): Promise<void> {
  const { key, contentDisposition } = grant
  const file = await provider.file(key)
  if (file === undefined) throw missing(key)
  const { handle, stats } = file
  try {
    const validators = fileValidators(stats)
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

async function upload(
  provider: LocalStorageProvider,
  { maxUploadSize }: SignedUrls,
  { key, contentType }: Grant,
  req: Request,
  res: Response,
): Promise<void> {
  // A body that has already been read would be stored as empty.
  if (req.body !== undefined) throw StorageOrderError()
  const given = req.raw.header('content-type')
  if (contentType !== undefined && given !== contentType)
    throw StorageAddressError(`accepts the content type ${contentType} only`)
  if (Number(req.raw.header('content-length')) > maxUploadSize) throw PayloadTooLargeError(`${maxUploadSize} bytes`)
  async function* counted(): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of req.raw.stream()) {
      size += chunk.length
      if (size > maxUploadSize) throw PayloadTooLargeError(`${maxUploadSize} bytes`)
      yield chunk
    }
  }
  // Unless the address has a type, it comes from the key: with a type of the sender's choice a browser might run the content.
  await provider.put(key, Readable.from(counted(), { objectMode: false }), contentType ?? mediaTypeOfFile(key))
  res.noContent()
}
