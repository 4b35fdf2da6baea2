import type { Response, StreamBody } from '../../kernel/index.ts'

/** Text in any form, and other formats that are not compressed themselves. */
const compressible = new RegExp(
  `^\\s*(?:${[
    'text/.*',
    '[^;]*\\+(?:json|text|xml|yaml)',
    'application/(?:(?:x-)?javascript|ecmascript|json|xml|xml-dtd|yaml|toml|dart|rtf|postscript|wasm|tar|x-tar|x-sh|x-httpd-php|openmetrics-text)',
    'application/(?:x-www-form-urlencoded|x-ns-proxy-autoconfig|vnd\\.dart|vnd\\.ms-(?:fontobject|opentype))',
    'font/(?:otf|ttf)',
    'image/(?:bmp|x-ms-bmp|x-icon|vnd\\.(?:microsoft\\.icon|adobe\\.photoshop|ms-dds))',
    'message/rfc822|model/gltf-binary|x-shader/x-(?:fragment|vertex)',
  ].join('|')})\\s*(?:;|$)`,
  'i',
)
// Events are small and must not wait for the next one.
const events = /^\s*text\/event-stream\s*(?:;|$)/i

/** Whether a media type benefits from compression. */
export const isCompressible = (type: string): boolean => compressible.test(type) && !events.test(type)

/** Whether the headers allow the body to be changed at all. */
export function isTransformable(res: Response): boolean {
  if (res.getHeader('content-encoding') !== undefined) return false
  const control = res.getHeader('cache-control')
  return control === undefined || !/\bno-transform\b/i.test(String(control))
}

/** Whether a body is long enough. If the body is not available, its declared length counts; without a length, it is considered long. */
export function isLong(body: string | Uint8Array | StreamBody | null, res: Response, threshold: number): boolean {
  if (typeof body === 'string') {
    // A character has at most three bytes, so most bodies need not be measured.
    if (body.length >= threshold) return true
    return body.length * 3 >= threshold && Buffer.byteLength(body) >= threshold
  }
  if (body instanceof Uint8Array) return body.byteLength >= threshold
  const declared = res.getHeader('content-length')
  return declared === undefined || !(Number(declared) < threshold)
}
