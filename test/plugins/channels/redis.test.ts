import { type ChildProcess, fork } from 'node:child_process'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ChannelClient, channel, definePlugin, RouteCollection, Server } from '../../../index.ts'
import { RedisBus } from '../../../plugins/channels/buses/redis.ts'
import { channels, websocket } from '../../../plugins/index.ts'
import { type Entry as LogEntry, memoryLogger } from '../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

interface Visitor {
  user: string
}

describe.skipIf(!hasRedis)('channels over Redis', () => {
  let redis: RedisServer
  const servers: Server[] = []
  const children: ChildProcess[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })

  const chat = channel('chat/:room', {
    join: ({ data }: ChannelClient<Visitor>) => !banned.has(data.user),
    user: ({ data }: ChannelClient<Visitor>) => data.user,
    presence: ({ data }: ChannelClient<Visitor>) => data.user,
    history: { messages: 1000 },
  })
  const banned = new Set<string>()

  async function serve(url = redis.url, store: object = {}) {
    const routes = new RouteCollection()
    routes.ws('/live', { channels: [chat] }, { data: (req): Visitor => ({ user: String(req.query.user) }) })
    const log: LogEntry[] = []
    const server = new Server({
      router: routes,
      logger: memoryLogger(log),
      gracefulShutdown: false,
      plugins: { websocket: true, channels: { store: { redis: { url, ...store } } } },
    })
    servers.push(server)
    await server.ready()
    return server
  }

  async function joined(server: Server, room: string, user = 'ann', after?: string) {
    const socket = await server.inject.ws('/live', { query: { user } })
    socket.send({ type: 'channel:join', data: { channel: `chat/${room}`, after } })
    await socket.assertNext({ type: 'channel:joined' })
    return socket
  }

  interface Received {
    type: string
    data: { payload: number; left?: { user: string }[]; joined?: { user: string }[] }
  }
  const received = (socket: { received(): readonly unknown[] }) => socket.received() as Received[]
  const payloads = (socket: { received(): readonly unknown[] }) =>
    received(socket).flatMap(({ type, data }) => (type === 'channel:message' ? [data.payload] : []))

  test('is not mixed up with another database, or another prefix, of the same Redis', async () => {
    const here = await joined(await serve(), 'e')
    const others = [
      await serve(`${redis.url}/1`),
      await serve(redis.url, { prefix: 'other' }),
      await serve(redis.url, { keyPrefix: 'app:' }),
    ]
    const sockets = await Promise.all(others.map((server) => joined(server, 'e')))
    const routes = new RouteCollection()
    const only = new Server({
      router: routes,
      gracefulShutdown: false,
      plugins: { websocket: true, channels: { store: { redis: redis.url } } },
    })
    await only.ready()
    servers.push(only)
    await chat.for(only).publish({ room: 'e' }, 0)
    for (const [at, server] of others.entries()) await chat.for(server).publish({ room: 'e' }, at + 1)
    for (const [at, socket] of [here, ...sockets].entries()) await expect.poll(() => payloads(socket)).toEqual([at])
  })

  async function withClient<Result>(use: (client: Redis) => Promise<Result>): Promise<Result> {
    const client = new Redis(redis.url)
    try {
      return await use(client)
    } finally {
      client.disconnect()
    }
  }

  test.each([
    'abcdef-999999999999999',
    'x',
    '0-999999999999999',
  ])('takes the id %j of a client for a gap', async (after) => {
    const server = await serve()
    await chat.publish({ room: 'lies' }, 1)
    const socket = await joined(server, 'lies', 'ann', after)
    const { id } = await chat.publish({ room: 'lies' }, 2)
    await socket.assertNext({
      type: 'channel:gap',
      data: { after, id: id.replace(/\d+$/, (last) => String(+last - 1)) },
    })
    await expect.poll(() => payloads(socket)).toEqual([2])
  })

  test('keeps a history of so many bytes, whatever was published by an earlier version', async () => {
    const bus = new RedisBus({ url: redis.url, prefix: 'bytes' } as never, memoryLogger([]))
    await bus.open({ entry() {}, present() {}, resumed() {} })
    const keeping = { messages: 10, bytes: 100, ms: 60_000 }
    const put = (body: string, more = keeping) => bus.publish('a', { body, kind: 'message' }, more)
    const kept = async () => (await bus.after('a', '0-0')).entries.map(({ body }) => Buffer.byteLength(body))
    for (const bytes of [30, 40, 50]) await put('x'.repeat(bytes))
    expect(await kept()).toEqual([40, 50])
    await put('é'.repeat(10))
    expect(await kept()).toEqual([50, 20])
    await put('x'.repeat(101))
    expect(await kept()).toEqual([])
    await withClient(async (client) => {
      await client.xadd('bytes:{a}:history', '6-0', 'm', '', 'b', 'older', 'e', String(Date.now() + 60_000))
      await client.hset('bytes:{a}:numbers', 'n', '6')
    })
    for (const bytes of [60, 60]) await put('x'.repeat(bytes))
    expect((await kept()).at(-1)).toBe(60)
    await put('', { messages: 0, bytes: 0, ms: 1000 })
    await bus.close()
  })

  test('keeps the messages of a client from itself when it reconnects to another instance', async () => {
    const talk = channel('talk', { join: () => true, publish: () => true })
    const start = async () => {
      const routes = new RouteCollection()
      routes.ws('/live', { channels: [talk] }, {})
      const server = new Server({
        router: routes,
        gracefulShutdown: false,
        plugins: { websocket: true, channels: { store: { redis: { url: redis.url, prefix: 'talk' } } } },
      })
      servers.push(server)
      await server.ready()
      return server
    }
    const [one, other] = [await start(), await start()]
    const enter = async (server: Server, request: object = {}) => {
      const socket = await server.inject.ws('/live')
      socket.send({ type: 'channel:join', data: { channel: 'talk', ...request } })
      const { data } = await socket.assertNext<{ data: { id: string; author: string } }>({ type: 'channel:joined' })
      return { socket, data }
    }
    const first = await enter(one)
    first.socket.send({ type: 'channel:publish', data: { channel: 'talk', payload: 1 } })
    await first.socket.assertNext({ type: 'channel:published' })
    await first.socket.close()
    await talk.for(other).publish(2)
    const again = await enter(other, { after: first.data.id, author: first.data.author })
    const stranger = await enter(other, { after: first.data.id })
    await expect.poll(() => payloads(again.socket)).toEqual([2])
    await expect.poll(() => payloads(stranger.socket)).toEqual([1, 2])
  })

  test('a number of a client that is ahead changes nothing for the others', async () => {
    const server = await serve()
    const { id } = await chat.publish({ room: 'ahead' }, 1)
    const epoch = id.split('-')[0]
    const socket = await joined(server, 'ahead', 'ann', `${epoch}-999999999999999`)
    await socket.assertNext({ type: 'channel:gap' })
    expect((await chat.publish({ room: 'ahead' }, 2)).id).toBe(`${epoch}-2`)
  })

  test('nothing is written for a channel in which nothing was published, and all that is written ends', async () => {
    const server = await serve(redis.url, { prefix: 'ends' })
    const lone = channel('lone/:n', { join: () => true })
    const routes = new RouteCollection()
    routes.ws('/lone', { channels: [lone] }, {})
    const other = new Server({
      router: routes,
      gracefulShutdown: false,
      plugins: { websocket: true, channels: { store: { redis: { url: redis.url, prefix: 'ends' } } } },
    })
    servers.push(other)
    const socket = await other.inject.ws('/lone')
    socket.send({ type: 'channel:join', data: { channel: 'lone/1' } })
    await socket.assertNext({ type: 'channel:joined', data: { id: '0-0' } })
    await withClient(async (client) => {
      expect(await client.keys('ends:*lone*')).toEqual([])
      await lone.for(other).publish({ n: 1 }, 'first')
      await socket.assertNext({ type: 'channel:message', data: { payload: 'first' } })
      const ann = await joined(server, 'ends')
      await expect.poll(() => client.keys('ends:*:present')).toHaveLength(1)
      ann.assertOpen()
      await chat.for(server).remove({ room: 'ends' }, { user: 'nobody' })
      const keys = await client.keys('ends:*')
      expect(keys.length).toBeGreaterThan(5)
      for (const key of keys) expect(await client.pttl(key), key).toBeGreaterThan(0)
    })
  })

  test('continues where the numbers of a channel are gone and its history is not', async () => {
    const server = await serve()
    const { id } = await chat.publish({ room: 'evicted' }, 1)
    await withClient((client) => client.del('channels:{chat/evicted}:numbers'))
    const socket = await joined(server, 'evicted', 'ann', id)
    await chat.publish({ room: 'evicted' }, 2)
    await expect.poll(() => payloads(socket)).toEqual([2])
  })

  test('begins another epoch where a Redis has lost its last numbers', async () => {
    const server = await serve()
    const socket = await joined(server, 'lost')
    const { id } = await chat.publish({ room: 'lost' }, 1)
    for (const n of [2, 3]) await chat.publish({ room: 'lost' }, n)
    await expect.poll(() => payloads(socket)).toEqual([1, 2, 3])
    await withClient(async (client) => {
      await client.hset('channels:{chat/lost}:numbers', 'n', 1)
      await client.del('channels:{chat/lost}:history')
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await expect.poll(() => received(socket).some(({ type }) => type === 'channel:gap')).toBe(true)
    })
    const later = await chat.publish({ room: 'lost' }, 4)
    expect(later.id.split('-')[0]).not.toBe(id.split('-')[0])
    await expect.poll(() => payloads(socket)).toEqual([1, 2, 3, 4])
  })

  test('does not end when something else is published under its names', async () => {
    const server = await serve()
    const socket = await joined(server, 'odd')
    await withClient(async (client) => {
      for (const text of ['', 'p', 'p{', 'm', 'mx\n\n1', 'me-1\n{\n1', 'x'])
        await client.publish('channels:0:chat/odd', text)
    })
    await chat.publish({ room: 'odd' }, 1)
    await expect.poll(() => payloads(socket)).toEqual([1])
  })

  test('listens for no channel that its clients have left, however quickly', async () => {
    const server = await serve(redis.url, { prefix: 'quick' })
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const socket = await server.inject.ws('/live', { query: { user: 'ann' } })
        socket.send({ type: 'channel:join', data: { channel: `chat/${i}` } })
        await socket.close()
      }),
    )
    await withClient(async (client) => {
      const listened = () => client.pubsub('CHANNELS', 'quick:*')
      await expect.poll(listened).toEqual([])
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      const socket = await joined(server, 'last')
      await expect.poll(listened).toEqual(['quick:0:chat/last'])
      await expect.poll(async () => (await chat.present({ room: '1' })).length).toBe(0)
      await socket.close()
    })
  })

  test('removes the entries of a killed instance, and lists none of them meanwhile', async () => {
    await withClient(async (client) => {
      const room = 'dead:{chat/x}:present'
      const text = JSON.stringify({ instance: 'gone', present: { id: '1', user: 'bob', data: 'bob' } })
      const unknown = JSON.stringify({ instance: 'never', present: { id: '2', user: 'eve', data: 'eve' } })
      await client.zadd('dead:instances', Date.now() - 16_000, 'gone')
      await client.sadd('dead:instance:gone', 'chat/x')
      await client.hset(room, '1', text, '2', unknown)
      const server = await serve(redis.url, { prefix: 'dead' })
      await expect.poll(() => client.exists('dead:instance:gone')).toBe(0)
      expect(await client.zscore('dead:instances', 'gone')).toBeNull()
      expect(await client.hkeys(room)).toEqual(['2'])
      await joined(server, 'x')
      await expect.poll(() => client.hlen(room)).toBe(2)
      expect((await chat.present({ room: 'x' })).map(({ user }) => user)).toEqual(['ann'])
    })
  })

  test('a client that leaves while others are still notified of it is absent', async () => {
    const bus = new RedisBus({ url: redis.url, prefix: 'brief' }, memoryLogger([]))
    const events: unknown[] = []
    const present = (_name: string, id: string, one: unknown) => void events.push([id, one !== undefined])
    await bus.open({ entry() {}, resumed() {}, present })
    try {
      await bus.subscribe('x')
      await Promise.all([bus.enter('x', { id: '1', data: null }), bus.exit('x', '1')])
      expect(await bus.present('x')).toEqual([])
      await expect
        .poll(() => events)
        .toEqual([
          ['1', true],
          ['1', false],
        ])
    } finally {
      await bus.close()
    }
  })

  test('a rejected publish of one of two stores is not a rejection that no one handles', async () => {
    const scope = (name: string, url: string) =>
      definePlugin({
        name,
        scoped: true,
        setup(ctx) {
          ctx.register(websocket())
          ctx.register(channels({ store: { redis: url } }))
        },
      })()
    const server = new Server({
      ...{ router: new RouteCollection(), logger: memoryLogger([]), gracefulShutdown: false },
      plugins: [scope('away', 'redis://127.0.0.1:1'), scope('here', redis.url)] as never,
    })
    servers.push(server)
    await server.ready()
    await expect(chat.publish({ room: 'two' }, 1)).rejects.toMatchObject({ code: 'ChannelUnavailableError' })
    await new Promise((resolve) => setImmediate(resolve))
  })

  describe('when Redis fails', () => {
    test('ends in time with a Redis that does not answer, and with joins that are pending', async () => {
      const server = await serve(redis.url, { commandTimeout: 2000 })
      await joined(server, 'end')
      redis.freeze()
      try {
        const socket = await server.inject.ws('/live', { query: { user: 'bob' } })
        socket.send({ type: 'channel:join', data: { channel: 'chat/other' } })
        const ended = server.close().then(() => 'ended')
        const late = new Promise((resolve) => setTimeout(() => resolve('late'), 30_000).unref())
        expect(await Promise.race([ended, late])).toBe('ended')
      } finally {
        redis.thaw()
      }
    })

    test('continues after a restart that lost nothing, without a gap', async () => {
      const server = await serve()
      const socket = await joined(server, 'f')
      await chat.publish({ room: 'f' }, 1)
      await redis.restart()
      await expect
        .poll(() =>
          chat.publish({ room: 'f' }, 2).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      await chat.publish({ room: 'f' }, 3)
      await expect.poll(() => payloads(socket)).toEqual([1, 2, 3])
      expect(received(socket).some(({ type }) => type === 'channel:gap')).toBe(false)
    })

    test('names the gap after one that lost everything, and calls join again for all members', async () => {
      const server = await serve()
      const ann = await joined(server, 'g', 'ann')
      const bob = await joined(server, 'g', 'bob')
      await chat.publish({ room: 'g' }, 1)
      const client = new Redis(redis.url)
      await client.flushall()
      client.disconnect()
      banned.add('bob')
      await chat.publish({ room: 'g' }, 2)
      await expect.poll(() => payloads(ann)).toEqual([1, 2])
      expect(received(ann).filter(({ type }) => type === 'channel:gap')).toHaveLength(1)
      await expect.poll(() => received(bob).some(({ type }) => type === 'channel:left')).toBe(true)
      expect(payloads(bob)).toEqual([1])
      banned.clear()
    })

    test('refuses to publish and to join while it does not answer, and takes it up again', async () => {
      const server = await serve()
      const socket = await joined(server, 'h')
      redis.freeze()
      try {
        await expect(chat.publish({ room: 'h' }, 1)).rejects.toMatchObject({ code: 'ChannelUnavailableError' })
        const other = await server.inject.ws('/live', { query: { user: 'bob' } })
        other.send({ type: 'channel:join', data: { channel: 'chat/i' } })
        await expect
          .poll(() => other.received(), { timeout: 20_000 })
          .toMatchObject([{ type: 'channel:refused', data: { code: 'ChannelUnavailableError' } }])
      } finally {
        redis.thaw()
      }
      await expect
        .poll(() =>
          chat.publish({ room: 'h' }, 2).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      await expect.poll(() => payloads(socket)).toContain(2)
    })
  })

  test('two processes: all messages of both, in one order', async () => {
    const start = async () => {
      const child = fork(new URL('../fixtures/channels-server.ts', import.meta.url), [redis.url], {
        execArgv: withTypeScript,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      children.push(child)
      const next = () => new Promise<unknown>((resolve) => child.once('message', resolve))
      await next()
      return {
        child,
        ask: (what: object) => {
          const answer = next()
          child.send(what)
          return answer
        },
      }
    }
    const [one, other] = await Promise.all([start(), start()])
    const each = 2_000
    await Promise.all([one.ask({ publish: each }), other.ask({ publish: each })])
    const lists = (await Promise.all([
      one.ask({ received: 2 * each }),
      other.ask({ received: 2 * each }),
    ])) as string[][]
    expect(lists[0]).toHaveLength(2 * each)
    expect(lists[1]).toEqual(lists[0])
    expect(new Set(lists[0]).size).toBe(2 * each)
  })
})
