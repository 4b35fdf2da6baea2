import { definePlugin, forResource, PolicyManager, proves, router, Server } from 'framework'
import { auth, bearer } from 'framework/plugins/auth'

declare module 'framework' {
  interface AuthSubject {
    id: string
    role?: 'admin' | 'member'
  }
}

// The caller has its type wherever a request is.
definePlugin({
  name: 'audit',
  setup: (ctx) =>
    ctx.use((req, _res, next) => {
      req.log.info({ id: req.user?.id })
      req.log.info({ id: req.user.id })
      //! 'req.user' is possibly 'undefined'
      return next()
    }),
})
const server = new Server({
  plugins: {
    auth: { schemes: { token: bearer((token) => ({ id: token })) } },
    graphql: { apolloOptions: { context: ({ req }) => ({ role: req.user?.role, rol: req.user?.rol }) } },
    //! Property 'rol' does not exist on type 'AuthSubject'
    rateLimit: { subject: { limit: ({ user }) => (user?.role === 'admin' ? 100 : 10) } },
  },
})
server.use((req, res, next) => (req.user?.role === 'admin' ? next() : res.forbidden()))
router.group('/rooms', [(req, _res, next) => (req.user?.id === '' ? undefined : next())], (rooms) => {
  rooms.get('/', (req) => req.user?.id.length)
  rooms.get('/mine', { auth: 'required' }, (req) => req.user.id.length)
  rooms.get('/:id', (req) => req.user.id)
  //! 'req.user' is possibly 'undefined'
})
router.ws('/live', { data: (req) => req.user?.role, message: (socket) => socket.data?.length })
router.ws('/own', { auth: 'required' }, { data: (req) => ({ id: req.user.id, name: req.user.name }) })
//! Property 'name' does not exist on type 'AuthSubject'
auth({ schemes: { token: bearer((token) => ({ name: token })) } })
//! is not assignable to type

// Checks of policies receive it too, without a type of their own.
const policies = new PolicyManager({
  site: {
    admin: (user) => user?.role === 'admin',
    own: (user, { params }: { params: { id?: string } }) => user?.id === params.id,
    staff: async (user) => user?.role !== undefined,
    open: () => true,
    member: (user) => user !== undefined,
    proven: proves<{ tenant: string }>((user) => user !== undefined),
    other: (user?: { id: string; role?: string }) => user?.role === 'x',
  },
  posts: {
    edit: forResource((user: { id: string } | undefined, post: { author: string }) => user?.id === post.author),
  },
})
new PolicyManager({ posts: { own: forResource((user: number, post: { author: number }) => user === post.author) } })
router.get('/m', { policy: { manager: policies, scope: 'site', handler: 'member' } }, (req) => req.user.id.length)
policies.canAccess('site', 'admin', { id: 'ann', role: 'admin' })
policies.canAccess('site', 'admin', { id: 1 })
//! Type 'number' is not assignable to type 'string'

new PolicyManager({
  site: {
    admin: (user) => user.role === 'admin',
    //! 'user' is possibly 'undefined'
    owner: (user) => user?.role === 'owner',
    //! This comparison appears to be unintentional because the types
    text: (user) => user?.id,
    //! Type 'string | undefined' is not assignable to type 'boolean | Promise<boolean>'
    number: (user: number) => user === 1,
    //! Type '(user: number) => user is 1' is not assignable to type '(user: AuthSubject | undefined, ...args: unknown[])
    flag: true,
    //! Type 'boolean' is not assignable to type 'Function'
  },
})
new PolicyManager({ site: { guest: () => true, free: (user: { id: string }) => user.id !== 'eve' } })
//! Type '(user: { id: string; }) => boolean' is not assignable to type
new PolicyManager({ admin: () => true })
//! Type '() => boolean' is not assignable to type

// With options the manager may have another user.
new PolicyManager({ site: { known: (user?: number) => user === 1 } }, { user: () => 1 })
new PolicyManager({ site: { known: (user) => user.id === 1 } }, { user: () => 1 })
//! 'user' is of type 'unknown'
new PolicyManager({ site: { known: () => 'yes' } }, { timeout: 100 })
//! Type '() => string' is not assignable to type '(user: unknown, ...args: unknown[]) => boolean | Promise<boolean>'
new PolicyManager({ site: { known: () => true } }, { timeoutt: 100 })
//! 'timeoutt' does not exist in type
