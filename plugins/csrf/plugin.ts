import { defineError, definePlugin, sendFailure } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { isFromHere } from '../shared/http/origins.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { csrfOfRoute, csrfOptions } from './options.ts'

const CsrfError = defineError(
  'CsrfError',
  403,
  () => 'this request comes from a page of another origin, which the option origins of the plugin csrf does not list',
)

/** Methods that change nothing (RFC 9110 section 9.2.1), and QUERY. */
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/**
 * Refuses unsafe requests that pages of other origins make a browser send, with the cookies of its user: 403 `CsrfError`.
 *
 * Browsers say where a request comes from, in `Sec-Fetch-Site` and `Origin`, so that forms need no tokens. Clients that are not browsers send neither
 * header, and pass. The route option `csrf: false` exempts a route.
 *
 * @example
 * new Server({ plugins: { session: { secret: process.env.SECRET! }, csrf: { origins: ['https://app.example.com'] } } })
 */
export const csrf = definePlugin({
  name: 'csrf',
  access: {
    guards: ({ method, options, settings }) =>
      safe.has(method) || options?.csrf === false
        ? undefined
        : { conditions: { csrf: (settings as { readonly origins: readonly string[] }).origins } },
  },
  options: csrfOptions,
  routeOptions: { csrf: csrfOfRoute },
  openapi: {
    failures: ({ method, options }: DescribedRoute) =>
      safe.has(method) || options.csrf === false ? {} : { 403: 'Forbidden' },
  },
  setup(ctx, { origins }) {
    const exempt = new RouteValue<true>()
    ctx.onRoute((route) => exempt.set(route, route.settings.csrf === false ? true : undefined))
    // One error for all: a stack for each refused request would cost the server more than the attacker.
    const error = CsrfError()
    ctx.use(function csrf(req, res, next) {
      if (safe.has(req.method) || exempt.of(req)) return next()
      const [site, origin] = [req.raw.header('sec-fetch-site'), req.raw.header('origin')]
      const isNoPage = site === undefined ? origin === undefined : site === 'none'
      if (isNoPage || isFromHere(req) || (origin !== undefined && origins.includes(origin))) return next()
      sendFailure(req, res, error)
    })
  },
})
