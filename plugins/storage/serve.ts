import type { BigIntStats, Stats } from 'node:fs'
import { Readable } from 'node:stream'
import send from '@fastify/send'
import { defineError, type Middleware, PayloadTooLargeError, type Request, type Response } from '../../kernel/index.ts'
import { answerNoRange, answerUnmet } from '../toolkit/failures/conditions.ts'
import { typeOfKey } from './data.ts'
import { missing, StorageRefusedError } from './errors.ts'
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
  500,
  () =>
    'the body of an upload was read already. List the plugin storage in front of json and of what else reads bodies',
)

/** Answers the signed addresses of a disk: downloads by GET and HEAD, uploads by PUT. */
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
  if (grant === undefined) throw StorageAddressError('is not valid, or not any more')
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

// Without `cache-control`: the library would send a file anew for `no-cache`, which `fetch` adds to every condition.
const read = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'] as const

/** How often a file may be replaced while it is measured. */
const attempts = 20

async function download(provider: LocalStorageProvider, { key }: Grant, req: Request, res: Response): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const file = await provider.file(key)
    if (file === undefined) throw missing(key)
    let isHandedOver = false
    try {
      const answer = await describe(file.path, req)
      // It was replaced meanwhile: the next attempt is about the new one.
      if (answer.type === 'file' && !isOf(answer.metadata.stat, file.stats)) continue
      if (answer.type !== 'file' && answer.statusCode === 404) throw missing(key)
      isHandedOver = give(file, answer, key, req, res)
      return
    } finally {
      if (!isHandedOver) await file.handle.close()
    }
  }
  throw StorageRefusedError('the disk', 'a file is replaced faster than it can be measured')
}

/** Answers with an open file; true when it is being sent, and closes itself. */
function give(file: ServedFile, answer: Answer, key: string, req: Request, res: Response): boolean {
  res.status(answer.statusCode)
  const part = setHeaders(answer, key, res)
  if (answer.statusCode >= 300) {
    if (answer.statusCode >= 400) res.removeHeader('content-length')
    if (answer.statusCode === 412) answerUnmet(req, res)
    else if (answer.statusCode === 416) answerNoRange(req, res)
    else res.send()
    return false
  }
  res.header('content-type', file.contentType)
  if (req.method === 'HEAD' || file.stats.size === 0n) {
    res.send()
    return false
  }
  res.stream(file.handle.createReadStream(part ?? { start: 0, end: Number(file.stats.size) - 1 }))
  return true
}

type Answer = Awaited<ReturnType<typeof send>>
type ServedFile = NonNullable<Awaited<ReturnType<LocalStorageProvider['file']>>>

/** What conditions and ranges come to. Asked as for HEAD: the library would open the file anew, by its name. */
async function describe(path: string, req: Request): Promise<Answer> {
  const asked: Record<string, string> = {}
  for (const name of read) {
    const value = req.headers[name]
    if (value !== undefined) asked[name] = value
  }
  // Its type wants the request of node; it reads these two members.
  const request = { method: 'HEAD', headers: asked } as unknown as Readable
  const options = { contentType: false, cacheControl: false, index: false, dotfiles: 'allow' } as const
  const answer = await send(request, encodeURI(path), options)
  answer.stream.destroy()
  return answer
}

/**
 * Whether both were measured of one file. Not by whole milliseconds: as a floating-point number a time that is less than 122 ns
 * in front of one is rounded up to it, which is so for one file of 8000.
 */
function isOf(stat: Stats, { size, mtimeNs }: BigIntStats): boolean {
  return stat.size === Number(size) && Math.abs(stat.mtimeMs - Number(mtimeNs) / 1e6) < 1
}

/** Gives the part of the file that is meant, where not all of it is. */
function setHeaders({ headers }: Answer, key: string, res: Response): { start: number; end: number } | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!['content-type', 'content-security-policy', 'x-content-type-options'].includes(name.toLowerCase())) {
      res.header(name, value)
    }
  }
  // What somebody has uploaded must not run as a page of this origin.
  res.header('content-security-policy', "sandbox; default-src 'none'")
  res.header('x-content-type-options', 'nosniff')
  res.header('content-disposition', `attachment; filename*=UTF-8''${nameOf(key)}`)
  res.header('cache-control', 'private, no-cache')
  const range = /^bytes (\d+)-(\d+)/.exec(headers['Content-Range'] ?? '')
  return range === null ? undefined : { start: Number(range[1]), end: Number(range[2]) }
}

/** RFC 8187 lets fewer characters through than an address does. */
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
  // What somebody has read already would be kept as nothing.
  if (req.body !== undefined) throw StorageOrderError()
  const given = req.raw.header('content-type')
  if (contentType !== undefined && given !== contentType) {
    throw StorageAddressError(`takes the content type ${contentType} alone`)
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
  // Without one in the address the sender has no say: the type would be what a browser runs.
  await provider.put(key, Readable.from(counted(), { objectMode: false }), contentType ?? typeOfKey(key))
  res.noContent()
}
