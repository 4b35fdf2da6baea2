import { definePlugin, forResource, PolicyManager, RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'

interface User {
  id: string
  admin: boolean
}

const users: { readonly [token: string]: User } = { ada: { id: '1', admin: true }, bob: { id: '2', admin: false } }
const policies = new PolicyManager(
  {
    site: {
      admin: (user?: User) => user?.admin === true,
      slow: async (user?: User) => user !== undefined,
      broken: (): boolean => {
        throw new Error('no database')
      },
    },
    posts: { edit: forResource((user: User | undefined, post: { author: string }) => user?.id === post.author) },
  },
  { user: (req) => users[req.headers.authorization ?? ''] },
)
const makeServer = () => new Server({ router: new RouteCollection(), plugins: { log: { level: 'silent' } } })
const as = (token: string) => ({ headers: { authorization: token } })

test('a group is guarded, later registrations as well', async () => {
  const server = makeServer()
  server.group('/admin', [policies.guard('site', 'admin', { status: 'byUser' })], (admin) => {
    admin.get('/stats', () => 'numbers')
    admin.post('/stats', { body: { type: 'object', required: ['n'] } }, () => 'counted')
  })
  server.get('/open', () => 'open')
  const { inject } = server
  ;(await inject.get('/admin/stats')).assertStatus(401).assertBodyDeepEqual({ error: 'Unauthorized' })
  ;(await inject.get('/admin/stats', as('bob'))).assertStatus(403).assertBodyDeepEqual({ error: 'Forbidden' })
  ;(await inject.get('/admin/stats', as('ada'))).assertStatus(200).assertBodyDeepEqual('numbers')
  // A caller that may not enter learns nothing about the schema.
  ;(await inject.post('/admin/stats', as('bob'))).assertStatus(403)
  ;(await inject.get('/open')).assertStatus(200)
  expect(server.explain('GET', '/admin/stats').steps.map(({ name }) => name)).toContain('policy(site.admin)')
})

test('a plugin and a whole server are guarded', async () => {
  const shop = definePlugin({
    name: 'shop',
    setup(ctx) {
      ctx.use(policies.guard('site', 'slow'))
      ctx.get('/orders', () => [])
    },
  })
  const server = makeServer()
  server.register(shop(undefined, { prefix: '/shop' }))
  server.get('/', () => 'home')
  ;(await server.inject.get('/shop/orders')).assertStatus(401)
  ;(await server.inject.get('/shop/orders', as('bob'))).assertStatus(200)
  ;(await server.inject.get('/')).assertStatus(200)

  const closed = makeServer()
  closed.use(policies.guard('site', 'admin'))
  closed.get('/', () => 'home')
  ;(await closed.inject.get('/', as('bob'))).assertStatus(401)
  ;(await closed.inject.get('/nowhere')).assertStatus(401)
})

test('the handler for refused requests responds; a check that throws denies', async () => {
  const server = makeServer()
  server.setPolicyErrorHandler((req, res) => res.status(403).json({ refused: req.path }))
  server.group('/a', [policies.guard('site', 'broken')], (group) => group.get('/b', () => 'in'))
  ;(await server.inject.get('/a/b', as('ada'))).assertStatus(403).assertBodyDeepEqual({ refused: '/a/b' })
})

test('a name that does not exist, and a check for a resource, fail where they are written', () => {
  expect(() => policies.guard('site', 'admn' as 'admin')).toThrow('Did you mean "admin"?')
  expect(() => policies.guard('posts', 'edit' as never)).toThrow('canAccess')
  expect(() => policies.guard('site', 'admin', { status: 404 as 403 })).toThrow('"guard.status" is 404')
  expect(() => policies.guard('site', 'admin', { stauts: 403 } as {})).toThrow('Unknown option "guard.stauts"')
})

test('a user that is a promise which can be called is waited for, and is not a user', async () => {
  const promise = (value: unknown) =>
    // biome-ignore lint/suspicious/noThenProperty: as libraries for remote calls make them
    Object.assign(() => {}, { then: (resolve: (value: unknown) => void) => resolve(value) })
  const manager = new PolicyManager(
    { site: { member: (user: unknown) => user !== undefined } },
    { user: (req) => promise(req.headers.authorization) },
  )
  const server = makeServer()
  server.get('/', { policy: { manager, scope: 'site', handler: 'member' } }, () => promise('in'))
  ;(await server.inject.get('/')).assertStatus(401)
  ;(await server.inject.get('/', as('ada'))).assertStatus(200).assertBodyDeepEqual('in')
})
