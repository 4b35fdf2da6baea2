import { type ApiDoc, defineMiddleware, definePlugin, type Handler, type Middleware, router, Server } from 'framework'
import type { Equal, Expect } from './expect.ts'

const user = defineMiddleware<{ user: { id: string } }>((req, res, next) => {
  if (req.headers.authorization === undefined) return res.unauthorized()
  req.user = { id: 'x' }
  return next()
})
router.get('/a/:id/:x?', (req) => {
  const id: string = req.params.id
  const x: string | undefined = req.params.x
  // @ts-expect-error no such parameter
  req.params.nope
  return { id, x }
})
router.get('/f/*', { middlewares: [user, (req, res, next) => next()] }, (req, res) => {
  const s: string = req.params['*']
  const id: string = req.user.id
  res.ok({ s, id })
})
router.group('/g', [user], (r) => {
  r.get('/:z', (req) => req.user.id + req.params.z)
})
router.get('/old', user, (req) => req.user.id, { summary: 'x' })
// @ts-expect-error not typed without the middleware
router.get('/b', (req) => req.user.id)
class Audit {
  n = 1
}
const audit = definePlugin({
  name: 'audit',
  provide: (o: { keep: number }) => ({ audit: new Audit(), k: o.keep }),
  setup(ctx, o) {
    ctx.use((req, res, next) => {
      req.headers
      return next()
    })
    o.keep
  },
})
const s = new Server({ plugins: [audit({ keep: 2 }), (req, res, next) => next(), user] })
const n: number = s.services.audit.n
s.use(user, (req, res, next) => next())
// @ts-expect-error a middleware at least
s.use()
// @ts-expect-error one at a time, and options
s.register(audit({ keep: 1 }), audit({ keep: 2 }))
// @ts-expect-error one at a time, and options
s.register(audit({ keep: 1 }), user)
// @ts-expect-error no such option
s.register(audit({ keep: 1 }), { prefx: '/a' })
// @ts-expect-error one list of middlewares
router.group('/g', [user], [user], () => {})
// @ts-expect-error one middleware
defineMiddleware((req, res, next) => next(), user)
definePlugin({
  name: 'scope',
  // @ts-expect-error no such option of routes
  routeOptions: ['polciy'],
  setup(ctx) {
    ctx.use(user, (req, res, next) => next())
    // @ts-expect-error one at a time, and options
    ctx.register(audit({ keep: 1 }), user)
  },
})
// @ts-expect-error services are made at once: connect in setup
definePlugin({ name: 'late', provide: async () => ({ db: 1 }) })
// @ts-expect-error options are required
audit()
// @ts-expect-error wrong key
new Server({ plugins: { corz: {} } })
new Server({ plugins: { cors: {}, json: { sizeLimit: '1mb' }, log: true, audit: audit({ keep: 1 }) } }).services.audit.n
// @ts-expect-error wrong option type
new Server({ plugins: { json: { sizeLimit: true } } })
const t = new Server([audit({ keep: 1 }), (req, res, next) => next()])
t.services.audit.n
export { n }

// Every server is a Server, whatever its plugins provide.
const servers: Server[] = [
  new Server(),
  new Server({ port: 0 }),
  new Server({ plugins: { json: { sizeLimit: '1mb' } } }),
  new Server({ plugins: [audit({ keep: 1 })] }),
  new Server([audit({ keep: 1 })]),
]
const audited: Server<{}, { audit: Audit }> = new Server({ plugins: { audit: audit({ keep: 1 }) } })
// @ts-expect-error audit is not provided
const unaudited: Server<{}, { audit: Audit }> = servers[0]!
export { audited, servers, unaudited }

router.group('/teams/:team', (teams) => {
  teams.get('/:member?', (req) => {
    type _team = Expect<Equal<typeof req.params.team, string>>
    type _member = Expect<Equal<typeof req.params.member, string | undefined>>
    // @ts-expect-error no part of the path
    return req.params.other
  })
  teams.group('/files', [user], (files) => {
    files.get('/*', (req) => {
      type _all = Expect<Equal<[typeof req.params.team, (typeof req.params)['*']], [string, string]>>
      return req.params.team
    })
  })
})

// A handler of a declared type says nothing about the options of its route: those are checked nevertheless.
declare const handler: Handler
declare const apidoc: ApiDoc
router.get('/declared', { apidoc, rateLimit: false }, handler)
// @ts-expect-error no such option
router.get('/declared-2', { apidocs: apidoc }, handler)
// @ts-expect-error `true` is not a rule
router.get('/declared-3', { rateLimit: true }, handler)

// What was thrown is taken as an error, as `unknown`, or as the class that the application throws.
class HttpError extends Error {
  readonly status: number = 418
}
const failing = new Server()
failing.setErrorHandler((_req, res, _next, error) => {
  type _code = Expect<Equal<typeof error.code, unknown>>
  return res.status(typeof error.status === 'number' ? error.status : 500).json({ message: error.message })
})
failing.setErrorHandler((_req, _res, _next, error: Error) => error.stack)
failing.setErrorHandler((_req, _res, _next, error: unknown) => String(error))
failing.setErrorHandler((_req, res, _next, error: HttpError) => res.status(error.status).json({}))
failing.setErrorHandler((_req, res, _next, error) => res.text((error as { code: string }).code))
// @ts-expect-error a number is not thrown on purpose
failing.setErrorHandler((_req, _res, _next, error: number) => error)

// A group's middlewares know its parameters, and those of the groups around it.
router.group('/shops/:shop', [user, (req, _res, next) => next(req.params.shop === 'x' ? 1 : undefined)], (shop) => {
  shop.group(
    '/items/:item',
    [
      (req, _res, next) => {
        type _params = Expect<Equal<typeof req.params, { readonly shop: string; readonly item: string }>>
        // @ts-expect-error no such parameter
        req.params.itm
        return next()
      },
    ],
    (item) => item.get('/', (req) => req.params.shop + req.params.item + req.user.id),
  )
})
// So does a plugin that names its prefix.
definePlugin({
  name: 'shop',
  prefix: '/shops/:shop',
  setup(ctx) {
    ctx.get('/items/:item', (req) => {
      type _params = Expect<Equal<typeof req.params, { readonly shop: string; readonly item: string }>>
    })
    // @ts-expect-error no such parameter
    ctx.get('/', (req) => req.params.shp)
  },
})

// Only a step that certainly runs proves anything.
declare const isOpen: boolean
declare const guards: readonly Middleware[]
// @ts-expect-error perhaps no step has checked the user
router.get('/perhaps', isOpen ? [] : [user], (req) => req.user.id)
// @ts-expect-error nor here
router.get('/perhaps', { middlewares: isOpen ? [] : [user] }, (req) => req.user.id)
// @ts-expect-error nor with a spread
router.get('/perhaps', { middlewares: [...(isOpen ? [] : [user])] }, (req) => req.user.id)
// @ts-expect-error nor with one of two
router.get('/perhaps', { middlewares: [isOpen ? user : (_req, _res, next) => next()] }, (req) => req.user.id)
router.get('/certain', { middlewares: [...guards, user] }, (req) => req.user.id)
const certain = [user] as const
router.get('/certain', { middlewares: certain }, (req) => req.user.id)
