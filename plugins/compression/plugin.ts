import type Negotiator from 'negotiator'
import { definePlugin, type Response, type StreamBody } from '../../kernel/index.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { option } from '../shared/options/index.ts'
import type { Coder } from './coders.ts'
import { compressionOptions } from './options.ts'
import { compressStream } from './stream.ts'

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

/**
 * Compresses responses with zstd, brotli or gzip, as the client prefers: text of 1 kB or more, and streams of text.
 *
 * The route option `compress: false` leaves a route's responses uncompressed.
 *
 * @example
 * new Server({ plugins: { compression: { threshold: '2kb', encodings: ['br', 'gzip'] } } })
 */
export const compression = definePlugin({
  name: 'compression',
  access: false,
  options: compressionOptions,
  routeOptions: { compress: option.off() },
  async setup(ctx, { threshold, encodings }) {
    // Loaded here rather than on import: a server without this plugin should not load them.
    const [{ codersOf }, { default: Library }] = await Promise.all([import('./coders.ts'), import('negotiator')])
    const negotiate = negotiatorOf(Library, codersOf(encodings))

    const ofRoutes = new RouteValue<false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.compress))

    ctx.onSend(function compression(req, res): void | Promise<void> {
      if (ofRoutes.of(req) === false || !isTransformable(res)) return undefined
      // A 304 or 416 stands for a response that would be compressed, and need not have its content type.
      if (res.statusCode === 304 || res.statusCode === 416) {
        const etag = String(res.getHeader('etag'))
        const hasCompressed = etag.startsWith('"') && req.raw.header('if-none-match')?.includes(`W/${etag}`)
        // The tag that the 200 would have (RFC 9110 section 15.4.5).
        if (hasCompressed) res.setHeader('etag', `W/${etag}`)
        return void res.vary('Accept-Encoding')
      }
      // A partial response is a part of the unchanged bytes. The whole response would vary by encoding.
      if (res.statusCode === 206 || res.getHeader('content-range') !== undefined) {
        if (isCompressible(String(res.getHeader('content-type')))) res.vary('Accept-Encoding')
        return undefined
      }
      const body = res.encode()
      if (res.statusCode === 204 || res.statusCode === 205) return undefined
      // A file server responds to HEAD without a body, but declares the length of the response to a GET.
      const isLeftOut = req.method === 'HEAD' && res.getHeader('content-length') !== undefined
      if (body === null && !isLeftOut) return undefined
      if (!isLong(body, res, threshold) || !isCompressible(String(res.getHeader('content-type')))) return undefined
      res.vary('Accept-Encoding')
      const coder = negotiate(req.raw.header('accept-encoding'))
      if (coder === undefined) return undefined
      if (req.method === 'HEAD') {
        describe(res, coder)
        // The length of a compressed response is not known before it is compressed; a stream has no length.
        if (body === null || typeof body === 'string' || body instanceof Uint8Array) res.replaceBody(nothing())
        return undefined
      }
      if (body === null) return undefined
      if (typeof body === 'string' || body instanceof Uint8Array) {
        return coder.whole(body).then((bytes) => {
          describe(res, coder)
          res.replaceBody(bytes)
        })
      }
      describe(res, coder)
      res.replaceBody(compressStream(body, coder))
      return undefined
    })
  },
})

/** Sets and removes the headers that differ for an encoded body. */
function describe(res: Response, { encoding }: Coder): void {
  res.setHeader('content-encoding', encoding).removeHeader('content-length')
  // Ranges refer to the bytes of the original body.
  res.removeHeader('accept-ranges')
  // A strong tag promises identical bytes (RFC 9110 section 8.8.1).
  const etag = res.getHeader('etag')
  if (typeof etag === 'string' && !etag.startsWith('W/')) res.setHeader('etag', `W/${etag}`)
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Whether a media type benefits from compression. */
const isCompressible = (type: string): boolean => compressible.test(type) && !events.test(type)

/** Whether the headers allow the body to be changed at all. */
function isTransformable(res: Response): boolean {
  if (res.getHeader('content-encoding') !== undefined) return false
  const control = res.getHeader('cache-control')
  return control === undefined || !/\bno-transform\b/i.test(String(control))
}

/** Whether a body is long enough. If the body is not available, its declared length counts; without a length, it is considered long. */
function isLong(body: string | Uint8Array | StreamBody | null, res: Response, threshold: number): boolean {
  if (typeof body === 'string') {
    // A character has at most three bytes, so most bodies need not be measured.
    if (body.length >= threshold) return true
    return body.length * 3 >= threshold && Buffer.byteLength(body) >= threshold
  }
  if (body instanceof Uint8Array) return body.byteLength >= threshold
  const declared = res.getHeader('content-length')
  return declared === undefined || !(Number(declared) < threshold)
}

/** With equal weights, the installed version uses the server's order of encodings; that option is missing from its types. */
interface Preferring {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
}

/** Returns the coder for an `Accept-Encoding` header; `undefined`: the body is sent as it is. */
type Negotiate = (header: string | undefined) => Coder | undefined

/** Chooses by the client's weights, then by the server's order. A client without the header receives an unencoded body. */
function negotiatorOf(Library: typeof Negotiator, coders: readonly Coder[]): Negotiate {
  const available = [...coders.map(({ encoding }) => encoding), 'identity']
  const choose = (header: string): Coder | undefined => {
    const negotiator = new Library({ headers: { 'accept-encoding': header } }) as unknown as Preferring
    const [best] = negotiator.encodings(available, { preferred: available })
    return coders.find(({ encoding }) => encoding === best)
  }
  // Browsers send only a handful of different headers; beyond the ones kept, headers that a client invents are parsed each time.
  const chosen = new Map<string, Coder | undefined>()
  return (header) => {
    if (header === undefined || header === '') return undefined
    if (chosen.has(header)) return chosen.get(header)
    // The parser is linear, but 16 kB of header are not worth its time for a choice between four words.
    if (header.length > 1_024) return undefined
    const coder = choose(header)
    if (chosen.size < 200) chosen.set(header, coder)
    return coder
  }
}
