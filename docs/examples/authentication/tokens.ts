import { RouteCollection, Server } from 'framework'
import { type JwtOptions, jwt } from 'framework/plugins/auth'

const issuer = 'https://login.example.org'
const audience = 'https://orders.example.org'

/** `jwks` is the https address of the issuer's keys; tests pass the keys themselves. */
export function makeApi(jwks: JwtOptions['jwks']) {
  const login = jwt({
    algorithms: ['ES256', 'RS256', 'EdDSA'],
    issuer,
    audience,
    jwks,
    subject: ({ sub }) => ({ id: sub! }),
  })
  const router = new RouteCollection()
  router.get('/orders', { auth: { scopes: ['orders:read'] } }, (req) => ({ for: req.user.id }))
  router.post('/orders', { auth: { scopes: ['orders:write'] } }, () => 'ordered')
  return new Server({ router, plugins: { auth: { schemes: { login } } } })
}
