import { controller, get, PolicyManager, router } from 'framework'

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
    apidoc: { summary: 'Behind a policy' },
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
