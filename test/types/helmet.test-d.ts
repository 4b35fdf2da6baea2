import { type Request, type Response, router, Server } from 'framework'
import { type HelmetOptions, helmet } from 'framework/plugins/helmet'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { helmet: true } })
new Server({
  plugins: { helmet: { hsts: { maxAge: 1, preload: true }, noSniff: false, frameguard: { action: 'deny' } } },
})
helmet({
  contentSecurityPolicy: {
    directives: {
      'script-src': [
        "'self'",
        (req, res) => {
          type _req = Expect<Equal<typeof req, Request>>
          type _res = Expect<Equal<typeof res, Response>>
          return `'nonce-${req.id}-${res.statusCode}'`
        },
      ],
      'img-src': null,
      'font-src': 'https://fonts.test',
    },
  },
})
const options: HelmetOptions = { crossOriginEmbedderPolicy: { policy: 'credentialless' } }
helmet(options)
router.get('/docs', { helmet: { contentSecurityPolicy: false } }, () => 1)
router.get('/raw', { helmet: false }, () => 1)
// @ts-expect-error a route has the server's headers by default
router.get('/same', { helmet: true }, () => 1)
// @ts-expect-error no such policy
helmet({ crossOriginOpenerPolicy: { policy: 'anything' } })
// @ts-expect-error a source is text
helmet({ contentSecurityPolicy: { directives: { 'script-src': [5] } } })
// @ts-expect-error no such option
new Server({ plugins: { helmet: { contentSecurityPolcy: false } } })
