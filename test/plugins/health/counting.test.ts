import { type AddressInfo, createServer } from 'node:net'
import { definePlugin, RouteCollection, Server } from 'framework'
import { health } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { Examination } from '../../../cli/doctor/examine.ts'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { freePort } from '../../support/own-server.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Options = NonNullable<Parameters<typeof health>[0]>

function serverWith(options: Options, ...plugins: object[]) {
  const logger = memoryLogger()
  const own = { router: new RouteCollection(), logger, port: 0, host: '127.0.0.1', gracefulShutdown: false }
  const server = new Server<{}>({ ...own, plugins: [...plugins, health(options)] as {} })
  servers.push(server)
  return { server, log: logger.entries }
}

const away = () => Promise.reject(new Error('away'))
const shop = (checks: object) => definePlugin({ name: 'shop', health: checks as never })()

async function ready(options: Options, checks: object = {}) {
  const { server, log } = serverWith(options, shop(checks))
  const res = await server.inject.get('/health/ready')
  return { status: res.statusCode(), body: res.body(), log }
}

describe('what a failure means', () => {
  test.each<[unknown, string, number]>([
    [away, 'error', 503],
    [{ check: away }, 'error', 503],
    [{ check: away, onFailure: 'degraded' }, 'degraded', 200],
    [{ check: away, onFailure: () => 'degraded' }, 'degraded', 200],
    [{ check: away, onFailure: () => 'fine' }, 'error', 503],
    [{ check: away, onFailure: () => JSON.parse('no JSON') }, 'error', 503],
    [{ check: () => false, onFailure: 'degraded' }, 'degraded', 200],
    [{ check: () => 'degraded', onFailure: 'error' }, 'degraded', 200],
    [{ check: () => true, onFailure: 'degraded' }, 'ok', 200],
  ])('%#', async (stock, outcome, status) => {
    const seen = await ready({}, { stock })
    expect([seen.status, seen.body]).toEqual([status, { status: outcome, checks: { stock: outcome } }])
  })

  test('of a check in the options as well, and a function decides by the services of its scope', async () => {
    const onFailure = (services: { has(name: string): boolean }) => (services.has('openapi') ? 'error' : 'degraded')
    const seen = await ready({ checks: { stock: { check: away, onFailure } } })
    expect(seen.body).toEqual({ status: 'degraded', checks: { stock: 'degraded' } })
  })

  test('one that only degrades is logged with its reason', async () => {
    const { log } = await ready({}, { stock: { check: away, onFailure: 'degraded' } })
    const [line] = log.filter(({ level }) => level === 'warn')
    expect(line).toMatchObject({ message: 'the health check "stock" is degraded', fields: { check: 'stock' } })
    expect((line!.fields.err as Error).message).toBe('away')
  })
})

describe('the options', () => {
  const checks = { stock: away, paper: { check: away, onFailure: 'degraded' }, ink: () => true }

  test('degrade, require and off change how checks count', async () => {
    expect(await ready({}, checks)).toMatchObject({
      body: { checks: { stock: 'error', paper: 'degraded', ink: 'ok' } },
    })
    expect(await ready({ degrade: ['stock'] }, checks)).toMatchObject({
      status: 200,
      body: { status: 'degraded', checks: { stock: 'degraded', paper: 'degraded', ink: 'ok' } },
    })
    expect(await ready({ off: ['stock'], require: ['paper', 'ink'] }, checks)).toMatchObject({
      status: 503,
      body: { status: 'error', checks: { paper: 'error', ink: 'ok' } },
    })
    expect(await ready({ require: ['half'] }, { half: () => 'degraded' })).toMatchObject({ status: 503 })
  })

  test('a check that is off is not run, and a second one of its name is not a clash', async () => {
    let runs = 0
    const stock = () => runs++
    const other = definePlugin({ name: 'other', health: { stock } })()
    const { server } = serverWith({ off: ['stock'] }, shop({ stock }), other)
    ;(await server.inject.get('/health/ready')).assertBodyDeepEqual({ status: 'ok', checks: {} })
    expect(runs).toBe(0)
  })

  test.each<[Options, string]>([
    [
      { degrade: ['stok'] },
      'health.degrade names "stok", and there is no such check. Did you mean "stock"? Known checks: stock',
    ],
    [{ require: ['paper'] }, 'health.require names "paper", and there is no such check. Known checks: stock'],
    [{ off: ['Stock'] }, 'health.off names "Stock"'],
    [{ cacheFor: { stocks: 5 } }, 'health.cacheFor names "stocks"'],
  ])('%j fails the boot', async (options, message) => {
    await expect(ready(options, { stock: away })).rejects.toThrow(message)
  })

  test('without any check, the message says so', async () => {
    await expect(ready({ off: ['mailer'] })).rejects.toThrow('Known checks: none')
  })

  test.each<[unknown, string]>([
    [{ degrade: ['a'], require: ['a'] }, 'health.degrade and health.require both name the check "a"'],
    [{ require: ['a'], off: ['b', 'a'] }, 'health.require and health.off both name the check "a"'],
    [{ degrade: 'mailer' }, 'health.degrade'],
    [{ cacheFor: 5 }, 'health.cacheFor'],
    [{ cacheFor: { mailer: '1m' } }, 'health.cacheFor.mailer'],
    [{ checks: { a: { check: away, onFailure: 'ignore' } } }, 'health.checks.a.onFailure'],
    [{ checks: { a: { onFailure: 'error' } } }, 'health.checks.a.check'],
    [{ checks: { a: { check: away, onFailures: 'error' } } }, 'Did you mean "onFailure"'],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => serverWith(options as Options)).toThrow(message)
  })
})

describe('calls', () => {
  test('the probes of 100 concurrent clients make one', async () => {
    let runs = 0
    let open: (() => void) | undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const stock = () => {
      runs++
      return gate
    }
    const { server } = serverWith({ timeout: 60_000 }, shop({ stock }))
    await server.listen()
    const probes = Array.from({ length: 100 }, async () => (await fetch(`${server.url}/health/ready`)).status)
    while (server.requestsInFlight < 100) await pause(5)
    open!()
    expect(new Set(await Promise.all(probes))).toEqual(new Set([200]))
    expect(runs).toBe(1)
  })

  test('a result counts for cacheFor, whether good or bad, and the options change it', async () => {
    using clock = testClock()
    const runs = { paid: 0, free: 0, own: 0 }
    const counted = (name: keyof typeof runs, cacheFor?: number) => ({
      check: () => ++runs[name] === 1 || away(),
      ...(cacheFor !== undefined && { cacheFor }),
    })
    const checks = { paid: counted('paid', 30_000), free: counted('free'), own: counted('own') }
    const { server } = serverWith({ cacheFor: { own: 10_000 } }, shop(checks))
    const probe = async () => ((await server.inject.get('/health/ready')).body() as { checks: object }).checks
    expect(await probe()).toEqual({ paid: 'ok', free: 'ok', own: 'ok' })
    expect(await probe()).toEqual({ paid: 'ok', free: 'error', own: 'ok' })
    await clock.advance(10_000)
    expect(await probe()).toEqual({ paid: 'ok', free: 'error', own: 'error' })
    await clock.advance(20_000)
    expect(await probe()).toEqual({ paid: 'error', free: 'error', own: 'error' })
    await probe()
    expect(runs).toEqual({ paid: 2, free: 5, own: 3 })
  })

  test('a check learns when its time is over, and its own reason is reported', async () => {
    const stock = (_services: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('10.0.0.1 is silent')))
      })
    const { log } = await ready({ timeout: 20 }, { stock })
    expect((log.find(({ level }) => level === 'warn')!.fields.err as Error).message).toBe('10.0.0.1 is silent')
  })

  test('a call that never settles is given up after a minute', async () => {
    using clock = testClock()
    let runs = 0
    const stock = () => (++runs === 1 ? new Promise(() => {}) : true)
    const { server } = serverWith({ timeout: 20 }, shop({ stock }))
    for (let i = 0; i < 3; i++) (await server.inject.get('/health/ready')).assertStatus(503)
    expect(runs).toBe(1)
    await clock.advance(60_000)
    ;(await server.inject.get('/health/ready')).assertStatus(200)
  })
})

describe('who shows the outcomes', () => {
  test('metrics, the worst of the scopes that have probes', async () => {
    const checks = { good: () => true, bad: away, half: { check: away, onFailure: 'degraded' } }
    const { server } = serverWith({}, shop(checks))
    const setup = (ctx: { register(plugin: object): unknown }) => void ctx.register(health({ degrade: ['bad'] }))
    server.register(definePlugin({ name: 'internal', prefix: '/internal', setup: setup as never })())
    const { metrics } = await import('framework/plugins')
    server.register(metrics())
    const text = (await server.inject.get('/metrics')).text()
    expect(text.match(/^health_check\{.*$/gm)!.sort()).toEqual([
      'health_check{check="bad"} 0',
      'health_check{check="good"} 1',
      'health_check{check="half"} 0.5',
    ])
  })

  test('the doctor, with the remedy', async () => {
    const checks = {
      good: () => true,
      bad: { check: away, remedy: 'Start the stock' },
      half: { check: () => 'degraded' },
    }
    const { server } = serverWith({}, shop(checks))
    await server.ready()
    const examination = new Examination()
    await examination.askPlugins({ folder: '/', file: '/server.ts', production: false, server, booted: true }, true)
    expect(examination.found.map(({ level, code, problem, remedy }) => [level, code, problem, remedy])).toEqual([
      [
        'warning',
        'health.check-fails',
        'the health check "bad" fails, so the server is not ready: away',
        'Start the stock, or run this where the application runs',
      ],
      [
        'hint',
        'health.check-fails',
        'the health check "half" is degraded',
        'Start the service that it checks, or correct the options that name it, or run this where the application runs',
      ],
    ])
  })
})

describe('checks of the framework', () => {
  test('a mail server that is silent degrades the server in time, and closing does not wait for it', async () => {
    const silent = createServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const { mailer } = await import('framework/plugins')
    const transporter = { host: '127.0.0.1', port }
    const providers = { main: { transporter, from: 'a@example.org' } }
    const { server } = serverWith({ timeout: 50 }, mailer({ providers, defaultProvider: 'main', timeout: 60_000 }))
    const res = await server.inject.get('/health/ready')
    expect([res.statusCode(), res.body()]).toEqual([200, { status: 'degraded', checks: { mailer: 'degraded' } }])
    const began = performance.now()
    await servers.pop()!.close()
    expect(performance.now() - began).toBeLessThan(20_000)
    silent.close()
  })

  test('mqtt before the server listens has nothing to ask', async () => {
    const { mqtt } = await import('framework/plugins')
    const { server } = serverWith({}, mqtt({ connect: { provider: 'memory' } }))
    ;(await server.inject.get('/health/ready')).assertBodyDeepEqual({ status: 'ok', checks: { mqtt: 'ok' } })
    await server.listen()
    ;(await server.inject.get('/health/ready')).assertBodyDeepEqual({ status: 'ok', checks: { mqtt: 'ok' } })
  })

  test('every disk of a storage counts', async () => {
    const { storage } = await import('framework/plugins')
    const { MemoryStorageProvider } = await import('framework')
    const broken = Object.assign(new MemoryStorageProvider(), { ping: away })
    const providers = { files: new MemoryStorageProvider(), broken }
    const { server } = serverWith({}, storage({ providers, defaultProvider: 'files' }))
    const res = await server.inject.get('/health/ready')
    expect(res.body()).toEqual({ status: 'degraded', checks: { storage: 'degraded' } })
  })

  test('engines of the application that have the same name are both asked', async () => {
    const { createQueue } = await import('framework')
    const { queues } = await import('framework/plugins')
    const engine = (ping: () => Promise<unknown>) => ({
      name: 'twin',
      publish: async () => ({ id: '1' }),
      subscribe: async () => {},
      unsubscribe: async () => {},
      ping,
    })
    // Queues belong to the process: the servers of later files would find this one away.
    let isAway = true
    onTestFinished(() => {
      isAway = false
    })
    createQueue(
      'one',
      engine(async () => void (isAway && (await away()))),
    )
    createQueue(
      'two',
      engine(async () => {}),
    )
    const { server, log } = serverWith({}, queues())
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    expect((log.find(({ level }) => level === 'warn')!.fields.err as Error).message).toBe('away')
  })

  test('the doctor asks the broker, which the server has not connected to', async () => {
    const { mqtt } = await import('framework/plugins')
    const port = await freePort()
    const [first, second] = [true, false].map((required) =>
      serverWith({}, mqtt({ connect: { host: '127.0.0.1', port, required } })),
    )
    const findings = async ({ server }: { readonly server: Server }) => {
      const examination = new Examination()
      await server.ready()
      await examination.askPlugins({ folder: '/', file: '/server.ts', production: false, server, booted: true }, true)
      return examination.found
    }
    const problem = expect.stringMatching(/the broker mqtt:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/)
    const found = { code: 'mqtt.unavailable', problem, remedy: 'Start the broker, or correct mqtt.connect' }
    expect(await findings(first!)).toEqual([{ ...found, level: 'warning' }])
    expect(await findings(second!)).toEqual([{ ...found, level: 'hint' }])
  })
})
