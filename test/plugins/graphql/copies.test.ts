import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { RouteCollection, Server } from 'framework'
import { expect, test, vi } from 'vitest'

// What Vitest and bundlers make of the package where they resolve it: its modules, while the tools have it by `require`.
const modules = createRequire(import.meta.url)
  .resolve('graphql')
  .replace(/\.js$/, '.mjs')
vi.mock('graphql', () => import(pathToFileURL(modules).href))

test('where a bundler loads the package as modules, the plugin takes the copy of its tools', async () => {
  const { GraphQLSchema } = await import('graphql')
  expect(GraphQLSchema).not.toBe(createRequire(import.meta.url)('graphql').GraphQLSchema)
  const server = new Server({
    router: new RouteCollection(),
    gracefulShutdown: false,
    graphql: { schema: { typeDefs: 'type Query { hello: String }', resolvers: { Query: { hello: () => 'world' } } } },
  })
  const res = await server.inject.post('/graphql', { body: { query: '{ hello }' } })
  res.assertStatus(200).assertBodyDeepEqual({ data: { hello: 'world' } })
  await server.close()
})
