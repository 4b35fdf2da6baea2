import { type Request, router, Server } from 'framework'
import {
  type AuthSubject,
  apiKey,
  auth,
  basic,
  bearer,
  type IssuedTicket,
  jwt,
  memoryTickets,
  session,
  tickets,
  tokens,
} from 'framework/plugins/auth'
import type { Equal, Expect } from './expect.ts'

declare const ada: AuthSubject

// A route that requires a caller has one, and the others may not.
router.get('/', { auth: 'required' }, (req) => {
  type _ = Expect<Equal<typeof req.user, AuthSubject>>
})
router.get('/scoped', { auth: { scopes: ['read'] } }, (req) => req.user satisfies AuthSubject)
// @ts-expect-error there is no such mode
router.get('/wrong', { auth: 'always' }, () => '')
// @ts-expect-error a misspelt member
router.get('/wrong', { auth: { scope: ['read'] } }, () => '')
// @ts-expect-error `true` is not a mode
router.get('/wrong', { auth: true }, () => '')

const schemes = {
  token: bearer((token, req) => (token === 'a' && req.ip !== '' ? ada : undefined)),
  staff: basic(async (name, password) => (name === password ? ada : null)),
  keys: apiKey({ prefix: 'shop', find: (id) => ({ hash: id, subject: ada }) }),
  login: jwt({ algorithms: ['ES256'], issuer: 'a', audience: 'b', jwks: 'https://a.example/keys', subject: () => ada }),
  web: session((id: string) => (id === '' ? undefined : ada)),
  own: tokens({ secret: 'a', issuer: 'a' }),
  sockets: tickets({
    find: (id: number, req) => (id === 7 && req.ip !== '' ? ada : undefined),
    store: memoryTickets(),
  }),
}
const server = new Server({ plugins: { auth: { schemes, default: 'optional', unmatched: false } } })
new Server({ plugins: [auth({ schemes })] })
// @ts-expect-error there must be schemes
new Server({ plugins: { auth: {} } })
// @ts-expect-error `true` names no scheme
new Server({ plugins: { auth: true } })
// @ts-expect-error algorithms are required
jwt({ issuer: 'a', audience: 'b', secret: 'c' })
// @ts-expect-error `none` is not an algorithm
jwt({ algorithms: ['none'], issuer: 'a', audience: 'b', secret: 'c' })
// @ts-expect-error an audience is required
jwt({ algorithms: ['HS256'], issuer: 'a', secret: 'c' })
// @ts-expect-error a key is found by the application
apiKey({ prefix: 'shop' })

server.post('/login', { auth: false }, async (req) => {
  await schemes.web.logIn(req, 'ada')
  // @ts-expect-error the function of the scheme takes a string
  await schemes.web.logIn(req, 7)
})
async function keyOf(req: Request) {
  return (await req.server.services.get('auth').subject(req)) satisfies AuthSubject | undefined
}
void keyOf

router.post('/ticket', async (req) => (await schemes.sockets.issue(req, { path: '/live' })) satisfies IssuedTicket)
// @ts-expect-error the caller is found by the application
tickets({})
// @ts-expect-error an id is a string or a number
tickets({ find: (id: Date) => (id.getTime() === 0 ? ada : undefined) })
// @ts-expect-error a store has `take` as well
tickets({ find: () => ada, store: { put: () => {} } })
// @ts-expect-error a misspelt member
router.post('/ticket', (req) => schemes.sockets.issue(req, { paths: '/live' }))

export async function signOut() {
  const service = server.services.get('auth')
  await service.disconnect({ id: 7 })
  await service.disconnect({ sub: 'ada' })
  // @ts-expect-error an id or sub
  await service.disconnect({ user: 'ada' })
}
