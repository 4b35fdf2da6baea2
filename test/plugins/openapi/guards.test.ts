import { definePlugin, PolicyManager, RouteCollection, Server } from 'framework'
import { describeServer, type OpenApiOperation } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { describeRoute, notesOf } from '../../../cli/commands/routes.ts'
import { generateClient } from '../../../cli/sdk/generate.ts'
import { problemsOf } from '../../support/openapi.ts'

const policies = new PolicyManager({ site: { admin: () => false, member: () => false } })
const admin = policies.guard('site', 'admin', { status: 'byUser' })
const makeServer = (plugins: object = {}) =>
  new Server({ router: new RouteCollection(), plugins: { ...plugins, log: false } as {} })

/** The requirement and the refusals of the one route of a server. */
async function refusalsOf(server: Server): Promise<unknown[]> {
  await server.ready()
  const document = describeServer(server)
  expect(await problemsOf(document)).toEqual([])
  const { security, responses } = Object.values(document.paths)[0]!.get as OpenApiOperation
  return [security, Object.keys(responses).filter((status) => status.startsWith('40'))]
}

const locked = (...roles: string[]) => [{ credential: roles }]

describe('a route has the lock and the refusals of the guards', () => {
  test('of its groups', async () => {
    const server = makeServer()
    server.group('/a', [admin], (a) => a.group('/b', [policies.guard('site', 'member')], (b) => b.get('/c', () => 1)))
    expect(await refusalsOf(server)).toEqual([locked('site.admin', 'site.member'), ['401', '403']])
  })

  test('of a group, before the server has booted', () => {
    const server = makeServer()
    server.group('/a', [policies.guard('site', 'admin', { status: 403 })], (a) => a.get('/c', () => 1))
    expect(describeServer(server).paths['/a/c']?.get).toMatchObject({ security: locked('site.admin') })
  })

  test('of its server', async () => {
    const server = makeServer()
    server.use(policies.guard('site', 'member'))
    server.get('/c', () => 1)
    expect(await refusalsOf(server)).toEqual([locked('site.member'), ['401']])
  })

  test('of the plugin that registers it, and of no other', async () => {
    const server = makeServer()
    const billing = definePlugin({
      name: 'billing',
      setup(ctx) {
        ctx.get('/bills', () => [])
        ctx.use(admin)
      },
    })
    server.register(billing(), { prefix: '/billing' })
    expect(await refusalsOf(server)).toEqual([locked('site.admin'), ['401', '403']])
    const outside = makeServer()
    outside.get('/c', () => 1)
    outside.register(billing(), { prefix: '/billing' })
    expect(await refusalsOf(outside)).toEqual([undefined, []])
  })

  test('among its own middlewares, together with its policy', async () => {
    const server = makeServer()
    const policy = { manager: policies, scope: 'site', handler: 'member' } as const
    server.get('/c', { policy, middlewares: [admin] }, () => 1)
    expect(await refusalsOf(server)).toEqual([locked('site.member', 'site.admin'), ['401', '403']])
  })
})

test('what the route says about its security takes precedence', async () => {
  const server = makeServer()
  server.group('/a', [admin], (a) => a.get('/c', { apidoc: { security: [] } }, () => 1))
  expect((await refusalsOf(server))[0]).toEqual([])
})

test('the generated client knows the refusals', () => {
  const server = makeServer()
  server.group('/a', [admin], (a) => a.get('/c', () => 1))
  const client = generateClient(describeServer(server) as never)
  expect(client.match(/^ +40\d: /gm)?.map((line) => line.trim())).toEqual(['401:', '403:'])
})

test('a websocket of a guarded group has the lock', async () => {
  const server = makeServer({ websocket: true, asyncapi: true })
  server.group('/a', [admin], (a) => a.ws('/c', { message() {} }))
  await server.ready()
  expect(JSON.stringify(server.services.get('asyncapi')!.document())).toContain('site.admin')
})

test('`framework routes` lists guards among the policies', async () => {
  const server = makeServer()
  server.use(policies.guard('site', 'member'))
  server.group(
    '/a',
    [
      admin,
      function count(_req, _res, next) {
        return next()
      },
    ],
    (a) => a.get('/c', () => 1),
  )
  await server.ready()
  expect(server.listing.routes.map((route) => notesOf(describeRoute(route)))).toEqual([
    ['policy site.member, site.admin', 'uses count'],
  ])
})
