import type { Readable } from 'node:stream'
import send from '@fastify/send'
import { extendMediaTypes, mediaTypeOfFile, type Request, type Response } from '../../kernel/index.ts'
import { answerNoRange, answerUnmet } from '../toolkit/failures/conditions.ts'
import { encodedSibling } from './encoded.ts'
import type { OpenFile } from './find.ts'
import type { StaticSettings } from './options.ts'
import { byteRange, isRangeFresh } from './range.ts'

// A bare kernel has no server that would have given it this library.
extendMediaTypes(() => send)

// Without `cache-control`: the library would send a file anew for `no-cache`, which `fetch` adds to every condition.
const conditions = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'] as const

/** Answers with an open file, of which nothing stays open when that fails. */
export async function answerFile(
  settings: StaticSettings,
  found: OpenFile,
  req: Request,
  res: Response,
): Promise<void> {
  let file = found
  try {
    const type = mediaTypeOfFile(found.path)
    if (settings.precompressed) {
      res.vary('Accept-Encoding')
      const encoded = await encodedSibling(settings, found, req.headers['accept-encoding'])
      if (encoded !== undefined) {
        await found.handle.close()
        file = encoded.file
        res.header('content-encoding', encoded.encoding)
      }
    }
    if (!(await answerWith(settings, file, type, found.path, req, res))) await file.handle.close()
  } catch (error) {
    await file.handle.close().catch(() => {})
    throw error
  }
}

/** True when the file is being sent, and closes itself. */
async function answerWith(
  settings: StaticSettings,
  file: OpenFile,
  type: string,
  name: string,
  req: Request,
  res: Response,
): Promise<boolean> {
  const { size } = file.stat
  const judged = await judge(settings, file, req)
  for (const [header, value] of Object.entries(judged.headers)) {
    if (header !== 'Content-Length') res.header(header, value)
  }
  res.header('x-content-type-options', 'nosniff')
  settings.setHeaders?.(res, name)
  if (judged.statusCode !== 200) {
    res.removeHeader('content-encoding')
    if (judged.statusCode === 412) answerUnmet(req, res)
    else res.status(judged.statusCode).send()
    return false
  }
  if (res.getHeader('content-type') === undefined) res.header('content-type', type)
  res.header('accept-ranges', 'bytes')
  const fresh = isRangeFresh(req.headers['if-range'], judged.headers['Last-Modified'])
  const range = fresh && req.method === 'GET' ? byteRange(req.headers.range, size) : 'whole'
  if (range === 'none') {
    // Whoever keeps the refusal of a range for as long as the file would refuse the file to everybody.
    for (const name of ['content-type', 'content-encoding', 'cache-control', 'etag', 'last-modified']) {
      res.removeHeader(name)
    }
    res.header('content-range', `bytes */${size}`)
    answerNoRange(req, res)
    return false
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range
  if (range !== 'whole') res.status(206).header('content-range', `bytes ${start}-${end}/${size}`)
  res.header('content-length', end - start + 1)
  if (req.method === 'HEAD' || size === 0) {
    res.send()
    return false
  }
  // Of the file that was measured, and no more of it than was measured.
  res.stream(file.handle.createReadStream({ start, end }))
  return true
}

/**
 * What the conditions of the request come to, and the headers of the file: 200, 304 or 412.
 *
 * Asked as for HEAD, so that the library opens nothing. When the name stands for another file by now, what it says is not
 * about the one that is open: then that one is sent without validators.
 */
async function judge({ maxAge, immutable }: StaticSettings, { path, stat }: OpenFile, req: Request) {
  const headers: Record<string, string> = {}
  for (const name of conditions) {
    const value = req.headers[name]
    if (value !== undefined) headers[name] = value
  }
  // Its type wants the request of node; it reads these two members.
  const request = { method: 'HEAD', headers } as unknown as Readable
  const options = {
    maxAge,
    immutable,
    acceptRanges: false,
    contentType: false,
    index: false,
    dotfiles: 'allow',
  } as const
  const { statusCode, headers: given, ...rest } = await send(request, encodeURI(path), options)
  const isSame =
    rest.type === 'file' && rest.metadata.stat.mtimeMs === stat.mtimeMs && rest.metadata.stat.size === stat.size
  if (rest.type === 'error' && statusCode === 412) return { statusCode, headers: {} as Record<string, string> }
  return isSame ? { statusCode, headers: given } : { statusCode: 200, headers: {} as Record<string, string> }
}
