import { type ChannelClient, channel, RouteCollection, Server } from 'framework'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../../../test/support/own-server.ts'
import { watch } from './client.ts'

// Node.js has no WebSocket before version 22.
Object.assign(globalThis, { WebSocket })

const news = channel('news', {
  join: ({ data }: ChannelClient<{ user: string }>) => data.user !== 'bob',
  user: ({ data }) => data.user,
})

const clean: (() => unknown)[] = []
afterEach(async () => {
  for (const one of clean.splice(0)) await one()
})

async function start(port = 0) {
  const router = new RouteCollection()
  router.ws('/live', { channels: [news] }, { data: (req) => ({ user: String(req.query.user) }) })
  const server = new Server({ router, port, gracefulShutdown: false, plugins: { websocket: true, channels: true } })
  const address = await server.listen()
  clean.push(() => server.close())
  return { server, port: address.port }
}

function follow(port: number, user: string) {
  const seen: unknown[] = []
  const stop = watch(`ws://127.0.0.1:${port}/live?user=${user}`, 'news', {
    message: (payload) => seen.push(payload),
    gap: () => seen.push('gap'),
    refused: (why) => seen.push(why),
  })
  clean.push(stop)
  return seen
}

test('the client follows a channel, and learns of a gap when the server has forgotten', async () => {
  const { server, port } = await start(await freePort())
  const seen = follow(port, 'ann')
  await expect.poll(() => server.services.get('channels').counts.members).toBe(1)
  await news.publish('one')
  await expect.poll(() => seen).toEqual(['one'])
  await server.close()
  const again = await start(port)
  await expect.poll(() => again.server.services.get('channels').counts.members, { timeout: 20_000 }).toBe(1)
  await news.publish('two')
  await expect.poll(() => seen).toEqual(['one', 'gap', 'two'])
})

test('who is refused, or removed, does not come back', async () => {
  const { server, port } = await start()
  const bob = follow(port, 'bob')
  await expect.poll(() => bob).toEqual([expect.stringContaining('may not join')])
  const ann = follow(port, 'ann')
  await expect.poll(() => server.services.get('channels').counts.members).toBe(1)
  await news.remove({ user: 'ann' })
  await expect.poll(() => ann).toEqual(['removed'])
})
