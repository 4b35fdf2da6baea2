import {
  buildSchema,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  getIntrospectionQuery,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import type { GraphqlCost, GraphqlOptions } from '../../../plugins/graphql/index.ts'
import { type Answer, graphqlApp } from '../../support/graphql.ts'

const typeDefs = `
  type Query {
    hello: String
    me: User
    users(first: Int, last: Int, where: Where): [User!]!
    tenUsers(first: Int = 10): [User]
    tags: [String]
    connection(first: Int, after: String): UserConnection!
    page(page: Page): [User!] @listSize(slicingArguments: ["page.size"], requireOneSlicingArgument: false)
    strict(first: Int, last: Int): [User!] @listSize(slicingArguments: ["first", "last"])
    few: [User!] @listSize(assumedSize: 3)
    edges(limit: Int): Parts @listSize(slicingArguments: ["limit"], sizedFields: ["good"], requireOneSlicingArgument: false)
    search: [Found!]!
    named: Named
    dear: Int @cost(weight: 50)
    report(deep: Boolean @cost(weight: 20)): Report
    any(size: Any): [User!] @listSize(slicingArguments: ["size"], requireOneSlicingArgument: false)
  }
  scalar Any
  input Where { name: String }
  input Page { size: Int }
  type User implements Named { id: ID name: String friends(first: Int): [User!] best: User }
  type UserConnection { edges: [Edge!] nodes: [User!] total: Int pageInfo: PageInfo }
  type Edge { node: User }
  type PageInfo { next: String }
  type Parts { good: [User!] other: [User!] }
  interface Named { name: String @cost(weight: 2) }
  type Other { size: Int users: [User!] }
  type Report @cost(weight: 7) { title: String }
  union Found = User | Other
  type Mutation { set: User }
  type Subscription { ticks: User }
`
const resolvers = { Query: { users: () => [], page: () => [] } }
const off = { depth: false, aliases: false, directives: false, tokens: false } as const

function appWith(cost: boolean | GraphqlCost, options: GraphqlOptions = {}) {
  return graphqlApp(
    { schema: { typeDefs, resolvers }, limits: off, cost, ...options },
    { plugins: { json: { sizeLimit: '4mb' } } },
  )
}

const strictest = appWith({ max: 1 })

/** The estimated cost of an operation, 1 for a cheaper one. */
async function costOf(query: string, variables: object = {}, operationName?: string): Promise<number | string> {
  return read(await strictest.post({ query, variables, operationName }))
}

function read({ status, body }: Answer): number | string {
  const { message, extensions } = body.errors?.[0] ?? {}
  if (extensions?.code !== 'COST_LIMIT_EXCEEDED') return status === 200 ? 1 : message
  expect(status).toBe(400)
  return extensions.cost ?? message
}

describe('the cost of an operation', () => {
  test.each<[string, string, number]>([
    ['a leaf is nothing, an object 1', '{ hello me { id best { id } } }', 2],
    ['a list as many times as it is long', '{ users(first: 20) { id } }', 20],
    ['lists in lists', '{ users(first: 20) { friends(first: 5) { id } } }', 20 * (1 + 5)],
    ['10 where nothing says it', '{ users { id } }', 10],
    ['as the schema says it', '{ few { id } }', 3],
    ['the default of an argument', '{ tenUsers { best { id } } }', 20],
    ['the larger of two arguments', '{ users(first: 3, last: 30) { id } }', 30],
    ['a list of leaves is nothing', '{ tags me { id } best: me { id } }', 2],
    [
      'the lists of a connection',
      '{ connection(first: 7) { total pageInfo { next } edges { node { id } } } }',
      1 + 1 + 7 * 2,
    ],
    ['of which nothing is said', '{ connection { nodes { id } } }', 1 + 10],
    ['only those that it is about', '{ edges(limit: 2) { good { id } other { id } } }', 1 + 2 + 10],
    ['an argument in an input object', '{ page(page: { size: 4 }) { id } }', 4],
    ['a field with a weight', '{ dear }', 50],
    ['a type with a weight', '{ report { title } }', 7],
    ['an argument with a weight', '{ report(deep: true) { title } }', 27],
    ['a mutation', 'mutation { set { id } }', 11],
    ['aliases, each', '{ a: users(first: 5) { id } b: users(first: 6) { id } }', 11],
    [
      'one field, however often it is there',
      '{ me { best { id } } me { best { id } best { id } } ...F } fragment F on Query { me { best { id } } }',
      2,
    ],
    [
      'fragments, where they are spread',
      '{ ...F a: me { ...U } } fragment F on Query { b: me { ...U } } fragment U on User { best { id } }',
      4,
    ],
    [
      'of a union the dearest type',
      '{ search { ... on User { best { id } } ... on Other { users { id } } } }',
      10 * (1 + 10),
    ],
    ['of an interface what it says itself', '{ named { name ... on User { best { id } } } }', 1 + 2 + 1],
    ['of a type what its interface says', '{ me { name } }', 1 + 2],
    [
      'what applies to a type by another',
      '{ search { ... on Named { name ... on User { best { id } } } __typename } }',
      10 * (1 + 2 + 1),
    ],
    [
      'skipped by a literal',
      '{ me { id } users(first: 90) @skip(if: true) { id } a: me @include(if: false) { id } ... @skip(if: true) { dear } b: me { id } }',
      2,
    ],
    ['not skipped by one', '{ users(first: 9) @skip(if: false) @include(if: true) { id } }', 9],
    [
      'the introspection, once each',
      '{ __schema { types { fields { name type { name } } } } __type(name: "User") { name } }',
      1 + 1 + 1 + 1 + 1,
    ],
  ])('%s', async (_what, query, cost) => {
    expect(await costOf(query)).toBe(cost)
  })

  const list = 'query Q($n: Int, $with: Boolean = true) { users(first: $n) { id } dear @include(if: $with) }'
  test.each<[string, object, number]>([
    ['by a variable', { n: 40, with: false }, 40],
    ['by its default', { n: 40 }, 40 + 50],
    ['of the same document again', { n: 41, with: false }, 41],
    ['of which nothing is said', { with: false }, 10],
    ['null', { n: null, with: false }, 10],
    ['negative', { n: -1_000_000, with: false }, 10],
    ['nothing, which a resolver may take for no limit', { n: 0, with: false }, 1],
    ['huge', { n: 2_147_483_647, with: false }, 2_147_483_647],
    ['more than a number can be', { n: 1e300, with: false }, Number.MAX_SAFE_INTEGER],
    ['no number', { n: 'many', with: false }, 10],
    ['a list', { n: [5], with: false }, 10],
    ['an object', { n: { first: 5 }, with: false }, 10],
    ['an invalid condition counts as true', { n: 2, with: 'maybe' }, 2 + 50],
  ])('variables: %s', async (_what, variables, cost) => {
    const said = await costOf(list, variables)
    // Cheap enough, it is executed: that reports the invalid variables.
    if (cost === 1) expect(said).toBe(1)
    else expect(said).toBe(cost)
  })

  test('a variable inside of an input object, and one that is one', async () => {
    expect(await costOf('query ($n: Int) { page(page: { size: $n }) { id } }', { n: 12 })).toBe(12)
    expect(await costOf('query ($p: Page) { page(page: $p) { id } }', { p: { size: 13 } })).toBe(13)
    expect(await costOf('query ($p: Page = { size: 14 }) { page(page: $p) { id } }')).toBe(14)
    expect(await costOf('query ($p: Page) { page(page: $p) { id } }', { p: JSON.parse('{"toString": 1}') })).toBe(10)
  })

  test.each<[string, object, number]>([
    ['{ a { id } }', {}, 5],
    ['query ($p: Sized) { a(page: $p) { id } }', {}, 5],
    ['query ($p: Sized) { a(page: $p) { id } }', { p: null }, 10],
    ['query ($p: Sized) { a(page: $p) { id } }', { p: {} }, 100],
    ['query ($p: Sized = {}) { a(page: $p) { id } }', {}, 100],
    ['query ($n: Int) { a(page: { size: $n }) { id } }', {}, 100],
    ['query ($n: Int) { a(page: { size: $n }) { id } }', { n: 7 }, 7],
    ['{ a(page: null) { id } }', {}, 10],
    ['{ a(page: {}) { id } }', {}, 100],
    ['{ a(page: { size: null }) { id } }', {}, 10],
    ['{ b { id } }', {}, 10],
    ['{ b(page: {}) { id } }', {}, 10],
    ['{ b(page: { inner: {} }) { id } }', {}, 30],
    ['query ($i: Inner) { b(page: { inner: $i }) { id } }', { i: {} }, 30],
    ['query ($i: Inner) { b(page: { inner: $i }) { id } }', { i: { size: 4 } }, 4],
  ])('a member of an input object that is missing has its own default: %s with %j', async (query, variables, cost) => {
    const sized = `
      input Sized { size: Int = 100 inner: Inner }
      input Inner { size: Int = 30 }
      type Item { id: ID }
      type Query {
        a(page: Sized = { size: 5 }): [Item] @listSize(slicingArguments: ["page.size"], requireOneSlicingArgument: false)
        b(page: Sized): [Item] @listSize(slicingArguments: ["page.inner.size"], requireOneSlicingArgument: false)
      }
    `
    const { post } = appWith({ max: 1 }, { schema: { typeDefs: sized, resolvers: {} } })
    expect(read(await post({ query, variables }))).toBe(cost)
  })

  test('as text, for types whose numbers are', async () => {
    expect(await costOf('{ any(size: "21") { id } }')).toBe(21)
    expect(await costOf('query ($s: Any) { any(size: $s) { id } }', { s: '22' })).toBe(22)
    expect(await costOf('{ any(size: { n: [1] }) { id } }')).toBe(10)
  })

  test('variables that matter only where others let them', async () => {
    const query =
      'query ($a: Boolean = false, $n: Int) { me { id } a: me { id } users(first: $n) @include(if: $a) { id } }'
    expect(await costOf(query)).toBe(2)
    expect(await costOf(query, { n: 5 })).toBe(2)
    expect(await costOf(query, { a: true, n: 5 })).toBe(7)
    expect(await costOf(query, { a: true, n: 6 })).toBe(8)
    expect(await costOf(query, { a: true, n: 5 })).toBe(7)
    expect(await costOf(query, { n: 5 })).toBe(2)
  })

  test('of the operation that is asked for, not of others in the document', async () => {
    const query =
      'query A { me { id } b: me { id } } query B { users(first: 9) { id } } subscription C { ticks { best { id } } }'
    expect(await costOf(query, {}, 'A')).toBe(2)
    expect(await costOf(query, {}, 'B')).toBe(9)
  })

  test('exactly one argument where the schema wants one', async () => {
    const needs = 'The field Query.strict needs exactly one of the arguments first, last.'
    expect(await costOf('{ strict { id } }')).toBe(needs)
    expect(await costOf('{ strict(first: 1, last: 1) { id } }')).toBe(needs)
    expect(await costOf('query ($n: Int) { strict(first: $n) { id } }')).toBe(needs)
    expect(await costOf('query ($n: Int) { strict(first: $n) { id } }', { n: 4 })).toBe(4)
  })
})

describe('of the types of an interface or a union, the most expensive counts, in any order', () => {
  const books = 'books(first: Int): [Book]'
  const dear = '@listSize(assumedSize: 1000)'
  test.each<[string, [declared: string, one: string, other: string], string, number]>([
    ['by the length of a list', [books, books, `${books} ${dear}`], '{ s { books { title } } }', 1 + 1000],
    [
      'by the default of an argument',
      [books, books, 'books(first: Int = 90): [Book]'],
      '{ s { books { title } } }',
      91,
    ],
    ['by the weight of a field', ['n: Int', 'n: Int', 'n: Int @cost(weight: 500)'], '{ s { n } }', 1 + 500],
    [
      'by the weight of an argument',
      ['n(a: Int): Int', 'n(a: Int): Int', 'n(a: Int @cost(weight: 50)): Int'],
      '{ s { n(a: 1) } }',
      51,
    ],
    [
      'by the type of a field',
      ['of: Holder', 'of: Small', 'of: Large'],
      '{ s { of { books { title } } } }',
      1 + 1 + 1000,
    ],
    [
      'by the lists below it',
      ['page: Page', 'page: Page', `page: Page ${dear}`],
      '{ s { page { items { title } } } }',
      1 + 1 + 1000,
    ],
    [
      'by the weight of a type',
      ['of: Holder', 'of: Holder', 'of: Holder'],
      '{ weighed { n } either { __typename } }',
      70 + 70,
    ],
    ['by what the interface says of a list', [`${books} ${dear}`, books, books], '{ s { books { title } } }', 1001],
    [
      'which each type may say otherwise',
      [`${books} ${dear}`, books, `${books} @listSize(assumedSize: 2)`],
      '{ one { books { title } } other { books { title } } }',
      1001 + 3,
    ],
    [
      'by what it says of an argument',
      ['n(a: Int @cost(weight: 30)): Int', 'n(a: Int): Int', 'n(a: Int): Int'],
      '{ one { n(a: 1) } }',
      31,
    ],
  ])('%s', async (_what, [declared, one, other], query, cost) => {
    const types = [
      `type One implements S { ${one} }`,
      `type Other implements S { ${other} }`,
      `type Small implements Holder { ${books} }`,
      `type Large implements Holder { ${books} ${dear} }`,
      'type Light implements Weighed { n: Int }',
      'type Heavy implements Weighed @cost(weight: 70) { n: Int }',
    ]
    const rest = `
      interface S { ${declared} }
      interface Holder { ${books} }
      interface Weighed { n: Int }
      union Either = Light | Heavy
      type Book { title: String }
      type Page { items: [Book] }
      type Query { s: S one: One other: Other weighed: Weighed either: Either }
    `
    for (const all of [types, types.toReversed()]) {
      const app = appWith({ max: 1 }, { schema: { typeDefs: [rest, ...all].join('\n'), resolvers: {} } })
      expect(read(await app.post({ query }))).toBe(cost)
    }
  })

  test('types whose fields cost the same are estimated once, however many there are', async () => {
    const types = Array.from({ length: 500 }, (_, i) => `type T${i} implements Node { id: ID node: Node own${i}: Int }`)
    const typeDefs = `interface Node { id: ID node: Node } type Query { node: Node } ${types.join(' ')}`
    const query = `{ node { ${'node { id '.repeat(12)} ${'}'.repeat(12)} ... on T7 { own7 } } }`
    expect(read(await appWith({ max: 1 }, { schema: { typeDefs, resolvers: {} } }).post({ query }))).toBe(13)
  })
})

describe('an operation that is too expensive is not executed', () => {
  const seen: unknown[] = []
  const counted = { Query: { users: (_: unknown, args: object) => seen.push(args) && [] } }
  const app = appWith(
    { max: 100 },
    { schema: { typeDefs, resolvers: counted }, apolloOptions: { context: () => seen.push('context') } },
  )
  const query = 'query ($n: Int) { users(first: $n) { id } }'

  test('neither a resolver nor the context function runs', async () => {
    const refused = await app.post({ query, variables: { n: 101 } })
    expect(seen).toEqual([])
    expect(refused).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            message: 'The operation costs 101, and the limit is 100. Request fewer fields or shorter lists.',
            extensions: { code: 'COST_LIMIT_EXCEEDED', cost: 101, max: 100 },
          },
        ],
      },
    })
    expect(refused.body).not.toHaveProperty('data')
    expect(await app.post({ query, variables: { n: 100 } })).toMatchObject({
      status: 200,
      body: { data: { users: [] } },
    })
    expect(seen).toEqual(['context', { first: 100 }])
  })

  test('by GET, as an event stream and with the newer media type too', async () => {
    const variables = '{"n":101}'
    const json = 'application/graphql-response+json'
    expect((await app.get({ query, variables })).status).toBe(400)
    expect((await app.post({ query, variables: { n: 101 } }, { accept: json })).headers['content-type']).toContain(json)
    expect((await app.post({ query, variables: { n: 101 } }, { accept: 'text/event-stream' })).status).toBe(400)
  })

  test('variables of the wrong type are reported as such where they are cheap', async () => {
    const { body } = await app.post({ query, variables: { n: 'many' } })
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
  })

  test('off unless it is turned on; true takes the defaults', async () => {
    const dear = { query: '{ users(first: 1001) { id } }' }
    expect((await appWith(false).post(dear)).status).toBe(200)
    expect(read(await appWith(true).post(dear))).toBe(1001)
    expect(read(await appWith(true).post({ query: '{ users(first: 1000) { id } }' }))).toBe(1)
    expect(read(await appWith(true).post({ query: getIntrospectionQuery({ inputValueDeprecation: true }) }))).toBe(1)
  })

  test('list sizes and arguments of one’s own', async () => {
    const own = appWith(
      { max: 1, listSize: 4, slicingArguments: ['take'] },
      { schema: { typeDefs: 'type Query { a(take: Int, first: Int): [Query] x: Int }' } },
    )
    expect(read(await own.post({ query: '{ a(first: 99) { x } }' }))).toBe(4)
    expect(read(await own.post({ query: '{ a(take: 9) { x } }' }))).toBe(9)
  })

  test('compiled operations are counted as well', async () => {
    const jit = appWith({ max: 100 }, { jit: { minCount: 1 } })
    for (let time = 0; time < 4; time++) {
      expect((await jit.post({ query, variables: { n: 50 } })).status).toBe(200)
      expect((await jit.post({ query, variables: { n: 500 } })).status).toBe(400)
    }
  })
})

describe('schemas', () => {
  test('the directives need no definition, also where no cost is counted', async () => {
    const { post } = appWith(false)
    expect((await post({ query: '{ hello }' })).status).toBe(200)
  })

  test('definitions of one’s own hold, with weights as text', async () => {
    const own =
      'directive @cost(weight: String!) on FIELD_DEFINITION type Query { a: Int @cost(weight: "3.5") b: Int @cost(weight: "-7") }'
    expect(read(await appWith({ max: 1 }, { schema: { typeDefs: own } }).post({ query: '{ a b }' }))).toBe(3.5)
  })

  test('of a ready schema: by its text, by additions, and by data of one that was made in code', async () => {
    const text = buildSchema('directive @cost(weight: Int!) on FIELD_DEFINITION type Query { a: Int @cost(weight: 5) }')
    expect(read(await appWith({ max: 1 }, { schema: text }).post({ query: '{ a }' }))).toBe(5)
    const extended = appWith({ max: 1 }, { schema: buildSchema('type Query { a: Int }') })
    extended.server.graphql.addTypeDef('extend type Query { b: Int @cost(weight: 6) }')
    expect(read(await extended.post({ query: '{ b }' }))).toBe(6)
    const Thing = new GraphQLObjectType({
      name: 'Thing',
      fields: { name: { type: GraphQLString } },
      extensions: { directives: { cost: { weight: 2 } } },
    })
    const Query = new GraphQLObjectType({
      name: 'Query',
      fields: {
        things: {
          type: new GraphQLList(Thing),
          args: { size: { type: GraphQLInt } },
          extensions: { directives: { listSize: [{ slicingArguments: ['size'] }] } },
        },
      },
    })
    const made = appWith({ max: 1 }, { schema: new GraphQLSchema({ query: Query }) })
    expect(read(await made.post({ query: '{ things(size: 8) { name } }' }))).toBe(16)
  })
})

describe('hostile documents', () => {
  const { post } = appWith({ max: 1000 })
  test.each<[string, string]>([
    [
      'fragments that double',
      `{ ...F0 } ${Array.from({ length: 30 }, (_, i) => `fragment F${i} on Query { a${i}: me { id } ...F${i + 1} b${i}: me { ...U${i} } ...F${i + 1} } fragment U${i} on User { best { ...U${i + 1} } c: best { ...U${i + 1} } }`).join(' ')} fragment F30 on Query { hello } fragment U30 on User { id }`,
    ],
    ['100 000 aliases', `{ ${Array.from({ length: 100_000 }, (_, i) => `a${i}: me { id }`).join(' ')} }`],
    [
      '4000 aliases of lists',
      `{ ${Array.from({ length: 2_000 }, (_, i) => `a${i}: users(first: 9) { id }`).join(' ')} }`,
    ],
    ['nested lists', `{ users(first: 100) ${'{ friends(first: 100) '.repeat(300)} { id } ${'}'.repeat(300)} }`],
    ['lists without an end', `{ users ${'{ friends '.repeat(400)} { id } ${'}'.repeat(400)} }`],
    [
      'unions in unions',
      `{ search { ${'... on Other { users { ... on Named { ... on User { best { id } } } } } ... on User { friends { name } } '.repeat(300)} } }`,
    ],
  ])('%s', async (_what, query) => {
    const { status, body } = await post({ query })
    expect(status).toBe(400)
    expect(['COST_LIMIT_EXCEEDED', 'LIMIT_EXCEEDED']).toContain(body.errors[0].extensions.code)
    expect(JSON.stringify(body)).not.toContain('null')
  })

  test('deeper than the stack', async () => {
    const query = `query ($n: Int) { me { friends(first: $n) { id } ${'best { '.repeat(4_000)} id ${'}'.repeat(4_000)} } }`
    expect((await post({ query, variables: { n: 3 } })).status).toBeLessThan(500)
  })

  test('ever new variables of one document', async () => {
    const query = 'query ($n: Int, $w: Where) { users(first: $n, where: $w) { id } }'
    for (let n = 1; n < 300; n++) {
      const answer = await post({ query, variables: { n: 900 + n, w: { name: 'x'.repeat(1_000) } } })
      expect([n, read(answer)]).toEqual([n, n > 100 ? 900 + n : 1])
    }
  })
})

test.each<[object | string | number, string]>([
  [{ max: 0 }, 'graphql.cost.max'],
  [{ max: 1.5 }, 'graphql.cost.max'],
  [{ max: false }, 'graphql.cost.max'],
  [{ listSize: '10' }, 'graphql.cost.listSize'],
  [{ slicingArguments: 'first' }, 'graphql.cost.slicingArguments'],
  [{ maximum: 5 }, 'graphql.cost'],
  [5, 'graphql.cost'],
])('a wrong option is refused: %j', (cost, name) => {
  expect(() => appWith(cost as never)).toThrow(expect.objectContaining({ message: expect.stringContaining(name) }))
})
