import { channel, HttpError, RouteCollection, Server } from 'framework'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

function serve(declared: ReturnType<typeof channel>) {
  const logger = memoryLogger()
  const router = new RouteCollection()
  router.ws('/live', { channels: [declared] }, {})
  const server = new Server({ router, plugins: { websocket: true, channels: true }, logger })
  onTestFinished(() => server.close())
  return Object.assign(server, { log: logger.entries })
}
const joining = (name: string, more: object = {}) => ({ type: 'channel:join', data: { channel: name, ...more } })

describe('the state of a channel', () => {
  test('comes with joined, before the messages that were published since it was read', async () => {
    let count = 1
    const counter = channel<number>('counter', {
      join: () => true,
      async state() {
        const read = count
        await counter.publish(++count)
        return { count: read }
      },
    })
    const socket = await serve(counter as never).inject.ws('/live')
    socket.send(joining('counter'))
    await socket.assertNext({ type: 'channel:joined', data: { state: { count: 1 } } })
    await socket.assertNext({ type: 'channel:message', data: { payload: 2 } })
  })

  test('does not come with the messages that a client has missed, and refuses where it fails', async () => {
    const news = channel<string>('news', { join: () => true, state: () => 'all' })
    const server = serve(news as never)
    await server.ready()
    const { id } = await news.publish('one')
    await news.publish('two')
    const socket = await server.inject.ws('/live')
    socket.send(joining('news', { after: id }))
    const joined = (await socket.next()) as { data: object }
    expect(joined.data).not.toHaveProperty('state')
    await socket.assertNext({ data: { payload: 'two' } })
    const broken = channel('news', {
      join: () => true,
      state() {
        throw new Error('no database')
      },
    })
    const other = await serve(broken as never).inject.ws('/live')
    other.send(joining('news'))
    await other.assertNext({ type: 'channel:refused', data: { code: 'ChannelRefusedError' } })
  })
})

describe('a refusal', () => {
  test('gives the client the reason that `join` throws', async () => {
    const closed = channel('orders/:id', {
      join() {
        throw new HttpError(403, { code: 'ORDER_ARCHIVED', message: 'the order is archived' })
      },
    })
    const server = serve(closed as never)
    const socket = await server.inject.ws('/live')
    socket.send(joining('orders/7'))
    await socket.assertNext({
      type: 'channel:refused',
      data: { code: 'ORDER_ARCHIVED', message: 'the order is archived' },
    })
    expect(server.services.get('channels').counts.refused).toBe(1)
    ;(await server.inject.get('/live?channel=orders/7')).assertStatus(403)
    expect(server.log.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('onLeave', () => {
  test('is called once for each client that was in: it left, was removed, or its connection broke', async () => {
    const left: string[] = []
    const rooms = channel('rooms/:id', {
      join: (_, { id }) => id !== '9',
      user: () => 'ann',
      onLeave: (_, { id }) => void left.push(id),
    })
    const server = serve(rooms as never)
    const socket = await server.inject.ws('/live')
    for (const id of [1, 2, 3, 4]) {
      socket.send(joining(`rooms/${id}`))
      await socket.assertNext({ type: 'channel:joined' })
    }
    socket.send(joining('rooms/9'))
    await socket.assertNext({ type: 'channel:refused' })
    socket.send({ type: 'channel:leave', data: { channel: 'rooms/1' } })
    socket.send({ type: 'channel:leave', data: { channel: 'rooms/1' } })
    await socket.assertNext({ type: 'channel:left' })
    await socket.assertNext({ type: 'channel:left' })
    expect(left).toEqual(['1'])
    await rooms.remove({ id: 2 }, { user: 'ann' })
    await socket.assertNext({ type: 'channel:left' })
    expect(left).toEqual(['1', '2'])
    await socket.close()
    await server.close()
    expect(left).toEqual(['1', '2', '3', '4'])
  })

  test('is waited for, and its error is logged', async () => {
    let isDone = false
    const slow = channel('slow', {
      join: () => true,
      async onLeave() {
        await new Promise((resolve) => setImmediate(resolve))
        isDone = true
        throw new Error('no database')
      },
    })
    const server = serve(slow as never)
    const socket = await server.inject.ws('/live')
    socket.send(joining('slow'))
    await socket.assertNext({ type: 'channel:joined' })
    await server.close()
    expect(isDone).toBe(true)
    expect(server.log.map(({ message }) => message)).toContain('the option onLeave of the channel "slow" has failed')
  })
})
