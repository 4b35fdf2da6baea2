import { definePlugin, RouteCollection, Server } from 'framework'
import { health } from 'framework/plugins'
import type { CheckedServices } from 'framework/plugins/health'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Options = Parameters<typeof health>[0]

function makeServer(options: object | true = {}, more: object = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({
    plugins: { health: options },
    router: new RouteCollection(),
    logger,
    port: 0,
    host: '127.0.0.1',
    ...more,
  })
  servers.push(server)
  return { server, log: logger.entries }
}

describe('the probes', () => {
  test.each([
    ['object form', { health: true }],
    ['array form', [health()]],
    ['array form, not called', [health]],
  ])('in %s', async (_form, plugins) => {
    const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger: memoryLogger() })
    servers.push(server)
    const live = await server.inject.get('/health/live')
    live.assertStatus(200).assertBodyDeepEqual({ status: 'ok' }).assertHeader('cache-control', 'no-store')
    const ready = await server.inject.get('/health/ready')
    ready.assertStatus(200).assertBodyDeepEqual({ status: 'ok', checks: {} }).assertHeader('cache-control', 'no-store')
    ;(await server.inject.head('/health/ready')).assertStatus(200)
    ;(await server.inject.post('/health/live')).assertStatus(405).assertHeader('allow', 'GET')
  })

  test('a check is given the services, also in a scope of its own', async () => {
    const seen: unknown[] = []
    const checks = {
      queues: async (services: CheckedServices) => void seen.push(await services.get('queues').counts()),
    }
    for (const prefix of [undefined, '/internal']) {
      const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { queues: true } })
      servers.push(server)
      server.register(health({ checks }), prefix === undefined ? {} : { prefix })
      ;(await server.inject.get(`${prefix ?? ''}/health/ready`)).assertStatus(200)
    }
    expect(seen).toEqual([[], []])
  })

  test('paths of their own, or none', async () => {
    const { server } = makeServer({ live: '/livez', ready: false })
    ;(await server.inject.get('/livez')).assertStatus(200)
    for (const path of ['/health/live', '/health/ready']) (await server.inject.get(path)).assertStatus(404)
  })

  test('under the prefix they are registered with', async () => {
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
    servers.push(server)
    server.register(health(), { prefix: '/internal' })
    ;(await server.inject.get('/internal/health/live')).assertStatus(200)
  })

  test('are left out of the log', async () => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    const server = new Server({ plugins: { log: { stream }, health: true }, router: new RouteCollection() })
    servers.push(server)
    for (const path of ['/health/live', '/health/ready', '/other']) await server.inject.get(path)
    expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual(['/other'])
  })
})

describe('checks', () => {
  const outcomeOf = async (checks: NonNullable<Options>['checks'], timeout = 30) => {
    const { server, log } = makeServer({ checks, timeout })
    const res = await server.inject.get('/health/ready')
    return { status: res.statusCode(), body: res.body(), text: res.text(), log }
  }

  test('that pass', async () => {
    const result = await outcomeOf({
      a: () => true,
      b: async () => true,
      c: () => {},
      d: () => 0,
      e: () => Promise.resolve(null),
    })
    const ok = { a: 'ok', b: 'ok', c: 'ok', d: 'ok', e: 'ok' }
    expect(result).toMatchObject({ status: 200, body: { status: 'ok', checks: ok }, log: [] })
  })

  const failing: [string, () => unknown, string][] = [
    ['false', () => false, 'it returned false'],
    ['a promise of false', async () => false, 'it returned false'],
    [
      'a throw',
      () => {
        throw new Error('down at 10.0.0.1')
      },
      'down at 10.0.0.1',
    ],
    ['a rejection', () => Promise.reject(new Error('down at 10.0.0.1')), 'down at 10.0.0.1'],
    ['a rejection with nothing', () => Promise.reject(undefined), ''],
    ['a promise that never settles', () => new Promise(() => {}), 'no response within 30 ms'],
    ['a promise that settles too late', () => pause(2_000), 'no response within 30 ms'],
  ]
  test.each(failing)('%s is a failure, and the client does not learn why', async (_name, check, why) => {
    const result = await outcomeOf({ good: () => true, bad: check })
    expect(result.status).toBe(503)
    expect(result.body).toEqual({ status: 'error', checks: { good: 'ok', bad: 'error' } })
    expect(result.text).not.toContain('10.0.0.1')
    const warned = result.log.filter((entry) => entry.level === 'warn')
    expect(warned).toMatchObject([{ fields: { check: 'bad' }, message: 'the health check "bad" fails' }])
    const { err } = warned[0]!.fields
    expect(err === undefined ? '' : (err as Error).message).toBe(why)
  })

  test('run side by side', async () => {
    let begun = 0
    let all = () => {}
    const together = new Promise<void>((resolve) => {
      all = resolve
    })
    const check = () => {
      if (++begun === 20) all()
      return together
    }
    const checks = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, check]))
    expect((await outcomeOf(checks, 60_000)).status).toBe(200)
  })

  test('one that hangs is not run again by every probe', async () => {
    let runs = 0
    let finish: (() => void) | undefined
    const hangs = () => {
      if (++runs > 1) return undefined
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    }
    const { server, log } = makeServer({ checks: { hangs }, timeout: 100 })
    await Promise.all(Array.from({ length: 10 }, () => server.inject.get('/health/ready')))
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    expect(runs).toBe(1)
    finish!()
    await pause(1)
    ;(await server.inject.get('/health/ready')).assertStatus(200)
    expect(runs).toBe(2)
    expect(log.map((entry) => entry.message)).toEqual([
      'the health check "hangs" fails',
      'the health check "hangs" passes again',
    ])
  })

  test('a check that fails after its time leaves no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    await outcomeOf({ late: () => pause(40).then(() => Promise.reject(new Error('late'))) }, 5)
    await pause(60)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  test('live does not run them', async () => {
    let runs = 0
    const { server } = makeServer({ checks: { a: () => runs++ } })
    await server.inject.get('/health/live')
    expect(runs).toBe(0)
  })
})

describe('the life of a server', () => {
  test('ready is no while listen hooks run, live is yes', async () => {
    const { server } = makeServer(true)
    const seen: unknown[] = []
    const slow = definePlugin({
      name: 'slow',
      setup(ctx) {
        ctx.onListen(async () => {
          for (const path of ['/health/live', '/health/ready']) {
            const res = await fetch(`${ctx.server.url}${path}`)
            seen.push([res.status, ((await res.json()) as { status: string }).status])
          }
        })
      },
    })
    server.register(slow())
    await server.listen()
    expect(seen).toEqual([
      [200, 'ok'],
      [503, 'starting'],
    ])
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
  })

  test('ready is no within the drain window, live is yes', async () => {
    const { server } = makeServer(true, { drainWindow: 10_000, closeTimeout: 30_000 })
    await server.listen()
    const ask = async (path: string) => {
      const res = await fetch(`${server.url}${path}`, { headers: { connection: 'close' } })
      return [res.status, ((await res.json()) as { status: string }).status]
    }
    // A connection that stays open keeps the window open.
    const { connect } = await import('node:net')
    const socket = connect(server.port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    const closed = server.close()
    expect(await ask('/health/ready')).toEqual([503, 'closing'])
    expect(await ask('/health/live')).toEqual([200, 'ok'])
    socket.destroy()
    await closed
  })
})

describe('checks that plugins bring', () => {
  const plugin = (name: string, health: object, more: object = {}) =>
    definePlugin({ name, health: health as never, ...more })()
  const ready = async (plugins: readonly object[], checks: NonNullable<Options>['checks'] = {}) => {
    const server = new Server<{}>({
      plugins: [...plugins, health({ checks })] as {},
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    servers.push(server)
    const res = await server.inject.get('/health/ready')
    return { status: res.statusCode(), checks: (res.body() as { checks: object }).checks }
  }

  test('count like those of the options, wherever the plugin is in the tree', async () => {
    const inner = plugin('inner', { disk: () => false }, { scoped: true })
    const outer = definePlugin({ name: 'outer', scoped: true, setup: (ctx) => void ctx.register(inner) })()
    expect(await ready([plugin('data', { database: async () => true }), outer], { mine: () => true })).toEqual({
      status: 503,
      checks: { database: 'ok', disk: 'error', mine: 'ok' },
    })
  })

  test('get the services of their own scope', async () => {
    const store = definePlugin({
      name: 'store',
      scoped: true,
      provide: () => ({ store: { works: true } }),
      health: { store: (services) => (services.get as (name: string) => { works: boolean })('store').works },
    })
    expect(await ready([store()])).toEqual({ status: 200, checks: { store: 'ok' } })
  })

  test('of a plugin in several scopes pass when all of them do', async () => {
    const store = definePlugin({
      name: 'store',
      options: (given: boolean) => ({ works: given }),
      provide: (settings) => ({ store: settings }),
      health: { store: (services) => (services.get as (name: string) => { works: boolean })('store').works },
    })
    const part = (name: string, works: boolean) =>
      definePlugin({ name, scoped: true, setup: (ctx) => void ctx.register(store(works)) })()
    expect((await ready([part('one', true), part('two', true)])).checks).toEqual({ store: 'ok' })
    expect((await ready([part('one', true), part('two', false)])).checks).toEqual({ store: 'error' })
  })

  test('of one name are an error that names both plugins, unless the options have one of that name', async () => {
    const plugins = [plugin('one', { database: () => true }), plugin('two', { database: () => false })]
    await expect(ready(plugins)).rejects.toThrow(
      /the plugins "one" and "two" both have the health check "database"\. .*health: \{ checks: \{ "database": … \} \}/,
    )
    expect(await ready(plugins, { database: () => true })).toEqual({ status: 200, checks: { database: 'ok' } })
  })

  test('that are not checks are an error that names the plugin', async () => {
    await expect(ready([plugin('one', { database: 'select 1' })])).rejects.toThrow(
      'the plugin "one" has health checks that cannot be used: the option "health.database" is a string (not shown); it takes a function',
    )
    await expect(ready([plugin('one', [])])).rejects.toThrow(
      '"health" is an empty array; it takes an object of functions',
    )
  })

  test('a misspelt member of the definition is an error', () => {
    expect(() => plugin('one', {}, { helth: {} })).toThrow('did you mean "health"?')
  })
})

describe('invalid options', () => {
  test.each([
    [{ live: 'health' }, /health\.live.*begins with "\/"/],
    [{ ready: true }, /health\.ready/],
    [{ checks: { db: 'select 1' } }, /health\.checks\.db.*a function/],
    [{ checks: [] }, /health\.checks/],
    [{ timeout: 0 }, /health\.timeout.*milliseconds/],
    [{ timeout: '2s' }, /health\.timeout/],
    [{ check: {} }, /Did you mean "checks"/],
    [{ live: 5, checks: { a: 1, b: 2 } }, /3 options are wrong:\n.*live.*\n.*checks\.a.*\n.*checks\.b/],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => makeServer(options)).toThrow(message)
  })
})
