import { definePlugin, type Response } from '../../kernel/index.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { option } from '../shared/options/index.ts'
import type { Coder } from './coders.ts'
import { isCompressible, isLong, isTransformable } from './eligible.ts'
import { negotiatorOf } from './negotiate.ts'
import { compressionOptions } from './options.ts'
import { compressStream } from './stream.ts'

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
  options: compressionOptions,
  routeOptions: { compress: option.off() },
  async setup(ctx, { threshold, encodings }) {
    // Loaded here rather than on import: a server without this plugin should not load them.
    const [{ codersOf }, { default: Negotiator }] = await Promise.all([import('./coders.ts'), import('negotiator')])
    const negotiate = negotiatorOf(Negotiator, codersOf(encodings))

    const ofRoutes = new RouteValue<false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.compress))

    ctx.onSend(function compression(req, res): void | Promise<void> {
      if (ofRoutes.of(req) === false || !isTransformable(res)) return undefined
      // A 304 or 416 stands for a response that would be compressed, and need not have its content type.
      if (res.statusCode === 304 || res.statusCode === 416) return void res.vary('Accept-Encoding')
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
