import { definePlugin, type Request, type Response } from '../../kernel/index.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { type HeaderSets, noHeaders } from './headers.ts'
import { helmetOfRoute, helmetOptions } from './options.ts'

/**
 * Sets the security headers of the `helmet` package on every response, including 404, 405, refused requests and failures.
 *
 * The policy has `upgrade-insecure-requests` if the request came over https. The route option `helmet` replaces the options; `false`: none.
 *
 * @example
 * new Server({ plugins: { helmet: { xFrameOptions: { action: 'deny' } } } })
 */
export const helmet = definePlugin({
  name: 'helmet',
  access: false,
  options: helmetOptions,
  routeOptions: { helmet: helmetOfRoute },
  setup(ctx, ofServer) {
    const ofRoutes = new RouteValue<HeaderSets>()
    ctx.onRoute((route) => {
      const own = route.settings.helmet
      ofRoutes.set(route, own === false ? noHeaders : own)
    })

    const setOf = (req: Request) => (ofRoutes.of(req) ?? ofServer)[req.protocol]
    const apply = ({ fixed, dynamic }: HeaderSets['http'], req: Request, res: Response) => {
      res.setHeaders(fixed)
      dynamic?.(req, res)
    }

    ctx.use(function helmet(req, res, next) {
      apply(setOf(req), req, res)
      return next()
    })

    // Handles requests that failed or got a response before the middleware above ran. A header that a handler removed stays removed.
    ctx.onSend(function helmetOnSend(req, res) {
      const set = setOf(req)
      if (set.names.every((name) => res.getHeader(name) === undefined)) apply(set, req, res)
    })
  },
})
