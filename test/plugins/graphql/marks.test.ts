import { RouteCollection, Server } from 'framework'
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { expect, test } from 'vitest'
import { markedTypes } from '../../../plugins/graphql/marks.ts'
import { marksOf } from '../../../plugins/shared/schema/marks.ts'

type Context = { req: { log: { info(fields: object): void } } }
const resolvers = {
  Query: {
    owner: (_: unknown, args: { plate?: string }, { req }: Context) => {
      req.log.info({ plate: args.plate, plates: 'shown', nested: { owner_name: 'Ada Byron' } })
      return { ownerName: 'Ada Byron' }
    },
  },
}
const typeDefs = `
  type Query { owner(plate: String @sensitive): Owner }
  type Owner { ownerName: String @sensitive, town: String }
`
const body = { query: 'query ($plate: String) { owner(plate: $plate) { ownerName } }', variables: { plate: 'WER-123' } }

test('what has the name of a marked field or argument is hidden from the first request on', async () => {
  const lines: string[] = []
  const log = { stream: { write: (line: string) => void lines.push(line) } }
  const server = new Server({
    router: new RouteCollection(),
    plugins: { log, graphql: { schema: { typeDefs, resolvers } } },
  })
  const res = await server.inject.post('/graphql', { body })
  res.assertStatus(200).assertBodyDeepEqual({ data: { owner: { ownerName: 'Ada Byron' } } })
  await server.close()
  expect(lines.join('')).toContain('"plate":"[redacted]","plates":"shown","nested":{"owner_name":"[redacted]"}')
  expect(lines.join('')).not.toMatch(/WER|Byron/)
})

test('a schema that is made in code has its marks in extensions, and directives of its own stay', async () => {
  const field = { type: GraphQLString, extensions: { directives: { secret: {} } } }
  // As Pothos writes them.
  const listed = { type: GraphQLString, extensions: { directives: [null, { name: 'sensitive', args: {} }] } }
  const fields = { ownPin: field, town: { type: GraphQLString }, plate: listed }
  const query = new GraphQLObjectType({ name: 'Query', fields })
  const marks = (schema: GraphQLSchema) =>
    markedTypes(schema).flatMap(({ place, schema: one }) =>
      (marksOf(one)?.members ?? []).map(({ path, mark }) => `${place} ${path} ${mark}`),
    )
  expect(marks(new GraphQLSchema({ query }))).toEqual(['send Query ownPin secret', 'send Query plate sensitive'])
  // Names that no other file has: they stay marked in this process.
  const own = `directive @secret(level: Int) on FIELD_DEFINITION
    type Query { ownField: String @secret(level: 1), more: More }
    interface More { ownMember(ownArgument: In @sensitive): String @sensitive }
    input In { d: Int }`
  const server = new Server({ router: new RouteCollection(), plugins: { graphql: { schema: { typeDefs: own } } } })
  await server.ready()
  expect(marks(server.services.graphql.schema as GraphQLSchema)).toEqual([
    'send Query ownField secret',
    'send More ownMember sensitive',
    'receive More.ownMember ownArgument sensitive',
  ])
  await server.close()
})
