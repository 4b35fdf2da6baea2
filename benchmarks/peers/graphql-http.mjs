import { createServer } from 'node:http'
import { makeExecutableSchema } from '@graphql-tools/schema'
import { createHandler } from 'graphql-http/lib/use/http'
import { resolvers, typeDefs } from '../servers/graphql-shop.mjs'
import { port } from '../servers/routes.mjs'

const handler = createHandler({ schema: makeExecutableSchema({ typeDefs, resolvers }) })
createServer((request, response) => {
  if (request.url === '/graphql') handler(request, response)
  else response.writeHead(404).end()
}).listen(port, '127.0.0.1')
