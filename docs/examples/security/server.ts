import { PolicyManager, RouteCollection, Server } from 'framework'

interface User {
  readonly id: string
}

const policies = new PolicyManager(
  { site: { member: (user?: User) => user !== undefined } },
  // Stands in for the session of the guide to authentication.
  { user: (req) => (req.headers['x-user'] === undefined ? undefined : { id: req.headers['x-user'] }) },
)
const member = { manager: policies, scope: 'site', handler: 'member' } as const

const PublicUser = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' } },
  required: ['id', 'name'],
} as const

export const routes = new RouteCollection()
routes.get('/', () => ({ shop: 'open' }))
routes.post('/login', { rateLimit: { limit: 10, windowMs: 900_000 } }, (_req, res) => res.noContent())
routes.get('/users/:id', { policy: member, responses: { 200: PublicUser } }, (req) => {
  const row = { id: req.params.id, name: 'Ada', password: 'hash', mail: 'ada@example.org' }
  return row
})
routes.group('/admin', [policies.guard('site', 'member')], (admin) => {
  admin.get('/stats', () => 'numbers')
})

export function makeServer() {
  return new Server({
    router: routes,
    plugins: {
      helmet: true,
      rateLimit: { limit: 300 },
      json: { sizeLimit: '20kb' },
      health: true,
    },
  })
}
