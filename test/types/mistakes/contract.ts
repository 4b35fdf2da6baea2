import { implement, router } from 'framework'
import { contractClient, defineContract } from 'framework/contract'
import { z } from 'zod'

const Post = z.object({ title: z.string() })
const shop = defineContract({
  readPost: { method: 'GET', path: '/posts/:id', responses: { 200: Post } },
  addPost: { method: 'POST', path: '/posts', body: Post },
})

implement(router, shop, {
  //! is not assignable to parameter of type
  readPost: () => ({ title: 'x' }),
})

implement(router, shop, {
  readPost: () => ({ title: 'x' }),
  addPost: () => 1,
  addPots: () => 1,
  //! "addPots is not a route of the contract"
})

implement(router, shop, {
  readPost: () => ({ title: 1 }),
  //! Type '() => { title: number; }' is not assignable to type
  addPost: {
    body: Post,
    //! "body is said by the contract"
    middlewars: [],
    //! "middlewars is not a route option"
    log: 'no',
    //! is not assignable to type 'boolean | undefined'
    handler: (req) => req.body.titel,
    //! Property 'titel' does not exist on type
  },
})

implement(router, shop, {
  readPost: (req, res) => res.ok({ title: req.params.id }),
  addPost: { log: false },
  //! Type '{ log: false; }' is not assignable to type
})

defineContract({
  slash: { method: 'GET', path: 'posts' },
  //! Type '"posts"' is not assignable to type '`/${string}`'
  body: {
    method: 'GET',
    path: '/body',
    body: Post,
    //! "a request of this method has no body"
  },
  once: { method: 'GET', path: '/twice' },
  //! "GET /twice is the route again as well"
  again: { method: 'GET', path: '/twice' },
  //! "GET /twice is the route once as well"
  method: { method: 'FETCH', path: '/method' },
  //! Type '"FETCH"' is not assignable to type
  member: {
    method: 'POST',
    path: '/member',
    response: { 200: Post },
    //! "response is not a member of a route of a contract"
  },
  none: { method: 'GET' },
  //! Property 'path' is missing
})

const client = contractClient(shop, { baseUrl: '', timout: 5 })
//! 'timout' does not exist in type
client.readPost({ params: { id: '1', no: 1 } })
//! 'no' does not exist in type
client.readPost({ params: {} })
//! Property 'id' is missing
client.addPost({ body: { title: 1 } })
//! Type 'number' is not assignable to type 'string'
client.addPost({ params: { id: 1 }, body: { title: 'x' } })
//! 'params' does not exist in type
