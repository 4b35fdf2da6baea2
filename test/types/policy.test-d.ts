import {
  defineMiddleware,
  forResource,
  PolicyManager,
  type PolicyRequirement,
  proves,
  type Request,
  RouteCollection,
  router,
  Server,
} from 'framework'
import type { Equal, Expect } from './expect.ts'

interface User {
  id: string
  admin: boolean
}
interface Post {
  author: string
}

const policies = new PolicyManager(
  {
    posts: {
      read: () => true,
      edit: (user: User | undefined, post: Post) => user?.id === post.author,
      audit: async (user?: User) => user?.admin === true,
    },
    site: { admin: (user: User) => user.admin },
  },
  { user: async (req) => req.headers.authorization, timeout: 100 },
)
const others = new PolicyManager({ billing: { pay: (user) => user !== undefined } })
const ann: User = { id: 'ann', admin: false }

export type Checks = [
  Expect<Equal<ReturnType<typeof policies.canAccess<'site', 'admin'>>, Promise<boolean>>>,
  Expect<Equal<Parameters<typeof policies.canAccess<'posts', 'edit'>>[0], 'posts'>>,
]

policies.canAccess('posts', 'edit', ann, { author: 'ann' })
policies.canAccess('posts', 'read')
policies.canAccess('posts', 'read', ann)
policies.canAccess('posts', 'audit', ann)
others.canAccess('billing', 'pay', ann)
// @ts-expect-error no such scope
policies.canAccess('post', 'edit', ann, { author: 'ann' })
// @ts-expect-error a check of another scope
policies.canAccess('posts', 'admin', ann)
// @ts-expect-error not a user
policies.canAccess('site', 'admin', { id: 1 })
// @ts-expect-error the post is missing
policies.canAccess('posts', 'edit', ann)

// @ts-expect-error a check returns a boolean
new PolicyManager({ posts: { read: () => 'yes' } })
// @ts-expect-error a check is a function
new PolicyManager({ posts: { read: true } })
// @ts-expect-error checks stand in scopes
new PolicyManager({ read: () => true })
// @ts-expect-error no such option
new PolicyManager({}, { subject: () => 1 })

router.get('/types/p1', { policy: { manager: policies, scope: 'posts', handler: 'read' } }, () => 1)
router.get(
  '/types/p2/:id',
  {
    policy: [
      { manager: policies, scope: 'posts', handler: 'audit' },
      { manager: others, scope: 'billing', handler: 'pay' },
    ],
  },
  (req) => req.params.id,
)
// @ts-expect-error no such scope
router.get('/types/p3', { policy: { manager: policies, scope: 'post', handler: 'read' } }, () => 1)
// @ts-expect-error no such check
router.post('/types/p4', { policy: { manager: policies, scope: 'posts', handler: 'raed' } }, () => 1)
// @ts-expect-error a check of another scope
router.put('/types/p5', { policy: { manager: policies, scope: 'site', handler: 'read' } }, () => 1)
const mixed = [
  { manager: policies, scope: 'site', handler: 'admin' },
  { manager: policies, scope: 'billing', handler: 'pay' },
] as const
// @ts-expect-error the second one is of another manager
router.get('/types/p6', { policy: mixed }, () => 1)
// @ts-expect-error without a manager
router.get('/types/p7', { policy: { scope: 'posts', handler: 'read' } }, () => 1)
// @ts-expect-error something else than a manager
router.get('/types/p8', { policy: { manager: {}, scope: 'posts', handler: 'read' } }, () => 1)
// @ts-expect-error no such member
router.get('/types/p9', { policy: { manager: policies, scope: 'posts', handler: 'read', args: [] } }, () => 1)

// A check about a resource: the request would stand in its place.
const resources = new PolicyManager({
  posts: {
    edit: (user: User | undefined, post: Post) => user?.id === post.author,
    move(user: User | undefined, post: Post) {
      return user?.id === post.author
    },
    marked: forResource((user: User | undefined, post: Post) => user?.id === post.author),
    many: (user: User | undefined, ...posts: Post[]) => posts.every((post) => user?.id === post.author),
    own: (user: User | undefined, { params }: Pick<Request, 'params'>) => user?.id === params.id,
    either: (_user: unknown, req?: Request) => req?.ip === '127.0.0.1',
    untyped: (user) => user !== undefined,
  },
})
const ask = resources.createDecorator()
router.get('/types/r1', { policy: { manager: resources, scope: 'posts', handler: 'own' } }, () => 1)
router.get('/types/r2', { policy: { manager: resources, scope: 'posts', handler: 'either' } }, () => 1)
router.get('/types/r3', { policy: [{ manager: resources, scope: 'posts', handler: 'untyped' }] }, () => 1)
ask('posts', 'own')
// @ts-expect-error a post is asked for
router.get('/types/r4', { policy: { manager: resources, scope: 'posts', handler: 'edit' } }, () => 1)
// @ts-expect-error the same as a method
router.get('/types/r5', { policy: { manager: resources, scope: 'posts', handler: 'move' } }, () => 1)
// @ts-expect-error the same, marked
router.get('/types/r6', { policy: { manager: resources, scope: 'posts', handler: 'marked' } }, () => 1)
// @ts-expect-error the same with several
router.get('/types/r7', { policy: { manager: resources, scope: 'posts', handler: 'many' } }, () => 1)
// @ts-expect-error the same in a list
router.get('/types/r8', { policy: [{ manager: resources, scope: 'posts', handler: 'edit' }] }, () => 1)
// @ts-expect-error the same in a decorator
ask('posts', 'edit')

// Groups, servers and plugins have the same verbs.
const user = defineMiddleware<{ user: User }>((req, _res, next) => {
  req.user = ann
  return next()
})
const server = new Server({ router: new RouteCollection() })
server.group('/g', [user], (r) => {
  r.get(
    '/:id',
    { policy: { manager: policies, scope: 'site', handler: 'admin' } },
    (req) => req.user.id + req.params.id,
  )
  // @ts-expect-error no such scope
  r.get('/x/:id', { policy: { manager: policies, scope: 'nope', handler: 'admin' } }, (req) => req.user.id)
})
// What is known as a requirement only is checked at boot.
export const requirement: PolicyRequirement = { manager: policies, scope: 'site', handler: 'admin' }
const given = { manager: policies, scope: 'site', handler: 'admin' } as const
server.get('/types/p10', { policy: given, middlewares: [user] }, (req) => req.user.admin)

server.setPolicyErrorHandler((req, res) => res.forbidden({ path: req.path })).setPolicyErrorHandler({ status: 403 })
server.setPolicyErrorHandler({ map: (req) => ({ id: req.id }) })
// @ts-expect-error a number
server.setPolicyErrorHandler({ status: '403' })
// @ts-expect-error no such option
server.setPolicyErrorHandler({ body: {} })

// What a check proves is there for the handler.
const proving = new PolicyManager({
  site: {
    member: (one?: User) => one !== undefined,
    admin: proves<{ user: User; since: number }>(async (one) => (one as User).admin),
    some: (one?: User) => one?.id === 'ann',
  },
})
router.get('/types/p11', { policy: { manager: proving, scope: 'site', handler: 'member' } }, (req) => {
  type _proved = Expect<Equal<typeof req.user.admin, boolean>>
})
router.get(
  '/types/p12',
  {
    policy: [
      { manager: proving, scope: 'site', handler: 'some' },
      { manager: proving, scope: 'site', handler: 'admin' },
    ],
  },
  (req) => req.user.id.repeat(req.since),
)
// @ts-expect-error this one proves nothing
router.get('/types/p13', { policy: { manager: proving, scope: 'site', handler: 'some' } }, (req) => req.user.id)
const ofAccounts = new PolicyManager({ site: { member: (one?: User) => one !== undefined } }, { user: () => ann })
// @ts-expect-error its user is not req.user
router.get('/types/p14', { policy: { manager: ofAccounts, scope: 'site', handler: 'member' } }, (req) => req.user.id)
// @ts-expect-error a function
proves<{ user: User }>('admin')
// @ts-expect-error no such option
new PolicyManager({}, { user: () => ann, timeoutt: 1 })
