import type { Request, Response } from '../../kernel/index.ts'
import { answerNoRange, answerUnmet } from '../shared/failures/conditions.ts'
import { type RegularFile, readPart, smallPart } from '../shared/files/regular-file.ts'
import { byteRange, isRangeFresh } from '../shared/http/byte-range.ts'
import { knowMediaTypes, mediaTypeOfFile } from '../shared/http/media-types.ts'

import { fileValidators, judgeConditions } from '../shared/http/validators.ts'
import { encodedSibling } from './encoded.ts'
import type { StaticSettings } from './options.ts'

// A bare kernel has no server that has already done this.
knowMediaTypes()

/** Answers with an open file, and closes it if that fails. */
export async function answerFile(
  settings: StaticSettings,
  found: RegularFile,
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

/** Returns true if the file is being sent and will close itself. */
async function answerWith(
  settings: StaticSettings,
  file: RegularFile,
  type: string,
  name: string,
  req: Request,
  res: Response,
): Promise<boolean> {
  const { size } = file.stat
  const judged = judge(settings, file, req)
  if (judged.statusCode !== 412) for (const [header, value] of Object.entries(judged.headers)) res.header(header, value)
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
  const fresh = isRangeFresh(req.headers['if-range'], judged.lastModified)
  const range = fresh && req.method === 'GET' ? byteRange(req.headers.range, size) : 'whole'
  if (range === 'none') {
    // A cache that kept this refusal for as long as it may keep the file would refuse the file to all clients.
    for (const name of ['content-type', 'content-encoding', 'cache-control', 'etag', 'last-modified']) {
      res.removeHeader(name)
    }
    res.header('content-range', `bytes */${size}`)
    answerNoRange(req, res)
    return false
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range
  if (range !== 'whole') res.status(206).header('content-range', `bytes ${start}-${end}/${size}`)
  const length = end - start + 1
  if (req.method !== 'HEAD' && size > 0 && length <= smallPart) {
    res.bytes(await readPart(file.handle, start, length))
    return true
  }
  res.header('content-length', length)
  if (req.method === 'HEAD' || size === 0) {
    res.send()
    return false
  }
  // Reads from the measured file, and no more than the measured length.
  res.stream(file.handle.createReadStream({ start, end }))
  return true
}

/** The longest time for which browsers cache anything. */
const longestMs = 365 * 24 * 60 * 60 * 1000

/** Evaluates the request's conditions; returns the status and the headers of the file. */
function judge({ maxAge, immutable }: StaticSettings, { stat }: RegularFile, req: Request) {
  const validators = fileValidators(stat)
  const statusCode = judgeConditions(req.headers, validators)
  const { etag = '', lastModified = '' } = validators
  const seconds = Math.floor(Math.min(maxAge, longestMs) / 1000)
  const cacheControl = `public, max-age=${seconds}${immutable ? ', immutable' : ''}`
  return { statusCode, lastModified, headers: { 'cache-control': cacheControl, 'last-modified': lastModified, etag } }
}
