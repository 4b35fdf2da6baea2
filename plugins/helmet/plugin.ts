import { definePlugin, type Request, type Response } from '../../kernel/index.ts'
import { RouteValue } from '../toolkit/route-value.ts'
import { type HeaderSets, noHeaders } from './headers.ts'
import { helmetOfRoute, helmetOptions } from './options.ts'

/**
 * Sets the security headers of the `helmet` package on every answer: 404, 405, refused requests and failures too.
 *
 * Its policy has `upgrade-insecure-requests` where the request came by https. The route option `helmet` takes options in place of the server's, or `false` for none.
 *
 * @example
 * new Server({ plugins: { helmet: { xFrameOptions: { action: 'deny' } } } })
 */
export const helmet = definePlugin({
  name: 'helmet',
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

    // Covers requests that failed or were answered before the middleware above ran. A header that a handler has removed stays removed.
    ctx.onSend(function helmetOnSend(req, res) {
      const set = setOf(req)
      const last = set.names.at(-1)
      if (last === undefined || res.getHeader(last) !== undefined) return
      if (set.names.every((name) => res.getHeader(name) === undefined)) apply(set, req, res)
    })
  },
})
