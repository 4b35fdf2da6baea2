import { Readable } from 'node:stream'
import { defineError, type Middleware, PayloadTooLargeError, type Request, type Response } from '../../kernel/index.ts'
import { answerNoRange, answerUnmet } from '../shared/failures/conditions.ts'
import { byteRange, isRangeFresh } from '../shared/http/byte-range.ts'
import { fileValidators, judgeConditions } from '../shared/http/validators.ts'
import { typeOfKey } from './data.ts'
import { missing } from './errors.ts'
import { checkKey } from './key.ts'
import type { LocalStorageProvider } from './providers/local.ts'
import type { Grant, SignedUrls } from './providers/signed-urls.ts'

export const StorageAddressError = defineError(
  'StorageAddressError',
  403,
  (why: string) => `the address of an object ${why}`,
)

const StorageOrderError = defineError(
  'StorageOrderError',
  () =>
    'the body of an upload was already read. List the plugin storage before json and every other plugin that reads bodies',
)

/** Answers the signed addresses of a disk: downloads with GET and HEAD, uploads with PUT. */
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
  const key = decoded(req.path.slice(urls.path.length + 1))
  const grant = key === undefined ? undefined : urls.grant(method, key, req.query)
  if (grant === undefined) throw StorageAddressError('is not valid or has expired')
  checkKey(grant.key)
  return grant
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

type ServedFile = NonNullable<Awaited<ReturnType<LocalStorageProvider['file']>>>

async function download(provider: LocalStorageProvider, { key }: Grant, req: Request, res: Response): Promise<void> {
  const file = await provider.file(key)
  if (file === undefined) throw missing(key)
  let isHandedOver = false
  try {
    isHandedOver = give(file, key, req, res)
  } finally {
    if (!isHandedOver) await file.handle.close()
  }
}

/** Answers with an open file; returns true if the file is being sent and will close itself. */
function give(file: ServedFile, key: string, req: Request, res: Response): boolean {
  const validators = fileValidators(file.stats)
  const status = judgeConditions(req.headers, validators)
  setHeaders(key, res)
  if (status === 412) {
    answerUnmet(req, res)
    return false
  }
  const { etag = '', lastModified = '' } = validators
  res.header('etag', etag).header('last-modified', lastModified).header('accept-ranges', 'bytes')
  if (status === 304) {
    res.status(304).send()
    return false
  }
  const size = Number(file.stats.size)
  const range = isRangeFresh(req.headers['if-range'], lastModified) ? byteRange(req.headers.range, size) : 'whole'
  if (range === 'none') {
    res.header('content-range', `bytes */${size}`)
    answerNoRange(req, res)
    return false
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range
  if (range !== 'whole') res.status(206).header('content-range', `bytes ${start}-${end}/${size}`)
  res.header('content-length', end - start + 1).header('content-type', file.contentType)
  if (req.method === 'HEAD' || size === 0) {
    res.send()
    return false
  }
  res.stream(file.handle.createReadStream({ start, end }))
  return true
}

function setHeaders(key: string, res: Response): void {
  // Uploaded content must not run as a page of this origin.
  res.header('content-security-policy', "sandbox; default-src 'none'")
  res.header('x-content-type-options', 'nosniff')
  res.header('content-disposition', `attachment; filename*=UTF-8''${nameOf(key)}`)
  res.header('cache-control', 'private, no-cache')
}

/** RFC 8187 allows fewer characters than an address does. */
function nameOf(key: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(key.split('/').at(-1)!).replace(/['()*]/g, hex)
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
  if (contentType !== undefined && given !== contentType) {
    throw StorageAddressError(`accepts the content type ${contentType} only`)
  }
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
  await provider.put(key, Readable.from(counted(), { objectMode: false }), contentType ?? typeOfKey(key))
  res.noContent()
}
