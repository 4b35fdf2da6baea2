import { BadRequestError, definePlugin } from '../../kernel/index.ts'
import { bodyFailures, bodyParser, utf8Text } from '../shared/http/body-parser.ts'
import { bodyTypeOf } from '../shared/http/media-type.ts'
import { parseQuery } from '../shared/http/query.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { type UrlencodedSettings, urlencodedOfRoute, urlencodedOptions } from './options.ts'

/**
 * Parses form bodies (`application/x-www-form-urlencoded`) into `req.body`: up to 1 MB and 1000 fields by default.
 *
 * Repeated names become arrays; brackets in names have no special meaning. Responds with 413 `PayloadTooLargeError`, 400
 * `BadRequestError` for more fields or bytes that are not UTF-8, and 415 for a charset or an encoding that it does not read. The
 * route option `urlencoded` has the same options for one route; with `false` the handler reads `req.raw` itself.
 *
 * @example
 * new Server({ plugins: { urlencoded: { sizeLimit: '200kb' } } })
 */
export const urlencoded = definePlugin({
  name: 'urlencoded',
  access: false,
  options: urlencodedOptions,
  routeOptions: { urlencoded: urlencodedOfRoute },
  openapi: { failures: (route) => (route.options.urlencoded === false ? {} : bodyFailures(route)) },
  setup(ctx, ofServer) {
    const ofRoutes = new RouteValue<UrlencodedSettings | false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.urlencoded))
    const parse = (bytes: Uint8Array) => {
      const text = utf8Text(bytes)
      if (text === undefined) throw BadRequestError('the form is not UTF-8')
      return parseQuery(text, 'the form')
    }
    const typeOf = (header: string | undefined) => bodyTypeOf(header, /^application\/x-www-form-urlencoded$/, true)
    ctx.use(bodyParser({ name: 'urlencoded', typeOf, utf8Only: 'forms must be in UTF-8', parse }, ofServer, ofRoutes))
  },
})
