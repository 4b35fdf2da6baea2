import { definePlugin } from '../../kernel/index.ts'
import { bodyFailures, bodyParser } from '../shared/http/body-parser.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { jsonTypeOf } from './media-type.ts'
import { type JsonSettings, jsonOfRoute, jsonOptions } from './options.ts'
import { parseJson } from './parse.ts'

/**
 * Parses JSON bodies into `req.body`, up to 100 kB and 64 levels by default. Active unless turned off.
 *
 * Answers 400 `JsonNotValidError`, 413 `PayloadTooLargeError`, and 415 for a charset or an encoding that it does not support. The
 * route option `json` has the same options for one route; with `false`, the route's handler can read `req.raw`.
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
    const parse = (bytes: Uint8Array, { maxDepth }: JsonSettings) => parseJson(bytes, maxDepth)
    const format = { name: 'json', typeOf: jsonTypeOf, utf8Only: 'JSON must be in UTF-8', parse }
    ctx.use(bodyParser(format, ofServer, ofRoutes))
  },
})
