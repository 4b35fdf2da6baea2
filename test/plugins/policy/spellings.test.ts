import { defineMiddleware, definePlugin, PolicyManager, RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw } from '../../conformance/raw-client.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** Sixty ways to write a guarded path that some component may read as another. */
const spellings = [
  '/admin/x',
  '/admin',
  '/admin/',
  '/admin/x/',
  '//admin/x',
  '/admin//x',
  '///admin/x',
  '/admin/x//',
  '/./admin/x',
  '/admin/./x',
  '/admin/x/.',
  '/z/../admin/x',
  '/admin/../admin/x',
  '/admin/z/../x',
  '/../admin/x',
  '/admin/..;/x',
  '/z/..;/admin/x',
  '/..;/admin/x',
  '/admin;x',
  '/admin;/x',
  '/admin/;/x',
  '/admin/x;v=1',
  '/;/admin/x',
  '/admin%2Fx',
  '/admin%2fx',
  '/%2Fadmin/x',
  '/admin/%2e%2e/admin/x',
  '/%2e/admin/x',
  '/z/%2E%2E/admin/x',
  '/z/.%2e/admin/x',
  '/%61dmin/x',
  '/%61%64%6D%69%6E/x',
  '/admin/%78',
  '/%2561dmin/x',
  '/admin%252Fx',
  '/%252e%252e/admin/x',
  '/ADMIN/x',
  '/Admin/X',
  '/%41dmin/x',
  '\\admin\\x',
  '/\\admin/x',
  '/admin\\x',
  '/z\\..\\admin\\x',
  '/admin%5Cx',
  '/%5Cadmin/x',
  '/admin/x%00',
  '/admin%00/x',
  '/%00/admin/x',
  '/admin/x%20',
  '/admin%20/x',
  '/admin%09/x',
  '/admin/x%0d%0a',
  '/admin/x?',
  '/admin/x?a=/../b',
  '/admin/x#part',
  '/%EF%BC%8Fadmin/x',
  '/adm%C4%B1n/x',
  '/admin/x%c0%af',
  'http://h/admin/x',
  'HTTP://h//admin/x',
]

const outcomes = { ran: 0, guarded: 0 }
const guard = (): boolean => {
  outcomes.guarded++
  return letIn
}
let letIn = false
const handler = () => {
  outcomes.ran++
  return 'secret'
}

const manager = new PolicyManager({ site: { admin: guard } })
const check = defineMiddleware((_req, res, next) => (guard() ? next() : res.unauthorized()))
const admin = definePlugin({
  name: 'admin',
  scoped: true,
  setup(ctx) {
    ctx.use(check)
    ctx.get('/', handler)
    ctx.get('/x', handler)
    ctx.get('/*', handler)
  },
})

const guards: [string, (server: Server) => void][] = [
  [
    'a policy',
    (server) => {
      const policy = { manager, scope: 'site', handler: 'admin' } as const
      for (const path of ['/admin', '/admin/x', '/admin/*']) server.get(path, { policy }, handler)
    },
  ],
  [
    'a middleware of the group',
    (server) =>
      server.group('/admin', [check], (r) => {
        r.get('/', handler)
        r.get('/x', handler)
        r.get('/*', handler)
      }),
  ],
  ['a plugin with a scope', (server) => server.register(admin(), { prefix: '/admin' })],
]

test('there are sixty spellings, each once', () => {
  expect(new Set(spellings).size).toBe(60)
})

describe.each(guards)('after %s', (_name, protect) => {
  const server = new Server<{}>({
    router: new RouteCollection(),
    logger: memoryLogger(),
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    gracefulShutdown: false,
  })
  protect(server)
  beforeAll(() => server.listen())
  afterAll(() => server.close())

  const overSocket = async (target: string) => {
    const head = `GET ${target} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`
    const { statuses } = await sendRaw(server.port, head, { answers: 1 })
    return statuses[0]
  }
  const inProcess = async (target: string) => (await server.inject({ url: target })).status

  describe.each([
    ['over a socket', overSocket],
    ['in process', inProcess],
  ])('%s', (_how, ask) => {
    const walk = async (open: boolean) => {
      letIn = open
      const found = { unguarded: [] as string[], answered: [] as string[], refused: [] as string[] }
      for (const target of spellings) {
        outcomes.ran = 0
        outcomes.guarded = 0
        const status = await ask(target)
        expect(status, target).toBeOneOf([200, 400, 401, 404])
        if ((status === 200 || outcomes.ran > 0) && outcomes.guarded === 0) found.unguarded.push(target)
        if (status === 200) found.answered.push(target)
        if (status === 401) found.refused.push(target)
      }
      return found
    }

    test('no spelling answers without the guard having run', async () => {
      const { unguarded, answered } = await walk(true)
      expect(unguarded).toEqual([])
      // Otherwise nothing would have been tried.
      expect(answered).toEqual(expect.arrayContaining(['/admin/x', '/%61dmin/x', '/z/../admin/x', 'http://h/admin/x']))
    })

    test('a guard that refuses is passed by none', async () => {
      const { unguarded, answered, refused } = await walk(false)
      expect([...unguarded, ...answered]).toEqual([])
      expect(refused.length).toBeGreaterThan(20)
    })
  })
})
