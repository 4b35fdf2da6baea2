import {
  BadRequestError,
  definePlugin,
  parseQuery,
  type RawRequest,
  RouteValue,
  UnsupportedMediaTypeError,
} from '../../kernel/index.ts'
import { bodyFailures } from '../toolkit/body-failures.ts'
import { formTypeOf } from './media-type.ts'
import { type UrlencodedSettings, urlencodedOfRoute, urlencodedOptions } from './options.ts'

/**
 * Parses form bodies (`application/x-www-form-urlencoded`) into `req.body`: up to 1 MB and 1000 fields by default.
 *
 * Repeated names become arrays; brackets in names mean nothing. Answers 413 `PayloadTooLargeError`, 400
 * `BadRequestError` for more fields or bytes that are not UTF-8, and 415 for a charset or an encoding it does not read. The
 * route option `urlencoded` has the same options for one route; with `false` its handler reads `req.raw`.
 *
 * @example
 * new Server({ plugins: { urlencoded: { sizeLimit: '200kb' } } })
 */
export const urlencoded = definePlugin({
  name: 'urlencoded',
  options: urlencodedOptions,
  routeOptions: { urlencoded: urlencodedOfRoute },
  openapi: { failures: (route) => (route.options.urlencoded === false ? {} : bodyFailures(route)) },
  setup(ctx, ofServer) {
    const ofRoutes = new RouteValue<UrlencodedSettings | false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.urlencoded))
    ctx.use(function urlencoded(req, _res, next) {
      const { raw } = req
      if (!raw.hasBody) return next()
      const type = formTypeOf(raw.header('content-type'))
      if (type === 'none') return next()
      const limits = ofRoutes.of(req) ?? ofServer
      if (limits === false) return next()
      refuseUnreadable(raw, type)
      // The promise of `next()` is left to the chain, which waits for it anyway: one promise less.
      return raw.bytes(limits.sizeLimit).then((bytes) => {
        req.body = parseQuery(decode(bytes), 'the form')
        next()
      })
    })
  },
})

function refuseUnreadable(raw: RawRequest, type: 'form' | 'charset'): void {
  if (type === 'charset') throw UnsupportedMediaTypeError('forms are read in UTF-8 only')
  const encoding = raw.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw UnsupportedMediaTypeError('a body with a content-encoding is not read')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw BadRequestError('the form is not UTF-8')
  }
}
