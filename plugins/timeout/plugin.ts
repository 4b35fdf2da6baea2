import { definePlugin, RequestTimeoutError, within } from '../../kernel/index.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { timeoutOfRoute, timeoutOptions } from './options.ts'

const graceMs = 1_000

/**
 * Responds with 503 `RequestTimeoutError` if the middlewares after it and the handler take too long, and aborts
 * `req.signal` with that error. A later response of the handler is dropped.
 *
 * The route option `timeout` sets another limit, or `false` for none.
 *
 * @example
 * new Server({ plugins: { timeout: { ms: 5_000 } } })
 */
export const timeout = definePlugin({
  name: 'timeout',
  access: false,
  options: timeoutOptions,
  routeOptions: { timeout: timeoutOfRoute },
  openapi: { failures: ({ options }) => (options.timeout === false ? {} : { 503: 'ServiceUnavailable' }) },
  setup(ctx, { ms: ofServer }) {
    // Kept by route and not in one of its slots: slots run after the scope's middlewares, which count as well.
    const ofRoutes = new RouteValue<number | false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.timeout))

    ctx.use(function timeout(req, _res, next) {
      const ms = ofRoutes.of(req) ?? ofServer
      const rest = next()
      // A chain that has already ended needs no timer.
      if (rest === undefined) return rest
      // This limit replaces the server's own; earlier steps get a moment more, to see how the chain ended.
      req.extend(ms === false ? false : ms + graceMs)
      if (ms === false) return rest
      return within(rest, ms, () => {
        const error = RequestTimeoutError(`${req.method} ${req.route ?? req.path} did not respond within ${ms} ms`)
        req.abort(error)
        throw error
      })
    })
  },
})
