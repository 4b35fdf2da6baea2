import {
  cron,
  type MailTransporter,
  memoryQueue,
  memoryTransport,
  mqtt,
  QueueService,
  S3StorageProvider,
} from 'framework'
import { definePlugin } from 'framework/kernel'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { lookAt, makeServer, servers } from './support.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

interface Node {
  name: string
  kind: string
  count: number
  failed: number
  health?: string
  needs?: string[]
}
interface Map {
  nodes: Node[]
  edges: { from: string; to: string; count: number; failed: number }[]
}

const named = ({ nodes }: Map, name: string) => nodes.find((one) => one.name === name)
const from = ({ edges }: Map, name: string) => edges.filter((one) => one.from === name).map(({ to }) => to)

test('the map shows what has caused what in the last minute, with how often and how often in vain', async () => {
  const orders = memoryQueue<{ book: number }>('map-orders')
  const done = new Promise<void>((resolve) => {
    void orders.subscribe(async (_order, { attempt }) => {
      if (attempt === 1) throw new Error('out of paper')
      await server.services.get('mailer').send((mail) => mail.to('ada@example.org').subject('Printed').text('…'))
      resolve()
    })
  })
  const job = cron('@daily', { name: 'map-cleaning' })
  await job.start(() => {})
  const sensors = await mqtt.subscribe('inspected/front', () => {})
  stop.push(
    () => job.destroy(),
    () => sensors.unsubscribe(),
    () => QueueService.stop(),
  )
  const providers = { main: { transporter: memoryTransport() as MailTransporter, from: 'shop@example.org' } }
  const { server } = makeServer(true, {
    queues: { run: true },
    cron: { crons: [] },
    mqtt: { connect: { provider: 'memory' }, subscribe: true },
    health: true,
    mailer: { providers, defaultProvider: 'main' },
  }) as unknown as { server: import('framework').Server }
  server.post('/orders/:id', async () => {
    await mqtt.publish('inspected/front', 'open')
    return orders.publish({ book: 1 }, { attempts: 2, backoff: { type: 'fixed', delay: 1 } })
  })
  await server.listen()
  const look = await lookAt(server)
  await server.inject({ method: 'POST', url: '/orders/1' })
  await server.inject({ method: 'POST', url: '/nowhere' })
  await done
  await look.newest('attempt')
  const map = await look.json<Map>('map')
  expect(map.edges).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ from: 'POST /orders/:id', to: 'publish map-orders', count: 1, failed: 0 }),
      expect.objectContaining({ from: 'publish map-orders', to: 'process map-orders', count: 2, failed: 1 }),
      expect.objectContaining({ from: 'process map-orders', to: 'mailer', count: 1, failed: 0 }),
      expect.objectContaining({ from: 'queues', to: 'process map-orders', count: 0 }),
      expect.objectContaining({ from: 'cron', to: 'cron map-cleaning', count: 0 }),
      expect.objectContaining({ from: 'POST /orders/:id', to: 'publish mqtt', count: 1 }),
      expect.objectContaining({ from: 'mqtt', to: 'process inspected/front', count: 0 }),
    ]),
  )
  expect(named(map, 'POST /orders/:id')).toMatchObject({ kind: 'work', count: 1, failed: 0 })
  expect(named(map, 'POST (no route)')).toMatchObject({ kind: 'work', count: 1 })
  expect(named(map, 'mailer')).toMatchObject({ kind: 'plugin', health: 'ok', count: 1 })
})

test('the map names what plugins run and reach, without credentials, before anything has happened', async () => {
  const secret = 'hidden-value-of-a-length-that-is-enough'
  const client = new Redis({ host: '127.0.0.1', port: 4, password: 'hidden-value', lazyConnect: true })
  const redis = `redis://user:${secret}@127.0.0.1:1`
  const meters = definePlugin({
    name: 'meters',
    dependencies: ['cookie'],
    reaches: () => ['the meter in the cellar'],
    runs: () => ['read meters'],
  })
  const broken = definePlugin({
    name: 'broken',
    reaches: () => {
      throw new Error('not yet')
    },
    runs: (async () => ['never']) as never,
  })
  const { server } = makeServer(true, {
    cron: { crons: [], lock: { postgres: `postgres://user:${secret}@127.0.0.1:1/jobs` } },
    mqtt: { connect: { host: '127.0.0.1', port: 1, password: secret, username: 'user', required: false } },
    queues: { config: { bullmq: { connection: redis } } },
    locks: {
      store: {
        redis: { sentinels: [{ host: '127.0.0.2' }], name: 'main', password: secret, sentinelPassword: secret },
      },
    },
    session: { secret, store: { redis: { client } } },
    rateLimit: { limit: 10, store: { redis: { host: '127.0.0.1', port: 2, password: secret } } },
    mailer: {
      providers: {
        main: { transporter: `smtp://user:${secret}@127.0.0.1:1`, from: 'shop@example.org' },
        // The password is "1/hidden-value", and was not escaped.
        wrong: { transporter: `smtp://user:1/${secret}@127.0.0.1:1`, from: 'shop@example.org' },
        second: { transporter: { host: '127.0.0.1', secure: true }, from: 'shop@example.org' },
      },
      defaultProvider: 'main',
    },
    storage: {
      providers: { files: new S3StorageProvider({ bucket: 'reports', endpoint: `http://user:${secret}@127.0.0.1:1` }) },
    },
    database: { url: 'sqlite::memory:' },
    meters: meters(),
    broken: broken(),
  })
  const look = await lookAt(server)
  const map = await look.json<Map>('map')
  expect(JSON.stringify(map)).not.toContain(secret)
  expect(from(map, 'cron')).toEqual(['Postgres at postgres://127.0.0.1:1/jobs'])
  expect(from(map, 'mqtt')).toEqual(['MQTT broker at mqtt://127.0.0.1:1'])
  expect(from(map, 'locks')).toEqual(['Redis at redis://127.0.0.2:26379'])
  expect(from(map, 'session')).toEqual(['Redis at redis://127.0.0.1:4'])
  expect(from(map, 'rateLimit')).toEqual(['Redis at redis://127.0.0.1:2'])
  expect(from(map, 'mailer')).toEqual([
    'SMTP at smtp://127.0.0.1:1',
    'SMTP at 127.0.0.1:1',
    'SMTP at smtp://127.0.0.1:465',
  ])
  expect(from(map, 'storage')).toEqual(['the bucket "reports" of S3 at http://127.0.0.1:1'])
  expect(from(map, 'database')).toEqual(['SQLite at sqlite://:memory:'])
  expect(from(map, 'meters')).toEqual(['the meter in the cellar', 'read meters'])
  expect(named(map, 'meters')).toMatchObject({ kind: 'plugin', needs: ['cookie'] })
  expect(named(map, 'broken')).toMatchObject({ kind: 'plugin' })
})
