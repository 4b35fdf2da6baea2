import { setTimeout as pause } from 'node:timers/promises'
import { type Logger, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as middleware from './1-middleware.ts'
import * as plugin from './2-plugin.ts'
import * as service from './3-service.ts'
import * as option from './4-route-option.ts'
import { laps } from './5-decorate.ts'
import { slowReport } from './6-report.ts'
import { slowSummary } from './7-life.ts'
import { slowTools } from './8-data.ts'

/** A logger that collects the messages of warnings. */
function warnings(lines: string[] = []): Logger & { lines: string[] } {
  const ignore = () => {}
  const warn = (first: string | object, message?: string) => {
    lines.push(typeof first === 'string' ? first : String(message))
  }
  return { lines, debug: ignore, info: ignore, warn, error: ignore, child: () => warnings(lines) }
}

function routes(nap: () => unknown = () => pause(130)): RouteCollection {
  const routes = new RouteCollection()
  routes.get('/nap/:id', nap)
  routes.get('/fast', () => 'fast')
  return routes
}

/** A nap by a clock of its own: on a busy machine, other requests may take long as well. */
function exactNap() {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return () => {
    now += 130
  }
}

const get = (server: Server, url: string) => server.inject({ url, headers: { authorization: 'Bearer k' } })

afterEach(() => void vi.restoreAllMocks())

describe('the steps of docs/writing-a-plugin.md', () => {
  test('1: a middleware', async () => {
    const logger = warnings()
    await using server = new Server({ router: routes(exactNap()), logger, plugins: [middleware.slow] })
    for (const path of ['/nap/1', '/fast']) await get(server, path)
    expect(logger.lines).toEqual(['GET /nap/1 was slow'])
  })

  test('2: a plugin with options', async () => {
    const logger = warnings()
    await using server = new Server({ router: routes(exactNap()), logger, plugins: [plugin.slow({ after: 50 })] })
    for (const path of ['/nap/1', '/fast']) await get(server, path)
    expect(logger.lines).toEqual(['GET /nap/1 was slow'])
  })

  test('3: a service', async () => {
    await using server = new Server({ router: routes(exactNap()), plugins: { slow: service.slow() } })
    for (const path of ['/nap/1', '/fast']) await get(server, path)
    expect(server.services.slow.entries).toEqual([{ route: 'GET /nap/:id', ms: expect.any(Number) }])
  })

  test('5: decorated requests', async () => {
    const router = new RouteCollection()
    router.get('/', (req) => {
      req.lap('one')
      req.lap('two')
      return req.laps.map((lap) => lap.name)
    })
    await using server = new Server({ router, plugins: [laps()] })
    expect(new TextDecoder().decode((await get(server, '/')).body)).toBe('["one","two"]')
  })

  test('6: dependencies, and a scope with a prefix', async () => {
    await using server = new Server({ router: routes() })
    server.register(slowReport({ key: 'k' }), { prefix: '/report' })
    server.register(option.slow())
    await get(server, '/nap/1')
    expect((await get(server, '/report')).status).toBe(200)
    expect((await get(server, '/report/1')).status).toBe(200)
    expect((await get(server, '/report/9')).status).toBe(404)
    expect((await server.inject({ url: '/report' })).status).toBe(401)
    expect((await server.inject({ url: '/fast' })).status).toBe(200)
  })

  test('6: a dependency that is missing is named', async () => {
    const server = new Server({ router: routes(), plugins: [slowReport({ key: 'k' })] })
    await expect(server.ready()).rejects.toThrow(/"slow-report" depends on "slow", which is not registered/)
  })

  test('7: jobs that live as long as the server listens', async () => {
    const logger = warnings()
    const plugins = [option.slow({ after: 50 }), slowSummary({ everyMs: 10 })]
    const server = new Server({ router: routes(), logger, plugins, port: 0, host: '127.0.0.1' })
    const { port } = await server.listen()
    await fetch(`http://127.0.0.1:${port}/nap/1`)
    await expect.poll(() => logger.lines).toContain('1 slow requests')
    await server.close()
    const count = logger.lines.length
    await pause(50)
    expect(logger.lines).toHaveLength(count)
  })

  test('8: data that can be read without a server', async () => {
    const server = new Server({ router: routes(), port: 0, host: '127.0.0.1', plugins: [option.slow()] })
    server.register(slowReport({ key: 'k' }), { prefix: '/slow' })
    await server.listen()
    const [command] = (await slowTools.plugin.commands?.()) ?? []
    expect(command?.name).toBe('slow-report')
    const written: string[] = []
    const output = {
      print: (line: string) => written.push(line),
      note: (line: string) => written.push(`(${line})`),
      boot: () => Promise.reject(new Error('it asks a server that runs already')),
    }
    expect(await command?.run({ arguments: { url: server.url }, flags: { key: 'k' }, ...output })).toBe(0)
    expect(await command?.run({ arguments: { url: server.url }, flags: {}, ...output })).toBe(1)
    expect(written).toEqual([expect.stringContaining('['), '(the server answered 401)'])
    await server.close()
    expect(slowTools.plugin.openapi?.tags?.[0]?.name).toBe('slow')
  })
})
