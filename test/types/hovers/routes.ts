import { router } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'

const User = z.object({ id: z.number(), name: z.string().optional() })

router.post(
  '/posts/:id',
  {
    body: z.object({ title: z.string() }),
    query: Type.Object({ page: Type.Optional(Type.Integer()) }),
    responses: { 200: User },
  },
  (req, res) => {
    req.body
    //  ^ (property) body: { title: string; }
    req.query
    //  ^ (property) query: { page?: number | undefined; }
    req.params
    //  ^ (property) params: { readonly id: string; }
    return res.ok({ id: 1 })
    //         ^ (property) ok: (body: { id: number; name?: string | undefined; }) => Response
  },
)

router.group('/shops/:shop', (routes) => {
  routes.get('/posts/:id?', (req) => {
    req.params
    //  ^ (property) params: { readonly shop: string; readonly id?: string | undefined; }
    req.query
    //  ^ (property) query: Query
  })
})
