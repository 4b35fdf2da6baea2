import { definePlugin, type Request, type Response } from '../../kernel/index.ts'
import { warnOfWeak } from '../shared/environment/secrets.ts'
import { CookieCodec, type Cookies } from './codec.ts'
import { type CookieSettings, cookieOptions } from './options.ts'

/** The cookies of one request, parsed when they are first read. */
class Jar {
  readonly codec: CookieCodec
  readonly #header: string | undefined
  #cookies: Cookies | undefined
  #signed: Cookies | undefined

  constructor(req: Request, codec: CookieCodec) {
    this.codec = codec
    this.#header = req.raw.header('cookie')
  }

  get cookies(): Cookies {
    this.#cookies ??= this.codec.parse(this.#header)
    return this.#cookies
  }

  get signed(): Cookies {
    this.#signed ??= this.codec.verified(this.cookies)
    return this.#signed
  }
}

const jar = Symbol('cookies')
type WithJar = Request & { [jar]?: Jar }

/**
 * Reads, sets, signs and clears cookies: `req.cookies`, `req.signedCookies`, `res.cookie` and `res.clearCookie`.
 *
 * Cookies are parsed only when first read, so a request that reads none has no cost. Signatures cover the name as well as the value.
 *
 * @example
 * const server = new Server({ plugins: { cookie: { secret: process.env.COOKIE_SECRET! } } })
 * server.post('/theme/:name', (req, res) => {
 *   res.cookie('theme', req.params.name!, { signed: true, maxAge: 30 * 24 * 3600 }).noContent()
 * })
 * server.get('/theme', (req) => req.signedCookies.theme ?? 'light')
 */
export const cookie = definePlugin({
  name: 'cookie',
  access: false,
  options: cookieOptions,
  doctor: async () =>
    (await import('../shared/doctor/secrets.ts')).secretChecks(
      'cookie',
      (settings: CookieSettings) => settings.secrets,
    ),
  provide: (settings) => ({ cookie: new CookieCodec(settings) }),
  setup(ctx, { secrets }) {
    const codec = ctx.services.get('cookie')
    warnOfWeak('cookie.secret', secrets, ctx.log)
    const { services } = ctx.server
    if (ctx.services !== services) {
      ctx.use(function cookie(req: WithJar, _res, next) {
        req[jar] = new Jar(req, codec)
        return next()
      })
    }

    // Whichever scope adds these members, all requests of the server have them.
    const outer = services.find('cookie') ?? codec
    const jarOf = (req: WithJar): Jar => {
      req[jar] ??= new Jar(req, outer)
      return req[jar]
    }
    ctx.decorate('request', {
      cookies: {
        get() {
          return jarOf(this).cookies
        },
      },
      signedCookies: {
        get() {
          return jarOf(this).signed
        },
      },
      cookie: {
        value: function cookie(this: Request, name: string) {
          return jarOf(this).cookies[name]
        },
      },
    })
    // A response has a reference to its request, which the interface does not declare.
    const requestOf = (res: Response) => (res as Response & { readonly request: Request }).request
    ctx.decorate('response', {
      cookie: {
        value: function cookie(this: Response, ...[name, value, attributes]: Parameters<Response['cookie']>) {
          const req = requestOf(this)
          jarOf(req).codec.set(req, this, name, value, attributes)
          return this
        },
      },
      clearCookie: {
        value: function clearCookie(this: Response, ...[name, attributes]: Parameters<Response['clearCookie']>) {
          const req = requestOf(this)
          jarOf(req).codec.clear(req, this, name, attributes)
          return this
        },
      },
    })
  },
})
