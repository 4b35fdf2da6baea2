import { Server } from 'framework'
import { resolvers, typeDefs } from './graphql-shop.mjs'
import { port, scenario } from './routes.mjs'

const server = new Server({
  port,
  host: '127.0.0.1',
  graphql: { schema: { typeDefs, resolvers }, jit: scenario === 'jit' },
})
await server.listen()
