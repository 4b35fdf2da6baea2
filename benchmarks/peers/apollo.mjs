import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { resolvers, typeDefs } from '../servers/graphql-shop.mjs'
import { port } from '../servers/routes.mjs'

await startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), { listen: { port, host: '127.0.0.1' } })
