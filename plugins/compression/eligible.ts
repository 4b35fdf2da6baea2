import type { Response, StreamBody } from '../../kernel/index.ts'

/** Whether a media type gains by compression. */
export type IsCompressible = (type: string) => boolean | undefined

// Events are small and must not wait for the next; bytes that nobody names are mostly compressed already, although the
// library says that they gain by it.
const never = /^\s*(?:text\/event-stream|application\/octet-stream)\s*(?:;|$)/i

/** Asks the library, and remembers its verdicts. */
export function compressibleTypes(library: IsCompressible): (type: string) => boolean {
  const known = new Map<string, boolean>()
  return (type) => {
    let verdict = known.get(type)
    if (verdict === undefined) {
      verdict = library(type) === true && !never.test(type)
      if (known.size < 200) known.set(type, verdict)
    }
    return verdict
  }
}

/** Whether the headers and the status leave the body to be changed at all. */
export function isTransformable(res: Response): boolean {
  if (res.getHeader('content-encoding') !== undefined) return false
  const control = res.getHeader('cache-control')
  return control === undefined || !/\bno-transform\b/i.test(String(control))
}

/** Whether a body is long enough; of one that is not at hand the declared length counts, and without one it is long. */
export function isLong(body: string | Uint8Array | StreamBody | null, res: Response, threshold: number): boolean {
  if (typeof body === 'string') {
    // A character is at most three bytes: most bodies need not be measured.
    if (body.length >= threshold) return true
    return body.length * 3 >= threshold && Buffer.byteLength(body) >= threshold
  }
  if (body instanceof Uint8Array) return body.byteLength >= threshold
  const declared = res.getHeader('content-length')
  return declared === undefined || !(Number(declared) < threshold)
}
