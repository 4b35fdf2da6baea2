import { implement, router } from 'framework'
import { contractClient, defineContract } from 'framework/contract'
import { Type } from 'typebox'
import { z } from 'zod'

const shop = defineContract({
  readPost: {
    method: 'GET',
    path: '/posts/:id',
    query: Type.Object({ page: Type.Optional(Type.Integer()) }),
    responses: { 200: z.object({ title: z.string(), at: z.date() }), 404: Type.Object({ code: Type.String() }) },
  },
})

implement(router, shop, {
  readPost: (req, res) => {
    req.query
    //  ^ (property) query: { page?: number | undefined; }
    return res.notFound({ code: req.params.id })
    //                              ^ (property) params: { readonly id: string; }
  },
})

const client = contractClient(shop)
client.readPost
//     ^ (property) readPost: (input: { readonly params: { readonly id: string | number; }; readonly query?: { page?: number | undefined; } | undefined; readonly headers?: HeaderValues | undefined; readonly signal?: AbortSignal | undefined; readonly timeout?: number | undefined | undefined; }) => Promise<Answer<200, { title: string; at: string; }> | Answer<404, { code: string; }> | OtherAnswer<200 | 404>>
const answer = await client.readPost({ params: { id: 1 } })
//    ^ const answer: Answer<200, { title: string; at: string; }> | Answer<404, { code: string; }> | OtherAnswer<200 | 404>
if (answer.ok) {
  answer.body
  //     ^ (property) Answer<200, { title: string; at: string; }>.body: { title: string; at: string; }
}
