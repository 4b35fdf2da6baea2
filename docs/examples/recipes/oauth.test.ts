import { RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './oauth.ts'

// A provider on loopback: it lets everyone in at once, and gives each code once.
const codes = new Map<string, string>()
const routes = new RouteCollection()
routes.get('/authorize', (req, res) => {
  const { redirect_uri, state, code_challenge } = req.query as Record<string, string>
  codes.set('a-code', code_challenge!)
  return res.redirect(`${redirect_uri}?code=a-code&state=${state}`)
})
routes.post('/token', async (req, res) => {
  const { code, code_verifier, client_secret } = req.body as Record<string, string>
  const { createHash } = await import('node:crypto')
  const isRight = codes.get(code!) === createHash('sha256').update(code_verifier!).digest('base64url')
  codes.delete(code!)
  return isRight && client_secret === 'of the client' ? { access_token: 'a-token' } : res.badRequest()
})
routes.get('/user', (req, res) =>
  req.headers.authorization === 'Bearer a-token' ? { sub: '7', email: 'ada@example.org' } : res.unauthorized(),
)
const provider = new Server({ router: routes, port: 0, host: '127.0.0.1', plugins: { urlencoded: true } })
let server: ReturnType<typeof makeServer>
beforeAll(async () => {
  await provider.listen()
  const urls = { authorizeUrl: '/authorize', tokenUrl: '/token', userUrl: '/user' }
  const addresses = Object.fromEntries(Object.entries(urls).map(([name, path]) => [name, provider.url + path]))
  server = makeServer(
    { clientId: 'shop', clientSecret: 'of the client', ...(addresses as typeof urls) },
    { origin: 'http://shop.example.org', secret: 'a secret of thirty-two characters' },
  )
})
afterAll(() => Promise.all([server.close(), provider.close()]))

/** Begins a log-in, as a browser does. */
async function begin() {
  const begun = (await server.inject.get('/login')).assertStatus(302)
  const allowed = await fetch(String(begun.headers().location), { redirect: 'manual' })
  const back = new URL(allowed.headers.get('location')!)
  return { cookies: begun.cookies(), path: back.pathname + back.search }
}

test('a visitor comes back from the provider and is known', async () => {
  const { cookies, path } = await begin()
  const done = (await server.inject.get(path, { cookies })).assertStatus(302)
  const home = await server.inject.get('/', { cookies: done.cookies() })
  home.assertStatus(200).assertBodyDeepEqual({ user: '7' })
})

test('an answer that this browser has not asked for is refused', async () => {
  const { cookies, path } = await begin()
  ;(await server.inject.get(path)).assertStatus(400).assertBodySubset({ code: 'LoginNotBegunError' })
  const forged = path.replace(/state=[^&]+/, 'state=forged')
  ;(await server.inject.get(forged, { cookies })).assertStatus(400)
  const other = await begin()
  const refused = other.path.replace('code=a-code', 'error=access_denied')
  ;(await server.inject.get(refused, { cookies: other.cookies })).assertStatus(401)
})

test('while the provider is away, a log-in is a 502 that says so', async () => {
  const { cookies, path } = await begin()
  codes.clear()
  const res = await server.inject.get(path, { cookies })
  res.assertStatus(502).assertBodySubset({ code: 'LoginUnavailableError' })
  expect(res.headers().location).toBeUndefined()
})
