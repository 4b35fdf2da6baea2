import { type MqttConnectOptions, type MqttQos, MqttService } from 'framework'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts'

// The broker in memory delivers the same as mosquitto.

let broker: Mosquitto
const open: MqttService[] = []
let run = 0

describe.skipIf(!hasMosquitto)('the broker in memory and mosquitto', () => {
  beforeAll(async () => {
    // Or each step takes the 40 ms by which TCP holds an acknowledgement back.
    broker = await startMosquitto('set_tcp_nodelay true')
  })
  afterAll(() => broker.stop())
  afterEach(async () => {
    for (const service of open.splice(0)) await service.stop({ timeout: 1000 })
  })

  type Way = (more?: MqttConnectOptions) => Promise<MqttService>
  const start = async (options: MqttConnectOptions) => {
    const service = new MqttService({ ...options, subscribe: false, logger: memoryLogger() })
    open.push(service)
    await service.start()
    return service
  }
  const ways: Record<string, Way> = {
    memory: (more = {}) => start({ provider: 'memory', ...more }),
    mosquitto: (more = {}) => start({ url: broker.url, ...more }),
  }
  /** What both ways come to, which must be the same. */
  async function same<Result>(of: (way: Way, base: string) => Promise<Result>): Promise<Result> {
    const results = await Promise.all(Object.values(ways).map((way) => of(way, `parity-${process.pid}-${++run}`)))
    expect(results[0]).toEqual(results[1])
    return results[1]!
  }

  /** Reproducible: a failure can be looked at again. */
  function random(seed: number) {
    let state = seed
    return (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }

  type Step =
    | { do: 'subscribe'; client: number; filter: string; qos: MqttQos; handler: number }
    | { do: 'unsubscribe'; handler: number }
    | { do: 'publish'; client: number; topic: string; message: string; qos: MqttQos; retain: boolean }

  function programOf(seed: number): Step[] {
    const pick = random(seed)
    const one = <Item>(list: readonly Item[]) => list[pick(list.length)]!
    const qos = () => pick(3) as MqttQos
    const filters = ['a', 'a/b', 'a/+', '+/b', '+', '#', 'a/#', '+/+', 'a/b/c', '+/#', '$share/g/a/b', '$share/g/a/#']
    const handlers: number[] = []
    return Array.from({ length: 25 }, (_, i): Step => {
      const dice = pick(10)
      if (dice < 4) {
        handlers.push(i)
        return { do: 'subscribe', client: pick(2), filter: one(filters), qos: qos(), handler: i }
      }
      if (dice === 4 && handlers.length > 0) {
        return { do: 'unsubscribe', handler: handlers.splice(pick(handlers.length), 1)[0]! }
      }
      const retain = pick(3) === 0
      const message = retain && pick(3) === 0 ? '' : `m${i}`
      return {
        do: 'publish',
        client: pick(2),
        topic: one(['a', 'a/b', 'b', 'a/b/c', 'a/']),
        message,
        qos: qos(),
        retain,
      }
    })
  }

  async function deliveriesOf(program: readonly Step[], clients: readonly MqttService[], base: string) {
    const seen = new Map<string, string[]>()
    const handles = new Map<number, { unsubscribe(): Promise<void> }>()
    const settled = clients.map(() => 0)
    for (const [i, client] of clients.entries()) {
      await client.subscribe(`${base}-end`, () => void settled[i]!++, { qos: 1 })
    }
    let rounds = 0
    /** The messages of this client, and acknowledgements to others, come before this on each connection. */
    const settle = async (from: MqttService) => {
      rounds++
      await from.publish(`${base}-end`, 1, { qos: 1 })
      await vi.waitUntil(() => settled.every((count) => count === rounds), { interval: 1, timeout: 20_000 })
    }
    for (const step of program) {
      if (step.do === 'publish') {
        const { client, topic, message, qos, retain } = step
        await clients[client]!.publish(`${base}/${topic}`, message, { qos, retain })
      } else if (step.do === 'unsubscribe') await handles.get(step.handler)!.unsubscribe()
      else {
        const isShared = step.filter.startsWith('$share/g/')
        const filter = isShared ? `$share/${base}/${base}/${step.filter.slice(9)}` : `${base}/${step.filter}`
        // Which one of a group gets a message is up to the broker.
        const name = isShared ? step.filter : `${step.handler}`
        const handler = (...args: unknown[]) => {
          const { topic, qos, retain } = args.at(-1) as { topic: string; qos: number; retain: boolean }
          // Section 4.8.2: a group receives no kept messages; mosquitto 2.0.11 sends them nevertheless.
          if (isShared && retain) return
          const reported = `${topic.slice(base.length + 1)} ${String(args.at(-2))} ${isShared ? '' : qos}${retain ? ' kept' : ''}`
          const all = seen.get(name) ?? []
          // A client with two handlers of the group reports both.
          if (!isShared || !all.includes(reported)) seen.set(name, [...all, reported])
        }
        const service = clients[step.client]!
        handles.set(
          step.handler,
          await service.subscribe(filter, handler as never, { qos: step.qos as 0, details: true }),
        )
      }
      await settle(clients[step.do === 'publish' ? step.client : 0]!)
    }
    for (const handle of handles.values()) await handle.unsubscribe()
    for (const topic of ['a', 'a/b', 'b', 'a/b/c', 'a/'])
      await clients[0]!.publish(`${base}/${topic}`, '', { retain: true, qos: 1 })
    // Kept messages come in the order that the broker has them in.
    return Object.fromEntries([...seen].map(([name, all]) => [name, all.sort()]).sort(([a], [b]) => (a! < b! ? -1 : 1)))
  }

  test('give out the same for random programs of subscribing, publishing, keeping and leaving', async () => {
    const clients = { memory: [] as MqttService[], mosquitto: [] as MqttService[] }
    for (const name of ['memory', 'mosquitto'] as const) {
      for (let i = 0; i < 2; i++) clients[name].push(await ways[name]!({ protocolVersion: 5 }))
    }
    let count = 0
    for (let seed = 1; seed <= Number(process.env.MQTT_PROGRAMS ?? 5); seed++) {
      const program = programOf(seed)
      const base = `random-${process.pid}-${seed}`
      const [memory, mosquitto] = await Promise.all([
        deliveriesOf(program, clients.memory, base),
        deliveriesOf(program, clients.mosquitto, base),
      ])
      expect({ seed, program, seen: memory }).toEqual({ seed, program, seen: mosquitto })
      count += Object.values(memory).flat().length
    }
    expect(count).toBeGreaterThan(50)
  })

  test('publish the last will of a client whose name another one takes, and of none that says good-bye', () =>
    same(async (way, base) => {
      const seen: unknown[] = []
      const watcher = await way()
      const options = { qos: 1, details: true } as const
      await watcher.subscribe(
        `${base}/+`,
        (topic, message, { retain, qos }) => void seen.push([topic.slice(base.length), message, retain, qos]),
        options,
      )
      const will = (name: string) =>
        ({ topic: `${base}/${name}`, message: { gone: name }, qos: 1, retain: true }) as const
      const polite = await way({ clientId: `${base}-polite`, will: will('polite') })
      await polite.stop()
      // The one that is driven out must not come back and drive out the other.
      const reconnectDelay = 60_000
      const first = await way({
        clientId: `${base}-same`,
        will: will('first'),
        reconnectDelay,
        maxReconnectDelay: reconnectDelay,
        publishTimeout: 200,
      })
      const second = await way({ clientId: `${base}-same`, will: will('second') })
      await vi.waitUntil(() => seen.length === 1, 20_000)
      await vi.waitUntil(() => !first.isConnected, 20_000)
      expect(second.isConnected).toBe(true)
      await expect(first.publish(`${base}/x`, 1, { qos: 1 })).rejects.toMatchObject({ code: 'MqttUnavailableError' })
      await second.stop()
      await watcher.publish(`${base}/last`, 1, { qos: 1 })
      await vi.waitUntil(() => seen.length === 2, 20_000)
      // It was kept as well.
      const late: unknown[] = []
      const other = await way()
      await other.subscribe(`${base}/first`, (message) => void late.push(message), { qos: 1 })
      await vi.waitUntil(() => late.length === 1, 20_000)
      await watcher.publish(`${base}/first`, '', { retain: true, qos: 1 })
      return { seen, late }
    }))

  test('keep a session for as long as it was asked for, and messages in it no longer than they last', () =>
    same(async (way, base) => {
      const publisher = await way()
      const seenBehind = async (sessionExpiryInterval: number | undefined, clean: boolean, away: number) => {
        const name = `${base}/${sessionExpiryInterval}-${clean}`
        const options = { clientId: name, sessionExpiryInterval }
        const first = await way({ ...options, clean })
        await first.subscribe(name, () => {}, { qos: 1 })
        await first.stop()
        await publisher.publish(name, 'no one keeps this', { qos: 0 })
        await publisher.publish(name, 'while away', { qos: 1 })
        await publisher.publish(name, 'for a second', { qos: 1, messageExpiryInterval: 1 })
        await pause(away)
        const back = await way({ ...options, clean: false })
        const seen: unknown[] = []
        await back.subscribe(name, (message) => void seen.push(message), { qos: 1 })
        await publisher.publish(name, 'end', { qos: 1 })
        await vi.waitUntil(() => seen.includes('end'), 20_000)
        await back.stop()
        // Forgotten by the broker as well.
        await (await way({ clientId: name, clean: true })).stop()
        return seen.filter((message) => away > 0 || message !== 'for a second')
      }
      const results = await Promise.all([
        seenBehind(undefined, false, 0),
        seenBehind(0, false, 0),
        seenBehind(60, true, 0),
        seenBehind(60, false, 2200),
        seenBehind(1, false, 2200),
      ])
      expect(results).toEqual([['while away', 'end'], ['end'], ['end'], ['while away', 'end'], ['end']])
      return results
    }))
})
