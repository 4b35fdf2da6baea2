import { definePlugin, type Request, type Response, RouteValue } from '../../kernel/index.ts'
import { type HeaderSets, headersOf, noHeaders } from './headers.ts'
import type { HelmetOptions } from './options.ts'

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
  routeOptions: { helmet: (given: unknown) => given },
  async setup(ctx, options: HelmetOptions = {}) {
    // Not on import: a server without it should not load it.
    const library = await import('helmet')
    const ofServer = headersOf(library, options)
    const ofRoutes = new RouteValue<HeaderSets>()
    ctx.onRoute((route) => {
      const own: unknown = route.options.helmet
      if (own === undefined) return
      ofRoutes.set(route, own === false ? noHeaders : headersOf(library, own as HelmetOptions))
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

    // Who failed or answered before the middleware above had its turn is covered here. What a handler has removed stays away.
    ctx.onSend(function helmetOnSend(req, res) {
      const set = setOf(req)
      const last = set.names.at(-1)
      if (last === undefined || res.getHeader(last) !== undefined) return
      if (set.names.every((name) => res.getHeader(name) === undefined)) apply(set, req, res)
    })
  },
})
