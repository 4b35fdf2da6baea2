import { controller, forResource, get, PolicyManager, proves, router } from 'framework'

interface User {
  id: string
  role: 'admin' | 'member'
}

const policies = new PolicyManager({
  site: { admin: (user?: User) => user?.role === 'admin' },
  posts: { edit: (user: User | undefined, post: { author: string }) => user?.id === post.author },
})
const policy = policies.createDecorator()
const handler = () => 1

router.get(
  '/',
  {
    policy: { manager: policies, scope: 'sight', handler: 'admin' },
    //! Type '"sight"' is not assignable to type
    apidoc: { summary: 'After a policy' },
  },
  handler,
)

router.get(
  '/',
  {
    policy: [
      { manager: policies, scope: 'site', handler: 'admin' },
      { manager: policies, scope: 'site', handler: 'admn' },
      //! Type '"admn"' is not assignable to type '"admin"'
    ],
  },
  handler,
)

router.get(
  '/',
  {
    policy: { manager: policies, scope: 'posts', handler: 'edit' },
    //! "the check edit asks about a resource: ask it in the handler, with canAccess"
  },
  handler,
)

router.get('/', { policy: undefined }, handler)
//! Type 'undefined' is not assignable to type '"undefined would leave the route open; leave the option out"'

router.get('/', { middlewares: undefined }, handler)
//! Type 'undefined' is not assignable to type 'readonly

router.get(
  '/',
  {
    policy: { manager: policies, scope: 'site', handler: 'admin', unless: true },
    //! 'unless' does not exist in type
  },
  handler,
)

@controller('/')
class Posts {
  @policy('posts', 'edit')
  //! Argument of type '"edit"' is not assignable to parameter of type
  @get('/a')
  edit() {}

  @policy('sight', 'admin')
  //! Argument of type '"sight"' is not assignable to parameter of type
  @get('/b')
  site() {}
}
new Posts()

router.get('/', { policy: [] }, handler)
//! "an empty list would leave the route open"

// Of one of two checks only the common proof is certain.
const proofs = new PolicyManager({
  site: { user: proves<{ member: User }>(() => true), tenant: proves<{ member: User; tenant: string }>(() => true) },
  open: { user: () => true },
  posts: { marked: forResource((_user: User | undefined, post: any) => post.isOpen as boolean) },
})
declare const isTenant: boolean
router.get(
  '/',
  { policy: { manager: proofs, scope: 'site', handler: isTenant ? 'tenant' : 'user' } },
  (req) => req.member.id + req.tenant,
  //! Property 'tenant' does not exist on type
)

router.get(
  '/',
  { policy: { manager: proofs, scope: isTenant ? 'site' : 'open', handler: 'user' } },
  (req) => req.member.id,
  //! Property 'member' does not exist on type
)

const tenants = [
  { manager: proofs, scope: 'site', handler: 'user' },
  { manager: proofs, scope: 'site', handler: 'tenant' },
] as const
router.get(
  '/',
  { policy: isTenant ? tenants : [tenants[0]] },
  (req) => req.tenant,
  //! Property 'tenant' does not exist on type
)

router.get(
  '/',
  {
    policy: { manager: proofs, scope: 'posts', handler: 'marked' },
    //! "the check marked asks about a resource: ask it in the handler, with canAccess"
  },
  handler,
)

router.group('/', [policies.guard('site', 'admn')], () => {})
//! Argument of type '"admn"' is not assignable to parameter of type '"admin"'

router.group('/', [policies.guard('posts', 'edit')], () => {})
//! Argument of type '"edit"' is not assignable to parameter of type 'never'
