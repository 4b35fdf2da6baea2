import { inspect } from 'node:util'
import { RouteCollection, Server, type ServerOptions } from 'framework'
import {
  bearer,
  memoryTickets,
  redisTickets,
  type TicketScheme,
  type TicketStore,
  tickets,
} from 'framework/plugins/auth'
import { testClock } from 'framework/testing'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { bearing, user } from './support.ts'

function serve(store: TicketStore = memoryTickets(), more: { readonly path?: string } = {}) {
  const logger = memoryLogger()
  const gone = new Set<string>()
  const scheme: TicketScheme = tickets({ find: (id) => (gone.has(id) ? undefined : user(id)), store })
  const token = bearer((name) => (name === 'wrong' ? undefined : user(name, { scopes: ['orders:read'] })))
  const router = new RouteCollection()
  const plugins = { websocket: true, auth: { schemes: { token, scheme } } } as ServerOptions['plugins']
  const server = new Server({ plugins, router, logger })
  onTestFinished(() => server.close())
  router.post('/ticket', (req) => scheme.issue(req, more))
  router.get('/plain', () => 'ok')
  const handlers = {
    data: (req: object) => (req as { user: object }).user,
    message: (socket: { data: object; send(text: string): void }) => socket.send(JSON.stringify(socket.data)),
  }
  router.ws('/live', handlers as never)
  router.ws('/other', handlers as never)
  router.ws('/named', { socket: { protocols: ['chat'] } }, handlers as never)
  router.ws('/read', { auth: { scopes: ['orders:read'] } }, handlers as never)
  router.ws('/write', { auth: { scopes: ['orders:write'] } }, handlers as never)
  const issue = async (name = 'ada') => {
    const { ticket } = JSON.parse((await server.inject.post('/ticket', bearing(name))).assertStatus(200).text())
    return ticket as string
  }
  const statusOf = async (path: string, ticket: string) =>
    (await server.inject.ws(path, { query: { ticket_token: ticket } })).response.statusCode()
  return { server, issue, statusOf, gone, log: logger.entries }
}

describe('a ticket', () => {
  test('opens one websocket for its caller, once', async () => {
    const { server, issue, statusOf } = serve()
    const ticket = await issue()
    const socket = await server.inject.ws('/live', { query: { ticket_token: ticket } })
    socket.send('who')
    await socket.assertNext({ id: 'ada' })
    expect(await statusOf('/live', ticket)).toBe(401)
  })

  test('of two sockets at once, only one opens', async () => {
    const { issue, statusOf } = serve()
    const ticket = await issue()
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => statusOf('/live', ticket)))
    expect(all.filter((one) => one === 101)).toHaveLength(1)
  })

  test('ends after 30 seconds', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const { issue, statusOf } = serve()
    const [early, late] = [await issue(), await issue()]
    await clock.advance(29_000)
    expect(await statusOf('/live', early)).toBe(101)
    await clock.advance(1_000)
    expect(await statusOf('/live', late)).toBe(401)
  })

  test('for a path is valid nowhere else, and used up there', async () => {
    const { issue, statusOf } = serve(memoryTickets(), { path: '/live' })
    expect(await statusOf('/live', await issue())).toBe(101)
    const ticket = await issue()
    expect(await statusOf('/other', ticket)).toBe(401)
    expect(await statusOf('/live', ticket)).toBe(401)
  })

  test('has the scopes of the credential that it was issued for, and no others', async () => {
    const { issue, statusOf } = serve()
    expect(await statusOf('/read', await issue())).toBe(101)
    expect(await statusOf('/write', await issue())).toBe(403)
  })

  test('may be a sub-protocol, beside one of the route, and comes once', async () => {
    const { server, issue } = serve()
    const ticket = await issue()
    const socket = await server.inject.ws('/named', { protocols: ['chat', `ticket.${ticket}`] })
    expect(socket.protocol).toBe('chat')
    const twice = await issue()
    const both = await server.inject.ws('/named', {
      protocols: ['chat', `ticket.${twice}`],
      query: { ticket_token: twice },
    })
    expect(both.response.statusCode()).toBe(401)
  })

  test('that is forged, or whose caller has gone, lets no one in', async () => {
    const { issue, statusOf, gone } = serve()
    for (const ticket of ['', 'x', 'a'.repeat(43), '__proto__', `${await issue()}x`, 'a'.repeat(100_0)])
      expect(await statusOf('/live', ticket)).toBe(401)
    const ticket = await issue()
    gone.add('ada')
    expect(await statusOf('/live', ticket)).toBe(401)
  })

  test('does nothing for any other request, and a route cannot ask for it there', async () => {
    const { server, issue } = serve()
    const ticket = await issue()
    ;(await server.inject.get('/plain', { query: { ticket_token: ticket } })).assertStatus(401)
    ;(await server.inject.get('/live', { query: { ticket_token: ticket } })).assertStatus(401)
    expect(await server.inject.get('/plain', bearing('ada'))).toBeDefined()
    const other = serve()
    other.server.get('/only', { auth: { schemes: ['scheme'] } }, () => 'ok')
    await expect(other.server.ready()).rejects.toThrow('only websockets accept the schemes')
  })

  test('is not issued without a caller', async () => {
    const { server, log } = serve()
    ;(await server.inject.post('/ticket')).assertStatus(401)
    const open = tickets({ find: (id) => user(id) })
    server.get('/open', { auth: false }, (req) => open.issue(req))
    ;(await server.inject.get('/open')).assertStatus(500)
    expect(inspect(log)).toContain('a ticket is for the caller of a request')
  })

  test('that was kept by a version without the keys of its log-in lets no one in', async () => {
    const rows = memoryTickets()
    const put: TicketStore['put'] = (id, text, end) => {
      const { keys: _keys, ...row } = JSON.parse(text) as { keys: string[] }
      return rows.put(id, JSON.stringify({ ...row, login: 'a log-in' }), end)
    }
    const { issue, statusOf } = serve({ ...rows, put })
    expect(await statusOf('/live', await issue())).toBe(401)
  })

  test('is refused with 503 while its store fails', async () => {
    const store = { ...memoryTickets(), take: () => Promise.reject(new Error('away')) }
    const { issue, statusOf } = serve(store)
    expect(await statusOf('/live', await issue())).toBe(503)
  })

  test.skipIf(!hasRedis)('in Redis is taken by any instance, once', async () => {
    const redis = await startRedis()
    const client = new Redis(redis.url)
    onTestFinished(async () => {
      client.disconnect()
      await redis.stop()
    })
    const [one, two] = [serve(redisTickets(client)), serve(redisTickets(client))]
    const ticket = await one.issue()
    expect(await client.keys('*')).not.toContain(ticket)
    expect(await client.pttl((await client.keys('ticket:*'))[0]!)).toBeGreaterThan(25_000)
    const all = await Promise.all([one, two, one, two].map(({ statusOf }) => statusOf('/live', ticket)))
    expect(all.filter((status) => status === 101)).toHaveLength(1)
    expect(await two.statusOf('/live', ticket)).toBe(401)
  })

  test('is in no log and no description of other routes', async () => {
    const { server, issue, statusOf, log } = serve()
    const ticket = await issue()
    await statusOf('/live', ticket)
    await statusOf('/live', ticket)
    expect(inspect(log, { depth: 9 })).not.toContain(ticket)
    ;(await server.inject.get('/plain', bearing('ada'))).assertHeader('vary', 'authorization')
  })
})

test('wrong options are refused', () => {
  expect(() => tickets({} as never)).toThrow('tickets.find')
  expect(() => tickets({ find: () => undefined, store: {} as never })).toThrow('tickets.store')
  expect(() => tickets({ find: () => undefined, expiresIn: 0 })).toThrow('tickets.expiresIn')
  expect(() => redisTickets({} as never)).toThrow('redisTickets')
})
