import { PolicyManager, type Server } from 'framework'
import { afterEach, expect, test } from 'vitest'
import { lookAt, makeServer, servers } from './support.ts'

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

interface Panel {
  rows: { id: string; cells: unknown[] }[]
}

async function panelsOf(server: Server<{}>) {
  const look = await lookAt(server)
  const keyOf = async (title: string) => {
    const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
    return panels.find((one) => one.title === title)!.key
  }
  return {
    rows: async (title: string) => (await look.json<Panel>(`panel?key=${await keyOf(title)}`)).rows,
    act: async (title: string, action: string, id: string) =>
      look.json<{ message: string }>('action', { panel: await keyOf(title), action, id }),
  }
}

test('health shows its checks, also where its probes have no path', async () => {
  const checks = { database: () => true, paper: () => Promise.reject(new Error('none')) }
  const { server } = makeServer(true, { health: { live: false, ready: false, checks } })
  const { rows } = await panelsOf(server)
  expect((await rows('Health')).map(({ cells }) => cells)).toEqual([
    ['Ready', 'error'],
    ['database', 'ok', null],
    ['paper', 'error', 'none'],
  ])
})

test('sessions are shown by hashes of their ids, without data, and can be ended', async () => {
  const { server } = makeServer(true, { session: { secret: 'a secret of sixteen characters' } })
  server.get('/login', (req) => {
    Object.assign((req as unknown as { session: object }).session, { user: 'ada' })
  })
  server.get('/', (req) => ({ ...(req as unknown as { session: object }).session }))
  const { rows, act } = await panelsOf(server)
  const answer = await server.inject({ url: '/login' })
  const cookie = String(answer.headers['set-cookie']).split(';')[0]!
  const [session, ...more] = await rows('Sessions in memory')
  expect(more).toEqual([])
  expect(session!.cells).toEqual([session!.id, 14, { time: expect.any(Number) }])
  expect(decodeURIComponent(cookie)).not.toContain(session!.id)
  const read = async () => Buffer.from((await server.inject({ url: '/', headers: { cookie } })).body).toString()
  expect(await read()).toBe('{"user":"ada"}')
  expect(await act('Sessions in memory', 'End', session!.id)).toEqual({ message: 'It has ended.' })
  expect(await read()).toBe('{}')
  expect(await act('Sessions in memory', 'End', session!.id)).toEqual({ message: 'this session no longer exists' })
})

test('rate limits show what they count', async () => {
  const { server } = makeServer(true, { rateLimit: { limit: 2 } })
  server.get('/', () => 'x')
  server.get('/own', { rateLimit: { limit: 1, windowMs: 5_000 } } as never, (() => 'x') as never)
  server.get('/free', { rateLimit: false } as never, (() => 'x') as never)
  const { rows } = await panelsOf(server)
  for (const url of ['/', '/', '/', '/own', '/own', '/free']) await server.inject({ url })
  expect((await rows('Rate limits')).map(({ cells }) => cells)).toEqual([
    ['*', 2, 60, 2, 1, 429],
    ['GET /own', 1, 5, 1, 1, 429],
  ])
})

test('policies are shown by the routes that ask them, in groups as well', async () => {
  const manager = new PolicyManager({ site: { admin: () => true, known: () => true } })
  const { server } = makeServer()
  const open = () => 'x'
  server.get('/open', open)
  const admin = { policy: { manager, scope: 'site', handler: 'admin' } } as const
  server.group('/admin', (routes) => void routes.get('/stats', admin, open))
  const both = { policy: [admin.policy, { manager, scope: 'site', handler: 'known', status: 403 }] } as const
  server.post('/', both, open)
  const { rows } = await panelsOf(server)
  expect((await rows('Policies of routes')).map(({ cells }) => cells)).toEqual([
    ['GET /admin/stats', 'site.admin', '401'],
    ['POST /', 'site.admin, site.known', '401, 403'],
  ])
})
