import { channel, definePlugin, memoryQueue, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { runningServer } from '../../../plugins/shared/values/running-server.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { channelsInPairs } from '../../support/pairs.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const nameOf = ({ services }: { readonly services: object }) =>
  (services as { get(name: string): unknown }).get('name') as string

/** An application as a module has it: one channel, one route for clients, one that publishes. */
function application() {
  const rules: unknown[] = []
  const news = channel<string>('news', {
    join: () => {
      rules.push(runningServer())
      return true
    },
    user: () => 'ann',
    presence: () => ({}),
  })
  const router = new RouteCollection()
  const opened: unknown[] = []
  router.ws(
    '/live',
    { channels: [news] },
    { open: () => void opened.push(runningServer()), close: () => void news.publish('gone') },
  )
  router.post('/news', async (req) => news.publish(nameOf(req.server)))
  return { news, router, rules, opened }
}

function make(name: string, router: RouteCollection, plugins: readonly unknown[] = []) {
  const named = definePlugin({ name: 'named', provide: () => ({ name }) })
  const server = new Server({
    ...{ router, port: 0, host: '127.0.0.1', logger: memoryLogger([]), gracefulShutdown: false },
    plugins: { websocket: true, channels: true, named: named(), ...(plugins as object) } as object,
  }) as unknown as Server
  servers.push(server)
  return server
}

async function join(server: Server) {
  const socket = await server.inject.ws('/live')
  socket.send({ type: 'channel:join', data: { channel: 'news' } })
  await socket.assertNext({ type: 'channel:joined' })
  return {
    socket,
    get seen(): unknown[] {
      const all = socket.received() as { readonly type: string; readonly data: { readonly payload: unknown } }[]
      return all.filter(({ type }) => type === 'channel:message').map(({ data }) => data.payload)
    },
  }
}

describe('the same application twice in one process', () => {
  test('shares no message, and rules and handlers run in their own server', async () => {
    const { news, router, rules, opened } = application()
    const [a, b] = [make('a', router), make('b', router)]
    await Promise.all([a.ready(), b.ready()])
    const [inA, inB] = [await join(a), await join(b)]
    expect([rules, opened]).toEqual([
      [a, b],
      [a, b],
    ])
    for (let i = 0; i < 20; i++) await Promise.all([a, b].map((server) => server.inject.post('/news')))
    await expect.poll(() => [inA.seen.length, inB.seen.length]).toEqual([20, 20])
    expect([new Set(inA.seen), new Set(inB.seen)]).toEqual([new Set(['a']), new Set(['b'])])
    expect(await news.for(a).present()).toHaveLength(1)
    // What the handler of a closing socket publishes goes to the clients of its server.
    const other = await join(a)
    inB.socket.close()
    other.socket.close()
    await expect.poll(() => inA.seen.at(-1)).toBe('gone')
    expect(inA.seen.filter((one) => one === 'gone')).toHaveLength(1)
  })

  test('a call that could mean both is an error that says how to choose', async () => {
    const { news, router } = application()
    const [a, b] = [make('a', router), make('b', router)]
    await Promise.all([a.ready(), b.ready()])
    const [inA, inB] = [await join(a), await join(b)]
    const refused = { code: 'WorkServerError', message: expect.stringContaining('Say which: channel.for(server)') }
    await expect(news.publish('x')).rejects.toMatchObject(refused)
    await expect(news.present()).rejects.toMatchObject(refused)
    await expect(news.remove({ user: 'ann' })).rejects.toMatchObject(refused)
    await news.for(b).publish('x')
    await expect.poll(() => inB.seen).toEqual(['x'])
    await news.for(b).remove({ user: 'ann' })
    await expect.poll(() => news.for(b).present()).toEqual([])
    expect([inA.seen, (await news.for(a).present()).length]).toEqual([[], 1])
    expect(() => news.for(new Server({ router: new RouteCollection() }))).toThrow(/the plugin channels/)
    await b.close()
    await news.publish('only')
    await expect.poll(() => inA.seen).toEqual(['only'])
  })

  test('a hook publishes in its own server, not in the one that has booted before', async () => {
    const { news, router } = application()
    const a = make('a', router)
    await a.ready()
    const inA = await join(a)
    const early: unknown[] = []
    const welcome = definePlugin({
      name: 'welcome',
      dependencies: ['channels'],
      async setup(ctx) {
        await news.publish('early').catch((error: { code: string }) => early.push(error.code))
        ctx.onListen(() => void news.publish('late'))
      },
    })
    const b = make('b', router, { welcome: welcome() } as never)
    await b.ready()
    const inB = await join(b)
    expect(early).toEqual(['ChannelsNotRunningError'])
    await b.listen()
    await expect.poll(() => inB.seen).toEqual(['late'])
    expect(inA.seen).toEqual([])
  })

  test('a handler of a queue publishes to the clients of its own server', async () => {
    const { news, router } = application()
    const queue = memoryQueue<string>('channels-of-servers')
    const handle = await queue.subscribe((payload) => news.publish(payload))
    const [a, b] = ['a', 'b'].map((name) => make(name, router, { queues: { run: true } } as never)) as [Server, Server]
    await Promise.all([a.ready(), b.ready()])
    const [inA, inB] = [await join(a), await join(b)]
    for (const [server, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      await (server.services as unknown as { queues: { run(): Promise<void> } }).queues.run()
      await queue.for(server).publish(name)
    }
    await expect.poll(() => [inA.seen, inB.seen]).toEqual([['a'], ['b']])
    await handle.unsubscribe()
  })

  test('twenty pairs: no message crosses', () => channelsInPairs(20))
})
