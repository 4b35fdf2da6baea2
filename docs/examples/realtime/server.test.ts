import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasRedis, startRedis } from '../../../test/support/redis.ts'
import { makeServer } from './server.ts'

const ada = { 'x-user': 'ada' }
const join = (channel: string, after?: string) => ({ type: 'channel:join', data: { channel, after } })
let auction = 0

describe('one instance', () => {
  let server: ReturnType<typeof makeServer>
  let id: string
  beforeEach(() => {
    server = makeServer()
    id = String(++auction)
  })
  afterEach(() => server.close())
  const bid = (amount: number) => server.inject.post(`/auctions/${id}/bids`, { body: { amount }, headers: ada })

  test('who watches an auction sees its bids', async () => {
    const socket = await server.inject.ws('/live')
    socket.send(join(`auctions/${id}`))
    await socket.assertNext({ type: 'channel:joined' })
    ;(await bid(10)).assertStatus(201)
    ;(await bid(5)).assertStatus(409)
    await socket.assertNext({ type: 'channel:message', data: { payload: { bidder: 'ada', amount: 10, version: 1 } } })
    await socket.close()
  })

  test('who comes back receives what it has missed, in order', async () => {
    const before = await server.inject.ws('/live')
    before.send(join(`auctions/${id}`))
    const { data } = (await before.next()) as { data: { id: string } }
    await before.close()
    for (const amount of [10, 20]) await bid(amount)
    const after = await server.inject.ws('/live')
    after.send(join(`auctions/${id}`, data.id))
    await after.assertNext({ type: 'channel:joined' })
    for (const amount of [10, 20]) await after.assertNext({ type: 'channel:message', data: { payload: { amount } } })
    await after.close()
  })

  test('a private auction is for those who may see it, until they log out', async () => {
    const stranger = await server.inject.ws('/live')
    stranger.send(join('auctions/private'))
    await stranger.assertNext({ type: 'channel:refused', data: { code: 'ChannelRefusedError' } })
    const socket = await server.inject.ws('/live', { headers: ada })
    socket.send(join('auctions/private'))
    await socket.assertNext({ type: 'channel:joined' })
    await server.inject.post('/logout', { headers: ada })
    await socket.assertNext({ type: 'channel:left', data: { reason: 'removed' } })
    await Promise.all([stranger.close(), socket.close()])
  })

  test('a client without websockets gets the same by server-sent events', async () => {
    await server.listen()
    const leave = new AbortController()
    const res = await fetch(`${server.url}/live?channel=auctions/${id}`, { signal: leave.signal })
    expect(res.headers.get('content-type')).toContain('text/event-stream')
    await bid(10)
    const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"amount":10')) text += (await reader.read()).value
    leave.abort()
  })
})

test.skipIf(!hasRedis)('a bid on one instance reaches those who watch on another', async () => {
  const redis = await startRedis()
  const [one, two] = [makeServer({ redis: redis.url }), makeServer({ redis: redis.url })]
  try {
    const socket = await two.inject.ws('/live')
    socket.send(join('auctions/shared'))
    await socket.assertNext({ type: 'channel:joined' })
    await one.inject.post('/auctions/shared/bids', { body: { amount: 7 }, headers: ada })
    await socket.assertNext({ type: 'channel:message', data: { payload: { amount: 7 } } })
    await socket.close()
  } finally {
    await Promise.all([one.close(), two.close()])
    await redis.stop()
  }
})
