import { definePlugin, RouteCollection, Server } from 'framework'
import { type HealthOptions, health } from 'framework/plugins/health'
import { describe, expect, test } from 'vitest'
import { memoryLogger, pause, send } from '../support/kernel.ts'

function serving(options: HealthOptions = {}, more: object = {}) {
  const logger = memoryLogger()
  const server = new Server({
    router: new RouteCollection(),
    logger,
    port: 0,
    host: '127.0.0.1',
    gracefulShutdown: false,
    plugins: { health: options },
    ...more,
  })
  return { server, log: logger.entries }
}

describe('the probes', () => {
  test('say that the server lives and is ready', async () => {
    const { server } = serving()
    expect(await send(server, '/health/live')).toMatchObject({
      status: 200,
      json: { status: 'ok' },
      headers: { 'cache-control': 'no-store' },
    })
    expect(await send(server, '/health/ready')).toMatchObject({
      status: 200,
      json: { status: 'ok', checks: {} },
      headers: { 'cache-control': 'no-store' },
    })
    expect((await send(server, '/health/live', 'HEAD')).status).toBe(200)
  })

  test('have the paths they are given, or none', async () => {
    const { server } = serving({ live: '/up', ready: false })
    expect((await send(server, '/up')).status).toBe(200)
    expect((await send(server, '/health/live')).status).toBe(404)
    expect((await send(server, '/health/ready')).status).toBe(404)
  })

  test('work in the array form', async () => {
    const server = new Server({ router: new RouteCollection(), plugins: [health()] })
    expect((await send(server, '/health/ready')).status).toBe(200)
  })

  test.each([
    [{ live: 'up' }, /"health.live" is "up"; it takes a path/],
    [{ checks: { db: 5 } }, /"health.checks.db" is 5; it takes a function/],
    [{ timeout: 0 }, /"health.timeout" is 0/],
    [{ redy: '/x' }, /"health.redy" is no option. Did you mean "ready"\?/],
  ])('refuse the options %j', async (options, message) => {
    await expect(serving(options as never).server.ready()).rejects.toThrow(message)
  })
})

describe('checks', () => {
  test('that fail, throw, reject or hang make it not ready, and the log says why', async () => {
    const { server, log } = serving({
      timeout: 30,
      checks: {
        fine: () => true,
        silent: () => {},
        no: () => false,
        throws: () => {
          throw new Error('down')
        },
        rejects: () => Promise.reject(new Error('refused: password=hunter2')),
        hangs: () => new Promise(() => {}),
      },
    })
    const res = await send(server, '/health/ready')
    expect(res).toMatchObject({
      status: 503,
      json: {
        status: 'error',
        checks: { fine: 'ok', silent: 'ok', no: 'error', throws: 'error', rejects: 'error', hangs: 'error' },
      },
    })
    expect(res.text).not.toContain('hunter2')
    expect(log.map((entry) => entry.fields.check).sort()).toEqual(['hangs', 'no', 'rejects', 'throws'])
    expect((await send(server, '/health/live')).status).toBe(200)
  })

  test('run side by side', async () => {
    const slow = () => pause(50)
    const { server } = serving({ checks: { a: slow, b: slow, c: slow } })
    await server.ready()
    const start = performance.now()
    await send(server, '/health/ready')
    expect(performance.now() - start).toBeLessThan(120)
  })
})

describe('over a socket', () => {
  test('ready turns false first when the server closes, live stays', async () => {
    const { server } = serving({}, { drainWindow: 400 })
    const { port } = await server.listen()
    const ask = async (probe: string) => {
      const res = await fetch(`http://127.0.0.1:${port}/health/${probe}`)
      return { status: res.status, body: await res.json() }
    }
    expect(await ask('ready')).toEqual({ status: 200, body: { status: 'ok', checks: {} } })
    const closed = server.close()
    await pause(30)
    expect(await ask('ready')).toEqual({ status: 503, body: { status: 'closing' } })
    expect((await ask('live')).status).toBe(200)
    await closed
  })

  test('ready waits for the plugins that start with the socket', async () => {
    const { server } = serving()
    let status: number | undefined
    server.register(
      definePlugin({
        name: 'workers',
        setup: (ctx) =>
          ctx.onListen(async ({ port }) => {
            status = (await fetch(`http://127.0.0.1:${port}/health/ready`)).status
          }),
      })(),
    )
    const { port } = await server.listen()
    expect(status).toBe(503)
    expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200)
    await server.close()
  })
})
