import type { FileHandle } from 'node:fs/promises'
import { cachingHeaders } from '../../../kernel/http/response/headers.ts'
import { defineErrors, type Request, type Response, sendFailure } from '../../../kernel/index.ts'
import { readPart, smallPart } from '../files/regular-file.ts'
import { judgeConditions, type Validators } from './validators.ts'

export const { PreconditionFailedError, RangeNotSatisfiableError } = defineErrors({
  PreconditionFailedError: [412, () => 'the file does not match the conditions of the request'],
  RangeNotSatisfiableError: [416, () => 'the file has no such range'],
})

/** An open file, and what its response says of it. */
export interface ServedFile {
  readonly handle: FileHandle
  readonly size: number
  readonly type: string
  readonly validators: Validators
}

/**
 * Sends an open file, or the part of it that the request asks for, if the conditions of the request are met (RFC 9110 sections 13
 * and 14). Headers of the file, such as its validators, are set by the caller.
 *
 * @returns whether the file is being sent and will close itself.
 */
export async function sendOpenFile(
  req: Request,
  res: Response,
  { handle, size, type, validators }: ServedFile,
): Promise<boolean> {
  const status = judgeConditions(req.headers, validators)
  if (status === 412) return refuse(req, res, PreconditionFailedError())
  if (status === 304) {
    res.removeHeader('content-encoding').status(304).send()
    return false
  }
  if (res.getHeader('content-type') === undefined) res.header('content-type', type)
  res.header('accept-ranges', 'bytes')
  const fresh = isRangeFresh(req.headers['if-range'], validators.lastModified)
  const range = fresh && req.method === 'GET' ? byteRange(req.headers.range, size) : 'whole'
  if (range === 'none') {
    res.header('content-range', `bytes */${size}`)
    return refuse(req, res, RangeNotSatisfiableError())
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range
  if (range !== 'whole') res.status(206).header('content-range', `bytes ${start}-${end}/${size}`)
  const length = end - start + 1
  if (req.method !== 'HEAD' && size > 0 && length <= smallPart) {
    res.bytes(await readPart(handle, start, length))
    return true
  }
  res.header('content-length', length)
  if (req.method === 'HEAD' || size === 0) {
    res.send()
    return false
  }
  // Reads from the measured file, and no more than the measured length.
  res.stream(handle.createReadStream({ start, end }))
  return true
}

/** In the default format, without a body. */
function refuse(req: Request, res: Response, error: Error): false {
  // A cache that kept this refusal for as long as it may keep the file would refuse the file to all clients.
  for (const name of Object.keys(res.getHeaders()))
    if (/^content-(type|encoding)$/.test(name) || cachingHeaders.test(name)) res.removeHeader(name)
  sendFailure(req, res, error, { body: undefined })
  return false
}

/** The bytes of a response, both ends included; `'whole'` if no range applies, `'none'` if the range contains no byte. */
type ByteRange = { readonly start: number; readonly end: number } | 'whole' | 'none'

// A number with more digits than a length can have is malformed.
const single = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * Reads a `Range` header (RFC 9110 section 14.2) for a file of `size` bytes.
 *
 * Several ranges, and malformed ones, are ignored as the standard allows: the response is the whole file, once, however
 * many ranges were requested.
 */
function byteRange(header: string | undefined, size: number): ByteRange {
  const match = header === undefined ? null : single.exec(header)
  if (match === null) return 'whole'
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Number(suffix)
    if (length === 0 || size === 0) return 'none'
    return { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Number(last)
  if (last !== '' && end < start) return 'whole'
  return start >= size ? 'none' : { start, end: Math.min(end, size - 1) }
}

/**
 * Whether `If-Range` permits a range (RFC 9110 section 13.1.5): only the exact date does. The tags made here are weak, and a
 * weak tag never matches: otherwise two files of the same size and the same second could be mixed.
 */
const isRangeFresh = (ifRange: string | undefined, lastModified: string | undefined): boolean =>
  ifRange === undefined || ifRange === lastModified
