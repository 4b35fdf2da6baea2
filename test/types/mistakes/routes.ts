import { type Handler, router } from 'framework'
import { Type } from 'typebox'

const Post = Type.Object({ id: Type.Number() })
const handler = () => ({ id: 1 })

router.get(
  '/',
  {
    responses: { 200: Post },
    cache: { ttl: 'long' },
    //! Type 'string' is not assignable to type 'number'
  },
  handler,
)

router.get(
  '/',
  {
    responses: { 200: Post },
    cahce: { ttl: 100 },
    //! "cahce is not a route option"
  },
  handler,
)

router.post(
  '/',
  {
    responses: { 200: Post },
    cache: {
      ttl: 100,
      tagz: ['posts'],
      //! 'tagz' does not exist in type 'CacheRouteOptions'
    },
  },
  handler,
)

router.post(
  '/',
  {
    upload: { maxFilez: 1 },
    //! Did you mean to write 'maxFiles'?
    apidoc: {
      summary: 'Takes a post',
      tagz: ['posts'],
      //! 'tagz' does not exist in type 'ApiDoc'
    },
  },
  handler,
)

router.put(
  '/',
  {
    middlewares: [1],
    //! Type 'number' is not assignable to type '(req: Request, res: Response, next: Next) => unknown'
  },
  handler,
)

router.patch(
  '/',
  {
    body: 'Post',
    //! Type 'string' is not assignable to type
  },
  handler,
)

router.post('/', { apidoc: { summary: 'Takes a post' } }, handler, { summary: 'Takes a post' })
//! "apidoc is a member of the options"

router.post('/', [], handler, { summry: 'Takes a post' })
//! Did you mean to write 'summary'?

router.group('/posts/:id', (routes) => {
  routes.get(
    '/',
    {
      rateLimit: { limit: 'many' },
      //! Type 'string' is not assignable to type 'RateLimitAmount<Request> | undefined'
    },
    (req) => req.params.idd,
    //! Property 'idd' does not exist on type '{ readonly id: string; }'
  )
})

router.get(
  '/',
  {
    query: Post,
    body: Post,
    //! "a request of this method has no body"
  },
  handler,
)

router.group('/posts', async (routes) => {
  //! Type 'Promise<void>' is not assignable to type 'Defined'
  routes.get('/', handler)
})

declare const ofPosts: Handler<'/posts/:post'>
router.get('/posts/:id', ofPosts)
//! Argument of type 'Handler<"/posts/:post">' is not assignable to parameter of type
