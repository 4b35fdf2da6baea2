import * as graphql from 'graphql'
import {
  buildSchema,
  GraphQLError,
  GraphQLScalarType,
  getIntrospectionQuery,
  type OperationDefinitionNode,
  parse,
  print,
} from 'graphql'
import * as jit from 'graphql-jit'
import { describe, expect, test } from 'vitest'
import { compiler, compiling, executor } from '../../../plugins/graphql/execution/execute.ts'
import { graphqlApp } from '../../support/graphql.ts'

const typeDefs = `
  directive @note(text: String) on FIELD
  scalar Upper
  enum Color { RED GREEN }
  input Point { x: Int! y: Int = 2 tags: [String!] }
  interface Named { name: String! }
  type Person implements Named { name: String! friend: Person friends: [Person!]! age: Int! secret: String! fails: String! later: String maybe: [Int] }
  type Robot implements Named { name: String! size: Int }
  union Thing = Person | Robot
  type Query {
    hello(name: String = "world", times: Int): String
    person(id: ID = 1): Person
    people: [Person!]!
    peopleOrNull: [Person]
    things: [Thing!]!
    named: Named
    upper(of: Upper): Upper
    color(of: Color = RED): Color
    point(at: Point): String
    list: [[Int!]]
    fails: String
    rejects: String!
    refuses: String
    noInt: Int
    nothing: String!
    notAList: [Int]
    badEnum: Color
    unresolved: Named
    contextual: String
    parents: String
  }
  type Mutation { add(n: Int!): Int fail: Int }
`
let total = 0
const person = (name: string, depth = 2): object => ({
  name,
  friend: depth > 0 ? person(`${name}'s friend`, depth - 1) : null,
  friends: depth > 0 ? [person('f1', 0), person('f2', 0)] : [],
  age: depth === 1 ? null : 30,
  maybe: [1, null, 3],
})
const resolvers = {
  Upper: new GraphQLScalarType({
    name: 'Upper',
    serialize: (value) => String(value).toUpperCase(),
    parseValue: (value) => {
      if (value === 'bad') throw new Error('no bad ones')
      return String(value).toUpperCase()
    },
  }),
  Color: { RED: 1, GREEN: 2 },
  Named: { __resolveType: (value: unknown) => ((value as { size?: number }).size === undefined ? 'Person' : 'Robot') },
  Person: {
    later: async (parent: unknown) => `later ${(parent as { name: string }).name}`,
    secret: async () => {
      throw new Error('a secret')
    },
    fails: () => {
      throw new GraphQLError('refused', { extensions: { code: 'NO' } })
    },
  },
  Query: {
    hello: (_: unknown, args: object) => JSON.stringify(args),
    person: () => person('Ada'),
    people: async () => [person('A', 0), Promise.resolve(person('B', 0))],
    peopleOrNull: () => [person('A', 0), null, new Error('an error as a value')],
    things: () => [
      { __typename: 'Robot', name: 'R', size: 1 },
      { __typename: 'Person', ...person('P', 0) },
    ],
    named: () => ({ name: 'R', size: 4 }),
    upper: (_: unknown, { of }: { of?: string }) => of ?? 'default',
    color: (_: unknown, { of }: { of?: number }) => of,
    point: (_: unknown, { at }: { at?: object }) => JSON.stringify(at ?? null),
    list: () => [[1, 2], null, [3]],
    fails: () => {
      throw new Error('a secret')
    },
    rejects: async () => {
      throw new Error('a secret')
    },
    refuses: () => {
      throw new GraphQLError('refused', { extensions: { code: 'NO' } })
    },
    noInt: () => 'three',
    nothing: () => null,
    notAList: () => 3,
    badEnum: () => 7,
    unresolved: () => ({ __typename: 'Nobody' }),
    contextual: (_: unknown, __: object, context: unknown) => Object.keys(context as object).join(),
    parents: (parent: unknown, _: object, __: unknown, info: object) =>
      `${parent} ${(info as { fieldName: string }).fieldName} ${(info as { path: { key: string } }).path.key}`,
  },
  Mutation: {
    add: (_: unknown, { n }: { n?: number }) => {
      total += n ?? 0
      return total
    },
    fail: () => {
      throw new GraphQLError('stop')
    },
  },
}

const cases: [query: string, variables?: object][] = [
  ['{ hello }'],
  ['{ hello(name: null) }'],
  ['query ($name: String, $times: Int = 4) { hello(name: $name, times: $times) }', {}],
  ['query ($name: String, $times: Int = 4) { hello(name: $name, times: $times) }', { name: null, times: null }],
  ['query ($name: String!) { hello(name: $name) }', {}],
  ['query ($name: String!) { hello(name: $name) }', { name: 7 }],
  ['query ($times: Int) { hello(times: $times) }', { times: 3_000_000_000 }],
  ['query ($times: Int) { hello(times: $times) }', { unknown: 1 }],
  ['{ person { name friend { name friend { name friend { name } } } } }'],
  ['{ person { name friends { name later maybe } later } people { name later } }'],
  ['{ person { friend { age } } }'],
  ['{ person { friends { age name } } peopleOrNull { name } }'],
  ['{ person { secret } hello }'],
  ['{ people { secret } }'],
  ['{ things { __typename ... on Person { name later } ... on Robot { size } } }'],
  [
    '{ things { ...R ...P } named { ...N } } fragment R on Robot { size name } fragment P on Person { name } fragment N on Named { name ... on Robot { size } __typename }',
  ],
  ['{ upper a: upper(of: "x") color b: color(of: GREEN) }'],
  ['query ($u: Upper, $c: Color) { upper(of: $u) color(of: $c) }', { u: 'y', c: 'GREEN' }],
  ['query ($u: Upper) { upper(of: $u) }', { u: 'bad' }],
  ['query ($c: Color) { color(of: $c) }', { c: 'BLUE' }],
  ['{ point(at: { x: 1 }) a: point(at: { x: 1, y: null, tags: "one" }) }'],
  ['query ($p: Point) { point(at: $p) }', { p: { x: 1, tags: ['a'] } }],
  ['query ($p: Point) { point(at: $p) }', { p: { y: 1 } }],
  ['query ($p: Point) { point(at: $p) }', { p: { x: 1, z: 1 } }],
  ['query ($x: Int!) { point(at: { x: $x, y: $x }) }', { x: 5 }],
  ['{ list }'],
  ['{ fails hello }'],
  ['{ hello rejects }'],
  ['{ refuses }'],
  ['{ noInt badEnum hello }'],
  ['{ nothing hello }'],
  ['{ unresolved { name } hello }'],
  ['{ contextual parents aliased: parents @note(text: "x") }'],
  [
    'query ($s: Boolean!) { hello @skip(if: $s) list @include(if: $s) person @include(if: $s) { name @skip(if: $s) later } }',
    { s: true },
  ],
  [
    'query ($s: Boolean!) { hello @skip(if: $s) list @include(if: $s) person @include(if: $s) { name @skip(if: $s) } }',
    { s: false },
  ],
  [
    'query ($s: Boolean!) { ...F @skip(if: $s) ... @include(if: $s) { list } } fragment F on Query { hello }',
    { s: false },
  ],
  [
    'query ($s: Boolean!) { ...F @skip(if: $s) ... @include(if: $s) { list } } fragment F on Query { hello }',
    { s: true },
  ],
  ['{ person { name } person { later } ...F } fragment F on Query { person { age } }'],
  ['mutation { a: add(n: 1) b: add(n: 2) fail c: add(n: 3) }'],
  ['{ __typename __schema { queryType { name } } __type(name: "Person") { fields { name } } }'],
]

describe('compiled operations response as interpreted ones', () => {
  const plain = graphqlApp({ schema: { typeDefs, resolvers } })
  const compiled = graphqlApp({ schema: { typeDefs, resolvers }, jit: { minCount: 1 } })

  test.each(cases)('%s', async (query, variables) => {
    total = 0
    const expected = await plain.post({ query, variables })
    // The first time is interpreted, the others are not.
    for (let i = 0; i < 3; i++) {
      total = 0
      const got = await compiled.post({ query, variables })
      const sorted = (body: { errors?: { path?: unknown }[] }) => ({
        ...body,
        errors: body.errors?.map((one) => JSON.stringify(one)).sort(),
      })
      expect({ status: got.status, body: sorted(got.body) }).toEqual({
        status: expected.status,
        body: sorted(expected.body),
      })
      expect(JSON.stringify(got.body.data)).toBe(JSON.stringify(expected.body.data))
    }
  })

  test('but for errors of fields that vanish with their parents, of which graphql-js reports the first', async () => {
    const query = '{ person { friends { fails } } }'
    const [first, second] = [await compiled.post({ query }), await compiled.post({ query })]
    expect(second.body.data).toEqual(first.body.data)
    expect(second.body.errors).toContainEqual(first.body.errors[0])
    // Which also shows that it was compiled.
    expect(second.body.errors.length).toBeGreaterThan(first.body.errors.length)
  })

  test('and for the wording of a mistake of the server', async () => {
    const query = '{ notAList hello }'
    const [first, second] = [await compiled.post({ query }), await compiled.post({ query })]
    expect(second.body).toMatchObject({ data: first.body.data, errors: [{ path: ['notAList'] }] })
  })

  test('and log hidden errors', () => {
    const hidden = (log: typeof plain.log) => log.filter(({ level }) => level === 'error').length
    expect(hidden(compiled.log)).toBe(3 * hidden(plain.log))
  })
})

describe('when', () => {
  const run = (name: string) => () => ({ data: { by: name } })

  test('after minCount executions, and only once', () => {
    let compilations = 0
    const both = compiling(
      run('interpreter'),
      () => {
        compilations++
        return run('compiler')
      },
      2,
    )
    expect([1, 2, 3, 4].map(() => (both(undefined, undefined) as { data: { by: string } }).data.by)).toEqual([
      'interpreter',
      'interpreter',
      'compiler',
      'compiler',
    ])
    expect(compilations).toBe(1)
  })

  test('an operation that cannot be compiled stays interpreted', () => {
    let tries = 0
    const both = compiling(
      run('interpreter'),
      () => {
        tries++
        return 'never'
      },
      1,
    )
    for (let i = 0; i < 4; i++) expect(both(undefined, undefined)).toEqual({ data: { by: 'interpreter' } })
    expect(tries).toBe(1)
  })

  const schema = buildSchema('type Query { a: Int }')
  const document = parse('{ a }')

  test('for a tenth of the time, a second saved up', () => {
    let now = 0
    const slow = {
      ...jit,
      compileQuery: ((...given) => {
        now += 600
        return jit.compileQuery(...given)
      }) as typeof jit.compileQuery,
    }
    const compile = compiler(slow, () => now)
    const compiled = () => typeof compile(schema, document, undefined)
    const outcomes = [compiled(), compiled(), compile(schema, document, undefined)]
    expect(outcomes).toEqual(['function', 'function', 'later'])
    now += 500
    expect(compile(schema, document, undefined)).toBe('later')
    now += 1000
    expect(compiled()).toBe('function')
  })

  test('a compiler that fails leaves the work to graphql-js', () => {
    const fails = {
      ...jit,
      compileQuery: () => {
        throw new RangeError('too deep')
      },
    }
    expect(compiler(fails)(schema, document, undefined)).toBe('never')
  })

  describe('not for operations that would keep the server busy', () => {
    const many = Array.from({ length: 100 }, (_, i) => `type T${i} implements Node { id: ID node: Node }`).join('\n')
    const large = buildSchema(`
      type Query { node: Node all: [Node] find(where: Where, at: At, tree: Tree): String ${Array.from({ length: 301 }, (_, i) => `f${i}: Int`).join(' ')} }
      interface Node { id: ID node: Node }
      ${many}
      input Where { and: [Where!] or: [Where!] is: String }
      input At { x: Int y: Int }
      input Tree { next: Tree }
    `)
    const asked: string[] = []
    const noting = {
      ...jit,
      compileQuery: ((_schema, document, ...rest) => {
        asked.push(print(document))
        return jit.compileQuery(buildSchema('type Query { a: Int }'), parse('{ a }'), ...(rest as []))
      }) as typeof jit.compileQuery,
    }
    const run = executor(graphql, large, compiler(noting), 0)
    test.each([
      ['an input type that holds itself', 'query ($where: Where) { find(where: $where) }', false],
      ['the same, once', 'query ($tree: Tree!) { find(tree: $tree) }', false],
      ['one that does not', 'query ($at: At!) { find(at: $at) }', true],
      ['an interface of many types, in itself', '{ node { node { id } } }', false],
      ['through fragments', '{ node { ...A } } fragment A on Node { node { ... { id } } }', false],
      ['one type of them', '{ node { ... on T1 { id } ...A } } fragment A on T2 { id }', true],
      ['many fields', `{ ${Array.from({ length: 301 }, (_, i) => `f${i}`).join(' ')} }`, false],
      ['another operation of the document is large', `query A { f1 } query B { ${'f2 '.repeat(301)} }`, true],
      ['the introspection', getIntrospectionQuery(), true],
    ])('%s: %s', (_, text, isCompiled) => {
      asked.length = 0
      const document = parse(text)
      run(document, document.definitions[0] as OperationDefinitionNode)(undefined, undefined)
      expect(asked).toHaveLength(isCompiled ? 1 : 0)
    })
  })

  test('not for subscriptions', () => {
    let compilations = 0
    const counting = {
      ...jit,
      compileQuery: ((...given) => {
        compilations++
        return jit.compileQuery(...given)
      }) as typeof jit.compileQuery,
    }
    const run = executor(graphql, schema, compiler(counting), 0)
    const operation = document.definitions[0] as OperationDefinitionNode
    run(document, { ...operation, operation: 'subscription' as OperationDefinitionNode['operation'] })
    expect(compilations).toBe(0)
    run(document, operation)(undefined, undefined)
    expect(compilations).toBe(1)
  })
})
