import { PolicyManager } from 'framework'
import { apiKey, bearer } from 'framework/plugins/auth'
import { expect, test } from 'vitest'
import { bearing, serverWith, user } from './support.ts'

const schemes = {
  token: bearer((given) => (given === 'ada' ? user('ada') : undefined)),
  key: apiKey({ prefix: 'shop', find: () => undefined }),
}
const policies = new PolicyManager({ site: { admin: () => true } })

test('OpenAPI has the schemes once, and the security and the refusals of each route', async () => {
  const { server } = serverWith({ schemes }, { openapi: true })
  server.get('/all', () => '')
  server.get('/open', { auth: false }, () => '')
  server.get('/maybe', { auth: 'optional' }, () => '')
  server.get('/some', { auth: { schemes: ['key'], scopes: ['read'] } }, () => '')
  server.get('/admin', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, () => '')
  await server.ready()
  const { paths, components } = server.services.get('openapi').document()
  const of = (path: string) => paths[path]!.get as { security?: unknown; responses: object }
  expect(components?.securitySchemes).toEqual({
    token: { type: 'http', scheme: 'bearer' },
    key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  })
  expect(of('/all').security).toEqual([{ token: [] }, { key: [] }])
  expect(of('/open').security).toEqual([])
  expect(of('/maybe').security).toEqual([{ token: [] }, { key: [] }, {}])
  expect(of('/some').security).toEqual([{ key: ['read'] }])
  expect(of('/admin').security).toEqual([{ token: ['site.admin'] }, { key: ['site.admin'] }])
  expect(Object.keys(of('/all').responses)).toContain('401')
  expect(Object.keys(of('/all').responses)).not.toContain('403')
  expect(Object.keys(of('/some').responses)).toEqual(expect.arrayContaining(['401', '403']))
  expect(Object.keys(of('/open').responses)).not.toContain('401')
})

test('a websocket knows its caller, and AsyncAPI the schemes', async () => {
  const { server } = serverWith({ schemes }, { websocket: true, asyncapi: true, graphql: graphql() })
  const open = (req: object) => ({ of: (req as { user?: { id: string } }).user?.id })
  server.ws('/live', { data: open, message: (socket) => socket.send(socket.data.of ?? '') })
  await server.ready()
  ;(await server.inject.ws('/live')).response.assertStatus(401)
  const socket = await server.inject.ws('/live', bearing('ada'))
  socket.send('who')
  expect(await socket.next()).toBe('ada')
  socket.close()
  const document = server.services.get('asyncapi').document()
  expect(document.components?.securitySchemes).toHaveProperty('token')
  expect(JSON.stringify(document.operations)).toContain('#/components/securitySchemes/key')
  const res = await server.inject.post('/graphql', { ...bearing('ada'), body: { query: '{ who }' } })
  res.assertBodyDeepEqual({ data: { who: 'ada' } })
  ;(await server.inject.post('/graphql', { body: { query: '{ who }' } })).assertStatus(401)
})

function graphql() {
  const who = (_parent: unknown, _args: unknown, context: unknown) =>
    (context as { req: { user?: { id: string } } }).req.user?.id
  return { schema: { typeDefs: 'type Query { who: String }', resolvers: { Query: { who } } } }
}

test('the inspector, which has a token of its own, needs no other credential, and lists the routes', async () => {
  const { server } = serverWith({ schemes }, { inspector: true })
  server.get('/all', () => '')
  const res = await server.inject.get('/_inspector')
  res.assertStatus(401)
  expect(JSON.stringify(res.body())).not.toContain('AuthenticationError')
})
