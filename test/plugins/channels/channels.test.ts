import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AnyChannel, type ChannelClient, channel, definePlugin, RouteCollection, Server } from '../../../index.ts'
import { type ChannelRuleCall, channels } from '../../../plugins/channels/index.ts'
import { websocket } from '../../../plugins/websocket/index.ts'
import { memoryLogger } from '../../support/kernel.ts'

interface Visitor {
  user: string | undefined
}

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Declared = AnyChannel

function serve(channels: readonly Declared[], options: object = {}, more: object = {}) {
  const routes = new RouteCollection()
  routes.ws(
    '/live',
    { channels },
    { data: (req): Visitor => ({ user: req.query.user as string | undefined }), ...more },
  )
  const server = new Server({ router: routes, plugins: { websocket: true, channels: options } })
  servers.push(server)
  return server
}

const open = (server: Server, user?: string) => server.inject.ws('/live', user === undefined ? {} : { query: { user } })

async function joined(server: Server, name: string, user?: string, after?: string) {
  const socket = await open(server, user)
  socket.send({ type: 'channel:join', data: { channel: name, after } })
  await socket.assertNext({ type: 'channel:joined', data: { channel: name } })
  return socket
}

describe('a channel', () => {
  const orders = channel('orders/:id', {
    join: ({ data }: ChannelClient<Visitor>, { id }) => id !== '9' || data.user === 'ann',
    user: ({ data }: ChannelClient<Visitor>) => data.user,
    message: { type: 'object', properties: { state: { type: 'string' } }, required: ['state'] } as const,
  })

  test('passes published messages to all members, in order', async () => {
    const server = serve([orders])
    const [ann, bob, other] = [
      await joined(server, 'orders/7'),
      await joined(server, 'orders/7'),
      await joined(server, 'orders/8'),
    ]
    await orders.publish({ id: 7 }, { state: 'packed' })
    await orders.publish({ id: '7' }, { state: 'sent' })
    for (const socket of [ann, bob]) {
      await socket.assertNext({ type: 'channel:message', data: { channel: 'orders/7', payload: { state: 'packed' } } })
      await socket.assertNext({ type: 'channel:message', data: { payload: { state: 'sent' } } })
    }
    expect(other.received()).toHaveLength(1)
  })

  test('lets in only clients for which join returns true', async () => {
    const server = serve([orders])
    const bob = await open(server, 'bob')
    bob.send({ type: 'channel:join', data: { channel: 'orders/9', ref: 1 } })
    await bob.assertNext({
      type: 'channel:refused',
      data: { channel: 'orders/9', ref: 1, code: 'ChannelRefusedError' },
    })
    await joined(server, 'orders/9', 'ann')
    await orders.publish({ id: 9 }, { state: 'x' })
    expect(bob.received()).toHaveLength(1)
    expect(server.services.get('channels').counts).toMatchObject({ members: 1, refused: 1 })
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no database')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no database'))],
    ['gives another value than true', () => 1 as never],
    ['is late', () => new Promise<boolean>(() => {})],
  ])('refuses where join %s', async (_, join) => {
    const server = serve([channel('news', { join })], { timeout: 20 })
    const socket = await open(server)
    socket.send({ type: 'channel:join', data: { channel: 'news' } })
    await socket.assertNext({ type: 'channel:refused', data: { code: 'ChannelRefusedError' } })
  })

  test('aborts the signal of a rule that is late', async () => {
    const signals: AbortSignal[] = []
    const late = ({ signal }: ChannelRuleCall) => {
      signals.push(signal)
      return new Promise<boolean>(() => {})
    }
    const server = serve([channel('news', { join: (_client, _params, call) => late(call) })], { timeout: 20 })
    const socket = await open(server)
    socket.send({ type: 'channel:join', data: { channel: 'news' } })
    await socket.assertNext({ type: 'channel:refused' })
    expect(signals.map(({ aborted, reason }) => [aborted, String(reason)])).toEqual([
      [true, expect.stringContaining('has not finished within 20 ms')],
    ])
  })

  test('shares its socket with typed messages, each of which is parsed once', async () => {
    const received: unknown[] = []
    const router = new RouteCollection()
    const say = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } as const
    const options = { channels: [channel('news', { join: () => true })], incoming: { say } }
    router.ws('/live', options, { message: (_socket, message) => void received.push(message) })
    const server = new Server({ router, logger: memoryLogger(), plugins: { websocket: true, channels: true } })
    const socket = await server.inject.ws('/live')
    const text = '{"type":"say","data":{"word":"hello"}}'
    const parse = vi.spyOn(JSON, 'parse')
    socket.send(text)
    await expect.poll(() => received).toEqual([{ type: 'say', data: { word: 'hello' } }])
    expect(parse.mock.calls.filter(([given]) => given === text)).toHaveLength(1)
    parse.mockRestore()
    socket.send({ type: 'shout', data: {} })
    const known = 'unknown type "shout"; the types are say, channel:join, channel:leave, channel:publish'
    await socket.assertNext({ type: 'error', data: { message: known } })
    await server.close()
  })

  test('is left, and is not received any more', async () => {
    const server = serve([orders])
    const socket = await joined(server, 'orders/7')
    socket.send({ type: 'channel:leave', data: { channel: 'orders/7' } })
    await socket.assertNext({ type: 'channel:left', data: { channel: 'orders/7', reason: 'asked' } })
    await orders.publish({ id: 7 }, { state: 'packed' })
    expect(socket.received()).toHaveLength(2)
    expect(server.services.get('channels').counts).toMatchObject({ members: 0, channels: 0 })
  })

  test('forgets clients whose connection has ended', async () => {
    const server = serve([orders])
    const socket = await joined(server, 'orders/7')
    await socket.close()
    expect(server.services.get('channels').counts).toMatchObject({ members: 0, channels: 0 })
  })

  test('reaches one user, one client, or all but one', async () => {
    const server = serve([orders])
    const ann = await joined(server, 'orders/7', 'ann')
    const bob = await joined(server, 'orders/7', 'bob')
    const [first] = server.services.get('websockets')
    await orders.publish({ id: 7 }, { state: 'for ann' }, { to: { user: 'ann' } })
    await orders.publish({ id: 7 }, { state: 'for the first' }, { to: { client: first!.id } })
    await orders.publish({ id: 7 }, { state: 'for the others' }, { except: first!.id })
    await orders.publish({ id: 7 }, { state: 'for all' })
    const states = (socket: typeof ann) =>
      socket
        .received()
        .slice(1)
        .map((one) => (one as { data: { payload: { state: string } } }).data.payload.state)
    await expect.poll(() => states(ann)).toEqual(['for ann', 'for the first', 'for all'])
    await expect.poll(() => states(bob)).toEqual(['for the others', 'for all'])
  })

  test('sends missed messages again, and not those for others', async () => {
    const server = serve([orders])
    const { id } = await orders.publish({ id: 7 }, { state: '1' }).catch(async () => {
      await server.ready()
      return orders.publish({ id: 7 }, { state: '1' })
    })
    await orders.publish({ id: 7 }, { state: '2' })
    await orders.publish({ id: 7 }, { state: 'secret' }, { to: { user: 'bob' } })
    await orders.publish({ id: 7 }, { state: '3' })
    const socket = await joined(server, 'orders/7', 'ann', id)
    await socket.assertNext({ data: { payload: { state: '2' } } })
    await socket.assertNext({ data: { payload: { state: '3' } } })
    await orders.publish({ id: 7 }, { state: '4' })
    await socket.assertNext({ data: { payload: { state: '4' } } })
  })

  test('names a gap where the history does not reach back', async () => {
    const short = channel('short', { join: () => true, history: { messages: 1 } })
    const server = serve([short])
    await server.ready()
    const { id } = await short.publish('1')
    await short.publish('2')
    await short.publish('3')
    const socket = await joined(server, 'short', undefined, id)
    await socket.assertNext({ type: 'channel:gap', data: { channel: 'short', after: id } })
    await socket.assertNext({ type: 'channel:message', data: { payload: '3' } })
  })

  test('removes a user, who tries to join again', async () => {
    let isMember = true
    const club = channel('club', { join: () => isMember, user: ({ data }: ChannelClient<Visitor>) => data.user })
    const server = serve([club])
    const ann = await joined(server, 'club', 'ann')
    const bob = await joined(server, 'club', 'bob')
    isMember = false
    await club.remove({ user: 'ann' })
    await ann.assertNext({ type: 'channel:left', data: { channel: 'club', reason: 'removed' } })
    await club.publish('hello')
    await bob.assertNext({ type: 'channel:message' })
    ann.send({ type: 'channel:join', data: { channel: 'club' } })
    await ann.assertNext({ type: 'channel:refused' })
  })

  test('takes messages of clients where publish allows it', async () => {
    const chat = channel('chat/:room', {
      join: () => true,
      publish: (client: ChannelClient<Visitor>, _, { text }) => client.data.user !== 'bob' && text !== 'spam',
      message: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const,
    })
    const server = serve([chat, orders])
    const ann = await joined(server, 'chat/1', 'ann')
    const bob = await joined(server, 'chat/1', 'bob')
    ann.send({ type: 'channel:publish', data: { channel: 'chat/1', payload: { text: 'hi' }, ref: 7 } })
    await ann.assertNext({ type: 'channel:published', data: { channel: 'chat/1', ref: 7 } })
    await bob.assertNext({ type: 'channel:message', data: { payload: { text: 'hi' } } })
    ann.send({ type: 'channel:publish', data: { channel: 'chat/1', payload: { text: 1 } } })
    await ann.assertNext({ type: 'channel:refused', data: { code: 'InvalidPayloadError' } })
    bob.send({ type: 'channel:publish', data: { channel: 'chat/1', payload: { text: 'hi' } } })
    await bob.assertNext({ type: 'channel:refused', data: { code: 'ChannelPublishRefusedError' } })
    ann.send({ type: 'channel:publish', data: { channel: 'chat/2', payload: { text: 'hi' } } })
    await ann.assertNext({ type: 'channel:refused', data: { code: 'NotJoinedError' } })
    ann.send({ type: 'channel:join', data: { channel: 'orders/7' } })
    await ann.assertNext({ type: 'channel:joined' })
    ann.send({ type: 'channel:publish', data: { channel: 'orders/7', payload: { state: 'x' } } })
    await ann.assertNext({ type: 'channel:refused', data: { code: 'ChannelPublishRefusedError' } })
  })

  test('shows present clients', async () => {
    const room = channel('room', {
      join: () => true,
      user: ({ data }: ChannelClient<Visitor>) => data.user,
      presence: ({ data }: ChannelClient<Visitor>) => ({ name: data.user }),
    })
    const server = serve([room])
    const ann = await joined(server, 'room', 'ann')
    expect(ann.received()).toMatchObject([{ type: 'channel:joined', data: { present: [{ user: 'ann' }] } }])
    const bob = await open(server, 'bob')
    bob.send({ type: 'channel:join', data: { channel: 'room' } })
    await bob.assertNext({
      type: 'channel:joined',
      data: { present: [{ user: 'ann', data: { name: 'ann' } }, { user: 'bob' }] },
    })
    await ann.assertNext({ type: 'channel:presence', data: { joined: [{ user: 'bob' }], left: [] } })
    expect(await room.present()).toMatchObject([{ user: 'ann' }, { user: 'bob' }])
    await bob.close()
    await ann.assertNext({ type: 'channel:presence', data: { joined: [], left: [{ user: 'bob' }] } })
  })

  test('lets the server join sockets, by the same rule', async () => {
    const server = serve([], {}, {})
    await server.close()
    servers.pop()
    const routes = new RouteCollection()
    routes.ws('/own', {
      data: (): Visitor => ({ user: 'bob' }),
      async message(socket, text) {
        try {
          const membership = await orders.join(socket, { id: String(text) })
          if (text === '8') membership.leave()
        } catch (error) {
          socket.send((error as { code: string }).code)
        }
      },
    })
    const own = new Server({ router: routes, plugins: { websocket: true, channels: true } })
    servers.push(own)
    const socket = await own.inject.ws('/own')
    socket.send('9')
    await socket.assertNext('ChannelRefusedError')
    socket.send('8').send('7')
    await socket.assertNext({ type: 'channel:joined', data: { channel: 'orders/8' } })
    await socket.assertNext({ type: 'channel:joined', data: { channel: 'orders/7' } })
    await orders.publish({ id: 8 }, { state: 'x' })
    await orders.publish({ id: 7 }, { state: 'y' })
    await socket.assertNext({ data: { channel: 'orders/7', payload: { state: 'y' } } })
  })

  test('holds the limit of channels for one client while joins are pending', async () => {
    const slow = channel('slow/:n', { join: () => new Promise((resolve) => setTimeout(() => resolve(true), 20)) })
    const server = serve([slow], { maxChannelsPerClient: 2 })
    const socket = await open(server)
    for (const n of [1, 2, 3]) socket.send({ type: 'channel:join', data: { channel: `slow/${n}` } })
    await socket.assertNext({ type: 'channel:joined' })
    await socket.assertNext({ type: 'channel:joined' })
    await socket.assertNext({ type: 'channel:refused', data: { code: 'TooManyChannelsError' } })
  })

  test.each([
    ['an unknown channel', { channel: 'nothing' }],
    ['another spelling', { channel: 'orders/%37' }],
    ['an empty parameter', { channel: 'orders/' }],
    ['a very long name', { channel: `orders/${'x'.repeat(500)}` }],
  ])('does not exist under %s', async (_, data) => {
    const socket = await open(serve([orders]))
    socket.send({ type: 'channel:join', data })
    await socket.assertNext({ type: 'channel:refused', data: { code: 'UnknownChannelError' } })
  })

  test.each([
    ['a name', {}],
    ['a name that is a text', { channel: ['orders/7'] }],
    ['an id that is a text', { channel: 'orders/7', after: 5 }],
    ['an id that is not empty', { channel: 'orders/7', after: '' }],
    ['an id that is not null', { channel: 'orders/7', after: null }],
  ])('is asked for with %s', async (_, data) => {
    const socket = await open(serve([orders]))
    socket.send({ type: 'channel:join', data })
    await socket.assertNext({ type: 'channel:refused', data: { code: 'BadRequestError' } })
  })

  test('says from where on the messages follow, after a gap too', async () => {
    const server = serve([orders])
    await server.ready()
    const { id } = await orders.publish({ id: 7 }, { state: 'x' })
    const socket = await open(server)
    socket.send({ type: 'channel:join', data: { channel: 'orders/7', after: id } })
    await socket.assertNext({ type: 'channel:joined', data: { id } })
    const late = await open(server)
    late.send({ type: 'channel:join', data: { channel: 'orders/7', after: 'abc-7' } })
    await late.assertNext({ type: 'channel:joined' })
    await late.assertNext({ type: 'channel:gap', data: { after: 'abc-7', id } })
  })

  test('answers other messages where no handler takes them', async () => {
    const socket = await open(serve([orders]))
    socket.send('hello')
    await socket.assertNext({ type: 'error', data: { code: 'InvalidMessageError' } })
  })

  test.each([
    [
      'presence that throws',
      {
        presence: () => {
          throw new Error('no')
        },
      },
    ],
    ['presence that JSON has no form for', { presence: () => 1n }],
    [
      'user that throws',
      {
        user: () => {
          throw new Error('no')
        },
      },
    ],
    ['user that is not a text', { user: () => 7 as never }],
  ])('refuses a client with a %s, and goes on', async (_, more) => {
    const own = channel('own', { join: () => true, ...more })
    const server = serve([own])
    const socket = await open(server)
    for (const ref of [1, 2]) {
      socket.send({ type: 'channel:join', data: { channel: 'own', ref } })
      await socket.assertNext({ type: 'channel:refused', data: { ref, code: 'ChannelRefusedError' } })
    }
    expect(server.services.get('channels').counts).toMatchObject({ members: 0, channels: 0, refused: 2 })
  })

  test('reports messages that a slow reader did not receive', async () => {
    const server = serve([orders], {}, { open: (socket: object) => sockets.push(socket) })
    const sockets: object[] = []
    const ann = await joined(server, 'orders/7')
    const wire = sockets[0] as { sendFrame(frame: string): boolean }
    const sendFrame = wire.sendFrame.bind(wire)
    await orders.publish({ id: 7 }, { state: '1' })
    // As with `slowReaders: 'drop'`.
    wire.sendFrame = () => false
    for (const state of ['2', '3']) await orders.publish({ id: 7 }, { state })
    wire.sendFrame = sendFrame
    await orders.publish({ id: 7 }, { state: '4' })
    await ann.assertNext({ data: { payload: { state: '1' } } })
    const [, one] = ann.received() as { data: { id: string } }[]
    await ann.assertNext({ type: 'channel:gap', data: { channel: 'orders/7', after: one!.data.id } })
    await ann.assertNext({ data: { payload: { state: '4' } } })
  })

  test('leaves other messages to the handler', async () => {
    const server = serve(
      [orders],
      {},
      { message: (socket: { send(text: string): void }, text: string) => socket.send(`got ${text}`) },
    )
    const socket = await open(server)
    socket.send('hello').send({ type: 'channel:join', data: { channel: 'orders/7' } })
    await socket.assertNext('got hello')
    await socket.assertNext({ type: 'channel:joined' })
  })
})

describe('as server-sent events', () => {
  const news = channel('news', { join: ({ data }: ChannelClient<Visitor>) => data.user !== 'bob' })
  const prices = channel('prices/:of', { join: () => true })

  async function read(response: Response, until: string): Promise<string> {
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes(until)) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    await reader.cancel()
    return text
  }

  test('sends messages with ids, and missed messages after the last of them', async () => {
    const server = serve([news, prices])
    const get = (headers = {}) =>
      server.fetch(new Request('http://localhost/live?channel=news&channel=prices/tea', { headers }))
    const first = await get()
    expect(first.headers.get('content-type')).toContain('text/event-stream')
    await news.publish('one')
    await prices.publish({ of: 'tea' }, 3)
    const text = await read(first, '"payload":3}')
    expect(text).toMatch(/event: channel:joined\n/)
    expect(text).toMatch(/\ndata: \{"channel":"news","id":"\w+-1","payload":"one"\}\n/)
    const id = /id: (\S+)\ndata: \{"channel":"prices\/tea"/.exec(text)![1]!
    await news.publish('two')
    await prices.publish({ of: 'tea' }, 4)
    const again = await read(await get({ 'last-event-id': id }), '"payload":4}')
    expect(again).toContain('"payload":"two"')
    expect(again).not.toContain('"payload":"one"')
    expect(again).not.toContain('channel:gap')
    await expect.poll(() => server.services.get('channels').counts).toMatchObject({ members: 0, streams: 0 })
  })

  test.each([
    ['channel=nothing', undefined, 404],
    ['channel=news&user=bob', undefined, 403],
    ['channel=news', 'a-1,b-2', 400],
    ['user=ann', undefined, 426],
  ])('refuses %s (last id %s) with %i', async (query, lastId, status) => {
    const server = serve([news])
    const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId }
    const response = await server.inject({ method: 'GET', url: `/live?${query}`, headers })
    expect(response.status).toBe(status)
    expect(server.services.get('channels').counts).toMatchObject({ members: 0, streams: 0 })
  })

  test('keeps the place in a channel in which nothing happens', async () => {
    const server = serve([news, prices])
    await server.ready()
    const { id } = await news.publish('one')
    const get = (lastId: string) =>
      server.fetch(
        new Request('http://localhost/live?channel=prices/tea&channel=news', { headers: { 'last-event-id': lastId } }),
      )
    const response = await get(`0-0,${id}`)
    await prices.publish({ of: 'tea' }, 3)
    const text = await read(response, '"payload":3}')
    expect(/id: (\S+)\ndata: \{"channel":"prices\/tea"/.exec(text)![1]).toMatch(new RegExp(`,${id}$`))
  })

  test('has a place after a gap, so that the next request does not have the same', async () => {
    const server = serve([news])
    await server.ready()
    const { id } = await news.publish('one')
    const response = await server.fetch(
      new Request('http://localhost/live?channel=news', { headers: { 'last-event-id': 'abc-7' } }),
    )
    const text = await read(response, 'channel:gap')
    expect(text).toContain(`id: ${id}\nevent: channel:gap`)
  })

  test('are for pages of the origins of the websocket alone', async () => {
    const server = serve([news])
    const status = async (origin: string) =>
      (await server.fetch(new Request('http://localhost/live?channel=news&user=bob', { headers: { origin } }))).json()
    expect(await status('https://evil.example')).toMatchObject({ code: 'OriginRefusedError' })
    expect(await status('http://localhost')).toMatchObject({ code: 'ChannelRefusedError' })
  })

  test('leave nothing open for a HEAD', async () => {
    const server = serve([news])
    const response = await server.fetch(new Request('http://localhost/live?channel=news', { method: 'HEAD' }))
    await response.body?.cancel()
    await expect.poll(() => server.services.get('channels').counts).toMatchObject({ members: 0, streams: 0 })
  })

  test('refuse too many channels before the first is asked', async () => {
    const asked: string[] = []
    const rooms = channel('rooms/:n', { join: (_, { n }) => asked.push(n) > 0 })
    const server = serve([rooms], { maxChannelsPerClient: 2 })
    const response = await server.inject({
      method: 'GET',
      url: '/live?channel=rooms/1&channel=rooms/2&channel=rooms/3',
    })
    expect(response.status).toBe(429)
    expect(asked).toEqual([])
  })

  test('pass all guards of the route, wherever its plugin is registered', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const routes = new RouteCollection()
    const visitor = (): Visitor => ({ user: 'ann' })
    routes.ws('/live', { channels: [news], rateLimit: { limit: 1, windowMs: 60_000 } }, { data: visitor })
    const server = new Server({
      router: routes,
      plugins: { websocket: true, channels: true, timeout: { ms: 50 }, rateLimit: { limit: 10 }, compression: true },
    })
    servers.push(server)
    await server.ready()
    const headers = { 'accept-encoding': 'gzip' }
    const response = await server.fetch(new Request('http://localhost/live?channel=news', { headers }))
    // Longer than the time that a route has for its response.
    await clock.advance(80)
    await news.publish('one')
    const body = response.headers.get('content-encoding') === 'gzip' ? gunzipped(response) : response
    expect(await read(body, '"payload":"one"}')).toContain('"payload":"one"}')
    expect((await server.fetch(new Request('http://localhost/live?channel=news'))).status).toBe(429)
  })

  const gunzipped = (response: Response) =>
    new Response(response.body!.pipeThrough(new DecompressionStream('gzip') as never))

  test('end where the client does not read', async () => {
    const server = serve([news], { maxBuffered: 1000 })
    const response = await server.fetch(new Request('http://localhost/live?channel=news'))
    for (let i = 0; i < 50; i++) await news.publish('x'.repeat(100))
    expect(server.services.get('channels').counts).toMatchObject({ members: 0, streams: 0 })
    await response.body!.cancel().catch(() => {})
  })

  test('end with their connection where the client of a socket does not read', async () => {
    const routes = new RouteCollection()
    routes.ws('/live', { channels: [prices] }, {})
    const plugins = { websocket: true, channels: { maxBuffered: '100kb' } } as const
    const server = new Server({ router: routes, port: 0, host: '127.0.0.1', plugins })
    servers.push(server)
    const { port } = await server.listen()
    const gone = new Promise((resolve) => {
      const watch = (message: unknown) => {
        unsubscribe('net.server.socket', watch)
        ;(message as { socket: Socket }).socket.once('close', resolve)
      }
      subscribe('net.server.socket', watch)
    })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.pause().write('GET /live?channel=prices%2Fcoal HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => server.services.get('channels').counts.streams).toBe(1)
    const text = 'x'.repeat(100_000)
    // What the two ends of the connection hold differs by system.
    for (let i = 0; i < 1000 && server.services.get('channels').counts.streams > 0; i++) {
      await prices.publish({ of: 'coal' }, text)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(server.services.get('channels').counts.streams).toBe(0)
    // Without a byte that the client has read.
    await gone
    client.destroy()
  })

  test('ends with the server', async () => {
    const server = serve([news])
    const response = await server.fetch(new Request('http://localhost/live?channel=news'))
    const reading = response.text()
    await server.close()
    expect(await reading).toContain('channel:joined')
  })
})

describe('invalid options', () => {
  test('a channel without join', () => {
    expect(() => channel('news', {} as never)).toThrow(/join.*whether a client may join/)
  })

  test.each(['', 'a b', 'a//b', 'a/../b', ':id/:id', '/a'])('the name %j', (name) => {
    expect(() => channel(name, { join: () => true })).toThrow(/the channel/)
  })

  test('values that are missing, unknown or empty', async () => {
    const orders = channel('orders/:id', { join: () => true })
    const publish = orders.publish.bind(orders) as (...given: unknown[]) => Promise<unknown>
    await expect(publish({}, 1)).rejects.toThrow(/"id" needs a non-empty string/)
    await expect(publish({ id: '' }, 1)).rejects.toThrow(/"id" needs a non-empty string/)
    await expect(publish({ id: 1, no: 1 }, 1)).rejects.toThrow(/no parameter "no"/)
    await expect(publish('7', 1)).rejects.toThrow(/needs the values of id first/)
  })

  test.each([
    { to: undefined },
    { to: {} },
    { to: { user: undefined } },
    { to: { user: 'a', client: 'b' } },
    { except: undefined },
    { only: 'x' },
  ])('the recipient %j, which would reach everyone', async (options) => {
    const news = channel('news', { join: () => true })
    await serve([news]).ready()
    await expect(news.publish('x', options as never)).rejects.toMatchObject({ code: 'OptionError' })
  })

  test('a schema that cannot be used fails the boot', async () => {
    const bad = channel('bad', { join: () => true, message: { type: 'objct' } })
    await expect(serve([bad]).ready()).rejects.toThrow(/the schema of the channel "bad" cannot be used/)
  })

  test('a message to a user of a channel that knows none, and a removal', async () => {
    const news = channel('news', { join: () => true })
    await serve([news]).ready()
    await expect(news.publish('x', { to: { user: 'ann' } })).rejects.toThrow(/knows no users/)
    await expect(news.remove({ user: 'ann' })).rejects.toThrow(/knows no users/)
    await expect(news.remove(undefined as never)).rejects.toThrow(/remove/)
  })

  test('joining something other than a socket', async () => {
    const news = channel('news', { join: () => true })
    await expect(news.join(undefined as never)).rejects.toThrow(/the socket that the handler receives/)
    await expect(news.join({} as never)).rejects.toThrow(/the socket that the handler receives/)
  })

  test('publishing without a server', async () => {
    const news = channel('news', { join: () => true })
    await expect(news.publish('x')).rejects.toMatchObject({ code: 'ChannelsNotRunningError' })
  })

  test('a payload that its schema refuses, or JSON has no form for', async () => {
    const typed = channel('typed', { join: () => true, message: { type: 'string' } as const })
    const open = channel('open', { join: () => true })
    await serve([typed, open]).ready()
    await expect(typed.publish(7 as never)).rejects.toMatchObject({ code: 'ChannelPayloadError' })
    await expect(open.publish(undefined)).rejects.toMatchObject({ code: 'ChannelPayloadError' })
  })

  test.each([
    [
      'no websocket',
      (routes: RouteCollection) => routes.get('/x', { channels: [channel('a', { join: () => true })] }, () => 'x'),
      /needs a websocket route/,
    ],
    [
      'the names of a channel of another route',
      (routes: RouteCollection) => {
        routes.ws('/x', { channels: [channel('a/:b', { join: () => false })] }, {})
        routes.ws('/y', { channels: [channel('a/b', { join: () => true })] }, {})
      },
      /match the same names/,
    ],
    [
      'the same channel twice',
      (routes: RouteCollection) => {
        const a = channel('a', { join: () => true })
        routes.ws('/x', { channels: [a, a] }, {})
      },
      /twice/,
    ],
    [
      'the same names',
      (routes: RouteCollection) => {
        const join = () => true
        routes.ws('/x', { channels: [channel('a/:b', { join }), channel('a/:c', { join })] }, {})
      },
      /match the same names/,
    ],
    ['no channel', (routes: RouteCollection) => routes.ws('/x', { channels: [] }, {}), /channels/],
    [
      'something else',
      (routes: RouteCollection) => routes.ws('/x', { channels: ['news' as never] }, {}),
      /a channel: channel\(/,
    ],
    [
      'a reserved type',
      (routes: RouteCollection) =>
        routes.ws(
          '/x',
          { channels: [channel('a', { join: () => true })], incoming: { 'channel:join': { type: 'string' } } },
          {},
        ),
      /belongs to the channels/,
    ],
  ])('a route with %s fails the boot', async (_, add, why) => {
    const routes = new RouteCollection()
    add(routes)
    const server = new Server({ router: routes, plugins: { websocket: true, channels: true } })
    await expect(server.ready()).rejects.toThrow(why)
  })

  test('a websocket without a handler and without channels', async () => {
    const routes = new RouteCollection()
    routes.ws('/x', {})
    const server = new Server({ router: routes, plugins: { websocket: true } })
    await expect(server.ready()).rejects.toThrow(/has no handler/)
  })
})

describe('several in one process', () => {
  test('servers do not share a name that each has its own channel for', async () => {
    const [mine, theirs] = [channel('same', { join: () => true }), channel('same', { join: () => true })]
    const [one, other] = [serve([mine]), serve([theirs])]
    const [a, b] = [await joined(one, 'same'), await joined(other, 'same')]
    await mine.for(one).publish('mine')
    await theirs.for(other).publish('theirs')
    await a.assertNext({ data: { payload: 'mine' } })
    await b.assertNext({ data: { payload: 'theirs' } })
    const third = channel('same', { join: () => true })
    await expect(third.for(one).publish('x')).rejects.toMatchObject({ code: 'ChannelNameError' })
  })

  test('scopes have channels of their own, and forget the sockets of both', async () => {
    const news = channel('news', { join: () => true })
    const hosts: unknown[] = []
    const scope = (name: string) =>
      definePlugin({
        name,
        prefix: `/${name}`,
        setup(ctx) {
          ctx.register(websocket())
          ctx.register(channels())
          ctx.ws(
            '/live',
            { channels: [news] },
            {
              async message(socket: never) {
                await news.join(socket)
                hosts.push(name)
              },
            },
          )
        },
      })
    const server = new Server({ router: new RouteCollection(), plugins: [scope('a')(), scope('b')()] as never })
    servers.push(server)
    const b = await server.inject.ws('/b/live')
    b.send('join')
    await b.assertNext({ type: 'channel:joined' })
    const a = await server.inject.ws('/a/live')
    a.send({ type: 'channel:join', data: { channel: 'news' } })
    await a.assertNext({ type: 'channel:joined' })
    await news.publish('one')
    for (const socket of [a, b]) await socket.assertNext({ data: { payload: 'one' } })
    await b.close()
    await a.close()
    expect(a.received()).toHaveLength(2)
    expect(b.received()).toHaveLength(2)
  })
})

describe('a boot', () => {
  test.each([
    [{ channels: true }, /websocket/],
    [{ websocket: false, channels: true }, /websocket/],
  ])('with %j fails', async (plugins, why) => {
    await expect(
      (async () => new Server({ router: new RouteCollection(), plugins } as never).ready())(),
    ).rejects.toThrow(why)
  })

  test('that fails leaves no server that messages go to', async () => {
    const news = channel('news', { join: () => true })
    const fails = definePlugin({
      name: 'fails',
      setup() {
        throw new Error('no')
      },
    })
    const plugins = [websocket(), channels(), fails()] as never
    await expect(new Server({ router: new RouteCollection(), plugins }).ready()).rejects.toThrow()
    await expect(news.publish('x')).rejects.toMatchObject({ code: 'ChannelsNotRunningError' })
  })
})
