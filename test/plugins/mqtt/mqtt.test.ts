import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MqttService, mqtt, RouteCollection, Server, type ServerOptions } from 'framework'
import { mqtt as mqttPlugin } from 'framework/plugins'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

declare module 'framework' {
  interface MqttTopics {
    'own/+': unknown
    never: unknown
    cycle: unknown
    drain: unknown
    drained: unknown
    'files/a': unknown
    kept: unknown
    over: unknown
    'plugin/a': unknown
    stuck: unknown
    two: unknown
  }
}

const open: { unsubscribe(): Promise<void> }[] = []
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const handle of open.splice(0)) await handle.unsubscribe()
})

const memory = { provider: 'memory' } as const
function make(options: Pick<ServerOptions, 'background' | 'closeTimeout'> & { plugins?: unknown }) {
  const logger = memoryLogger()
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', drainWindow: 0, gracefulShutdown: false, logger, router: new RouteCollection() },
    ...(options as ServerOptions),
  })
  servers.push(server)
  return Object.assign(server, { log: logger.entries })
}

test.each([
  ['background', () => make({ background: { mqtt: { connect: memory } } })],
  ['object form', () => make({ plugins: { mqtt: { connect: memory } } })],
  ['array form', () => make({ plugins: [mqttPlugin({ connect: memory })] })],
] as const)('%s: handles messages while the server listens, and not under inject', async (_name, server) => {
  const seen: unknown[] = []
  open.push(mqtt.subscribe('plugin/a', (message) => void seen.push(message), { qos: 1 }))
  const made = server()
  made.get('/', async () => {
    await mqtt.publish('plugin/a', 'from a route', { qos: 1 })
    return 'published'
  })
  const res = await made.inject.get('/')
  expect(res.statusCode()).toBe(500)
  expect(made.services.get('mqtt').isConnected).toBe(false)
  const { port } = await made.listen()
  expect(made.services.get('mqtt')).toBeInstanceOf(MqttService)
  expect(await made.services.get('mqtt').check()).toBe(true)
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  expect(answer.status).toBe(200)
  await expect.poll(() => seen).toEqual(['from a route'])
  await made.close()
  expect(made.services.get('mqtt').isConnected).toBe(false)
  await expect(mqtt.publish('plugin/a', 1)).rejects.toMatchObject({ code: 'MqttNotConnectedError' })
})

test('the service publishes and subscribes by itself', async () => {
  const server = make({ plugins: { mqtt: { connect: memory, subscribe: false } } })
  await server.listen()
  const service = server.services.get('mqtt')
  const seen: unknown[] = []
  await service.subscribe('own/+', (topic, message) => void seen.push([topic, message]))
  await service.topic<number>('own/x').publish(5)
  await expect.poll(() => seen).toEqual([['own/x', 5]])
})

/** A request that keeps a server from closing until it is released. */
async function holdOpen(server: Server): Promise<{ letGo(): Promise<void> }> {
  let end = () => {}
  let hasBegun = () => {}
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve
  })
  server.get('/held', () => {
    hasBegun()
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  const answered = fetch(`http://127.0.0.1:${server.port}/held`)
  await begun
  return {
    async letGo() {
      end()
      await answered
    },
  }
}

test('with a session that the broker keeps, a server that closes begins with no further message', async () => {
  const shared = { ...memory, host: 'shared' } as const
  const connect = { ...shared, clean: false, clientId: 'closing-session' } as const
  const publisher = make({ plugins: { mqtt: { connect: shared, subscribe: false } } })
  const server = make({ plugins: { mqtt: { connect } } })
  const seen: unknown[] = []
  open.push(mqtt.subscribe('kept', (message) => void seen.push(message), { qos: 1 }))
  await publisher.listen()
  await server.listen()
  const held = await holdOpen(server)
  const closed = server.close()
  await new Promise((resolve) => server.closing.addEventListener('abort', resolve))
  await publisher.services.get('mqtt').publish('kept', 'a', { qos: 1 })
  await pause(20)
  expect(seen).toEqual([])
  await held.letGo()
  await closed
  // It was not acknowledged: a client that reconnects receives it.
  const next = make({ plugins: { mqtt: { connect } } })
  await next.listen()
  await expect.poll(() => seen).toEqual(['a'])
  await next.close()
  await make({ plugins: { mqtt: { connect: { ...connect, clean: true } } } }).listen()
})

test('closing waits for handlers, within its time, and they can still publish', async () => {
  const server = make({ plugins: { mqtt: { connect: memory } }, closeTimeout: 30_000 })
  const seen: string[] = []
  open.push(
    mqtt.subscribe('drain', async () => {
      seen.push('begun')
      await new Promise((resolve) => setTimeout(resolve, 150))
      await server.services.get('mqtt').publish('drained', 1, { qos: 1 })
      seen.push('done')
    }),
  )
  await server.listen()
  await mqtt.publish('drain', 1)
  await expect.poll(() => seen).toEqual(['begun'])
  await server.close()
  expect(seen).toEqual(['begun', 'done'])
})

test('closing waits for the messages that wait for their handler', async () => {
  const server = make({ plugins: { mqtt: { connect: memory } }, closeTimeout: 30_000 })
  const seen: unknown[] = []
  const handler = async (message: unknown, { signal }: { readonly signal: AbortSignal }) => {
    await pause(20)
    seen.push([message, signal.aborted])
  }
  open.push(mqtt.subscribe('drain', handler, { qos: 1, details: true }))
  await server.listen()
  for (const number of [1, 2, 3]) await mqtt.publish('drain', number, { qos: 1 })
  await server.close()
  expect(seen).toEqual([
    [1, false],
    [2, false],
    [3, false],
  ])
})

test('a handler that never ends does not hold up closing for ever, and a line says so', async () => {
  const server = make({ plugins: { mqtt: { connect: memory } }, closeTimeout: 400 })
  let begun = false
  open.push(
    mqtt.subscribe('stuck', () => {
      begun = true
      return new Promise(() => {})
    }),
  )
  await server.listen()
  await mqtt.publish('stuck', 1)
  await expect.poll(() => begun).toBe(true)
  const before = performance.now()
  await server.close()
  expect(performance.now() - before).toBeLessThan(20_000)
  expect(server.log.some(({ message }) => message?.includes('no longer waits'))).toBe(true)
})

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'framework-mqtt-files-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const door = JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../index.ts')).href)

  test('are imported when the server listens; classes and calls in them subscribe', async () => {
    const file = write(
      'doors.mjs',
      `import { mqtt } from ${door}
       globalThis.mqttFileSeen = []
       export const handle = mqtt.subscribe('files/a', (message) => void globalThis.mqttFileSeen.push(message))`,
    )
    const server = make({ background: { mqtt: { connect: memory, subscribe: [join(folder, '*.mjs')] } } })
    await server.listen()
    await mqtt.publish('files/a', 1)
    const seen = (globalThis as { mqttFileSeen?: unknown[] }).mqttFileSeen
    await expect.poll(() => seen).toEqual([1])
    open.push(((await import(/* @vite-ignore */ file)) as { handle: (typeof open)[0] }).handle)
  })

  test('one that cannot be loaded fails the start, and is named; a pattern without files is warned of', async () => {
    const file = write('broken.mjs', `throw new Error('broken file')`)
    const server = make({ background: { mqtt: { connect: memory, subscribe: [file] } } })
    await expect(server.listen()).rejects.toThrow(/broken\.mjs cannot be loaded: broken file/)
    const other = make({ background: { mqtt: { connect: memory, subscribe: [join(folder, 'none/*.mjs')] } } })
    await other.listen()
    expect(other.log.some(({ level, message }) => level === 'warn' && message?.includes('matches no file'))).toBe(true)
  })
})

test('options are checked when the server is made, and the plugin is given once', () => {
  expect(() => make({ background: { mqtt: { conect: {} } as never } })).toThrow(
    /^Unknown option "background\.mqtt\.conect"\. Did you mean "connect"\?/,
  )
  expect(() => make({ background: { mqtt: { connect: { port: -1 } } } })).toThrow(
    /^the option "background\.mqtt\.connect\.port" is -1; it takes a number from 1 to 65535$/,
  )
  expect(() => make({ plugins: { mqtt: { connect: { will: { topik: 'a' } } as never } } })).toThrow(
    'plugins.mqtt.connect.will.topik". Did you mean "topic"?',
  )
  expect(() => make({ plugins: { mqtt: { subscribe: ['a', 5 as never] } } })).toThrow(
    '"plugins.mqtt.subscribe[1]" is 5',
  )
  expect(() => make({ background: { mqtt: { connect: 'mqtt://me:secret@h' as never } } })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  )
  expect(() => make({ background: { mqtt: {} }, plugins: { mqtt: {} } })).toThrow('background.mqtt')
})

test('a hundred starts and stops leave no resources, neither timers nor data of a broker in memory', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  for (let i = 0; i < 100; i++) {
    const service = new MqttService(memory)
    await service.start()
    await service.subscribe('cycle', () => {})
    await service.publish('cycle', i, { qos: 1, retain: true })
    await service.stop()
  }
  expect(timers()).toBeLessThanOrEqual(before)
  const service = new MqttService(memory)
  await service.start()
  const seen: unknown[] = []
  await service.subscribe('cycle', (message) => void seen.push(message))
  await service.publish('cycle', 'new')
  await expect.poll(() => seen).toEqual(['new'])
  await service.stop()
})
