import { afterEach, describe, expect, test } from 'vitest'
import { type ChannelClient, channel } from '../../../index.ts'
import type { Bus, BusEvents, Entry, Replay } from '../../../plugins/channels/buses/contract.ts'
import { MemoryBus } from '../../../plugins/channels/buses/memory.ts'
import type { Channel } from '../../../plugins/channels/channel.ts'
import type { Frame } from '../../../plugins/channels/frames.ts'
import { Hub } from '../../../plugins/channels/hub.ts'
import type { JoinedClient } from '../../../plugins/channels/room.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** A store whose responses and messages arrive when the test wants. */
class SlowBus implements Bus {
  readonly key = 'slow'
  events!: BusEvents
  last = 'e-10'
  onOpening = () => {}
  readonly asked: { id: string | undefined; answer: (replay: Partial<Replay>) => void }[] = []
  async open(events: BusEvents) {
    this.events = events
  }
  async subscribe() {}
  async unsubscribe() {}
  publish = async () => 'e-1'
  after(_name: string, id?: string): Promise<Replay> {
    const rest = { entries: [], isComplete: true, last: this.last, removedMs: Number.POSITIVE_INFINITY }
    if (id === undefined) {
      this.onOpening()
      return Promise.resolve(rest)
    }
    return new Promise((resolve) => this.asked.push({ id, answer: (replay) => resolve({ ...rest, ...replay }) }))
  }
  async enter() {}
  async exit() {}
  present = async () => []
  async close() {}
}

const entry = (number: number, more: Partial<Entry> = {}): Entry => ({
  id: `e-${number}`,
  body: String(number),
  kind: 'message',
  ...more,
})

class Client implements JoinedClient {
  readonly client: ChannelClient
  readonly members = new Map()
  isHere = true
  readonly frames: { type: string; data: { id?: string; payload?: number; reason?: string } }[] = []
  constructor(data: unknown = {}) {
    this.client = { id: Math.random().toString(36), data, ip: '127.0.0.1', transport: 'websocket' }
  }
  send(_name: string, frame: Frame) {
    this.frames.push(JSON.parse(frame.text))
  }
  dropped() {}
  get payloads() {
    return this.frames.flatMap(({ type, data }) => (type === 'channel:message' ? [data.payload] : []))
  }
  get types() {
    return this.frames.map(({ type }) => type.slice('channel:'.length))
  }
}

const hubs: Hub[] = []
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close()
})

async function hubOn(bus: Bus) {
  const settings = { maxChannelsPerClient: 100, timeout: 5000 }
  const hub = new Hub({ server: {}, sockets: { has: () => false } }, bus, settings, memoryLogger([]))
  hubs.push(hub)
  await hub.open()
  return hub
}

const open = channel('open', { join: () => true }) as unknown as Channel
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('messages from the history and from the connection that listens', () => {
  test('arrive once where the history is ahead', async () => {
    const bus = new SlowBus()
    const hub = await hubOn(bus)
    await hub.join(new Client(), open, 'open')
    const client = new Client()
    const joining = hub.join(client, open, 'open', { after: 'e-9' })
    await turn()
    bus.events.entry('open', entry(11))
    bus.asked[0]!.answer({ entries: [entry(10), entry(11), entry(12)], last: 'e-12' })
    await joining
    for (const number of [12, 13]) bus.events.entry('open', entry(number))
    expect(client.payloads).toEqual([10, 11, 12, 13])
  })

  test('stay in order where the history has fewer messages than arrived', async () => {
    const bus = new SlowBus()
    const hub = await hubOn(bus)
    await hub.join(new Client(), open, 'open')
    const client = new Client()
    const joining = hub.join(client, open, 'open', { after: 'e-10' })
    await turn()
    for (const number of [11, 12]) bus.events.entry('open', entry(number))
    bus.asked[0]!.answer({ entries: [entry(12)], isComplete: false, last: 'e-12' })
    await joining
    expect(client.types).toEqual(['joined', 'gap', 'message'])
    expect(client.payloads).toEqual([12])
    expect(client.frames[1]!.data.id).toBe('e-11')
  })

  test('arrive once where the connection is lost twice', async () => {
    const bus = new SlowBus()
    const hub = await hubOn(bus)
    const client = new Client()
    await hub.join(client, open, 'open')
    bus.events.resumed()
    bus.events.resumed()
    await turn()
    bus.events.entry('open', entry(13))
    for (let i = 0; i < bus.asked.length; i++) {
      const from = Number(bus.asked[i]!.id!.slice(2))
      const entries = [11, 12, 13].filter((number) => number > from).map((number) => entry(number))
      bus.asked[i]!.answer({ entries, last: 'e-13' })
      await turn()
    }
    bus.events.entry('open', entry(14))
    expect(client.payloads).toEqual([11, 12, 13, 14])
  })

  test('are read where the connection is lost while the channel is opened', async () => {
    const bus = new SlowBus()
    const hub = await hubOn(bus)
    const client = new Client()
    bus.onOpening = () => bus.events.resumed()
    await hub.join(client, open, 'open')
    await turn()
    expect(bus.asked.map(({ id }) => id)).toEqual(['e-10'])
    bus.asked[0]!.answer({ entries: [entry(11)], last: 'e-11' })
    await turn()
    expect(client.payloads).toEqual([11])
  })

  test('do not count those of before the first one as missing', async () => {
    const bus = new SlowBus()
    bus.last = '0-0'
    const hub = await hubOn(bus)
    const client = new Client()
    await hub.join(client, open, 'open')
    bus.events.entry('open', entry(1))
    expect(client.payloads).toEqual([1])
    expect(bus.asked).toEqual([])
  })
})

describe('a client that is removed', () => {
  const users = { user: ({ data }: ChannelClient<{ user: string }>) => data.user }
  const order = { body: '', kind: 'remove', to: { user: 'ann' } } as const

  test('while its history is read goes', async () => {
    const club = channel('club', { join: () => true, ...users }) as unknown as Channel
    const bus = new SlowBus()
    const hub = await hubOn(bus)
    const ann = new Client({ user: 'ann' })
    const joining = hub.join(ann, club, 'club', { after: 'e-10' })
    await turn()
    bus.events.entry('club', entry(11, order))
    bus.asked[0]!.answer({ entries: [entry(11, order)], last: 'e-11' })
    await joining
    bus.events.entry('club', entry(12))
    expect(ann.types).toEqual(['joined', 'left'])
  })

  test.each(['the first', 'the second'])('while join is asked stays out, as %s in the channel', async (place) => {
    const answers: ((may: boolean) => void)[] = []
    const join = ({ data }: ChannelClient<{ user: string }>) =>
      data.user === 'bob' ? true : new Promise<boolean>((resolve) => answers.push(resolve))
    const club = channel('club', { join, ...users }) as unknown as Channel
    const hub = await hubOn(new MemoryBus())
    if (place === 'the second') await hub.join(new Client({ user: 'bob' }), club, 'club')
    const ann = new Client({ user: 'ann' })
    const joining = hub.join(ann, club, 'club')
    await hub.send('club', order, club.keeping)
    // From a database, before the change.
    answers[0]!(true)
    await expect.poll(() => answers.length).toBe(2)
    answers[1]!(false)
    await expect(joining).rejects.toMatchObject({ code: 'ChannelRefusedError' })
    expect(hub.counts).toMatchObject({ refused: 1, members: place === 'the second' ? 1 : 0 })
  })

  test('goes as the user that it was and as the one that it is', async () => {
    const club = channel('club', { join: () => true, ...users }) as unknown as Channel
    const hub = await hubOn(new MemoryBus())
    for (const user of ['ann', 'eve']) {
      const client = new Client({ user: 'ann' })
      await hub.join(client, club, 'club')
      Object.assign(client.client as object, { data: { user: 'eve' } })
      await hub.send('club', { ...order, to: { user } }, club.keeping)
      expect(client.types).toEqual(['joined', 'left'])
    }
  })
})

test('a message to one user does not reach a client that has become another', async () => {
  const user = ({ data }: ChannelClient<{ user: string }>) => data.user
  const inbox = channel('inbox', { join: () => true, user }) as unknown as Channel
  const hub = await hubOn(new MemoryBus())
  const client = new Client({ user: 'ann' })
  await hub.join(client, inbox, 'inbox')
  Object.assign(client.client as object, { data: { user: 'eve' } })
  await hub.send('inbox', { body: '1', kind: 'message', to: { user: 'ann' } }, inbox.keeping)
  await hub.send('inbox', { body: '2', kind: 'message', to: { user: 'eve' } }, inbox.keeping)
  Object.assign(client.client as object, { data: null })
  await hub.send('inbox', { body: '3', kind: 'message', to: { user: 'eve' } }, inbox.keeping)
  expect(client.payloads).toEqual([2])
})

test('a second join waits for the response to the first', async () => {
  let answer!: (may: boolean) => void
  const slow = channel('slow', { join: () => new Promise<boolean>((resolve) => (answer = resolve)) })
  const hub = await hubOn(new MemoryBus())
  const client = new Client()
  const joins = [1, 2].map(() => hub.join(client, slow as unknown as Channel, 'slow'))
  await turn()
  expect(client.frames).toEqual([])
  answer(false)
  for (const join of await Promise.allSettled(joins)) expect(join.status).toBe('rejected')
})

describe('in memory', () => {
  const keeping = { messages: 100, bytes: 1_000_000, ms: 60_000 }
  const message = { body: '1', kind: 'message' } as const

  test('a channel with clients is not forgotten, however many others there are', async () => {
    const bus = new MemoryBus()
    await bus.subscribe('a')
    const id = await bus.publish('a', message, keeping)
    for (let i = 0; i < 10_001; i++) await bus.publish(`b/${i}`, message, { messages: 0, bytes: 1_000_000, ms: 1000 })
    expect(await bus.publish('a', message, keeping)).toBe(id.replace(/1$/, '2'))
  })

  test('a channel that is only asked about takes the place of no other', async () => {
    const bus = new MemoryBus()
    const id = await bus.publish('a', message, keeping)
    for (let i = 0; i < 10_001; i++) expect((await bus.after(`b/${i}`)).last).toBe('0-0')
    expect(await bus.after('a', id)).toMatchObject({ isComplete: true, last: id })
  })

  test('one client comes and goes 20 000 times and leaves nothing', async () => {
    const hub = await hubOn(new MemoryBus())
    const client = new Client()
    for (let i = 0; i < 20_000; i++) {
      const joining = hub.join(client, open, 'open')
      if (i % 2 === 0) await joining
      hub.leave(client, 'open')
      client.frames.length = 0
    }
    await turn()
    expect(client.members.size).toBe(0)
    expect(hub.counts).toMatchObject({ members: 0, channels: 0 })
  })
})
