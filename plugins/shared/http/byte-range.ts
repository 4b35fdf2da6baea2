/** The bytes of an answer, both ends included; `'whole'` if no range applies, `'none'` if the range contains no byte. */
export type ByteRange = { readonly start: number; readonly end: number } | 'whole' | 'none'

// A number with more digits than a length can have is malformed.
const single = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * Reads a `Range` header (RFC 9110 section 14.2) for a file of `size` bytes.
 *
 * Several ranges, and malformed ones, are ignored as the standard allows: the answer is the whole file, once, however
 * many ranges were requested.
 */
export function byteRange(header: string | undefined, size: number): ByteRange {
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
export function isRangeFresh(ifRange: string | undefined, lastModified: string | undefined): boolean {
  return ifRange === undefined || ifRange === lastModified
}
