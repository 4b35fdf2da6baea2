import { randomUUID } from 'node:crypto'
import {
  BaseMqtt,
  definePlugin,
  type MqttConnectOptions,
  MqttService,
  type MqttSource,
  mqtt,
  RouteCollection,
  Server,
} from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { runningServer } from '../../../plugins/shared/values/running-server.ts'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { mqttInPairs } from '../../support/pairs.ts'

const open: { unsubscribe(): Promise<void> }[] = []
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  await MqttService.disconnect()
  for (const handle of open.splice(0)) await handle.unsubscribe()
})

const nameOf = ({ services }: { readonly services: object }) =>
  (services as { get(name: string): unknown }).get('name') as string

interface Parts {
  readonly router?: RouteCollection
  readonly plugins?: readonly unknown[]
  readonly connect?: MqttConnectOptions
  readonly subscribe?: boolean | readonly MqttSource[]
}

function make(name: string, { router = new RouteCollection(), plugins = [], connect, subscribe }: Parts = {}) {
  const named = definePlugin({ name: 'named', provide: () => ({ name }) })
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 500 },
    ...{ logger: memoryLogger([]), router },
    plugins: [named(), ...(plugins as [])],
    background: {
      mqtt: { connect: { provider: 'memory', ...connect }, ...(subscribe !== undefined && { subscribe }) },
    },
  }) as unknown as Server
  servers.push(server)
  return server
}

async function listening(name: string, parts?: Parts) {
  const server = make(name, parts)
  await server.listen()
  return server
}

/** The service of a server, whose topics are not those of `MqttTopics`. */
const serviceOf = (server: Server) =>
  server.services.get('mqtt') as unknown as { publish(topic: string, message: unknown): Promise<void> }

const fresh = (name: string): string => `${name}-${randomUUID()}`
const refused = {
  code: 'WorkServerError',
  message: expect.stringContaining('Say which: server.services.mqtt.publish(topic, message)'),
}

/** An application as a module has it: two topics, their subscriptions, one route, whatever server runs it. */
function application() {
  const topic = mqtt.topic<string>(fresh('orders'))
  const again = mqtt.topic<string>(fresh('again'))
  const seen: string[] = []
  const router = new RouteCollection()
  router.post('/orders', async (req) => topic.publish(nameOf(req.server), { qos: 1 }))
  open.push(
    topic.subscribe((message) => again.publish(message)),
    again.subscribe((message) => void seen.push(message)),
  )
  return { topic, again, seen, router }
}

describe('the same application twice in one process', () => {
  test('shares no message: each goes to the handler of its own server, and so do those that the handler publishes', async () => {
    const { seen, router } = application()
    const both = [await listening('a', { router }), await listening('b', { router })]
    for (let i = 0; i < 20; i++) await Promise.all(both.map((server) => server.inject.post('/orders')))
    await expect.poll(() => seen).toHaveLength(40)
    await pause(20)
    expect(seen.filter((name) => name === 'a')).toHaveLength(20)
    expect(seen.filter((name) => name === 'b')).toHaveLength(20)
  })

  test('closing one ends only its own subscriptions', async () => {
    const { topic, seen, router } = application()
    const [first, second] = [await listening('a', { router }), await listening('b', { router })]
    await first.close()
    await second.inject.post('/orders')
    // The only one that is left is meant by a call from anywhere.
    await topic.publish('c')
    await expect.poll(() => seen).toEqual(['b', 'c'])
  })

  test('a call that could mean both is an error that says how to choose', async () => {
    const { topic, seen, router } = application()
    const [first] = [await listening('a', { router }), await listening('b', { router })]
    await expect(topic.publish('x')).rejects.toMatchObject(refused)
    await expect(mqtt.publish(fresh('x'), 1)).rejects.toMatchObject(refused)
    await serviceOf(first).publish(topic.name, 'x')
    await expect.poll(() => seen).toEqual(['x'])
  })

  test('one that is not connected publishes nothing through the other', async () => {
    const { seen, router } = application()
    const inject = make('a', { router })
    await listening('b', { router })
    expect((await inject.inject.post('/orders')).statusCode()).toBe(500)
    await pause(20)
    expect(seen).toEqual([])
  })

  test('what a hook declares belongs to its server alone, and ends with it', async () => {
    const topic = fresh('hook')
    const seen: string[] = []
    class Made extends BaseMqtt {
      on = 'no one'
      @mqtt.subscribe(topic)
      handle(message: unknown) {
        seen.push(`${message} in the class of ${this.on}`)
      }
    }
    const welcome = definePlugin({
      name: 'welcome',
      async setup(ctx) {
        await Promise.resolve()
        const on = nameOf(ctx)
        mqtt.subscribe(topic, (message) => void seen.push(`${message} in ${on}`))
        ctx.onListen(() => void Object.assign(new Made(), { on }))
      },
    })
    const both = [await listening('a', { plugins: [welcome()] }), await listening('b', { plugins: [welcome()] })]
    for (const server of both) await serviceOf(server).publish(topic, nameOf(server))
    await expect.poll(() => seen).toHaveLength(4)
    await pause(20)
    expect(seen.toSorted()).toEqual(['a in a', 'a in the class of a', 'b in b', 'b in the class of b'])
    for (const server of servers.splice(0)) await server.close()
    seen.length = 0
    await serviceOf(await listening('c')).publish(topic, 'c')
    await pause(20)
    // The class itself is of a module: the service creates an instance of its own.
    expect(seen).toEqual(['c in the class of no one'])
  })

  test('a handler that is busy in one does not hold up the other', async () => {
    const topic = fresh('busy')
    const seen: unknown[] = []
    let end = () => {}
    open.push(
      mqtt.subscribe(topic, (message) => {
        seen.push(message)
        return message === 'a' ? new Promise<void>((resolve) => (end = resolve)) : undefined
      }),
    )
    const both = [await listening('a'), await listening('b')]
    for (const server of both) await serviceOf(server).publish(topic, nameOf(server))
    await expect.poll(() => seen.toSorted()).toEqual(['a', 'b'])
    end()
  })

  test('a hundred pairs: no message crosses', () => mqttInPairs(100))
})

describe('classes', () => {
  function counter() {
    const topic = fresh('class')
    const seen: unknown[] = []
    class Counting extends BaseMqtt {
      count = 0
      @mqtt.subscribe(topic, { qos: 1 })
      handle(message: unknown) {
        seen.push([message, ++this.count])
      }
    }
    const publish = async (all: readonly Server[]) => {
      for (const server of all) await serviceOf(server).publish(topic, nameOf(server))
      await expect.poll(() => seen).toHaveLength(all.length)
      await pause(20)
      return seen.splice(0)
    }
    return { Counting, publish }
  }

  test('each server creates an instance of its own, which a start after a stop continues', async () => {
    const { Counting, publish } = counter()
    const both = [await listening('a', { subscribe: [Counting] }), await listening('b', { subscribe: [Counting] })]
    expect(await publish(both)).toEqual([
      ['a', 1],
      ['b', 1],
    ])
    const service = both[0]!.services.get('mqtt')
    await service.stop()
    await service.start()
    expect(await publish(both)).toEqual([
      ['a', 2],
      ['b', 2],
    ])
  })

  test('an instance that the application creates serves all servers, instead of theirs', async () => {
    const { Counting, publish } = counter()
    const both = [await listening('a', { subscribe: [Counting] }), await listening('b')]
    const made = new Counting()
    expect(await publish(both)).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    const third = await listening('c', { subscribe: [Counting] })
    expect(await publish([...both, third])).toHaveLength(3)
    expect(made.count).toBe(5)
  })

  test('an imported class is taken by each server without a list, and by none that has one', async () => {
    const { Counting, publish } = counter()
    const all = [await listening('a', { subscribe: [Counting] }), await listening('b'), await listening('c')]
    const listed = await listening('d', { subscribe: [] })
    await serviceOf(listed).publish('x', 1)
    expect(await publish(all)).toHaveLength(3)
  })
})

describe('subscriptions as objects', () => {
  test('belong to the server with the option, with their options, also after another start', async () => {
    const topic = fresh('object')
    const seen: unknown[] = []
    const listed = (on: string): MqttSource =>
      ({
        topic: `${topic}/+`,
        handler: (one: unknown, message: unknown, details: object) =>
          void seen.push([on, one, message, 'qos' in details]),
        options: { details: true, schema: { type: 'number' } },
      }) as never
    const both = [
      await listening('a', { subscribe: [listed('a')] }),
      await listening('b', { subscribe: [listed('b')] }),
    ] as const
    await serviceOf(both[0]).publish(`${topic}/1`, 1)
    await serviceOf(both[0]).publish(`${topic}/1`, 'refused')
    await expect.poll(() => seen).toEqual([['a', `${topic}/1`, 1, true]])
    const service = both[1].services.get('mqtt')
    await service.stop()
    await service.start()
    await serviceOf(both[1]).publish(`${topic}/2`, 2)
    await expect.poll(() => seen.slice(1)).toEqual([['b', `${topic}/2`, 2, true]])
  })

  test('a mistake names its place', () => {
    const handler = () => {}
    const server = (source: object) => () => make('a', { subscribe: ['src/*.js', source as never] })
    expect(server({ topic: 'a/b#', handler })).toThrow(
      'the topic of the option "background.mqtt.subscribe[1].topic" has a "#" next to other characters',
    )
    expect(server({ topic: 5, handler })).toThrow('"background.mqtt.subscribe[1].topic" is 5')
    expect(server({ topic: 'a', handler: 'x' })).toThrow('"background.mqtt.subscribe[1].handler" is a string')
    expect(server({ topic: 'a', handler, options: { raw: true, schema: {} } })).toThrow(
      '"background.mqtt.subscribe[1].options.schema"',
    )
  })
})

describe('a broker in memory', () => {
  test('belongs to one server, unless several name the same address', async () => {
    const topic = fresh('memory')
    const seen: unknown[] = []
    open.push(mqtt.subscribe(topic, () => void seen.push(1)))
    const apart = [await listening('a'), await listening('b')]
    await serviceOf(apart[0]!).publish(topic, 1)
    await pause(20)
    expect(seen).toHaveLength(1)
    for (const server of servers.splice(0)) await server.close()
    const host = fresh('host')
    const together = [await listening('a', { connect: { host } }), await listening('b', { connect: { host } })]
    await serviceOf(together[0]!).publish(topic, 1)
    await expect.poll(() => seen).toHaveLength(3)
  })

  test('is, in the first server, that of connections without a server', async () => {
    const topic = fresh('device')
    const seen: unknown[] = []
    const device = (await MqttService.connect({ provider: 'memory', subscribe: false })) as unknown as MqttService
    open.push(mqtt.subscribe(topic, () => void seen.push(nameOf(runningServer() as Server))))
    await listening('a')
    await listening('b')
    await (device as unknown as ReturnType<typeof serviceOf>).publish(topic, 1)
    await expect.poll(() => seen).toEqual(['a'])
    await pause(20)
    expect(seen).toEqual(['a'])
  })
})

describe('a client id', () => {
  test('that two servers have at one broker fails the boot of the second, and names both', async () => {
    const connect = { provider: 'memory', host: fresh('host'), clientId: 'twin' } as const
    const first = make('a', { connect })
    await first.ready()
    const second = make('b', { connect })
    await expect(second.ready()).rejects.toMatchObject({
      cause: { code: 'MqttClientIdError' },
      message: expect.stringMatching(
        /clientId is "twin" in two servers of this process, of \S*servers\.test\.ts:\d+:\d+ and of \S*servers\.test\.ts:\d+:\d+: /,
      ),
    })
    await first.close()
    await make('c', { connect }).ready()
    // Another broker, and one of its own in memory.
    await make('d', { connect: { ...connect, host: fresh('host') } }).ready()
    for (const name of ['e', 'f']) await make(name, { connect: { provider: 'memory', clientId: 'twin' } }).ready()
  })
})

describe('a script beside a server', () => {
  test('leaves what is declared to the server while that is connected, and publishes through it', async () => {
    const topic = fresh('script')
    const seen: unknown[] = []
    open.push(mqtt.subscribe(topic, (message) => void seen.push(message)))
    const connect = { provider: 'memory', host: fresh('host') } as const
    const script = (await MqttService.connect(connect)) as unknown as ReturnType<typeof serviceOf>
    await mqtt.publish(topic, 1)
    await expect.poll(() => seen).toEqual([1])
    const server = make('a', { connect })
    // Under `inject`, the script's connection is that of the server as well.
    await server.ready()
    await mqtt.publish(topic, 2)
    await expect.poll(() => seen).toEqual([1, 2])
    await server.listen()
    await mqtt.publish(topic, 3)
    await script.publish(topic, 4)
    await expect.poll(() => seen).toEqual([1, 2, 3, 4])
    open.push(mqtt.subscribe(fresh('later'), () => {}))
    await server.close()
    await mqtt.publish(topic, 5)
    await expect.poll(() => seen).toEqual([1, 2, 3, 4, 5])
    await pause(20)
    expect(seen).toHaveLength(5)
  })

  test('handles nothing if it connects later', async () => {
    const topic = fresh('script')
    const seen: unknown[] = []
    open.push(mqtt.subscribe(topic, (message) => void seen.push(message)))
    const connect = { provider: 'memory', host: fresh('host') } as const
    await listening('a', { connect })
    await MqttService.connect(connect)
    await mqtt.publish(topic, 1)
    await expect.poll(() => seen).toEqual([1])
    await pause(20)
    expect(seen).toEqual([1])
  })

  test('does not handle what a hook has declared', async () => {
    const topic = fresh('hook')
    const seen: unknown[] = []
    const own = definePlugin({
      name: 'own',
      setup: () => void mqtt.subscribe(topic, (message) => void seen.push(message)),
    })
    await make('a', { plugins: [own()] }).ready()
    await MqttService.connect({ provider: 'memory' })
    await mqtt.publish(topic, 1)
    await pause(20)
    expect(seen).toEqual([])
  })
})
