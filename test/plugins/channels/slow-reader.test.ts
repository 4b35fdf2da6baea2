import { expect, test } from 'vitest'
import { channel } from '../../../index.ts'
import { MemoryBus } from '../../../plugins/channels/buses/memory.ts'
import type { Channel } from '../../../plugins/channels/channel.ts'
import { Hub } from '../../../plugins/channels/hub.ts'
import { clientOf } from '../../../plugins/channels/socket-client.ts'
import { Socket } from '../../../plugins/websocket/socket.ts'
import { Sockets } from '../../../plugins/websocket/sockets.ts'
import { memoryLogger } from '../../support/kernel.ts'

const club = channel('club', {
  join: () => true,
  user: ({ id }) => id,
  presence: () => null,
}) as unknown as Channel

/** Members whose connections have as many waiting bytes as the test wants, with `slowReaders: 'drop'`. */
async function members() {
  const sockets = new Sockets({
    pingInterval: false as const,
    closeTimeout: 10,
    maxSockets: 10,
    maxSocketsPerAddress: false,
  })
  const log = memoryLogger()
  const bus = new MemoryBus()
  const hub = new Hub({ server: {}, sockets }, bus, { maxChannelsPerClient: 10, timeout: 100 }, log)
  await hub.open()
  const route = {
    ...{ path: '/', plugin: 'application' },
    handlers: {},
    incoming: undefined,
    protocols: undefined,
    pingInterval: false as const,
    read: (message: string | Uint8Array) => ({ ok: true, message }) as const,
    write: () => '',
    maxMessageSize: 1000,
    measures: false,
    messagesPerSecond: false as const,
    maxBuffered: 100,
    bufferLimit: 800,
    server: {},
    extension: undefined,
    slowReaders: 'drop' as const,
    compression: false,
    origins: 'same' as const,
    timeout: undefined,
    closeTimeout: 10,
    sockets,
    log,
  }
  const join = async () => {
    const socket = new Socket(route, { data: undefined, params: {}, ip: '127.0.0.1', protocol: '' })
    const frames: { type: string; data: Record<string, unknown> }[] = []
    const transport = {
      waiting: 0,
      closes: [] as number[],
      getBufferedAmount: () => transport.waiting,
      send: (frame: string | Uint8Array) => void frames.push(JSON.parse(String(frame))),
      close: (code: number) => void transport.closes.push(code),
      terminate: () => socket.closed(1006, ''),
    }
    sockets.add(socket)
    socket.opened(transport)
    const client = clientOf(socket, hub)
    await hub.join(client, club, 'club')
    frames.length = 0
    return { socket, transport, frames, client, types: () => frames.map(({ type }) => type.slice('channel:'.length)) }
  }
  const publish = (body: string) => hub.send('club', { body, kind: 'message' }, club.keeping)
  return { hub, sockets, join, publish }
}

test('learns that messages were dropped, who came, and that it was removed, while it does not read', async () => {
  const { hub, join, publish } = await members()
  const slow = await join()
  slow.transport.waiting = 200
  const first = await publish('1')
  const second = await publish('2')
  expect(slow.types()).toEqual([])
  await join()
  expect(slow.frames[0]).toMatchObject({ type: 'channel:gap', data: { after: first.replace(/1$/, '0'), id: second } })
  expect(slow.types()).toEqual(['gap', 'presence'])
  await publish('3')
  await hub.send('club', { body: '', kind: 'remove', to: { client: slow.socket.id } }, club.keeping)
  expect(slow.types()).toEqual(['gap', 'presence', 'gap', 'left'])
  expect(slow.frames.at(-1)).toMatchObject({ data: { reason: 'removed' } })
  expect([slow.socket.isOpen, slow.transport.closes]).toEqual([true, []])
})

test('learns of the gap as soon as it has read, although nothing more is published', async () => {
  const { join, publish } = await members()
  const slow = await join()
  slow.transport.waiting = 200
  await publish('1')
  slow.transport.waiting = 0
  slow.socket.relieved()
  await expect.poll(slow.types).toEqual(['gap'])
  await publish('2')
  expect(slow.types()).toEqual(['gap', 'message'])
})

test('is closed when it does not even read what it must know', async () => {
  const { join } = await members()
  const slow = await join()
  slow.transport.waiting = 801
  await join()
  expect([slow.frames, slow.transport.closes]).toEqual([[], [1013]])
})

test('is reported once as gone, however many joins were pending when it closed', async () => {
  const { hub, sockets, join } = await members()
  const one = await join()
  one.socket.closing()
  one.socket.closing()
  one.socket.closed(1000, '')
  one.socket.closed(1006, '')
  expect([sockets.size, hub.counts.members]).toEqual([0, 0])
  await hub.join(one.client, club, 'club')
  expect(hub.counts).toMatchObject({ members: 0, channels: 0 })
})
