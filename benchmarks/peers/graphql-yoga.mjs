import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { resolvers, typeDefs } from '../servers/graphql-shop.mjs'
import { port } from '../servers/routes.mjs'

createServer(createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false })).listen(port, '127.0.0.1')
