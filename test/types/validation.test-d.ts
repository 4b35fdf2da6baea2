import { Type as LegacyType } from '@sinclair/typebox'
import { definePlugin, type InputOf, type OutputOf, router, Server } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'
import type { Equal, Expect, NotAny } from './expect.ts'

// — JSON Schema, written where it is used or as a constant —

const NewBook = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    year: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' }, default: [] },
    kind: { enum: ['novel', 'essay'] },
  },
  required: ['title', 'kind'],
} as const

router.post('/types/books', { body: NewBook }, (req) => {
  type _body = Expect<Equal<typeof req.body, { title: string; kind: 'novel' | 'essay'; tags: string[]; year?: number }>>
  // @ts-expect-error the schema has no such member
  req.body.author
  // @ts-expect-error it may be missing
  req.body.year.toFixed()
})

router.get(
  '/types/books/:id',
  {
    query: { type: 'object', properties: { page: { type: 'integer', default: 1 }, q: { type: 'string' } } },
    params: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    headers: { type: 'object', properties: { 'X-Tenant': { type: 'string' } }, required: ['X-Tenant'] },
  },
  (req) => {
    type _query = Expect<Equal<typeof req.query, { page: number; q?: string }>>
    type _params = Expect<Equal<typeof req.params, { id: number }>>
    const tenant: string = req.headers['x-tenant']
    return tenant
  },
)

router.put('/types/all/:id', { all: NewBook }, (req) => {
  const title: string = req.validated.title
  const id: string = req.params.id
  type _body = Expect<Equal<typeof req.body, unknown>>
  return [title, id]
})

interface Required {
  type: 'object'
  properties: { a: { type: 'string' }; b: { enum: [1, 2]; nullable: true } }
  required: readonly ['a', 'b']
}
type JsonSchemas = [
  Expect<Equal<OutputOf<{ type: 'string' }>, string>>,
  Expect<Equal<OutputOf<{ type: ['string', 'null'] }>, string | null>>,
  Expect<Equal<OutputOf<{ type: 'integer'; nullable: true }>, number | null>>,
  Expect<Equal<OutputOf<{ const: 5 }>, 5>>,
  Expect<Equal<OutputOf<{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }>, string | boolean>>,
  Expect<Equal<OutputOf<{ type: 'array'; items: [{ type: 'string' }, { type: 'null' }] }>, [string, null]>>,
  Expect<Equal<OutputOf<{ type: 'array'; prefixItems: readonly [{ type: 'string' }] }>, [string]>>,
  Expect<Equal<OutputOf<{ type: 'object'; additionalProperties: { type: 'number' } }>, { [name: string]: number }>>,
  Expect<Equal<OutputOf<{ $ref: '#/$defs/a'; $defs: { a: { type: 'number' } } }>, number>>,
  Expect<Equal<OutputOf<{}>, unknown>>,
  Expect<Equal<OutputOf<{ type: 'object'; properties: { a: { type: 'null' } } }>, { a?: null }>>,
  Expect<Equal<OutputOf<Required>, { a: string; b: 1 | 2 | null }>>,
  Expect<Equal<InputOf<{ type: 'string'; format: 'date' }>, string | Date>>,
  Expect<Equal<InputOf<{ type: ['string', 'null']; default: 'x' }>, string | null>>,
  Expect<NotAny<OutputOf<typeof NewBook>>>,
]

const both = {
  allOf: [
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
  ],
} as const
router.post('/types/both', { body: both }, (req) => {
  const a: string = req.body.a
  const b: number = req.body.b
  return [a, b]
})

interface Tree {
  readonly type: 'object'
  readonly properties: {
    readonly name: { readonly type: 'string' }
    readonly children: { readonly type: 'array'; readonly items: { readonly $ref: '#' } }
  }
  readonly required: readonly ['name']
}
declare const tree: OutputOf<Tree>
const child: string | undefined = tree.children?.[0]?.children?.[0]?.name

const Comment = {
  $id: 'Comment',
  type: 'object',
  properties: {
    text: { type: 'string' },
    replies: { type: 'array', items: { $ref: 'Comment' } },
    more: { type: 'array', items: { $ref: '#' } },
  },
  required: ['text', 'replies', 'more'],
} as const
const Thread = { type: 'object', properties: { top: Comment }, required: ['top'] } as const
declare const comment: OutputOf<typeof Comment>
declare const thread: OutputOf<typeof Thread>
type Named = [
  Expect<Equal<(typeof comment.replies)[0]['more'][0]['text'], string>>,
  Expect<Equal<(typeof thread.top.replies)[0]['more'][0]['text'], string>>,
]

const beside = {
  $ref: '#/$defs/a',
  properties: { b: { type: 'number' } },
  required: ['b'],
  $defs: { a: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
} as const
declare const besides: OutputOf<typeof beside>
type Beside = [Expect<Equal<typeof besides.a, string>>, Expect<Equal<typeof besides.b, number>>]

// — TypeBox, both packages —

const legacy = LegacyType.Object({
  a: LegacyType.String(),
  b: LegacyType.Optional(LegacyType.Number()),
  c: LegacyType.Array(LegacyType.Union([LegacyType.Literal('x'), LegacyType.Null()])),
})
const modern = Type.Object({
  a: Type.String(),
  b: Type.Optional(Type.Number()),
  c: Type.Array(Type.Union([Type.Literal('x'), Type.Null()])),
})
const Person = Type.Cyclic(
  {
    Person: Type.Object({ name: Type.String(), pet: Type.Optional(Type.Ref('Pet')) }),
    Pet: Type.Object({ owner: Type.Ref('Person') }),
  },
  'Person',
)
const People = Type.Object({ first: Person, all: Type.Array(Person) })
const Branch = Type.Object({ id: Type.String(), branches: Type.Array(Type.This()) })
const LegacyTree = LegacyType.Recursive((This) =>
  LegacyType.Object({ id: LegacyType.String(), trees: LegacyType.Array(This) }),
)
declare const person: OutputOf<typeof Person>
declare const people: OutputOf<typeof People>
declare const branch: OutputOf<typeof Branch>
declare const legacyTree: OutputOf<typeof LegacyTree>
type Recursive = [
  Expect<Equal<NonNullable<typeof person.pet>['owner']['name'], string>>,
  Expect<Equal<NonNullable<(typeof people.all)[0]['pet']>['owner']['name'], string>>,
  Expect<Equal<(typeof branch.branches)[0]['branches'][0]['id'], string>>,
  Expect<Equal<(typeof legacyTree.trees)[0]['trees'][0]['id'], string>>,
]
interface Boxed {
  a: string
  b?: number
  c: ('x' | null)[]
}
router.post('/types/typebox', { body: legacy, query: modern }, (req) => {
  const body: Boxed = req.body
  const query: Boxed = req.query
  type _any = Expect<NotAny<typeof req.body>>
  type _any1 = Expect<NotAny<typeof req.query>>
  // @ts-expect-error no such member
  req.body.d
  // @ts-expect-error no such member
  req.query.d
  // @ts-expect-error another type
  const wrong: number = req.query.a
  return { body, query, wrong }
})
type Modern = [
  Expect<Equal<OutputOf<typeof modern>, Boxed extends infer B ? { [K in keyof B]: B[K] } : never>>,
  Expect<Equal<OutputOf<ReturnType<typeof Type.Unsafe<bigint>>>, bigint>>,
]
// What may be missing is marked in the member itself; a plain JSON Schema may be a member, too, and fills in its default.
const marked = Type.Object({
  a: Type.Optional(Type.Unsafe<bigint>({})),
  b: Type.Readonly(Type.String()),
  c: Type.Optional(Type.Array(Type.Object({ d: Type.Optional(Type.Null()) }))),
  e: Type.Optional({ type: 'string', default: 'x' } as const),
  5: { type: 'integer' } as const,
})
type Marked = [
  Expect<Equal<OutputOf<typeof marked>, { b: string; e: string; 5: number; a?: bigint; c?: { d?: null }[] }>>,
  Expect<Equal<InputOf<typeof marked>, { b: string; 5: number; a?: bigint; c?: readonly { d?: null }[]; e?: string }>>,
  Expect<Equal<OutputOf<typeof none>, {}>>,
]
const none = Type.Object({})
const record = Type.Record(Type.String(), Type.Number())
type _record = Expect<Equal<OutputOf<typeof record>, { [name: string]: number }>>

// — Zod, and whatever else follows Standard Schema: the output —

router.post('/types/zod', { body: z.object({ at: z.coerce.date(), n: z.string().transform(Number) }) }, (req) => {
  type _body = Expect<Equal<typeof req.body, { at: Date; n: number }>>
})

// — everywhere routes are registered —

router.group('/types/group', (routes) => {
  routes.post('/', { body: NewBook }, (req) => req.body.title.trim())
})
const server = new Server()
server.post('/types/own', { body: NewBook }, (req) => req.body.title.trim())
definePlugin({
  name: 'typed',
  setup(ctx) {
    ctx.post('/types/plugin', { body: NewBook }, (req) => req.body.title.trim())
  },
})

// — without a schema nothing changes —

router.post('/types/none/:id', (req) => {
  type _body = Expect<Equal<typeof req.body, unknown>>
  const id: string = req.params.id
  const q: string | string[] | undefined = req.query.q
  return [id, q, req.headers.host]
})

// @ts-expect-error a schema is an object
router.post('/types/wrong', { body: 'string' }, () => {})

// — the error handler —

server.setValidationErrorHandler((_req, res, error) => res.badRequest({ first: error.errors[0]?.path }))
server.setValidationErrorHandler({ status: 400, map: (error, req) => [error.errors.length, req.id] })
// @ts-expect-error a status is a number
server.setValidationErrorHandler({ status: '400' })

export { type Beside, child, type JsonSchemas, type Marked, type Modern, type Named, type Recursive }
