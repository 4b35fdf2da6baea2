import { definePlugin, type RawRequest, RouteValue, UnsupportedMediaTypeError } from '../../kernel/index.ts'
import { bodyFailures } from '../toolkit/body-failures.ts'
import { jsonTypeOf } from './media-type.ts'
import { type JsonSettings, jsonOfRoute, jsonOptions } from './options.ts'
import { parseJson } from './parse.ts'

/**
 * Parses JSON bodies into `req.body`: up to 100 kB and 64 levels by default. On unless turned off.
 *
 * Answers 400 `JsonNotValidError`, 413 `PayloadTooLargeError`, and 415 for a charset or an encoding it does not read. The
 * route option `json` has the same options for one route; with `false` its handler reads `req.raw`.
 *
 * @example
 * new Server({ plugins: { json: { sizeLimit: '1mb' } } })
 */
export const json = definePlugin({
  name: 'json',
  options: jsonOptions,
  routeOptions: { json: jsonOfRoute },
  openapi: { failures: (route) => (route.options.json === false ? {} : bodyFailures(route)) },
  setup(ctx, ofServer) {
    const ofRoutes = new RouteValue<JsonSettings | false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.json))
    ctx.use(function json(req, _res, next) {
      const { raw } = req
      if (!raw.hasBody) return next()
      const type = jsonTypeOf(raw.header('content-type'))
      if (type === 'none') return next()
      const limits = ofRoutes.of(req) ?? ofServer
      if (limits === false) return next()
      refuseUnreadable(raw, type)
      // The promise of `next()` is left to the chain, which waits for it anyway: one promise less.
      return raw.bytes(limits.sizeLimit).then((bytes) => {
        req.body = parseJson(bytes, limits.maxDepth)
        next()
      })
    })
  },
})

function refuseUnreadable(raw: RawRequest, type: 'json' | 'charset'): void {
  if (type === 'charset') throw UnsupportedMediaTypeError('JSON is read in UTF-8 only')
  const encoding = raw.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw UnsupportedMediaTypeError('a body with a content-encoding is not read')
  }
}
