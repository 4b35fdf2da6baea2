import { randomUUID } from 'node:crypto'
import { BaseMqtt, channel, cron, definePlugin, memoryQueue, mqtt, RouteCollection, Server } from 'framework'
import { testClock } from 'framework/testing'
import { expect } from 'vitest'
import { runningServer } from '../../plugins/shared/values/running-server.ts'
import { memoryLogger } from './kernel.ts'

const around = () => ({
  ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 500 },
  logger: memoryLogger([]),
})

/** Each publishes a message, in so many pairs of servers, one pair after the other; no handler may run in another server. */
export async function queuesInPairs(pairs: number): Promise<void> {
  const queue = memoryQueue<string>(randomUUID())
  const servers = new Map<string, object>()
  let [handled, crossed] = [0, 0]
  const handle = await queue.subscribe((payload) => {
    handled++
    if (runningServer() !== servers.get(payload)) crossed++
  })
  const server = (name: string) => {
    const made = new Server({ ...around(), router: new RouteCollection(), plugins: { queues: { run: true } } })
    servers.set(name, made)
    return made
  }
  for (let pair = 0; pair < pairs; pair++) {
    const both = [server(`${pair}a`), server(`${pair}b`)]
    await Promise.all(both.map((one) => one.ready()))
    await Promise.all(both.map((one) => one.services.queues.run()))
    await Promise.all(['a', 'b'].map((name, i) => queue.for(both[i]!).publish(`${pair}${name}`)))
    await Promise.all(both.map((one) => queue.for(one).drained()))
    await Promise.all(both.map((one) => one.close()))
  }
  await handle.unsubscribe()
  expect([handled, crossed]).toEqual([2 * pairs, 0])
}

/** The same with MQTT: a function and a class subscribe. */
export async function mqttInPairs(pairs: number): Promise<void> {
  const topic = randomUUID()
  const all = new Map<unknown, object>()
  let [handled, crossed] = [0, 0]
  const handle = (message: unknown) => {
    handled++
    if (runningServer() !== all.get(message)) crossed++
  }
  const subscription = mqtt.subscribe(topic, handle, { qos: 1 })
  class Handling extends BaseMqtt {
    @mqtt.subscribe(topic, { qos: 1 })
    handle(message: unknown) {
      handle(message)
    }
  }
  const background = { mqtt: { connect: { provider: 'memory' as const }, subscribe: [Handling] } }
  for (let pair = 0; pair < pairs; pair++) {
    const both = ['a', 'b'].map((half) => {
      const server = new Server({ ...around(), router: new RouteCollection(), background })
      all.set(`${pair}${half}`, server)
      return { server, half }
    })
    await Promise.all(both.map(({ server }) => server.listen()))
    const publish = ({ server, half }: (typeof both)[number]) =>
      (server.services as unknown as { mqtt: { publish(topic: string, message: string): Promise<void> } }).mqtt.publish(
        topic,
        `${pair}${half}`,
      )
    await Promise.all(both.map(publish))
    await Promise.all(both.map(({ server }) => server.close()))
  }
  await subscription.unsubscribe()
  expect([handled, crossed]).toEqual([4 * pairs, 0])
}

/** The same with channels: a websocket joins, and a route publishes. */
export async function channelsInPairs(pairs: number): Promise<void> {
  const news = channel<string>(randomUUID(), { join: () => true })
  const servers = new Map<object, string>()
  const router = new RouteCollection()
  router.ws('/live', { channels: [news] }, {})
  router.post('/news', async (req) => news.publish(servers.get(req.server)!))
  let [received, crossed] = [0, 0]
  for (let pair = 0; pair < pairs; pair++) {
    const both = ['a', 'b'].map((half) => {
      const server = new Server({ ...around(), router, plugins: { websocket: true, channels: true } })
      servers.set(server, `${pair}${half}`)
      return server
    })
    await Promise.all(both.map((server) => server.ready()))
    const seen = await Promise.all(
      both.map(async (server) => {
        const socket = await server.inject.ws('/live')
        socket.send({ type: 'channel:join', data: { channel: news.name } })
        await socket.assertNext({ type: 'channel:joined' })
        return socket
      }),
    )
    await Promise.all(both.map((server) => server.inject.post('/news')))
    for (const [at, socket] of seen.entries()) {
      const { data } = (await socket.next()) as { data: unknown }
      received++
      if (!JSON.stringify(data).includes(`"${servers.get(both[at]!)}"`)) crossed++
    }
    await Promise.all(both.map((server) => server.close()))
  }
  expect([received, crossed]).toEqual([2 * pairs, 0])
}

/** All pairs are open at the same time: a job of a hook, one of the options, and one of the module, whose runs are counted by server. */
export async function cronInPairs(pairs: number): Promise<void> {
  const clock = testClock('2026-01-05T10:00:00Z', { patience: 100 })
  const all = Array.from({ length: 2 * pairs }, () => {
    const seen: unknown[] = []
    const note = () => void seen.push(runningServer())
    const own = definePlugin({
      name: 'own',
      setup: async () => void (await cron('*/5 * * * *', { name: 'of the hook' }).start(note)),
    })
    const crons = [{ schedule: '*/5 * * * *', handler: note, options: { name: 'of the option' } }]
    const plugins = { cron: { crons, timezone: 'UTC' }, own: own() }
    return { seen, server: new Server({ ...around(), router: new RouteCollection(), plugins }) }
  })
  const shared = new Map<unknown, number>()
  const job = cron('*/5 * * * *', { name: 'of the module' })
  await job.start(() => void shared.set(runningServer(), (shared.get(runningServer()) ?? 0) + 1))
  for (const { server } of all) await server.listen()
  await clock.advance(10 * 60_000)
  for (const { seen, server } of all) {
    expect(seen).toHaveLength(4)
    expect(seen.every((one) => one === server)).toBe(true)
    expect(shared.get(server)).toBe(2)
  }
  // Half of them close: the others are not affected.
  for (const [at, { server }] of all.entries()) if (at % 2 === 0) await server.close()
  await clock.advance(5 * 60_000)
  for (const [at, { seen, server }] of all.entries())
    expect([seen.length, shared.get(server)]).toEqual(at % 2 === 0 ? [4, 2] : [6, 3])
  for (const { server } of all) await server.close()
  await job.destroy()
  clock.restore()
}
