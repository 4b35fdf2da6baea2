import { definePlugin } from '../../kernel/index.ts'
import { bodyFailures, bodyParser } from '../shared/http/body-parser.ts'
import { bodyTypeOf } from '../shared/http/media-type.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { type JsonSettings, jsonOfRoute, jsonOptions } from './options.ts'
import { parseJson } from './parse.ts'

const jsonTypes = /^application\/(?:json|.+\+json)$/

// The first are the values that nearly every client sends; the grammar takes 0.7 µs.
const typeOf = (header: string | undefined) =>
  header === 'application/json' || header === 'application/json; charset=utf-8' ? 'read' : bodyTypeOf(header, jsonTypes)

/**
 * Parses JSON bodies into `req.body`, up to 100 kB and 64 levels by default. Active unless turned off.
 *
 * Responds with 400 `JsonNotValidError`, 413 `PayloadTooLargeError`, and 415 for a charset or an encoding that it does not support. The
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
    ctx.use(bodyParser({ name: 'json', typeOf, utf8Only: 'JSON must be in UTF-8', parse }, ofServer, ofRoutes))
  },
})
