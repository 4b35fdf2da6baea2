import { afterEach, describe, expect, test } from 'vitest'
import { channel, RouteCollection, Server } from '../../../index.ts'
import { MemoryBus } from '../../../plugins/channels/buses/memory.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function serve(one: ReturnType<typeof channel>, websocket: object | true = true, more: object = {}) {
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [one] }, more)
  const server = new Server({ router: routes, plugins: { websocket, channels: true } } as {})
  servers.push(server)
  return server
}

interface Received {
  type: string
  data: { id?: string; author?: string; payload?: unknown; after?: string; reason?: string }
}

async function join(server: Server, name: string, request: object = {}) {
  const socket = await server.inject.ws('/live')
  socket.send({ type: 'channel:join', data: { channel: name, ...request } })
  const { data } = await socket.assertNext<Received>({ type: 'channel:joined' })
  const rest = () => (socket.received() as Received[]).slice(1)
  const payloads = () => rest().flatMap(({ type, data }) => (type === 'channel:message' ? [data.payload] : []))
  return { socket, joined: data, rest, payloads }
}

describe('the history of a channel in memory', () => {
  const message = (bytes: number) => ({ body: 'x'.repeat(bytes), kind: 'message' }) as const
  const sizes = async (bus: MemoryBus, name: string) =>
    (await bus.after(name, '0-0')).entries.map(({ body }) => body.length)

  test('is limited in bytes: the oldest messages go first, and one that is too large is not kept', async () => {
    const bus = new MemoryBus()
    const keeping = { messages: 10, bytes: 100, ms: 60_000 }
    for (const bytes of [30, 40, 50]) await bus.publish('a', message(bytes), keeping)
    expect(await sizes(bus, 'a')).toEqual([40, 50])
    await bus.publish('a', message(101), keeping)
    expect(await sizes(bus, 'a')).toEqual([])
    await bus.publish('a', message(7), keeping)
    expect(await sizes(bus, 'a')).toEqual([7])
  })

  test('counts bytes, not characters', async () => {
    const bus = new MemoryBus()
    const keeping = { messages: 10, bytes: 10, ms: 60_000 }
    for (const body of ['ééé', 'ééé']) await bus.publish('a', { body, kind: 'message' }, keeping)
    expect(await sizes(bus, 'a')).toEqual([3])
  })

  test('is limited for all channels without clients: one client that fills many rooms and leaves fills 64 MB', async () => {
    const bus = new MemoryBus()
    const keeping = { messages: 100, bytes: 2 ** 20, ms: 60_000 }
    for (let room = 0; room < 100; room++) await bus.publish(`room/${room}`, message(2 ** 20), keeping)
    const kept = await Promise.all(Array.from({ length: 100 }, (_, room) => sizes(bus, `room/${room}`)))
    expect(kept.flat().reduce((sum, size) => sum + size, 0)).toBe(64 * 2 ** 20)
    expect(kept[99]).toHaveLength(1)
  })

  test('has a limit by default, and the option is checked', async () => {
    const rooms = channel('rooms/:n', { join: () => true })
    expect(rooms.keeping).toEqual({ messages: 100, bytes: 1_048_576, ms: 300_000 })
    const own = channel('own', { join: () => true, history: { bytes: '64kb' } })
    expect(own.keeping).toEqual({ messages: 100, bytes: 65_536, ms: 300_000 })
    expect(() => channel('own', { join: () => true, history: { bytes: 'much' } })).toThrow(/history\.bytes/)
    expect(() => channel('own', { join: () => true, history: { byts: 1 } as object })).toThrow(/bytes/)
  })
})

describe('a client that was here before', () => {
  const chat = channel('chat', { join: () => true, publish: () => true })
  const publish = (socket: { send(message: object): unknown }, payload: string) =>
    socket.send({ type: 'channel:publish', data: { channel: 'chat', payload } })

  test('does not receive its own messages after a reconnection, nor after a second one', async () => {
    const server = serve(chat)
    const first = await join(server, 'chat')
    const other = await join(server, 'chat')
    expect(first.joined.author).not.toBe(other.joined.author)
    publish(first.socket, 'mine 1')
    await first.socket.assertNext({ type: 'channel:published' })
    publish(other.socket, 'theirs')
    await first.socket.assertNext({ type: 'channel:message', data: { payload: 'theirs' } })
    await first.socket.close()
    const request = { after: first.joined.id, author: first.joined.author }
    const second = await join(server, 'chat', request)
    expect(second.joined.author).toBe(first.joined.author)
    publish(second.socket, 'mine 2')
    await expect.poll(() => second.rest().at(-1)?.type).toBe('channel:published')
    const third = await join(server, 'chat', request)
    await chat.publish('end')
    await expect.poll(third.payloads).toEqual(['theirs', 'end'])
    expect(second.payloads()).toEqual(['theirs', 'end'])
    expect(other.payloads()).toEqual(['mine 1', 'mine 2', 'end'])
  })

  test('cannot keep messages from another client whose id it knows', async () => {
    const server = serve(chat)
    const victim = await join(server, 'chat')
    const [{ id }] = server.services.get('websockets') as unknown as [{ id: string }]
    const { socket } = await join(server, 'chat', { author: id })
    publish(socket, 'for you')
    await expect.poll(victim.payloads).toEqual(['for you'])
  })

  test('is a guest of a channel in which clients publish: no author otherwise', async () => {
    const server = serve(channel('news', { join: () => true }))
    expect(await join(server, 'news')).not.toHaveProperty('joined.author')
  })

  test.each([[7], [''], ['x'.repeat(101)], [null]])('is refused with the author %j', async (author) => {
    const server = serve(chat)
    const socket = await server.inject.ws('/live')
    socket.send({ type: 'channel:join', data: { channel: 'chat', author } })
    await socket.assertNext({ type: 'channel:refused', data: { code: 'BadRequestError' } })
  })

  test.each([
    'x',
    '0-5',
    'abcdef-1',
    'abcdef-999999999999999',
    'x'.repeat(5000),
  ])('learns of a gap for the id %s, and receives no history', async (after) => {
    const server = serve(chat)
    await server.ready()
    await chat.publish('old')
    const { id } = await chat.publish('old')
    const { socket, payloads } = await join(server, 'chat', { after })
    await socket.assertNext({ type: 'channel:gap', data: { after: after.slice(0, 100), id } })
    await chat.publish('new')
    await expect.poll(payloads).toEqual(['new'])
  })

  test('publishes what it sent before it closed, although its join was pending', async () => {
    let admit = (_: boolean) => {}
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    let isReader = true
    const join = (): true | Promise<boolean> => {
      if (isReader) return true
      isAsked()
      return new Promise((resolve) => {
        admit = resolve
      })
    }
    const publish = async () => {
      await undefined
      return true
    }
    const server = serve(channel('slow', { join: join as () => Promise<boolean>, publish }))
    const reader = await server.inject.ws('/live')
    reader.send({ type: 'channel:join', data: { channel: 'slow' } })
    await reader.assertNext({ type: 'channel:joined' })
    isReader = false
    const writer = await server.inject.ws('/live')
    writer.send({ type: 'channel:join', data: { channel: 'slow' } })
    writer.send({ type: 'channel:publish', data: { channel: 'slow', payload: 'goodbye' } })
    await asked
    await writer.close()
    admit(true)
    await reader.assertNext({ type: 'channel:message', data: { payload: 'goodbye' } })
    await expect.poll(() => server.services.get('channels').counts).toMatchObject({ members: 1 })
    expect(server.services.get('websockets').size).toBe(1)
  })
})

describe('event streams', () => {
  const news = channel('news', { join: () => true })
  const get = (server: Server) => server.fetch(new Request('http://localhost/live?channel=news'))

  test('count with the websockets, are refused with 503 and make room when they end', async () => {
    const server = serve(news, { maxSockets: 2 })
    const first = await get(server)
    await join(server, 'news')
    expect(await (await get(server)).json()).toMatchObject({
      code: 'TooManySocketsError',
      message: expect.stringContaining('2 websockets and event streams'),
    })
    ;(await server.inject.ws('/live')).assertRefused(503)
    await first.body!.cancel()
    await expect.poll(() => server.services.get('channels').counts.streams).toBe(0)
    const again = await get(server)
    expect(again.status).toBe(200)
    await again.body!.cancel()
  })

  test('that are refused take no place', async () => {
    const closed = channel('news', { join: () => false })
    const server = serve(closed, { maxSockets: 1 })
    for (let i = 0; i < 3; i++) expect((await get(server)).status).toBe(403)
  })
})
