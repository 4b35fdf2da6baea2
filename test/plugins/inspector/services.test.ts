import {
  channel,
  cron,
  MemoryStorageProvider,
  memoryQueue,
  mqtt,
  PolicyManager,
  QueueService,
  RouteCollection,
  Server,
} from 'framework'
import { afterEach, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { lookAt, makeServer, type Shown, servers } from './support.ts'

declare module 'framework' {
  interface MqttTopics {
    'inspected/front': unknown
    'inspected/+': unknown
  }
}

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

interface Panel {
  title: string
  rows: { id: string; cells: unknown[] }[]
}

async function panelsOf(look: Awaited<ReturnType<typeof lookAt>>) {
  const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
  const keyOf = (title: string) => panels.find((one) => one.title === title)!.key
  return {
    rows: async (title: string) => (await look.json<Panel>(`panel?key=${keyOf(title)}`)).rows,
    run: async (title: string, action: string, id: string) =>
      (await look.json<{ message: string }>('action', { panel: keyOf(title), action, id })).message,
  }
}

test('schedules can be run now, and the run is recorded with its failure', async () => {
  const job = cron('@daily', { name: 'cleaning' })
  let fail = () => {}
  const failed = new Promise<never>((_resolve, reject) => {
    fail = () => reject(new Error('no broom'))
  })
  await job.start(() => failed)
  stop.push(() => job.destroy())
  const { server } = makeServer(true, { cron: { crons: [] } })
  await server.listen()
  const look = await lookAt(server)
  const panels = await panelsOf(look)
  expect(await panels.rows('Schedules')).toMatchObject([
    { id: 'cleaning', cells: ['cleaning', '@daily', 'scheduled', { time: expect.any(Number) }, null, null, null] },
  ])
  expect(await panels.run('Schedules', 'Run now', 'cleaning')).toBe('cleaning was started.')
  expect(await panels.run('Schedules', 'Run now', 'cleaning')).toMatch(/was not started/)
  fail()
  await vi.waitUntil(async () => (await look.newest('cron')).outcome === 'failed', 20_000)
  expect((await look.newest('cron')).error?.message).toBe('no broom')
  expect(await panels.run('Schedules', 'Run now', 'nothing')).toMatch(/no running job has this name/)
})

test('dead letters are published again', async () => {
  const orders = memoryQueue<{ book: number }>('dead-orders')
  let isBroken = true
  const handle = await orders.subscribe(() => {
    if (isBroken) throw new Error('out of paper')
  })
  stop.push(
    () => handle.unsubscribe(),
    () => QueueService.stop(),
  )
  const { server } = makeServer(true, { queues: { run: true } })
  await server.listen()
  const look = await lookAt(server)
  const panels = await panelsOf(look)
  await orders.publish({ book: 1 })
  await orders.drained()
  const [dead] = await panels.rows('Dead letters')
  expect(dead!.cells).toEqual(['dead-orders', expect.any(String), 1, 'out of paper', { json: { book: 1 } }])
  isBroken = false
  expect(await panels.run('Dead letters', 'Send again', dead!.id)).toMatch(/^Sent again: /)
  await orders.drained()
  expect((await look.list('attempt')).map(({ outcome }) => outcome)).toEqual(['ok', 'failed'])
})

test('stored objects and cached responses are listed, and what is done with them is linked to its request', async () => {
  const { server } = makeServer(true, {
    storage: { providers: { files: new MemoryStorageProvider() }, defaultProvider: 'files' },
    cache: true,
  })
  server.get('/reports/:id', { cache: { ttl: 60 } }, async ({ params: { id } }) => {
    await server.services.get('storage')!.putObject(`reports/${id}.txt`, 'sold: 3')
    return 'made'
  })
  const look = await lookAt(server)
  const panels = await panelsOf(look)
  for (let i = 0; i < 2; i++) await server.inject.get('/reports/1')
  expect((await look.list('cache')).map(({ note }) => note)).toEqual(['HIT', 'MISS'])
  const [put] = await look.list('storage')
  const first = (await look.list('request')).at(-1)!
  expect(put).toMatchObject({ title: 'reports/1.txt', note: 'put on files', parent: first.id, trace: first.trace })
  const [object] = await panels.rows('Stored objects')
  expect(object!.cells).toEqual(['files', 'reports/1.txt', 7, { time: expect.any(Number) }])
  expect(JSON.parse(await panels.run('Stored objects', 'Details', object!.id))).toMatchObject({
    size: 7,
    contentType: 'text/plain; charset=utf-8',
  })
  const [entry] = await panels.rows('Cache entries')
  expect(entry!.id).toBe('cache:GET:/reports/1')
  expect(await panels.run('Cache entries', 'Remove', entry!.id)).toBe('1 entry was removed.')
  expect(await panels.rows('Cache entries')).toEqual([])
})

test('messages of MQTT, frames of websockets, messages of channels and GraphQL operations are recorded', async () => {
  const news = channel('news', { join: () => true })
  const router = new RouteCollection()
  const answered: unknown[] = []
  router.ws(
    '/live',
    { channels: [news] },
    { message: (socket, message) => void socket.send(`heard ${String(message)}`) },
  )
  const handle = mqtt.subscribe('inspected/+', (_topic, message) => void answered.push(message), { qos: 1 })
  stop.push(() => handle.unsubscribe())
  router.post('/doors', async () => {
    await server.services.get('mqtt').publish('inspected/front', { open: true, password: 'p-1' })
    await news.publish('fresh')
    return 'told'
  })
  const schema = {
    typeDefs: 'type Query { book: Book } type Book { title: String }',
    resolvers: { Query: { book: () => ({}) }, Book: { title: () => 'Dune' } },
  }
  const server = new Server({
    router,
    logger: memoryLogger(),
    port: 0,
    host: '127.0.0.1',
    plugins: {
      inspector: true,
      websocket: true,
      channels: true,
      mqtt: { connect: { provider: 'memory' }, subscribe: [] },
      graphql: { schema },
      metrics: true,
      overload: true,
    },
  })
  servers.push(server as unknown as Server)
  await server.listen()
  const look = await lookAt(server as never)
  const socket = await server.inject.ws('/live')
  socket.send('hello')
  expect(await socket.next()).toBe('heard hello')
  const panels = await panelsOf(look)
  expect((await panels.rows('Open websockets')).map(({ cells }) => cells[1])).toEqual(['/live'])
  await socket.close()
  expect((await look.list('websocket')).map(({ note }) => note)).toEqual(['sent', 'received'])

  await server.inject.post('/doors')
  const { related } = await look.newest('request')
  expect(related.map(({ kind, note }) => `${kind} ${note}`)).toEqual(
    expect.arrayContaining(['request 200', 'mqtt published', 'channel message']),
  )
  expect((await look.details(related.find(({ kind }) => kind === 'mqtt')!.id)).data.payload).toEqual({
    open: true,
    password: '[redacted]',
  })
  await vi.waitUntil(() => answered.length > 0, 20_000)
  expect((await look.list('mqtt')).map(({ note }) => note)).toEqual(['received', 'published'])
  expect((await panels.rows('MQTT subscriptions')).map(({ cells }) => cells)).toContainEqual(['inspected/+', 1, true])

  expect((await panels.rows('Metrics')).map(({ id }) => id)).toContain('http_requests_in_flight')
  expect((await panels.rows('Overload')).map(({ id }) => id)).toContain('Requests in flight')
  expect((await panels.rows('Channel counts')).map(({ cells }) => cells)).toContainEqual(['Published messages', 1])

  await server.inject.post('/graphql', { body: { query: 'query Books { book { title } }' } })
  const operation = (await look.newest('request')).related.find(({ kind }) => kind === 'graphql')!
  expect(operation).toMatchObject({ title: 'Books', note: 'query', outcome: 'ok' })
  expect(operation.marks.map(({ name }) => name)).toEqual(['Query.book', 'Book.title'])
})

test('a refusal of a policy names the check, of a route and by canAccess', async () => {
  const manager = new PolicyManager({ site: { admin: () => false, known: () => true } })
  const { server } = makeServer(true, { metrics: true })
  const asks = (handler: 'admin' | 'known') => ({ policy: { manager, scope: 'site', handler } }) as const
  server.get('/stats', asks('admin'), () => 'x')
  server.get('/open', asks('known'), async () => manager.canAccess('site', 'admin'))
  const { json } = await lookAt(server)
  for (const url of ['/stats', '/open']) await server.inject({ url })
  const [asked, refused] = await json<Shown[]>('list?kind=policy')
  expect(refused).toMatchObject({ title: 'GET /stats', note: 'refused by site.admin', outcome: 'ok' })
  expect(asked).toMatchObject({ title: 'GET /open', note: 'refused by site.admin' })
  const text = Buffer.from((await server.inject({ url: '/metrics' })).body).toString()
  expect(text).toContain('policy_refusals_total{policy="site.admin"} 2\n')
})
