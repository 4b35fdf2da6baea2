import { spawn } from 'node:child_process'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type MqttConnectOptions,
  MqttService,
  mqtt,
  RouteCollection,
  Server,
  setMqttGlobalErrorHandler,
} from 'framework'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts'
import { freePort } from '../../support/own-server.ts'
import { until } from '../../support/queues.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

declare module 'framework' {
  interface MqttTopics {
    'left/behind': unknown
    'secret/#': unknown
    'secret/a': unknown
    'dies/will': unknown
    'away/left': unknown
    'away/made': unknown
    'away/kept': unknown
    dies: unknown
    frozen: unknown
    'ice/a': unknown
    'ice/b': unknown
  }
}

const open: { unsubscribe(): Promise<void> }[] = []
afterEach(async () => {
  await MqttService.disconnect({ timeout: 0 })
  for (const handle of open.splice(0)) await handle.unsubscribe()
  setMqttGlobalErrorHandler(undefined)
})

async function connect(options: MqttConnectOptions) {
  const logger = memoryLogger()
  const service = await MqttService.connect({ reconnectDelay: 50, maxReconnectDelay: 300, ...options, logger })
  return { service, log: logger.entries }
}

/** A server of MQTT that does what a test wants. */
async function fakeBroker(onData: (socket: Socket, data: Buffer) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => onData(socket, data as Buffer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    port,
    sockets,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a broker that is not there', () => {
  test('connecting fails at once, and names the address and the remedy', async () => {
    const port = await freePort()
    await expect(connect({ host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'MqttUnavailableError',
      message: expect.stringContaining(`mqtt://127.0.0.1:${port} cannot be reached`),
    })
    await expect(mqtt.publish('a', 1)).rejects.toMatchObject({ code: 'MqttNotConnectedError' })
  })

  test('a host that takes the connection and says nothing', async () => {
    const broker = await fakeBroker(() => {})
    await expect(connect({ host: '127.0.0.1', port: broker.port, connectTimeout: 300 })).rejects.toMatchObject({
      code: 'MqttUnavailableError',
      message: expect.stringContaining('timeout'),
    })
    broker.close()
  })

  test('a host that speaks another protocol, and keeps the connection', async () => {
    const host = await fakeBroker((socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'))
    await expect(connect({ host: '127.0.0.1', port: host.port })).rejects.toMatchObject({
      code: 'MqttUnavailableError',
      message: expect.not.stringContaining('timeout'),
    })
    host.close()
  })

  test('a broker that speaks 3.1.1 only is spoken to in 3.1.1', async () => {
    const versions: number[] = []
    const broker = await fakeBroker((socket, data) => {
      if (data[0] === 0x10) {
        versions.push(data[8]!)
        // 1: unacceptable protocol version.
        if (data[8] === 5) socket.end(Uint8Array.of(0x20, 2, 0, 1))
        else socket.write(Uint8Array.of(0x20, 2, 0, 0))
      }
      if (data[0] === 0xe0) socket.end()
    })
    const { service } = await connect({ host: '127.0.0.1', port: broker.port })
    expect(versions).toEqual([5, 4])
    await expect(service.publish('a', 1, { contentType: 'x' })).rejects.toMatchObject({
      code: 'MqttPublishError',
      message: expect.stringContaining('3.1.1, which has no contentType'),
    })
    await MqttService.disconnect()
    broker.close()
  })

  test('a broker that ends the connection is quoted', async () => {
    const broker = await fakeBroker((socket, data) => {
      if (data[0] === 0x10) socket.write(Uint8Array.of(0x20, 3, 0, 0, 0))
    })
    const { log } = await connect({ host: '127.0.0.1', port: broker.port })
    for (const socket of broker.sockets) socket.end(Uint8Array.of(0xe0, 2, 0x8e, 0))
    await vi.waitFor(() => expect(log).not.toEqual([]), 20_000)
    expect((log[0]?.fields.err as Error).message).toContain('it closed the connection: Session taken over (142)')
    await MqttService.disconnect({ timeout: 0 })
    broker.close()
  })

  test('required: false starts, says so once, rejects publishing in time, and is bounded', async () => {
    const port = await freePort()
    const { service, log } = await connect({
      ...{ host: '127.0.0.1', port, required: false, publishTimeout: 300 },
      ...{ maxQueued: 50, maxQueuedSize: 1000 },
    })
    expect(service.isConnected).toBe(false)
    const results = await Promise.allSettled(Array.from({ length: 60 }, () => mqtt.publish('a', 'x', { qos: 1 })))
    const codes = results.map((one) => (one as PromiseRejectedResult).reason.code)
    expect(codes.filter((code) => code === 'MqttUnavailableError')).toHaveLength(50)
    expect(codes.filter((code) => code === 'MqttFullError')).toHaveLength(10)
    expect((results[0] as PromiseRejectedResult).reason.message).toMatch(
      /within 300 ms. It was not sent and will not be/,
    )
    const large = await Promise.allSettled([mqtt.publish('a', 'x'.repeat(900)), mqtt.publish('a', 'x'.repeat(200))])
    expect((large[1] as PromiseRejectedResult).reason.message).toContain('maxQueuedSize')
    await expect(service.check()).rejects.toThrow(/cannot be reached/)
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  test('a server with a broker that must be there does not listen; with one that need not, it does', async () => {
    const port = await freePort()
    const options = { port: 0, host: '127.0.0.1', drainWindow: 0, gracefulShutdown: false, logger: memoryLogger() }
    const strict = new Server({ ...options, background: { mqtt: { connect: { host: '127.0.0.1', port } } } })
    await expect(strict.listen()).rejects.toThrow(/cannot be reached/)
    await strict.close().catch(() => {})
    const lenient: Server = new Server({
      ...options,
      background: { mqtt: { connect: { host: '127.0.0.1', port, required: false } } },
      plugins: { health: true },
    })
    const { port: http } = await lenient.listen()
    const health = await fetch(`http://127.0.0.1:${http}/health/ready`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'degraded', checks: { mqtt: 'degraded' } }])
    await lenient.close()
  })
})

describe.skipIf(!hasMosquitto)('mosquitto', () => {
  let broker: Mosquitto
  beforeAll(async () => {
    broker = await startMosquitto()
  })
  afterAll(() => broker.stop())

  test.each([
    ['MQTT 5', {}],
    ['MQTT 3.1.1', { protocolVersion: 4 }],
    ['a session that is kept', { clean: false, clientId: 'restart' }],
  ] as const)('MQ-01: 300 messages over a restart and a crash, %s: acknowledged is received', async (_name, more) => {
    const { log } = await connect({ url: broker.url, publishTimeout: 60_000, ...more })
    const seen = new Map<unknown, number>()
    const topic = `restart-${JSON.stringify(more).length}`
    const handle = await mqtt.subscribe(topic, (message) => void seen.set(message, (seen.get(message) ?? 0) + 1), {
      qos: 1,
    })
    open.push(handle)
    const acknowledged: number[] = []
    const publishing = (async () => {
      const under: Promise<void>[] = []
      for (let i = 0; i < 300; i++) {
        under.push(mqtt.publish(topic, i, { qos: 1 }).then(() => void acknowledged.push(i)))
        await pause(3)
      }
      await Promise.all(under)
    })()
    await until(() => acknowledged.length >= 50, 'messages before the restart')
    await broker.restart()
    const before = acknowledged.length
    await until(() => acknowledged.length >= before + 20, 'messages before the crash')
    await broker.kill()
    await broker.restart()
    await publishing
    expect(acknowledged).toHaveLength(300)
    // What a broker has acknowledged and not given on yet is lost with it, where it keeps no session of the subscriber.
    const least = 'clean' in more ? 300 : 200
    await vi.waitFor(() => expect(seen.size).toBeGreaterThanOrEqual(least), 20_000)
    // Sent again after a loss is allowed, and stays rare; a handler that is subscribed twice would double all of them.
    expect([...seen.values()].filter((count) => count > 1).length).toBeLessThan(150)
    await mqtt.publish(topic, 'once', { qos: 1 })
    await mqtt.publish(topic, 'end', { qos: 1 })
    await vi.waitFor(() => expect(seen.has('end')).toBe(true), 20_000)
    expect(seen.get('once')).toBe(1)
    const warnings = log.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(warnings.length).toBeLessThanOrEqual(4)
    expect(warnings[0]).toContain('was lost')
  })

  test('a frozen broker: publishing rejects in time, the loss is noticed, and everything continues afterwards', async () => {
    const { service, log } = await connect({ url: broker.url, keepalive: 2, publishTimeout: 500 })
    const seen: unknown[] = []
    open.push(await mqtt.subscribe('frozen', (message) => void seen.push(message), { qos: 1 }))
    broker.freeze()
    await expect(mqtt.publish('frozen', 'late', { qos: 1 })).rejects.toMatchObject({
      code: 'MqttUnavailableError',
      message: expect.stringContaining('It was sent and may have arrived'),
    })
    await vi.waitFor(() => expect(service.isConnected).toBe(false), 20_000)
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
    broker.thaw()
    await vi.waitFor(() => expect(service.isConnected).toBe(true), 20_000)
    // A busy broker may need longer than the 500 ms.
    await vi.waitFor(() => mqtt.publish('frozen', 'again', { qos: 1 }), 20_000)
    await vi.waitFor(() => expect(seen).toContain('again'), 20_000)
    expect(await service.check()).toBe(true)
  })

  test('subscribing and unsubscribing do not wait for a frozen broker for ever', async () => {
    await connect({ url: broker.url, publishTimeout: 200, keepalive: 600 })
    const first = await mqtt.subscribe('ice/a', () => {}, { qos: 1 })
    broker.freeze()
    const seen: unknown[] = []
    open.push(await mqtt.subscribe('ice/b', (message) => void seen.push(message), { qos: 1 }))
    await first.unsubscribe()
    broker.thaw()
    await vi.waitFor(() => mqtt.publish('ice/b', 'thawed', { qos: 1 }), 20_000)
    await vi.waitFor(() => expect(seen).toContain('thawed'), 20_000)
  })

  test('closing does not wait for a frozen broker', async () => {
    await connect({ url: broker.url, publishTimeout: 60_000 })
    broker.freeze()
    const lost = mqtt.publish('a', 1, { qos: 1 })
    lost.catch(() => {})
    const before = performance.now()
    await MqttService.disconnect({ timeout: 500 })
    // Half of what the message may take.
    expect(performance.now() - before).toBeLessThan(30_000)
    await expect(lost).rejects.toMatchObject({ code: 'MqttUnavailableError' })
    broker.thaw()
  })

  test('subscriptions made and left while the broker is away hold when it is back', async () => {
    const { service } = await connect({ url: broker.url, clean: false, clientId: 'away' })
    const seen: unknown[] = []
    const left = await mqtt.subscribe('away/left', () => void seen.push('left'), { qos: 1 })
    await broker.kill()
    await vi.waitFor(() => expect(service.isConnected).toBe(false), 20_000)
    await left.unsubscribe()
    open.push(await mqtt.subscribe('away/made', (message) => void seen.push(message), { qos: 1 }))
    const waiting = mqtt.publish('away/made', 'queued', { qos: 1 })
    await broker.restart()
    await waiting
    await mqtt.publish('away/left', 1, { qos: 1 })
    await mqtt.publish('away/made', 'live', { qos: 1 })
    await vi.waitFor(() => expect(seen).toEqual(['queued', 'live']), 20_000)
    await MqttService.disconnect()
    await connect({ url: broker.url, clientId: 'away' })
  })

  test.each([
    ['MQTT 5', { clientId: 'kept-5', protocolVersion: 5, clean: false }, ['on', 'off']],
    ['MQTT 3.1.1', { clientId: 'kept-4', protocolVersion: 4, clean: false }, ['on', 'off']],
    // A handler cannot know whether there were other messages meanwhile.
    ['no session', {}, ['on', 'off', 'off']],
  ] as const)('a kept message that changes while the connection is away, %s', async (_name, options, expected) => {
    const upstreams = new Map<Socket, Socket>()
    let isAway = false
    const way = await fakeBroker((socket, data) => {
      if (isAway) return void socket.destroy()
      const upstream = upstreams.get(socket) ?? connectTo(broker.port, '127.0.0.1').on('error', () => {})
      if (!upstreams.has(socket)) upstream.pipe(socket).once('close', () => upstream.destroy())
      upstreams.set(socket, upstream)
      // The first acknowledgement is lost: the broker sends that message again, before the one that has taken its place.
      if (upstreams.size > 1 || data[0] !== 0x40) upstream.write(data)
    })
    const other = new MqttService({ url: broker.url, subscribe: false, logger: memoryLogger() })
    await other.start()
    onTestFinished(async () => {
      await other.publish('away/kept', '', { qos: 1, retain: true })
      await other.stop()
      await MqttService.disconnect()
      way.close()
    })
    await other.publish('away/kept', 'on', { qos: 1, retain: true })
    const { service } = await connect({ host: '127.0.0.1', port: way.port, ...options })
    const [seen, ends]: unknown[][] = [[], []]
    const end = `away/end/${_name}`
    open.push(await service.subscribe(end, (message) => void ends!.push(message), { qos: 1 }))
    open.push(await service.subscribe('away/kept', (message) => void seen!.push(message), { qos: 1 }))
    await vi.waitFor(() => expect(seen).toEqual(['on']), 20_000)
    for (const round of [1, 2]) {
      isAway = true
      for (const socket of way.sockets) socket.destroy()
      await vi.waitFor(() => expect(service.isConnected).toBe(false), 20_000)
      // Of QoS 0: the session has no copy of it.
      if (round === 1) await other.publish('away/kept', 'off', { retain: true })
      isAway = false
      await vi.waitFor(() => expect(service.isConnected).toBe(true), 20_000)
      await vi.waitFor(() => expect(seen!.length).toBeGreaterThanOrEqual(expected.slice(0, round + 1).length), 20_000)
      await service.publish(end, round, { qos: 1 })
      await vi.waitFor(() => expect(ends).toContain(round), 20_000)
    }
    expect(seen).toEqual(expected)
  })

  test('a retained message that the broker had queued does not hide the one that has taken its place', async () => {
    const retained = (text: string) => Buffer.from(`\x31${String.fromCharCode(11 + text.length)}\0\x09away/kept${text}`)
    const queueing = await fakeBroker((socket, data) => {
      if (data[0] === 0x10) socket.write(Uint8Array.of(0x20, 2, 1, 0))
      if (data[0] === 0xe0) socket.end()
      if (data[0] !== 0x82) return
      socket.write(Uint8Array.of(0x90, 3, data[2]!, data[3]!, 0))
      // The broker sends the last one a second time when another handler subscribes.
      for (const text of ['old', 'new', 'new', 'end']) socket.write(retained(text))
    })
    onTestFinished(queueing.close)
    const address = { host: '127.0.0.1', port: queueing.port, protocolVersion: 4 as const }
    await connect({ ...address, clientId: 'queueing', clean: false })
    const seen: unknown[] = []
    open.push(await mqtt.subscribe('away/kept', (message) => void seen.push(message)))
    await vi.waitFor(() => expect(seen).toContain('end'), 20_000)
    expect(seen).toEqual(['old', 'new', 'end'])
  })

  /** A broker that lets everyone in and refuses every subscription. */
  const refusingBroker = () =>
    fakeBroker((socket, data) => {
      if (data[0] === 0x10) socket.write(Uint8Array.of(0x20, 3, 0, 0, 0))
      if (data[0] === 0x82) socket.write(Uint8Array.of(0x90, 4, data[2]!, data[3]!, 0, 0x87))
      if (data[0] === 0xe0) socket.end()
    })

  test('a subscription that a script continues after the last server, and that its broker refuses, is logged', async () => {
    const refusing = await refusingBroker()
    const { service, log } = await connect({ host: '127.0.0.1', port: refusing.port, protocolVersion: 5 })
    const background = { mqtt: { connect: { provider: 'memory' } } } as const
    const server = new Server({ port: 0, logger: memoryLogger(), router: new RouteCollection(), background })
    onTestFinished(async () => {
      await server.close()
      await service.stop()
      refusing.close()
    })
    await server.listen()
    open.push(await mqtt.subscribe('left/behind', () => {}))
    await server.close()
    const err = expect.objectContaining({ code: 'MqttSubscribeError' })
    await vi.waitFor(
      () => expect(log).toContainEqual(expect.objectContaining({ level: 'error', fields: { err } })),
      20_000,
    )
  })

  test('a subscription that the broker refuses', async () => {
    const refusing = await refusingBroker()
    const address = { host: '127.0.0.1', port: refusing.port, protocolVersion: 5 as const }
    await connect(address)
    await expect(mqtt.subscribe('secret/#', () => {})).rejects.toMatchObject({
      code: 'MqttSubscribeError',
      reasonCode: 0x87,
      message: 'the broker refuses the subscription "secret/#": Not authorized (135)',
    })
    await MqttService.disconnect()
    // An earlier declaration fails the start, and without a caller that awaits it there is no unhandled rejection.
    open.push(mqtt.subscribe('secret/a', () => {}))
    await expect(connect(address)).rejects.toMatchObject({ code: 'MqttSubscribeError' })
    const reports: unknown[] = []
    setMqttGlobalErrorHandler(
      (error, failure) => void reports.push([(error as { code: string }).code, failure.subscription]),
    )
    await connect({ ...address, required: false })
    await vi.waitFor(() => expect(reports).toEqual([['MqttSubscribeError', 'secret/a']]), 20_000)
    await MqttService.disconnect()
    refusing.close()
  })

  test('wrong credentials: the reason is reported, the password is not', async () => {
    const strict = await startMosquitto('allow_anonymous false')
    onTestFinished(() => strict.stop())
    const password = 'hunter2-secret'
    const logger = memoryLogger()
    const failure = await MqttService.connect({ url: strict.url, username: 'me', password, logger }).catch(
      (error) => error,
    )
    expect(failure.code).toBe('MqttUnavailableError')
    // Which of the two a broker gives is up to its version.
    expect(['Bad username or password (134)', 'Not authorized (135)']).toContain(
      /[^:]*\(13[45]\)/.exec(failure.message)?.[0].trim(),
    )
    expect([134, 135]).toContain(failure.reasonCode)
    const inUrl = strict.url.replace('//', `//me:${password}@`)
    const second = await MqttService.connect({ url: inUrl, logger }).catch((error) => error)
    const { inspect } = await import('node:util')
    for (const text of [
      inspect(failure, { depth: 9 }),
      inspect(second, { depth: 9 }),
      JSON.stringify(logger.entries),
    ]) {
      expect(text).not.toContain('hunter2')
    }
  })

  test('two clients of one name do not drive each other out without a pause', async () => {
    const first = new MqttService({
      url: broker.url,
      clientId: 'twin',
      reconnectDelay: 100,
      maxReconnectDelay: 400,
      logger: memoryLogger(),
    })
    const logger = memoryLogger()
    const second = new MqttService({
      url: broker.url,
      clientId: 'twin',
      reconnectDelay: 100,
      maxReconnectDelay: 400,
      logger,
    })
    await first.start()
    await second.start()
    const start = performance.now()
    const changes = () => logger.entries.filter(({ level }) => level === 'warn').length
    await until(() => changes() >= 4, 'four changes')
    await Promise.all([first.stop(), second.stop()])
    expect(performance.now() - start).toBeGreaterThan(200)
  })

  test('an unhandled message is not acknowledged: after a crash the process receives it again', async () => {
    const script = `
      import { MqttService, mqtt } from 'framework'
      mqtt.subscribe('dies', async (message) => {
        console.log('begun ' + message)
        await new Promise((resolve) => setTimeout(resolve, 60_000))
      }, { qos: 1 })
      const will = { topic: 'dies/will', message: { gone: true }, qos: 1 }
      await MqttService.connect({ url: process.argv[1], clean: false, clientId: 'dies', will })
      console.log('ready')`
    const child = spawn(process.execPath, [...withTypeScript, '--input-type=module', '-e', script, broker.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (data) => {
      output += data
    })
    await vi.waitFor(() => expect(output).toContain('ready'), 20_000)
    const { service } = await connect({ url: broker.url })
    const wills: unknown[] = []
    await service.subscribe('dies/will', (message) => void wills.push(message), { qos: 1 })
    await service.publish('dies', 'one', { qos: 1 })
    await service.publish('dies', 'two', { qos: 2 })
    await vi.waitFor(() => expect(output).toContain('begun one'), 20_000)
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
    await vi.waitFor(() => expect(wills).toEqual([{ gone: true }]), 20_000)
    await MqttService.disconnect()
    const seen: [message: unknown, again: boolean][] = []
    open.push(
      mqtt.subscribe('dies', (message, details) => void seen.push([message, details.duplicate]), {
        qos: 1,
        details: true,
      }),
    )
    await connect({ url: broker.url, clean: false, clientId: 'dies' })
    await vi.waitFor(() => expect(seen.map(([message]) => message)).toEqual(['one', 'two']), 20_000)
    expect(seen[0]).toEqual(['one', true])
    await MqttService.disconnect()
    await connect({ url: broker.url, clientId: 'dies' })
  })
})
