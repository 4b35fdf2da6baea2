import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  parse,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSchema, copiesError } from '../../../plugins/graphql/schema.ts'
import { graphqlApp } from '../../support/graphql.ts'
import { makePipe } from '../../support/pipe.ts'

const base = { typeDefs: 'type Query { a: Int }', resolvers: { Query: { a: () => 1 } } }

describe('the schema grows until the first request', () => {
  test('by addTypeDef and addResolver, right after new Server and after boot', async () => {
    const { server, post } = graphqlApp({ schema: base })
    server.graphql
      .addTypeDef('extend type Query { b: Thing } type Thing { id: ID }')
      .addResolver('Query', { b: () => ({}) })
      .addResolver('Thing', { id: () => 'x' })
    await server.ready()
    server.graphql.addTypeDef('type Query { c: Int }').addResolver('Query', { c: () => 3 })
    expect((await post({ query: '{ a b { id } c }' })).body).toEqual({ data: { a: 1, b: { id: 'x' }, c: 3 } })
  })

  test('of nothing but additions', async () => {
    const { server, post } = graphqlApp({})
    server.graphql.addTypeDef(base.typeDefs).addResolver('Query', base.resolvers.Query)
    expect((await post({ query: '{ a }' })).body).toEqual({ data: { a: 1 } })
  })

  test('after that it is an error that says so, and the server continues', async () => {
    const { server, post } = graphqlApp({ schema: base })
    await post({ query: '{ a }' })
    expect(() => server.graphql.addTypeDef('type A { a: Int }')).toThrow(/addTypeDef comes too late/)
    expect(() => server.graphql.addResolver('A', {})).toThrow(/addResolver\("A"\) comes too late/)
    expect((await post({ query: '{ a }' })).body).toEqual({ data: { a: 1 } })
  })

  test('wrong arguments are reported at once', () => {
    const { server } = graphqlApp({ schema: base })
    expect(() => server.graphql.addTypeDef(3 as never)).toThrow(/addTypeDef/)
    expect(() => server.graphql.addResolver('', {})).toThrow(/name of a type/)
    expect(() => server.graphql.addResolver('Query', (() => 1) as never)).toThrow(/addResolver\("Query"\)/)
  })

  test('the schema can be had once the server is ready', async () => {
    const { server } = graphqlApp({ schema: base })
    expect(() => server.graphql.schema).toThrow(/await server.ready\(\)/)
    await server.ready()
    expect(server.graphql.schema).toBeInstanceOf(GraphQLSchema)
  })
})

describe('a schema that cannot be built', () => {
  test.each<[string, object, RegExp]>([
    ['a mistake in the text', { typeDefs: 'type Query { a: Int' }, /Syntax Error.*line 1, column 20/],
    ['an unknown type', { typeDefs: 'type Query { a: Itn }' }, /Unknown type: "Itn"|Unknown type "Itn"/],
    ['no Query', { typeDefs: 'type A { a: Int }' }, /Query root type must be provided/],
    ['nothing at all', {}, /no type definitions/],
    ['a resolver of no field', { ...base, resolvers: { Query: { z: () => 1 } } }, /Query\.z/],
    ['a resolver of no type', { ...base, resolvers: { Nope: { z: () => 1 } } }, /Nope/],
  ])('%s: 500 without a reason, the reason in the log, once', async (_, schema, reason) => {
    const { server, post, log } = graphqlApp({ schema })
    server.get('/other', () => 'alive')
    for (let i = 0; i < 3; i++) {
      const answer = await post({ query: '{ a }' })
      expect(answer).toMatchObject({
        status: 500,
        body: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
      })
    }
    const errors = log.filter(({ level }) => level === 'error')
    expect(errors).toHaveLength(1)
    expect((errors[0]!.fields.err as Error).message).toMatch(reason)
    expect((await server.inject.get('/other')).body()).toBe('alive')
    expect(() => server.graphql.addTypeDef('type B { a: Int }')).toThrow(/too late/)
  })

  test('details are shown where they are exposed', async () => {
    const { post } = graphqlApp({ schema: { typeDefs: 'type' } }, { exposeErrorDetails: true })
    expect((await post({ query: '{ a }' })).body.errors[0].message).toMatch(/Syntax Error/)
    graphqlApp({ schema: base })
  })
})

describe('the parts of a schema', () => {
  test('lists of text and documents, lists of resolvers, scalars, enums and resolvers of abstract types', async () => {
    const Upper = new GraphQLScalarType({ name: 'Upper', serialize: (value) => String(value).toUpperCase() })
    const { post } = graphqlApp({
      schema: {
        typeDefs: [
          'type Query { up: Upper level: Level named: Named }',
          parse(
            'scalar Upper enum Level { LOW HIGH } interface Named { name: String } type Person implements Named { name: String }',
          ),
        ],
        resolvers: [
          { Upper, Level: { LOW: 1, HIGH: 2 }, Named: { __resolveType: () => 'Person' } },
          { Query: { up: () => 'a', level: () => 2, named: () => ({ name: 'Ada' }) } },
        ],
      },
    })
    expect((await post({ query: '{ up level named { name __typename } }' })).body).toEqual({
      data: { up: 'A', level: 'HIGH', named: { name: 'Ada', __typename: 'Person' } },
    })
  })

  const ready = () => {
    const Level = new GraphQLEnumType({ name: 'Level', values: { LOW: { value: 1 }, HIGH: { value: 2 } } })
    const fields = { hello: { type: GraphQLString, resolve: () => 'world' }, level: { type: Level, resolve: () => 2 } }
    return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
  }

  test('a ready schema, as it is', async () => {
    const schema = ready()
    const { server, post } = graphqlApp({ schema })
    expect((await post({ query: '{ hello level }' })).body).toEqual({ data: { hello: 'world', level: 'HIGH' } })
    expect(server.graphql.schema).toBe(schema)
  })

  test('a ready schema that is added to; the one that was given stays', async () => {
    const schema = ready()
    const { server, post } = graphqlApp({ schema })
    server.graphql
      .addTypeDef('type Query { more: Int } type Mutation { go: Level }')
      .addResolver('Query', { more: () => 5 })
    server.graphql.addResolver('Mutation', { go: () => 1 })
    expect((await post({ query: '{ hello level more }' })).body).toEqual({
      data: { hello: 'world', level: 'HIGH', more: 5 },
    })
    expect((await post({ query: 'mutation { go }' })).body).toEqual({ data: { go: 'LOW' } })
    expect(Object.keys(schema.getQueryType()!.getFields())).toEqual(['hello', 'level'])
  })

  test('one of another copy of the package is an error that names both', async () => {
    const graphql = await import('graphql')
    class Foreign {
      getQueryType() {}
      getTypeMap() {}
    }
    const parts = { given: new Foreign() as never, files: [], typeDefs: [], resolvers: [] }
    expect(() => buildSchema({ graphql, tools: undefined }, parts)).toThrow(/the schema .*npm ls graphql/)
    expect(copiesError(graphql, 'a type').message).toContain(`version ${graphql.version}`)
    expect(copiesError(graphql, 'x', 'no-such-package').message).toContain('a copy that cannot be found')
  })

  test('a type of another copy is reported as such', async () => {
    const graphql = await import('graphql')
    const fails = () => {
      throw new Error('Cannot use GraphQLScalarType "A" from another module or realm.')
    }
    const parts = { given: base, files: [], typeDefs: [], resolvers: [] }
    const tools = { makeExecutableSchema: fails } as never
    expect(() => buildSchema({ graphql, tools }, parts)).toThrow(/a type/)
  })
})

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graphql-files-'))
  beforeAll(() => {
    writeFileSync(join(folder, 'a.graphql'), 'type Query { a: Int }')
    writeFileSync(join(folder, 'b.graphql'), 'extend type Query {\n  b: Int\n}')
    writeFileSync(join(folder, 'broken.gql'), 'type A {\n  a: Int\n  b = 3\n}')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('are found by globs and joined with the rest', async () => {
    const schema = {
      files: join(folder, '*.graphql'),
      typeDefs: 'extend type Query { c: Int }',
      resolvers: { Query: { b: () => 2 } },
    }
    const { post } = graphqlApp({ schema })
    expect((await post({ query: '{ a b c }' })).body).toEqual({ data: { a: null, b: 2, c: null } })
  })

  test('a mistake fails the boot with file, line and column', async () => {
    const { server } = graphqlApp({ schema: { files: [join(folder, '*')] } })
    await expect(server.ready()).rejects.toThrow(/.*broken\.gql:3:5: Syntax Error/)
  })

  test('a link to a named pipe is not a file, and the boot does not wait for it', async () => {
    symlinkSync(makePipe(join(folder, 'pipe')), join(folder, 'link.sdl'))
    const { server } = graphqlApp({ schema: { files: [join(folder, '*.sdl')] } })
    await expect(server.ready()).rejects.toThrow(/link\.sdl is a named pipe, not a file/)
  })

  test('a glob without files fails the boot', async () => {
    const { server } = graphqlApp({ schema: { files: ['no/such/*.graphql'] } })
    await expect(server.ready()).rejects.toThrow(/"no\/such\/\*\.graphql".*no file matches/)
  })
})

test('a GraphQLError of the application is recognised', async () => {
  const { post } = graphqlApp({
    schema: {
      ...base,
      resolvers: {
        Query: {
          a: () => {
            throw new GraphQLError('as I say')
          },
        },
      },
    },
  })
  expect((await post({ query: '{ a }' })).body.errors[0]).toEqual({
    message: 'as I say',
    locations: [{ line: 1, column: 3 }],
    path: ['a'],
  })
})
