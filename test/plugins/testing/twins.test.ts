import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  channel,
  LocalStorageProvider,
  MemoryStorageProvider,
  memoryTransport,
  RouteCollection,
  Server,
} from 'framework'
import { announceBackend } from 'framework/kernel'
import { type OutageKind, outage, outageOf } from 'framework/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { expectOutage, type Promised, type User, users } from '../../support/outages.ts'

const folder = mkdtempSync(join(tmpdir(), 'framework-twins-'))
afterAll(() => rmSync(folder, { recursive: true }))

const kinds: OutageKind[] = ['down', 'slow', 'cut', 'lies']
const store = () => {
  const counts = new Map<string, number>()
  return {
    hit(key: string) {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return { count, resetMs: 60_000 }
    },
  }
}

/** The same as with the real services, in outages.test.ts. One use each, as the slow ones take their whole time limit. */
const plugins: Record<string, [plugin: string, open: () => Promise<User>, promised: Promised]> = {
  session: ['session', () => users.session('memory'), { outcome: '503 SessionStoreError', limit: 2_000 }],
  'cache of responses': ['cache', () => users.cache('memory'), { outcome: '200 BYPASS', limit: 200 }],
  'cache of data': ['cache', () => users.data('memory'), { outcome: 'computed', limit: 400 }],
  'rateLimit, count': ['rateLimit', () => users.rateLimit(store(), 'count'), { outcome: '200 200 429', limit: 250 }],
  'rateLimit, refuse': ['rateLimit', () => users.rateLimit(store(), 'refuse'), { outcome: '503 503 503', limit: 250 }],
  'rateLimit in memory, count': [
    'rateLimit',
    () => users.rateLimit('memory', 'count'),
    { outcome: '200 200 429', limit: 250 },
  ],
  'rateLimit in memory, refuse': [
    'rateLimit',
    () => users.rateLimit('memory', 'refuse'),
    { outcome: '503 503 503', limit: 750 },
  ],
  locks: ['locks', () => users.locks('memory'), { outcome: 'LockStoreError', limit: 3_000 }],
  channels: ['channels', () => users.channels('memory'), { outcome: 'ChannelUnavailableError', limit: 2_000 }],
  queues: ['queues', () => users.memoryQueue(), { outcome: 'QueueUnavailableError', limit: 5_000 }],
  storage: [
    'storage',
    () => users.storage(new MemoryStorageProvider()),
    { outcome: 'StorageUnavailableError', limit: 10_000 },
  ],
  'storage on a disk': [
    'storage',
    () => users.storage(new LocalStorageProvider({ root: folder })),
    { outcome: 'StorageUnavailableError', limit: 10_000 },
  ],
  mqtt: ['mqtt', () => users.mqtt({ provider: 'memory' }), { outcome: 'MqttUnavailableError', limit: 1_000 }],
  mailer: ['mailer', () => users.mailer(memoryTransport()), { outcome: 'MailSendError', limit: 1_000 }],
}

describe('what is in memory fails as the real service', () => {
  for (const [name, [plugin, open, promised]] of Object.entries(plugins))
    test.concurrent.each(kinds)(`${name}: %s`, async (kind) => {
      const user = await open()
      try {
        await expectOutage(user, () => outageOf(user.server!, plugin, kind), kind, { ...promised, next: undefined })
      } finally {
        await user.close()
      }
    })
})

const make = (plugins: object) =>
  new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins } as never) as Server

test('clients that are in a channel stay, and one that is the first in another one is refused', async () => {
  const news = channel('news/:town', { join: () => true })
  await using server = make({ websocket: true, channels: true })
  server.ws('/', { channels: [news] }, {})
  const inside = await server.inject.ws('/')
  inside.send({ type: 'channel:join', data: { channel: 'news/rome' } } as never)
  await inside.next()
  const down = outageOf(server, 'channels', 'down')
  const late = await server.inject.ws('/')
  late.send({ type: 'channel:join', data: { channel: 'news/bern' } } as never)
  expect(JSON.stringify(await late.next())).toMatch(/Unavailable/)
  // Nothing of the store is needed for it: `join` decides, as ever.
  late.send({ type: 'channel:join', data: { channel: 'news/rome' } } as never)
  expect(JSON.stringify(await late.next())).toMatch(/joined/)
  down.restore()
  await news.for(server).publish({ town: 'rome' }, 'again')
  expect(JSON.stringify(await inside.next())).toMatch(/again/)
})

test('what returns an iterable fails when it is read', async () => {
  const storage = { providers: { main: new MemoryStorageProvider() } }
  await using server = make({ storage })
  await server.ready()
  await server.services.get('storage').putObject('a.txt', 'kept')
  const keys = async () => {
    const found: string[] = []
    for await (const { key } of server.services.get('storage').list()) found.push(key)
    return found
  }
  using down = outageOf(server, 'storage', 'down')
  await expect(keys()).rejects.toMatchObject({ code: 'StorageUnavailableError' })
  down.restore()
  expect(await keys()).toEqual(['a.txt'])
})

test('an outage ends with its block, and gives an object its own methods back', async () => {
  const stock = { count: async (item: string) => item.length, close: () => 'closed' }
  const { count } = stock
  {
    using slow = outage(stock, 'slow', { delay: 1 })
    expect(await stock.count('abc')).toBe(3)
    slow.restore()
    using cut = outage(stock, 'cut')
    await expect(stock.count('abc')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(stock.close()).toBe('closed')
    void cut
  }
  expect(stock.count).toBe(count)
  const outbox = memoryTransport()
  using down = outage(outbox, 'down')
  await expect(outbox.sendMail({} as never)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  down.restore()
  expect(Object.getOwnPropertyNames(outbox)).toEqual([])
})

test('an outage of an object replaces its present one, and objects that two share are broken once', async () => {
  const transporter = memoryTransport()
  const one = { transporter, from: 'shop@example.org' }
  await using server = make({ mailer: { providers: { one, other: one }, defaultProvider: 'one' } })
  await server.ready()
  const send = () => server.services.get('mailer').send((mail) => mail.to('ada@example.org').subject('x').text('x'))
  const down = outageOf(server, 'mailer', 'down')
  const cut = outage(transporter, 'cut')
  down.restore()
  await expect(send()).rejects.toThrow('broke')
  cut.restore()
  await send()
  for (const wrong of [undefined, 'x', {}])
    expect(() => outage(wrong as never, 'down')).toThrow('an object with methods')
})

test('a response that is late arrives when the outage ends', async () => {
  const stock = { count: async () => 3 }
  const slow = outage(stock, 'slow')
  const count = stock.count()
  slow.restore()
  expect(await count).toBe(3)
})

test('plugins announce what they depend on; a plugin that has not is an error', async () => {
  await using server = make({ session: { secret: 'a secret of thirty-two characters' }, cors: true })
  expect(() => outageOf(server, 'session', 'down')).toThrow('there is none')
  await server.ready()
  const stock = { count: async () => 3, name: () => 'stock' }
  announceBackend(server, 'stock', stock, { methods: ['count'], failure: (why) => new TypeError(why) })
  expect(() => outageOf(server, 'sesion', 'down')).toThrow('session, stock. Did you mean "session"?')
  expect(() => outageOf(server, 'cors', 'down')).toThrow('session, stock')
  using down = outageOf(server, 'stock', 'down')
  await expect(stock.count()).rejects.toThrow(TypeError)
  expect(stock.name()).toBe('stock')
  void down
})
