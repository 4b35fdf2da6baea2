import { definePlugin, RequestTimeoutError, within } from '../../kernel/index.ts'
import { RouteValue } from '../toolkit/route-value.ts'
import { timeoutOfRoute, timeoutOptions } from './options.ts'

const graceMs = 1_000

/**
 * Answers 503 `RequestTimeoutError` when the middlewares after it and the handler take too long, and aborts
 * `req.signal` with that error. A later answer of the handler is dropped.
 *
 * The route option `timeout` sets another limit, or `false` for none.
 *
 * @example
 * new Server({ plugins: { timeout: { ms: 5_000 } } })
 */
export const timeout = definePlugin({
  name: 'timeout',
  options: timeoutOptions,
  routeOptions: { timeout: timeoutOfRoute },
  openapi: { failures: ({ options }) => (options.timeout === false ? {} : { 503: 'ServiceUnavailable' }) },
  setup(ctx, { ms: ofServer }) {
    // By route and not in one of its slots: those run after the scope's middlewares, which count too.
    const ofRoutes = new RouteValue<number | false>()
    ctx.onRoute((route) => ofRoutes.set(route, route.settings.timeout))

    ctx.use(function timeout(req, _res, next) {
      const ms = ofRoutes.of(req) ?? ofServer
      const rest = next()
      // A chain that has ended by now needs no timer.
      if (rest === undefined) return rest
      // Its own limit replaces the server's; earlier steps have a moment more, to see how it ended.
      req.extend(ms === false ? false : ms + graceMs)
      if (ms === false) return rest
      return within(rest, ms, () => {
        const error = RequestTimeoutError(`${req.method} ${req.route ?? req.path} did not answer within ${ms} ms`)
        req.abort(error)
        throw error
      })
    })
  },
})
