import { type GraphqlOptions, type GraphqlService, type Request, type Response, router, Server } from 'framework'
import { graphql } from 'framework/plugins/graphql'
import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString, parse } from 'graphql'
import type { Equal, Expect } from './expect.ts'

interface Shop {
  id: string
}

const options: GraphqlOptions = {
  schema: {
    typeDefs: ['type Query { shops: [Shop!]! }', parse('type Shop { id: ID! }')],
    files: 'src/**/*.graphql',
    resolvers: [
      {
        Query: {
          shops: (_parent, args, _context, info) => {
            type _args = Expect<Equal<typeof args, Record<string, unknown>>>
            return [args, info]
          },
        },
        // Parameters may have types of their own.
        Shop: { id: (shop: Shop, _args: { first: number }, _context: { user: string }) => shop.id },
        Level: { LOW: 1, HIGH: 2 },
        Subscription: { tick: { subscribe: async function* () {}, resolve: (event: { tick: number }) => event.tick } },
        Upper: new GraphQLScalarType({ name: 'Upper' }),
      },
    ],
  },
  apolloOptions: {
    introspection: false,
    csrfPrevention: true,
    context: async ({ req, res }) => {
      type _req = Expect<Equal<typeof req, Request>>
      type _res = Expect<Equal<typeof res, Response>>
      return { user: req.id }
    },
  },
  limits: { depth: 5, aliases: false },
  jit: { minCount: 2 },
  route: { rateLimit: { limit: 5 }, timeout: 100, middlewares: [(_req, _res, next) => next()] },
}

const server = new Server({ graphql: options })
type _service = Expect<Equal<typeof server.graphql, GraphqlService>>
server.graphql.addTypeDef('type A { a: Int }').addResolver('A', { a: () => 1 })

const provided = new Server([graphql(options)])
type _provided = Expect<Equal<typeof provided.services.graphql, GraphqlService>>
new Server({ plugins: { graphql: options } })
new Server({ plugins: { graphql: true }, router })

const query = new GraphQLObjectType({ name: 'Query', fields: { a: { type: GraphQLString } } })
new Server({ graphql: { schema: new GraphQLSchema({ query }), jit: true } })

// @ts-expect-error a misspelt option
new Server({ plugins: { graphql: { scheme: {} } } })
// @ts-expect-error a misspelt member
new Server({ graphql: { schema: { typedefs: '' } } })
// @ts-expect-error a limit is a number
new Server({ graphql: { limits: { depth: '5' } } })
// @ts-expect-error answers of GraphQL are not kept
graphql({ route: { cache: { ttl: 5 } } })
// @ts-expect-error resolvers are functions of fields by type
graphql({ schema: { resolvers: { Query: () => 1 } } })
// @ts-expect-error definitions are text
server.graphql.addTypeDef(5)
