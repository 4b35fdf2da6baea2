import { readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import {
  bullmqQueue,
  channel,
  cron,
  definePlugin,
  MustacheAdapter,
  memoryQueue,
  mqtt,
  pgbossQueue,
  queue,
  RouteCollection,
  Server,
  type StorageProvider,
} from 'framework'
import { clock } from 'framework/kernel'
import { outageOf, testClock, testServer, trackLeaks } from 'framework/testing'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../../plugins/catalog.ts'
import { left, makeServer } from '../../fixtures/leaks/handlers.ts'
import { leave, poller } from '../../fixtures/leaks/poller.ts'

declare module 'framework' {
  interface Services {
    prices: { toEuro(amount: number): Promise<number>; close(): void }
  }
}

const unreachable = () => Promise.reject(new Error('the bucket is outside'))
const bucket: StorageProvider = {
  put: unreachable,
  read: unreachable,
  remove: unreachable,
  head: unreachable,
  async *list() {},
  copy: unreachable,
  downloadUrl: unreachable,
}

const parcels = bullmqQueue<{ book: number }>('parcels', { attempts: 2, backoff: 1000 })
const labels = pgbossQueue<{ book: number }>('labels')
const notes = queue<{ text: string }>('notes')
/** Of type `string`, as the topics of other tests have types. */
const topic: string = 'shop/labels'
const live = channel('live', { join: () => true })

/** A shop that needs Redis, Postgres, MQTT, SMTP and a bucket, none of which exist. */
function makeShop() {
  const router = new RouteCollection()
  router.ws('/live', { channels: [live] }, {})
  const server = new Server({
    router,
    background: {
      queues: {
        config: {
          queues: { default: 'pgboss' },
          bullmq: { connection: 'redis://127.0.0.1:1' },
          pgboss: { connectionString: 'postgres://127.0.0.1:1/none' },
        },
      },
      mqtt: { connect: { url: 'mqtt://127.0.0.1:1' }, subscribe: [] },
    },
    plugins: {
      log: false,
      health: true,
      websocket: true,
      channels: { store: { redis: 'redis://127.0.0.1:1' } },
      cache: { provider: 'redis', redis: 'redis://127.0.0.1:1' },
      session: { secret: 'a-secret-for-tests-only-0123456789abcdef', store: { redis: 'redis://127.0.0.1:1' } },
      rateLimit: { limit: 1000, store: { redis: 'redis://127.0.0.1:1' } },
      locks: { store: { postgres: 'postgres://127.0.0.1:1/none' } },
      storage: { providers: { files: bucket } },
      cron: { crons: [], lock: { redis: 'redis://127.0.0.1:1' } },
      mailer: {
        providers: {
          desk: { transporter: 'smtp://127.0.0.1:1', from: 'shop@example.org', templateAdapter: new MustacheAdapter() },
        },
        defaultProvider: 'desk',
      },
      shop: definePlugin({
        name: 'shop',
        dependencies: ['mailer', 'queues', 'mqtt', 'storage', 'cron'],
        async setup(ctx) {
          const mailer = ctx.services.get('mailer')
          const storage = ctx.services.get('storage')
          await parcels.subscribe(({ book }) => labels.publish({ book }))
          await labels.subscribe(async ({ book }) => {
            await storage.putObject(`labels/${book}.txt`, `book ${book}`)
            await mqtt.publish(topic, { book })
          })
          mqtt.subscribe(topic, async (message) => {
            const { book } = message as { book: number }
            await mailer.later((mail) =>
              mail.to('ada@example.org').subject('Sent: {{book}}').template('<p>{{book}}</p>', { book }),
            )
            await live.publish({ book })
          })
          ctx.onListen(() =>
            cron('0 8 * * *', { name: 'morning' }).start(() =>
              mailer.send((mail) => mail.to('desk@example.org').subject('Good morning').text('…')).then(() => {}),
            ),
          )
        },
      })(),
    },
  })
  server.post('/orders', async () => {
    await parcels.publish({ book: 7 })
    return { url: await server.services.storage.getDownloadUrl('labels/7.txt') }
  })
  server.get('/visits', { cache: false }, (req) => {
    const session = req.session as { count?: number }
    session.count = (session.count ?? 0) + 1
    return { count: session.count }
  })
  return server
}

const outside = (settings: object = {}) =>
  definePlugin({
    name: 'outside',
    health: { outside: { check: () => {} } },
    ...settings,
    provide: () => ({ prices: { toEuro: () => Promise.reject(new Error('outside')), close() {} } }),
  })

const bare =
  (plugins: object = {}) =>
  () =>
    new Server({ router: new RouteCollection(), port: 0, plugins: { log: false, ...plugins } })

describe('with services in memory', () => {
  test('everything runs in this process', async () => {
    await using server = await testServer(makeShop)
    const ordered = await server.inject.post('/orders')
    ordered.assertStatus(200).assertBodyDeepEqual({ url: 'https://files.invalid/labels/7.txt?expires=3600' })
    expect(await server.settled()).toEqual([])
    server.jobs.assertCount(2).assertSome({ queue: 'labels', payload: { book: 7 } })
    server.objects.assertCount(1).assertSome({ key: /^labels\// })
    server.messages.assertSome({ via: 'mqtt', topic: 'shop/labels', payload: { book: 7 } })
    server.messages.assertSome({ via: 'channels', topic: 'live' })
    server.emails
      .assertCount(1)
      .assertSome({ to: 'ada@example.org', subject: 'Sent: 7', html: /7/ })
      .assertSome({ to: /^ada@/ })
    ;(await server.inject.get('/health/ready')).assertStatus(200)
    const first = await server.inject.get('/visits')
    ;(await server.inject.get('/visits', { cookies: first.cookies() })).assertBodyDeepEqual({ count: 2 })
    await server.clock.advance('1 day')
    server.emails.assertCount(2).assertSome({ subject: 'Good morning' })
    server.emails.clear().assertCount(0)
    const socket = await server.inject.ws('/live')
    server.sockets.assertCount(1).assertSome({ route: '/live' })
    await socket.close()
    await server.settled()
    server.sockets.assertNone()
  })

  test('a server that exists is moved, and so is one that a module exports', async () => {
    for (const app of [makeShop(), { server: makeShop() }, async () => ({ server: makeShop() })]) {
      await using server = await testServer(app)
      await server.inject.post('/orders')
      await server.settled()
      server.emails.assertCount(1)
    }
  })

  test('two of them share the clock, and nothing else', async () => {
    await using one = await testServer(makeShop, { clock: '2026-03-01T08:00:00Z' })
    await using other = await testServer(makeShop)
    expect(other.clock).toBe(one.clock)
    await other.inject.post('/orders')
    await Promise.all([one.settled(), other.settled()])
    one.emails.assertCount(0)
    other.emails.assertCount(1)
  })

  test('closing gives back the clock of the machine', async () => {
    const server = await testServer(bare(), { clock: '2020-01-01' })
    expect(clock.now()).toBe(Date.UTC(2020, 0, 1))
    await server.close()
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000)
  })

  test('a service that was read before is an error, unless the server is made in the function', async () => {
    const server = makeShop()
    expect(server.services.mailer).toBeDefined()
    await expect(testServer(server)).rejects.toMatchObject({ code: 'ServiceReadError' })
    const make = () => {
      const made = makeShop()
      return Object.assign(made, { kept: made.services.mailer })
    }
    await using tested = await testServer(make)
    expect(tested.kept).toBe(tested.services.mailer)
    await server.close()
  })

  test('a server that has booted, and anything else, are errors', async () => {
    await using server = bare()()
    await server.ready()
    await expect(testServer(server)).rejects.toMatchObject({ code: 'TestedServerError' })
    const twice = bare()()
    await using once = await testServer(twice)
    await expect(testServer(twice)).rejects.toThrow(/called twice/)
    await expect(once.listen()).rejects.toThrow(/has no socket/)
    ;(await once.inject.get('/')).assertStatus(404)
    await using starting = bare({ log: false })()
    const listening = starting.listen()
    await expect(testServer(starting)).rejects.toMatchObject({ code: 'TestedServerError' })
    await listening
    await once.close()
    await expect(testServer({} as never)).rejects.toMatchObject({ code: 'ArgumentsError' })
    await expect(testServer(bare(), { services: 'none' as never })).rejects.toMatchObject({ code: 'OptionError' })
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000)
  })

  test('a plugin that reaches outside must say what it needs in memory', async () => {
    await using server = await testServer(bare({ outside: outside()() }))
    await expect(server.inject.get('/')).rejects.toMatchObject({ cause: { code: 'PluginOutsideError' } })
    await expect(server.inject.get('/')).rejects.toThrow(/"outside".*"memory"/)
    await using declared = await testServer(bare({ outside: outside({ memory: true })() }))
    ;(await declared.inject.get('/')).assertStatus(404)
    await using said = await testServer(bare({ own: definePlugin({ name: 'own', memory: false })() }))
    await expect(said.inject.get('/')).rejects.toMatchObject({ cause: { code: 'PluginOutsideError' } })
  })

  test('a plugin has its settings in memory, also where another plugin registers it', async () => {
    const seen: unknown[] = []
    const inner = definePlugin({
      name: 'inner',
      setup: (_ctx, settings: { url: string; size: number }) => void seen.push(settings),
      memory: ({ size }) => ({ url: `memory:${size}` }),
    })
    const outer = definePlugin({ name: 'outer', setup: (ctx) => ctx.register(inner({ url: 'tcp://db', size: 3 })) })
    await using server = await testServer(bare({ outer: outer() }))
    await server.ready()
    expect(seen).toEqual([{ url: 'memory:3', size: 3 }])
  })
})

describe('settled', () => {
  test('returns what waits for the clock, and what is for others', async () => {
    await using server = await testServer(makeShop, { clock: '2026-03-01T08:00:00Z' })
    await server.ready()
    await labels.publish({ book: 1 }, { startAfter: 60 })
    await notes.publish({ text: 'hello' })
    expect(await server.settled()).toEqual([
      {
        what: expect.stringMatching(
          /^the message m1 of the queue "labels", published at testing\/test-server.test.ts:\d+$/,
        ),
        due: new Date('2026-03-01T08:01:00Z'),
      },
      {
        what: expect.stringMatching(
          /^the message m2 of the queue "notes", published at .*, which has no subscriber in this server$/,
        ),
        isElsewhere: true,
      },
    ])
    server.objects.assertNone()
    await server.clock.advance('1 min')
    server.objects.assertCount(1)
  })

  test('names what does not end, and where it was published', async () => {
    let end = () => {}
    const stuck = memoryQueue<{ book: number }>('stuck')
    await using server = await testServer(
      bare({
        queues: true,
        mailer: {
          providers: { main: { transporter: 'smtp://127.0.0.1:1', from: 'a@example.org' } },
          defaultProvider: 'main',
        },
      }),
    )
    const { unsubscribe } = await stuck.subscribe(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    await server.ready()
    await stuck.publish({ book: 1 })
    await expect(server.settled({ timeout: 50 })).rejects.toMatchObject({
      code: 'NotSettledError',
      message: expect.stringMatching(
        /message m\d+ of the queue "stuck", published at testing\/test-server.test.ts:\d+\n- Jobs: stuck \(attempt 1/,
      ),
    })
    end()
    await server.settled()
    await unsubscribe()
  })

  test('does not wait for a handler that waits for the clock', async () => {
    const slow = memoryQueue('slow')
    await using server = await testServer(bare({ queues: true }))
    await server.ready()
    let isDone = false
    const { unsubscribe } = await slow.subscribe(async () => {
      await clock.sleep(60_000)
      isDone = true
    })
    await slow.publish({})
    await server.settled()
    expect(isDone).toBe(false)
    await server.clock.advance('1 min')
    expect(isDone).toBe(true)
    await unsubscribe()
  })
})

describe('queues of other engines in memory', () => {
  test('keep the options of their messages', async () => {
    await using server = await testServer(makeShop)
    await server.ready()
    const operator = server.services.get('queues').of('labels')
    await labels.publish({ book: 1 }, { startAfter: 5, singletonKey: 'one', singletonSeconds: 60 })
    await labels.publish({ book: 1 }, { startAfter: 5, singletonKey: 'one', singletonSeconds: 60 })
    expect(await operator.list({ state: 'delayed' })).toMatchObject([{ state: 'delayed', attempts: 3, id: 'one' }])
    await expect(labels.publish({ book: 1 }, { lifo: true } as never)).rejects.toMatchObject({ code: 'OptionError' })
    await expect(labels.publish({ book: 1 }, { retryLimit: 1, attempts: 2 })).rejects.toMatchObject({
      code: 'OptionError',
    })
  })

  test('a message of pg-boss that was given up goes to its dead letter queue', async () => {
    const failing = pgbossQueue('failing')
    const dead = pgbossQueue('dead')
    const received: unknown[] = []
    await using server = await testServer(bare({ queues: true }))
    await failing.subscribe(async () => {
      await setTimeout(5)
      throw new Error('no')
    })
    await dead.subscribe((payload) => void received.push(payload))
    await server.ready()
    await failing.publish({ book: 1 }, { retryLimit: 0, deadLetter: 'dead', expireIn: 4 })
    await server.settled()
    expect(received).toEqual([{ book: 1 }])
  })
})

describe('replace', () => {
  let closed = 0

  const rates = () =>
    definePlugin({
      name: 'rates',
      provide: () => ({
        prices: {
          toEuro: async (n: number) => n,
          close: () => void closed++,
        },
      }),
      close: ({ prices }) => prices.close(),
    })
  const withRates = () => {
    const server = bare({ rates: rates()() })()
    server.get('/euro', async () => ({ euro: await server.services.get('prices').toEuro(4) }))
    return server
  }

  test('puts a fake in the place of a service, in this server alone, and leaves it open', async () => {
    await using server = await testServer(withRates)
    server.replace('prices', { toEuro: async (amount) => amount / 2 })
    ;(await server.inject.get('/euro')).assertBodyDeepEqual({ euro: 2 })
    await using other = await testServer(bare({ outside: outside()() }))
    other.replace('prices', { toEuro: async () => 9 })
    await other.ready()
    expect(await other.services.get('prices').toEuro(1)).toBe(9)
    await server.close()
    expect(closed).toBe(0)
  })

  test('of a service that is in memory, replaces only the members of the fake', async () => {
    await using server = await testServer(makeShop)
    server.replace('mailer', { send: () => Promise.reject(new Error('the mail server is down')) })
    await server.inject.post('/orders')
    await server.settled()
    server.emails.assertCount(1)
    await expect(server.services.mailer.send(() => {})).rejects.toThrow('the mail server is down')
  })

  test('reaches a service that setup provides', async () => {
    const late = definePlugin({
      name: 'late',
      setup: (ctx) => ctx.provide('prices', { toEuro: async () => 1, close() {} }),
    })
    await using server = await testServer(bare({ late: late() }))
    server.replace('prices', { toEuro: async () => 5 })
    await server.ready()
    expect(await server.services.get('prices').toEuro(1)).toBe(5)
  })

  test('of an unknown service fails the boot, and after the boot it is an error', async () => {
    await using server = await testServer(bare({ rates: rates()() }))
    server.replace('price' as never, { toEuro: async () => 5 } as never)
    await expect(server.ready()).rejects.toMatchObject({ code: 'ReplacedServiceError' })
    await expect(server.ready()).rejects.toThrow(
      /test-server.test.ts:\d+:\d+: no plugin provides this service. Did you mean "prices"\?/,
    )
    await using booted = await testServer(withRates)
    await booted.ready()
    expect(() => booted.replace('prices', {})).toThrow(/after the server has begun to boot/)
    await using wrong = await testServer(withRates)
    expect(() => wrong.replace('prices', 5 as never)).toThrow(/an object/)
    expect(() => wrong.replace(undefined as never, {} as never)).toThrow(/the name of a service/)
  })
})

test('without a clock to take, nothing is followed', async () => {
  const hooks = createRequire(import.meta.url)('node:async_hooks') as typeof import('node:async_hooks')
  const { createHook } = hooks
  let made = 0
  const restore = () => {
    hooks.createHook = createHook
    syncBuiltinESMExports()
  }
  hooks.createHook = (callbacks) => {
    made++
    return createHook(callbacks)
  }
  syncBuiltinESMExports()
  const time = testClock()
  try {
    await expect(testServer(makeShop, { clock: 0 })).rejects.toThrow(/already in use/)
    expect(made).toBe(0)
  } finally {
    time.restore()
    restore()
  }
})

test('records show what they have', async () => {
  await using server = await testServer(makeShop)
  expect(() => server.emails.assertCount(1)).toThrow('expected 1 emails, got 0')
  expect(() => server.emails.assertSome({ subject: 'x' })).toThrow(/one of the emails/)
  expect(() => server.emails.assertNone({ subjekt: 'x' } as never)).toThrow(/subjekt/)
})

test.each<[what: string, same: unknown, other: unknown]>([
  ['a date', new Date(1), new Date(2)],
  ['a map', new Map([['a', 1]]), new Map([['b', 1]])],
  ['a set', new Set([1]), new Set([2])],
  ['bytes', new Uint8Array([1, 2]), new Uint8Array([1])],
  ['no date', 'a', new Date(1)],
])('records distinguish %s and another one', async (_, same, other) => {
  await using server = await testServer(makeShop)
  const read = queue<{ same: unknown }>('records')
  await read.subscribe(() => {})
  server.post('/', () => read.publish({ same }))
  await server.inject.post('/')
  await server.settled()
  const payload = { same }
  server.jobs
    .assertSome({ payload })
    .assertSome({ payload: {} })
    .assertNone({ payload: { same: other } })
})

test('records that were cleared show what comes later, whatever ends', async () => {
  await using server = await testServer(makeShop)
  await server.ready()
  const storage = server.services.get('storage')
  await storage.putObject('a', '1')
  server.objects.clear().assertNone()
  await storage.putObject('b', '2')
  await storage.deleteObject('a')
  server.objects.assertCount(1).assertSome({ key: 'b' })
  await storage.putObject('a', '3')
  expect(server.objects.all.map(({ key }) => key)).toEqual(['b', 'a'])
  const socket = await server.inject.ws('/live')
  server.sockets.clear().assertNone()
  const later = await server.inject.ws('/live')
  await socket.close()
  await server.settled()
  server.sockets.assertCount(1)
  await later.close()
})

test('settled during an outage of the broker', async () => {
  await using server = await testServer(makeShop)
  await server.ready()
  using down = outageOf(server, 'mqtt', 'down')
  expect(await server.settled()).toEqual([])
  void down
})

test('with real services, the clock is that of the machine', async () => {
  await using server = await testServer(bare(), { services: 'real' })
  expect(() => server.clock).toThrow(/real/)
  expect(await server.settled()).toEqual([])
})

test('each plugin of the framework that another program can fail says what it needs in memory', () => {
  const silent = Object.values(catalog).filter(({ plugin }) => 'health' in plugin && !('memory' in plugin))
  expect(silent.map(({ plugin }) => plugin.name)).toEqual([])
})

describe('what outlives the server', () => {
  test('of a plugin or a handler is named when it closes', async () => {
    const server = await testServer(() => new Server({ router: new RouteCollection(), plugins: [poller()] }))
    server.get('/', leave)
    await server.inject.get('/')
    const failed = await server.close().catch((error: Error) => error)
    expect(String(failed)).toMatch(/interval of the plugin "poller", made at test\/fixtures\/leaks\/poller\.ts:6/)
    expect(String(failed)).toMatch(/interval, made at test\/fixtures\/leaks\/poller\.ts:11/)
  })

  test('of a handler, a middleware, a job or a subscriber is named with the plugin that it belongs to', async () => {
    const leaks = trackLeaks({ patience: 0 })
    const server = await testServer(makeServer, { leaks: false })
    for (const path of ['/', '/shop']) (await server.inject.get(path)).assertStatus(200)
    await server.clock.advance('1 day')
    await server.settled()
    await server.close()
    const found = (await leaks.find(server)).map(({ plugin, place }) => {
      const [, file, line] = /^(.*):(\d+):\d+$/.exec(place)!
      const text = readFileSync(file!, 'utf8').split('\n')[Number(line) - 1]!
      return [/left\.(\w+)/.exec(text)?.[1], plugin]
    })
    for (const timer of Object.values(left)) clearInterval(timer)
    leaks.stop()
    expect(Object.fromEntries(found)).toEqual({
      ...{ before: 'shop', handler: 'shop', subscriber: 'shop', message: 'shop', job: 'shop', middleware: 'entry' },
      ...{ ownMiddleware: undefined, ownSubscriber: undefined, ownHandler: undefined },
    })
  })

  test('of the test itself, or without the check, is ignored', async () => {
    await using server = await testServer(() => new Server({ router: new RouteCollection() }))
    await server.ready()
    const own = setInterval(() => {}, 60_000)
    await using unchecked = await testServer(() => new Server({ plugins: [poller()] }), {
      services: 'real',
      leaks: false,
    })
    await unchecked.ready()
    await server.close()
    clearInterval(own)
  })
})
