import { type Request, router, Server } from 'framework'
import { type Hit, type RateLimitStore, rateLimit } from 'framework/plugins/rateLimit'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { rateLimit: true } })
new Server({ plugins: { rateLimit: { limit: 5, store: { redis: { url: 'redis://localhost', tls: {} } } } } })
rateLimit({
  limit: 5,
  key: (req) => {
    type _req = Expect<Equal<typeof req, Request>>
    return req.headers['x-key']
  },
  skip: async (req) => req.path === '/free',
})
const store: RateLimitStore = {
  hit: (key: string, windowMs: number): Hit => ({ count: key.length, resetMs: windowMs }),
}
rateLimit({ store })
router.get('/login', { rateLimit: { limit: 5, windowMs: 1_000, statusCode: 420 } }, () => 1)
router.get('/free', { rateLimit: false }, () => 1)
// @ts-expect-error a route cannot count elsewhere
router.get('/other', { rateLimit: { store } }, () => 1)
// @ts-expect-error the server's limit holds anyway
router.get('/same', { rateLimit: true }, () => 1)
// @ts-expect-error a key is text
rateLimit({ key: () => 5 })
rateLimit({ store: 'redis' })
// @ts-expect-error no such store
rateLimit({ store: 'valkey' })
// @ts-expect-error no such option
new Server({ plugins: { rateLimit: { max: 5 } } })
rateLimit({ windows: [{ limit: async () => 5, windowMs: 1_000, burst: 3 }], cost: ({ path }) => path.length })
rateLimit({ subject: { limit: ({ user }) => Object.keys(user).length, cost: 2 } })
router.get('/export', { rateLimit: { subject: { cost: 10 } } }, () => 1)
router.get('/none', { rateLimit: { subject: false } }, () => 1)
// @ts-expect-error the caller is not known before auth
rateLimit({ limit: ({ user }) => user.id })
// @ts-expect-error a limit is a number
rateLimit({ limit: () => '5' })
// @ts-expect-error a window has a length
rateLimit({ windows: [{ limit: 5 }] })
