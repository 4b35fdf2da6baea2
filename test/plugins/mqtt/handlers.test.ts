import { setTimeout as pause } from 'node:timers/promises'
import { MqttService, type MqttServiceOptions, mqtt, setMqttGlobalErrorHandler } from 'framework'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'

declare module 'framework' {
  interface MqttTopics {
    a: unknown
    climate: unknown
    'fail/+': unknown
    'fail/a': unknown
    flood: unknown
    large: unknown
    log: unknown
    many: unknown
    shared: unknown
  }
}

const open: { unsubscribe(): Promise<void> }[] = []
const unhandled: unknown[] = []
const note = (error: unknown) => void unhandled.push(error)
process.on('unhandledRejection', note)
afterAll(() => void process.off('unhandledRejection', note))
afterEach(async () => {
  await MqttService.disconnect({ timeout: 0 })
  for (const handle of open.splice(0)) await handle.unsubscribe()
  setMqttGlobalErrorHandler(undefined)
  await pause(1)
  expect(unhandled.splice(0)).toEqual([])
})

async function connect(options: MqttServiceOptions = {}) {
  const logger = memoryLogger()
  const service = await MqttService.connect({ provider: 'memory', ...options, logger })
  return { service, log: logger.entries }
}

function hook() {
  const reports: unknown[] = []
  setMqttGlobalErrorHandler((error, { subscription, topic, payload }) => {
    reports.push([(error as Error).message, subscription, topic, payload && Buffer.from(payload).toString()])
  })
  return reports
}

describe('MQ-03: handlers that fail', () => {
  test('throwing, rejecting and never settling are reported once each, and the stream continues', async () => {
    const { log } = await connect({ handlerTimeout: 100 })
    const reports = hook()
    const seen: unknown[] = []
    const handler = (_topic: string, message: unknown) => {
      seen.push(message)
      if (message === 'throw') throw new Error('thrown')
      if (message === 'reject') return Promise.reject(new Error('rejected'))
      if (message === 'hang') return new Promise(() => {})
      return undefined
    }
    open.push(await mqtt.subscribe('fail/+', handler, { qos: 1 }))
    for (const message of ['throw', 'reject', 'hang', '{"half', 'fine'])
      await mqtt.publish('fail/a', message, { qos: 1 })
    await expect.poll(() => seen).toEqual(['throw', 'reject', 'hang', '{"half', 'fine'])
    expect(reports).toEqual([
      ['thrown', 'fail/+', 'fail/a', 'throw'],
      ['rejected', 'fail/+', 'fail/a', 'reject'],
      [expect.stringMatching(/^.*has not finished within 100 ms/), 'fail/+', 'fail/a', 'hang'],
    ])
    expect(log).toEqual([])
  })

  test('a hook that never ends keeps its place no longer than the time limit', async () => {
    const { log } = await connect({ handlerTimeout: 50 })
    setMqttGlobalErrorHandler(() => new Promise(() => {}))
    const seen: unknown[] = []
    const handler = (message: unknown) => {
      seen.push(message)
      throw new Error('no')
    }
    open.push(await mqtt.subscribe('stuck', handler, { qos: 1 }))
    for (const message of [1, 2]) await mqtt.publish('stuck', message, { qos: 1 })
    await expect.poll(() => seen).toEqual([1, 2])
    expect(log).toContainEqual(expect.objectContaining({ message: expect.stringMatching(/ itself failed$/) }))
  })

  test('without a hook the failure is logged once; a hook that itself fails is logged', async () => {
    const { log } = await connect()
    open.push(await mqtt.subscribe('log', () => Promise.reject(new Error('no'))))
    await mqtt.publish('log', 1)
    await expect.poll(() => log).toHaveLength(1)
    expect(log[0]).toMatchObject({ level: 'error', message: 'the MQTT subscription "log" failed to handle a message' })
    setMqttGlobalErrorHandler(() => Promise.reject(new Error('worse')))
    await mqtt.publish('log', 1)
    await expect.poll(() => log).toHaveLength(3)
    expect(log[1]).toMatchObject({
      fields: { err: new Error('worse') },
      message: expect.stringContaining('itself failed'),
    })
    expect(log[2]).toMatchObject({ fields: { err: new Error('no') } })
    expect(() => setMqttGlobalErrorHandler('x' as never)).toThrow(TypeError)
  })
})

test('concurrency is respected; with one, messages keep their order', async () => {
  await connect()
  let running = 0
  let most = 0
  let done = 0
  const handler = async () => {
    most = Math.max(most, ++running)
    await pause(5)
    running--
    done++
  }
  open.push(await mqtt.subscribe('many', handler, { qos: 1, concurrency: 4 }))
  for (let i = 0; i < 20; i++) await mqtt.publish('many', i, { qos: 1 })
  await expect.poll(() => done).toBe(20)
  expect(most).toBe(4)
})

test('QoS 0 is dropped when it comes too fast, and that is reported once', async () => {
  await connect()
  const reports = hook()
  const seen: unknown[] = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const handler = async (message: unknown) => {
    await gate
    seen.push(message)
  }
  open.push(await mqtt.subscribe('flood', handler, { maxWaiting: 10 }))
  await Promise.all(Array.from({ length: 50 }, (_, i) => mqtt.publish('flood', i)))
  await expect.poll(() => reports).toHaveLength(1)
  expect((reports[0] as string[])[0]).toContain('further messages are dropped')
  release()
  await expect.poll(() => seen).toHaveLength(11)
  await mqtt.publish('flood', 'after')
  await expect.poll(() => seen.at(-1)).toBe('after')
  expect(reports).toHaveLength(1)
})

test('messages of QoS 0 that wait for a slow handler do not fill the memory with their size', async () => {
  const reports: unknown[] = []
  setMqttGlobalErrorHandler((error) => void reports.push((error as Error).message))
  await connect()
  let release!: () => void
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  let handled = 0
  const handler = async () => {
    await gate
    handled++
  }
  open.push(await mqtt.subscribe('large', handler, { raw: true }))
  const megabyte = new Uint8Array(2 ** 20)
  for (let i = 0; i < 80; i++) await mqtt.publish('large', megabyte)
  await expect.poll(() => reports).toEqual([expect.stringContaining('64 with 67108864 bytes are waiting')])
  release()
  await expect.poll(() => handled).toBe(65)
  await mqtt.publish('large', megabyte)
  await expect.poll(() => handled).toBe(66)
})

test('handlers do not share a message: changes of one are not visible to others', async () => {
  await connect()
  const seen: unknown[] = []
  for (let i = 0; i < 2; i++) {
    open.push(
      await mqtt.subscribe('shared', (message) => {
        const object = message as { list: number[] }
        object.list.push(9)
        seen.push(object.list.length)
      }),
    )
  }
  const sent = { list: [1] }
  await mqtt.publish('shared', sent)
  await expect.poll(() => seen).toEqual([2, 2])
  expect(sent.list).toEqual([1])
})

describe('schemas', () => {
  const schemas = [
    ['Zod', z.object({ celsius: z.number(), place: z.string().default('attic') })],
    [
      'JSON Schema',
      {
        type: 'object',
        properties: { celsius: { type: 'number' }, place: { type: 'string', default: 'attic' } },
        required: ['celsius'],
      },
    ],
  ] as const
  test.each(schemas)('%s: refused on the way out, and reported on the way in', async (_name, schema) => {
    await connect()
    const reports = hook()
    const topic = mqtt.topic('climate', { schema: schema as (typeof schemas)[0][1] })
    const seen: unknown[] = []
    open.push(await topic.subscribe((message) => void seen.push(message)))
    await topic.publish({ celsius: 20 })
    await expect.poll(() => seen).toEqual([{ celsius: 20, place: 'attic' }])
    await expect(topic.publish({ celsius: 'warm' } as never)).rejects.toMatchObject({
      code: 'MqttPayloadError',
      message: expect.stringContaining('the message for the topic "climate" does not match its schema: /celsius: '),
      issues: expect.any(Array),
    })
    await mqtt.publish('climate', '{"celsius":')
    await mqtt.publish('climate', { place: 5 })
    await expect.poll(() => reports).toHaveLength(2)
    expect(seen).toHaveLength(1)
  })
})

describe('misuse', () => {
  test('publishing before there is a connection', async () => {
    await expect(mqtt.publish('a', 1)).rejects.toMatchObject({
      code: 'MqttNotConnectedError',
      message: expect.stringContaining('await MqttService.connect('),
    })
    await expect(new MqttService({ provider: 'memory' }).publish('a', 1)).rejects.toMatchObject({
      code: 'MqttNotConnectedError',
    })
    await expect(new MqttService({ provider: 'memory' }).check()).rejects.toThrow(/no connection to the broker/)
  })

  test('connecting twice; disconnecting without a connection', async () => {
    await MqttService.disconnect()
    await connect()
    await expect(connect()).rejects.toMatchObject({ code: 'MqttConnectedError' })
    await MqttService.disconnect()
    await MqttService.disconnect()
    await connect()
  })

  test('disconnecting while it connects', async () => {
    const refused = expect(connect()).rejects.toMatchObject({ code: 'MqttUnavailableError' })
    await MqttService.disconnect()
    await refused
    await expect(mqtt.publish('a', 1)).rejects.toMatchObject({ code: 'MqttNotConnectedError' })
    await connect()
  })

  test('messages without a form', async () => {
    await connect()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    for (const message of [undefined, () => {}, Symbol('x'), 1n, circular]) {
      await expect(mqtt.publish('a', message)).rejects.toMatchObject({ code: 'MqttPayloadError' })
    }
    await expect(mqtt.publish('a/+' as string, 1)).rejects.toMatchObject({ code: 'MqttTopicError' })
    await expect(mqtt.publish('a', 1, { qos: 3 as never })).rejects.toMatchObject({ code: 'OptionError' })
    await expect(mqtt.publish('a', 1, { retian: true } as never)).rejects.toThrow('Did you mean "retain"')
    await expect(mqtt.publish('a', 1, { responseTopic: 'a/#' })).rejects.toThrow(
      /^the topic of the option "mqtt\.publish\.responseTopic" has a wildcard/,
    )
    await expect(mqtt.topic<number>('a/+' as string).publish(1)).rejects.toMatchObject({ code: 'MqttTopicError' })
  })

  test('invalid subscriptions throw where they are declared', () => {
    expect(() => mqtt.subscribe('a#' as string, () => {})).toThrow(expect.objectContaining({ code: 'MqttTopicError' }))
    expect(() => mqtt.subscribe('a#' as string)).toThrow(expect.objectContaining({ code: 'MqttTopicError' }))
    expect(() => mqtt.subscribe('a', () => {}, { qos: 3 as never })).toThrow('0, 1 or 2')
    expect(() => mqtt.subscribe('a', () => {}, { concurrency: 0 })).toThrow('concurrency')
    expect(() => mqtt.subscribe('a', () => {}, { raw: true, schema: {} })).toThrow('leave out raw')
    expect(() => mqtt.topic('a', { shema: {} } as never)).toThrow('Did you mean "schema"')
  })

  test.each([
    [{ url: 'http://x' }, 'mqtt.connect.url'],
    [{ url: 'mqtt://me:secret@' }, 'mqtt.connect.url'],
    [{ url: 'mqtt://h', host: 'x' }, 'nothing together with mqtt.connect.url'],
    [{ port: 0 }, 'mqtt.connect.port'],
    [{ port: '1883' }, 'mqtt.connect.port'],
    [{ host: '' }, 'mqtt.connect.host'],
    [{ protocol: 'tcp' }, 'mqtt.connect.protocol'],
    [{ protocolVersion: 3 }, 'mqtt.connect.protocolVersion'],
    [{ clean: false }, 'mqtt.connect.clientId'],
    [{ cert: '-----BEGIN secret' }, 'mqtt.connect.key'],
    [{ cert: 'secret' }, 'mqtt.connect.cert'],
    [{ password: { secret: 1 } }, 'mqtt.connect.password'],
    [{ keepalive: 0 }, 'mqtt.connect.keepalive'],
    [{ will: { topic: 'a/+', message: 1 } }, 'has a wildcard'],
    [{ will: { topic: 'a', message: 1, qos: 7 } }, 'mqtt.connect.will.qos'],
    [
      { will: { topic: 'a', payload: 'x' } },
      'Unknown option "mqtt.connect.will.payload". Known options: topic, message, ',
    ],
    [
      { will: { topic: 'a' } },
      '"mqtt.connect.will.message" is missing; it takes the payload that the broker publishes',
    ],
    [{ will: { message: 'a' } }, '"mqtt.connect.will.topic" is missing'],
    [{ will: { topic: 'a', message: 1, delay: '5' } }, 'mqtt.connect.will.delay'],
    [{ publishTimeout: 0 }, 'mqtt.connect.publishTimeout'],
    [{ maxQueuedSize: 'big' }, 'mqtt.connect.maxQueuedSize'],
    [{ provider: 'redis' }, 'mqtt.connect.provider'],
    [{ required: 'yes' }, 'mqtt.connect.required'],
    [{ hots: 'x' }, 'Did you mean "host"'],
    [{ logger: console.log }, '"mqtt.connect.logger" is a function; it takes a logger'],
    [{ port: 0, hots: 'x' }, '2 options are wrong'],
    [{ subscribe: 'src' }, 'mqtt.connect.subscribe'],
    [
      { subscribe: ['src/*.js', 5] },
      `"mqtt.connect.subscribe[1]" is 5; it takes a glob such as 'src/mqtt/**/*.ts', a class that extends BaseMqtt, or a subscription ({ topic, handler, options })`,
    ],
    [{ subscribe: ['src/*.js', { topic: 'a' }] }, '"mqtt.connect.subscribe[1].handler" is missing'],
    [{ subscribe: [{ handler() {} }] }, '"mqtt.connect.subscribe[0].topic" is missing; it takes a topic, or a pattern'],
    [
      { subscribe: [{ topic: 'a/#/b', handler() {} }] },
      'the topic of the option "mqtt.connect.subscribe[0].topic" has levels after "#"',
    ],
    [
      { subscribe: [{ topic: 'a', handler() {}, options: { qos: 3 } }] },
      '"mqtt.connect.subscribe[0].options.qos" is 3',
    ],
    [{ subscribe: [{ topic: 'a', hander() {} }] }, 'Unknown option "mqtt.connect.subscribe[0].hander"'],
    ['mqtt://me:secret@h', '"mqtt.connect" is a string (not shown); it takes an object such as { host:'],
    [5, '"mqtt.connect" is 5'],
    [[], '"mqtt.connect" is an empty array'],
  ])('options that cannot be meant: %j', (options, text) => {
    const make = () => new MqttService(options as never)
    expect(make).toThrow(text)
    try {
      make()
    } catch (error) {
      expect((error as Error).message).not.toContain('secret')
    }
  })

  test('address: option, environment, default', async () => {
    const { mqttConnectOptions } = await import('../../../plugins/mqtt/options.ts')
    const addressOf = (options: object) => mqttConnectOptions.parse(options, 'mqtt.connect').address
    const shown = (options: object) => addressOf(options).shown
    vi.stubEnv('MQTT_HOST', '')
    vi.stubEnv('MQTT_PORT', '')
    expect(shown({})).toBe('mqtt://localhost:1883')
    expect(shown({ protocol: 'mqtts' })).toBe('mqtt' + 's://localhost:8883')
    expect(shown({ url: 'wss://me:pw@h/x' })).toBe('wss://h:443')
    expect(shown({ url: 'mqtt://[::1]' })).toBe('mqtt://[::1]:1883')
    vi.stubEnv('MQTT_HOST', 'env')
    vi.stubEnv('MQTT_PORT', '77')
    expect(shown({})).toBe('mqtt://env:77')
    expect(shown({ host: 'x', port: 1 })).toBe('mqtt://x:1')
    vi.stubEnv('MQTT_PORT', 'x')
    expect(() => shown({})).toThrow('MQTT_PORT (of the environment)')
    vi.unstubAllEnvs()
    const { username, password } = addressOf({ url: 'mqtt://m%40e:p%25w@h' })
    expect([username, password]).toEqual(['m@e', 'p%w'])
  })
})
