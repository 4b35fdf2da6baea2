import fastify from 'fastify'
import mercurius from 'mercurius'
import { resolvers, typeDefs } from '../servers/graphql-shop.mjs'
import { port, scenario } from '../servers/routes.mjs'

const app = fastify()
app.register(mercurius.default ?? mercurius, { schema: typeDefs, resolvers, jit: scenario === 'jit' ? 1 : 0 })
await app.listen({ port, host: '127.0.0.1' })
