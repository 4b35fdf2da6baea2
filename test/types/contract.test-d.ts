import {
  defineMiddleware,
  definePlugin,
  implement,
  PolicyManager,
  proves,
  RouteCollection,
  router,
  Server,
} from 'framework'
import { type AnswerOf, type CallInput, contractClient, defineContract, type JsonOf } from 'framework/contract'
import { Type } from 'typebox'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

const Post = z.object({ id: z.number(), title: z.string(), at: z.date() })
const Problem = Type.Object({ code: Type.String() })
const shop = defineContract({
  readPost: {
    method: 'GET',
    path: '/posts/:id/:part?',
    query: z.object({ words: z.array(z.string()).optional(), page: z.number().default(1) }),
    responses: { 200: Post, 404: Problem },
  },
  order: { method: 'POST', path: '/orders', idempotency: true },
  addPost: {
    method: 'POST',
    path: '/posts',
    body: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    responses: { 201: Post },
  },
  removePost: {
    method: 'DELETE',
    path: '/posts/:id',
    params: z.object({ id: z.number() }),
    responses: { 204: z.void() },
  },
  file: {
    method: 'GET',
    path: '/files/*',
    headers: Type.Object({ 'x-key': Type.String(), 'x-ids': Type.Optional(Type.Array(Type.Integer())) }),
  },
  probe: { method: 'HEAD', path: '/posts', responses: { 200: Post } },
})

interface User {
  id: number
}
const author = defineMiddleware<{ author: User }>((req, _res, next) => next())
const policies = new PolicyManager({
  site: { admin: proves<{ admin: true }>((found?: { admin?: true }) => found?.admin === true) },
})

implement(router, shop, {
  readPost: (req, res) => {
    type _Params = Expect<Equal<typeof req.params, { readonly id: string; readonly part?: string }>>
    type _Query = Expect<Equal<typeof req.query, { words?: string[] | undefined; page: number }>>
    if (req.params.part) return res.notFound({ code: 'none' })
    // @ts-expect-error 404 has a code
    if (req.query.words) return res.notFound({ kode: 'none' })
    // @ts-expect-error 409 is not among the responses
    if (req.query.page > 5) return res.conflict({})
    return { id: 1, title: 'x', at: new Date() }
  },
  order: { idempotency: { ttl: 60_000 }, handler: (_req, res) => res.created() },
  addPost: {
    middlewares: [author],
    log: false,
    apidoc: { summary: 'Adds a post' },
    handler: (req, res) => {
      type _TheUser = Expect<Equal<typeof req.author, User>>
      type _Body = Expect<Equal<typeof req.body, { title: string }>>
      // @ts-expect-error a post has an id
      res.created({ title: req.body.title, at: new Date() })
      return res.created({ id: req.author.id, title: req.body.title, at: new Date() })
    },
  },
  removePost: {
    handler(req, res) {
      type _Params = Expect<Equal<typeof req.params, { id: number }>>
      return res.noContent()
    },
  },
  file: (req) => {
    type _Rest = Expect<Equal<(typeof req.params)['*'], string>>
    type _Key = Expect<Equal<(typeof req.headers)['x-key'], string>>
    return req.params['*']
  },
  probe: (_req, res) => res.ok({ id: 1, title: 'x', at: new Date() }),
})

const small = defineContract({ one: { method: 'GET', path: '/one/:id' } })
implement(new RouteCollection(), small, { one: async (req) => req.params.id })
implement(new Server(), small, { one: () => 'x' })
router.group('/shops/:shop', [author], (routes) =>
  implement(routes, small, {
    one: (req) => {
      type _Params = Expect<Equal<typeof req.params, { readonly shop: string; readonly id: string }>>
      return req.params.shop + req.params.id + req.author.id
    },
  }),
)
definePlugin({ name: 'small', setup: (ctx) => implement(ctx, small, { one: (req) => req.params.id }) })
implement(router, small, {
  one: {
    policy: { manager: policies, scope: 'site', handler: 'admin' },
    handler: (req) => {
      type _Proved = Expect<Equal<typeof req.admin, true>>
      return 1
    },
  },
})

const client = contractClient(shop, { baseUrl: 'http://a.test' })
export async function calls() {
  await client.order({ retries: 1, timeout: 5 })
  // @ts-expect-error retries is an option of calls that the server carries out once
  await client.addPost({ body: { title: 'x' }, retries: 1 })
  const read = await client.readPost({
    params: { id: 1 },
    query: { words: ['a'] },
    signal: new AbortController().signal,
  })
  if (read.status === 200) {
    type _Body = Expect<Equal<typeof read.body, { id: number; title: string; at: string }>>
  } else if (read.status === 404) {
    type _Body = Expect<Equal<typeof read.body, { code: string }>>
  } else {
    type _Body = Expect<Equal<typeof read.body, unknown>>
  }
  if (read.ok) {
    type _Body = Expect<Equal<typeof read.body, { id: number; title: string; at: string }>>
  }
  const removed = await client.removePost({ params: { id: 1 } })
  if (removed.ok) {
    type _Body = Expect<Equal<typeof removed.body, undefined>>
  }
  const head = await client.probe()
  if (head.ok) {
    type _Body = Expect<Equal<typeof head.body, undefined>>
  }
  const file = await client.file({ params: { '*': 'a/b' }, headers: { 'x-key': 'k', 'x-ids': [1], other: 1 } })
  type _Anything = Expect<Equal<typeof file.body, unknown>>
  await client.addPost({ body: { title: 'x' }, headers: { 'x-key': 'k' }, timeout: 5 })

  // @ts-expect-error the parameter is missing
  await client.readPost()
  // @ts-expect-error the parameter is missing
  await client.readPost({ params: {} })
  // @ts-expect-error the path does not have it
  await client.readPost({ params: { id: 1, no: 1 } })
  // @ts-expect-error the query does not have it
  await client.readPost({ params: { id: 1 }, query: { wods: [] } })
  // @ts-expect-error a path without parameters
  await client.addPost({ params: { id: 1 }, body: { title: 'x' } })
  // @ts-expect-error the body is missing
  await client.addPost({})
  // @ts-expect-error a number, by its schema
  await client.removePost({ params: { id: '1' } })
  // @ts-expect-error a header is missing
  await client.file({ params: { '*': 'a/b' } })
}

type _Input = Expect<Equal<CallInput<(typeof small)['one']>['params'], { readonly id: string | number }>>
type _Answers = AnswerOf<(typeof small)['one']>
type _Status = Expect<Equal<200 extends _Answers['status'] ? true : false, true>>
type _Json = Expect<
  Equal<
    JsonOf<{ at?: Date; list: readonly { n: 1 | null }[]; any: unknown; pair: [Date, string] }>,
    { at?: string; list: { n: 1 | null }[]; any: unknown; pair: [string, string] }
  >
>

// @ts-expect-error its details belong to the implementation
defineContract({ order: { method: 'POST', path: '/orders', idempotency: { ttl: 5 } } })
