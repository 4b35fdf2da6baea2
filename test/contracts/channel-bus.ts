import assert from 'node:assert/strict'
import { type ChannelClient, channel, RouteCollection, Server } from 'framework'
import type { ChannelsOptions } from 'framework/plugins/channels'
import { memoryLogger } from '../support/kernel.ts'
import { type ContractOptions, contractOf, eventually, type Make, uniqueName } from './contract.ts'

/** The options of the contract of what carries the messages of channels. */
export interface ChannelBusOptions extends ContractOptions {
  /** Whether two servers, as in two processes, have the same channels. Default true; false for `'memory'`. */
  readonly isShared?: boolean
}

interface Visitor {
  readonly user: string
}

interface Received {
  readonly type: string
  readonly data: { readonly payload?: number; readonly joined?: readonly Visitor[]; readonly left?: readonly Visitor[] }
}

/** Servers with one channel, each as in a process of its own. */
async function open(make: Make<ChannelsOptions['store']>) {
  const servers: Server[] = []
  const banned = new Set<string>()
  const name = uniqueName('contract')
  // The type of its parameters, of a name that no other channel has.
  const chat = channel(`${name}/:room` as 'contract/:room', {
    join: ({ data }: ChannelClient<Visitor>) => !banned.has(data.user),
    user: ({ data }: ChannelClient<Visitor>) => data.user,
    presence: ({ data }: ChannelClient<Visitor>) => data.user,
    history: { messages: 1000 },
  })
  const serve = async () => {
    const server = new Server({
      ...{ gracefulShutdown: false, logger: memoryLogger(), router: new RouteCollection() },
      plugins: { websocket: true, channels: { store: await make() } },
    })
    servers.push(server)
    server.ws('/live', { channels: [chat] }, { data: (req): Visitor => ({ user: String(req.query.user) }) })
    await server.ready()
    return server
  }
  const join = async (server: Server, room: string, user = 'ann', after?: string) => {
    const socket = await server.inject.ws('/live', { query: { user } })
    socket.send({ type: 'channel:join', data: { channel: `${name}/${room}`, after } })
    await socket.assertNext({ type: 'channel:joined' })
    const received = () => socket.received() as Received[]
    const payloads = () => received().flatMap(({ type, data }) => (type === 'channel:message' ? [data.payload] : []))
    return { socket, received, payloads }
  }
  return { serve, join, chat, banned, close: () => Promise.all(servers.map((server) => server.close())) }
}

/**
 * Tests a Redis, or what speaks like one, as the store of the plugin `channels`: messages, history and presence. The names are new ones, so it
 * need not be empty.
 *
 * @example
 * testChannelBus(() => ({ redis: 'redis://127.0.0.1:6379' }), { test })
 */
export function testChannelBus(make: Make<ChannelsOptions['store']>, options: ChannelBusOptions): void {
  const { isShared = true } = options
  const contract = contractOf('a bus of channels', () => open(make), options)
  const two = async (serve: () => Promise<Server>) => {
    const one = await serve()
    return [one, isShared ? await serve() : one] as const
  }

  contract('carries messages to all members on all servers, each once and in order', async ({ serve, join, chat }) => {
    const [one, other] = await two(serve)
    const members = [await join(one, 'a'), await join(other, 'a'), await join(other, 'a')]
    const elsewhere = await join(other, 'b')
    const numbers = Array.from({ length: 200 }, (_, i) => i)
    await Promise.all(numbers.map((n) => chat.for(one).publish({ room: 'a' }, n)))
    for (const { payloads } of members) await eventually(() => assert.deepEqual(payloads(), numbers))
    assert.deepEqual(elsewhere.payloads(), [])
  })

  contract('has one order of the messages of two servers, for all members', async ({ serve, join, chat }) => {
    const [one, other] = await two(serve)
    const members = [await join(one, 'a'), await join(other, 'a')]
    const numbers = Array.from({ length: 100 }, (_, i) => i)
    await Promise.all(numbers.map((n) => chat.for(n % 2 === 0 ? one : other).publish({ room: 'a' }, n)))
    await eventually(() => {
      for (const { payloads } of members) assert.equal(payloads().length, 100)
    })
    assert.deepEqual(members[0]!.payloads(), members[1]!.payloads())
  })

  contract('reaches one user alone, on whichever server', async ({ serve, join, chat }) => {
    const [one, other] = await two(serve)
    const [ann, bob] = [await join(one, 'a', 'ann'), await join(other, 'a', 'bob')]
    await chat.for(one).publish({ room: 'a' }, 1, { to: { user: 'bob' } })
    await chat.for(one).publish({ room: 'a' }, 2)
    await eventually(() => assert.deepEqual([ann.payloads(), bob.payloads()], [[2], [1, 2]]))
  })

  contract('keeps what a client has missed, without what was for others', async ({ serve, join, chat }) => {
    const [one, other] = await two(serve)
    const { id } = await chat.for(one).publish({ room: 'a' }, 1)
    await chat.for(one).publish({ room: 'a' }, 2)
    await chat.for(one).publish({ room: 'a' }, 3, { to: { user: 'bob' } })
    const back = await join(other, 'a', 'ann', id)
    await chat.for(one).publish({ room: 'a' }, 4)
    await eventually(() => assert.deepEqual(back.payloads(), [2, 4]))
    assert.ok(!back.received().some(({ type }) => type === 'channel:gap'))
  })

  contract('names a gap after an id that it does not know', async ({ serve, join }) => {
    const { socket } = await join(await serve(), 'a', 'ann', 'abcdef-12')
    await socket.assertNext({ type: 'channel:gap', data: { after: 'abcdef-12' } })
  })

  contract('knows who is present on all servers, who comes and who goes', async ({ serve, join, chat }) => {
    const [one, other] = await two(serve)
    const ann = await join(one, 'a', 'ann')
    const bob = await join(other, 'a', 'bob')
    await eventually(() =>
      assert.ok(ann.received().some(({ data }) => data.joined?.some(({ user }) => user === 'bob'))),
    )
    const present = async () => (await chat.for(one).present({ room: 'a' })).map(({ user }) => user).sort()
    assert.deepEqual(await present(), ['ann', 'bob'])
    bob.socket.close()
    await eventually(() => assert.ok(ann.received().some(({ data }) => data.left?.some(({ user }) => user === 'bob'))))
    assert.deepEqual(await present(), ['ann'])
  })

  contract('removes a user on all servers', async ({ serve, join, chat, banned }) => {
    const [one, other] = await two(serve)
    const bob = await join(other, 'a', 'bob')
    banned.add('bob')
    await chat.for(one).remove({ room: 'a' }, { user: 'bob' })
    await eventually(() => assert.ok(bob.received().some(({ type }) => type === 'channel:left')))
    await chat.for(one).publish({ room: 'a' }, 1)
    assert.deepEqual(await chat.for(other).present({ room: 'a' }), [])
    assert.deepEqual(bob.payloads(), [])
  })
}
