import { PolicyManager, type Request, type Response, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const manager = new PolicyManager({ site: { nobody: () => false, later: async () => false } })

function makeServer(handler?: Parameters<Server['setPolicyErrorHandler']>[0]) {
  const logger = memoryLogger()
  const server = new Server<{}>({ router: new RouteCollection(), logger })
  servers.push(server)
  server.get('/a', { policy: { manager, scope: 'site', handler: 'nobody' } }, () => 1)
  server.get('/b', { policy: { manager, scope: 'site', handler: 'later' } }, () => 1)
  if (handler !== undefined) expect(server.setPolicyErrorHandler(handler)).toBe(server)
  return { server, log: logger.entries }
}

describe('setPolicyErrorHandler', () => {
  test.each<[string, Parameters<Server['setPolicyErrorHandler']>[0], number, unknown]>([
    ['a callback that answers', (req, res) => res.forbidden({ path: req.path }), 403, { path: '/a' }],
    ['a callback that answers later', async (_req, res) => void res.status(404).json({ no: 1 }), 404, { no: 1 }],
    ['a callback that answers without a status', (_req, res) => res.json({ no: 1 }), 401, { no: 1 }],
    ['a callback that returns a value', () => ({ no: 1 }), 401, { no: 1 }],
    ['a callback that resolves to a value', async () => ({ no: 1 }), 401, { no: 1 }],
    ['a callback that does nothing', () => {}, 401, { error: 'Unauthorized' }],
    [
      'a callback that sets a status only',
      (_req: Request, res: Response) => res.status(403),
      403,
      { error: 'Unauthorized' },
    ],
    ['a status', { status: 403 }, 403, { error: 'Unauthorized' }],
    ['a map', { map: (req) => ({ path: req.path }) }, 401, { path: '/a' }],
    ['both', { status: 404, map: () => ({ error: 'Not Found' }) }, 404, { error: 'Not Found' }],
    ['a map that resolves', { map: async () => 'no' }, 401, 'no'],
    ['a map to nothing', { map: () => undefined }, 401, undefined],
    ['no options', {}, 401, { error: 'Unauthorized' }],
  ])('takes %s', async (_what, handler, status, body) => {
    const { server } = makeServer(handler)
    for (const path of ['/a', '/b']) {
      const res = await server.inject.get(path)
      res.assertStatus(status)
      expect(JSON.stringify(res.body())?.replace('/b', '/a')).toBe(JSON.stringify(body))
    }
  })

  test('the default body is not touched by a schema that the route has for 401', async () => {
    const { server } = makeServer()
    const policy = { manager, scope: 'site', handler: 'nobody' } as const
    const own = { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } as const
    server.get('/c', { policy, responses: { 401: own } }, (_req, res) => res.unauthorized({ message: 'no' }))
    ;(await server.inject.get('/c')).assertStatus(401).assertBodyDeepEqual({ error: 'Unauthorized' })
  })

  test('holds for one server, from the moment it is set', async () => {
    const { server } = makeServer()
    const other = makeServer({ status: 404 }).server
    ;(await server.inject.get('/a')).assertStatus(401)
    ;(await other.inject.get('/a')).assertStatus(404)
    server.setPolicyErrorHandler({ status: 403 })
    ;(await server.inject.get('/a')).assertStatus(403)
    ;(await other.inject.get('/a')).assertStatus(404)
  })

  test.each<[string, Parameters<Server['setPolicyErrorHandler']>[0]]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken')
      },
    ],
    [
      'throws after its response',
      (_req, res) => {
        res.ok('in')
        throw new Error('broken')
      },
    ],
    [
      'maps and throws',
      {
        map: () => {
          throw new Error('broken')
        },
      },
    ],
    ['maps to what is not JSON', { map: () => ({ big: 1n }) }],
  ])('a handler that %s: a bare 500, and the server lives', async (_what, handler) => {
    const { server, log } = makeServer(handler)
    for (const path of ['/a', '/b']) {
      const res = await server.inject.get(path)
      res.assertStatus(500)
      expect(res.text()).toBe('')
    }
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(2)
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'OptionError'],
    ['null', null, 'OptionError'],
    ['a text', 'no', 'OptionError'],
    ['a status that lets in', { status: 200 }, 'OptionError'],
    ['an invalid status', { status: 1000 }, 'OptionError'],
    ['a body in place of a map', { map: { error: 'no' } }, 'OptionError'],
    ['another name', { body: {} }, 'OptionError'],
    ['a misspelt name', { statsu: 403 }, 'OptionError'],
  ])('refuses %s', (_what, handler, code) => {
    const { server } = makeServer()
    expect(() => server.setPolicyErrorHandler(handler as never)).toThrow(expect.objectContaining({ code }))
  })
})
