import { definePlugin, memoryQueue, QueueService, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { queuesInPairs } from '../../support/pairs.ts'
import { freshName, gate } from '../../support/queues.ts'

const open: Server[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  await QueueService.stop()
})

const nameOf = ({ services }: { readonly services: object }) =>
  (services as { get(name: string): unknown }).get('name') as string

/** An application as a module has it: one queue, one subscriber, one route, whatever server runs it. */
function application() {
  const queue = memoryQueue<string>(freshName('orders'))
  const again = memoryQueue<string>(freshName('again'))
  const router = new RouteCollection()
  router.post('/orders', async (req) => queue.publish(nameOf(req.server)))
  return { queue, again, router }
}

async function serverOf(name: string, router: RouteCollection, plugins: readonly unknown[] = []) {
  const named = definePlugin({ name: 'named', provide: () => ({ name }) })
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 500 },
    ...{ logger: memoryLogger([]), router },
    plugins: [named(), ...(plugins as [])],
    background: { queues: { run: true } },
  })
  open.push(server as unknown as Server)
  await server.listen()
  return server as unknown as Server
}

describe('the same application twice in one process', () => {
  test('shares no message: each goes to the handler within its own server, and so do those that the handler publishes', async () => {
    const { queue, again, router } = application()
    const seen: string[] = []
    await queue.subscribe((payload) => again.publish(payload))
    await again.subscribe((payload) => void seen.push(payload))
    const servers = [await serverOf('a', router), await serverOf('b', router)]
    for (let i = 0; i < 20; i++) await Promise.all(servers.map((server) => server.inject.post('/orders')))
    for (const server of servers) {
      await queue.for(server).drained()
      await again.for(server).drained()
    }
    expect(seen.filter((name) => name === 'a')).toHaveLength(20)
    expect(seen.filter((name) => name === 'b')).toHaveLength(20)
  })

  test('closing one ends only its own workers', async () => {
    const { queue, router } = application()
    const seen: string[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    const [first, second] = [await serverOf('a', router), await serverOf('b', router)]
    await first.close()
    await second.inject.post('/orders')
    await queue.for(second).drained()
    // The only one that is left is meant by a call from anywhere.
    await queue.publish('c')
    await queue.drained()
    expect(seen).toEqual(['b', 'c'])
  })

  test('what a closed server has begun reaches no other: neither its requests and jobs nor its timers and hooks', async () => {
    const { queue } = application()
    const [jobs, router] = [memoryQueue<string>(freshName('jobs')), new RouteCollection()]
    const [late, ends] = [gate(), [] as Promise<unknown>[]]
    const publish = () => {
      const end = queue.publish('of a').catch((error: unknown) => (error as { code?: unknown }).code)
      ends.push(end)
      return end
    }
    const timer = definePlugin({
      name: 'timer',
      setup: (ctx) => ctx.onReady(() => void late.opened.then(publish)),
    })
    const closing = definePlugin({ name: 'closing', setup: (ctx) => ctx.onClose(async () => void (await publish())) })
    router.get('/late', () => late.opened.then(publish))
    await jobs.subscribe(() => late.opened.then(publish))
    const first = await serverOf('a', router, [closing(), timer()])
    const second = await serverOf('b', router)
    await jobs.for(first).publish('')
    const response = first.inject.get('/late').catch(() => {})
    await first.close()
    late.open()
    await response
    await expect.poll(() => ends.length).toBe(4)
    expect(await Promise.all(ends)).toEqual(Array(4).fill('WorkClosedError'))
    expect(await queue.for(second).counts()).toMatchObject({ waiting: 0 })
  })

  test('an onClose hook that publishes once the queues of the only server have closed is an error, and no message of the process', async () => {
    const { queue, router } = application()
    const ends: unknown[] = []
    const late = definePlugin({
      name: 'late',
      setup: (ctx) =>
        ctx.onClose(async () => {
          ends.push(await queue.publish('late').catch((error: unknown) => error))
        }),
    })
    const only = await serverOf('a', router, [late()])
    await only.close()
    expect(ends).toMatchObject([{ code: 'WorkClosedError' }])
  })

  test('a call that could mean both is an error that says how to choose', async () => {
    const { queue, router } = application()
    const [first] = [await serverOf('a', router), await serverOf('b', router)]
    const refused = { code: 'WorkServerError', message: expect.stringContaining('Say which: queue.for(server)') }
    await expect(queue.publish('x')).rejects.toMatchObject(refused)
    await expect(queue.counts()).rejects.toMatchObject(refused)
    await expect(QueueService.run()).rejects.toMatchObject(refused)
    await queue.for(first).publish('x')
    expect(await queue.for(first).counts()).toMatchObject({ waiting: 1 })
    expect(() => queue.for(new Server({ router: new RouteCollection() }))).toThrow(/has no plugin "queues"/)
  })

  test('what a hook declares belongs to its server alone, and ends with it', async () => {
    const { queue, router } = application()
    const seen: string[] = []
    const welcome = () =>
      definePlugin({
        name: 'welcome',
        async setup(ctx) {
          await Promise.resolve()
          const on = nameOf(ctx)
          await queue.subscribe((payload) => void seen.push(`${payload} in ${on}`))
        },
      })()
    const servers = [await serverOf('a', router, [welcome()]), await serverOf('b', router, [welcome()])]
    for (const server of servers) await Promise.all([1, 2, 3].map(() => server.inject.post('/orders')))
    for (const server of servers) await queue.for(server).drained()
    expect(seen.toSorted()).toEqual(['a in a', 'a in a', 'a in a', 'b in b', 'b in b', 'b in b'])
    for (const server of open.splice(0)) await server.close()
    const later = await serverOf('c', router)
    await later.inject.post('/orders')
    await expect(queue.drained()).rejects.toMatchObject({ code: 'QueueIdleError' })
  })

  test('a subscriber of one server is not run by another', async () => {
    const { queue, router } = application()
    const servers = [await serverOf('a', router), await serverOf('b', router)] as const
    const seen: string[] = []
    await queue.for(servers[1]).subscribe((payload) => void seen.push(payload))
    for (const server of servers) await server.inject.post('/orders')
    await queue.for(servers[1]).drained()
    expect(seen).toEqual(['b'])
    await expect(queue.for(servers[0]).drained()).rejects.toMatchObject({ code: 'QueueIdleError' })
  })

  test('a hundred pairs: no message crosses', () => queuesInPairs(100))
})

test('messages and workers of the process go over to its first server', async () => {
  const queue = memoryQueue<number>(freshName('early'))
  const seen: number[] = []
  const first = gate()
  await queue.subscribe(async (payload) => {
    seen.push(payload)
    await first.opened
  })
  await queue.publishMany([1, 2])
  const server = new Server({
    ...{ logger: memoryLogger([]), router: new RouteCollection(), gracefulShutdown: false },
    plugins: { queues: { run: true } },
  })
  open.push(server as unknown as Server)
  await QueueService.run()
  await server.ready()
  expect(await queue.for(server).counts()).toMatchObject({ active: 1, waiting: 1 })
  first.open()
  await queue.drained()
  expect(seen).toEqual([1, 2])
})
