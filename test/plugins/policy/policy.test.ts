import {
  defineMiddleware,
  definePlugin,
  PolicyManager,
  type PolicyRequirement,
  type Request,
  RouteCollection,
  Server,
} from 'framework'
import { clock } from 'framework/kernel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { gate } from '../../support/queues.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(more: object = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({ router: new RouteCollection(), logger, port: 0, host: '127.0.0.1', ...more })
  servers.push(server)
  return { server, log: logger.entries }
}

const refused = { error: 'Unauthorized' }
type WithUser = Omit<Request, 'user'> & { user?: unknown }

/** One check as a requirement, whatever its type. */
function need(check: unknown, options?: { timeout?: number; user?: (req: Request) => unknown }): PolicyRequirement {
  return {
    manager: new PolicyManager({ site: { check: check as () => boolean } }, options),
    scope: 'site',
    handler: 'check',
  }
}

describe('a route with a policy', () => {
  test('answers clients that pass, and refuses all others with 401 and the error', async () => {
    const { server, log } = makeServer()
    const handler = vi.fn(() => 'in')
    server.get('/a', { policy: need((_user: unknown, req: Request) => req.headers.key === 'ok') }, handler)
    const no = await server.inject.get('/a')
    no.assertStatus(401).assertBodyDeepEqual(refused).assertHeader('content-type', 'application/json; charset=utf-8')
    expect(handler).not.toHaveBeenCalled()
    ;(await server.inject.get('/a', { headers: { key: 'ok' } })).assertStatus(200).assertBodyDeepEqual('in')
    ;(await server.inject.head('/a')).assertStatus(401)
    expect(log).toEqual([])
  })

  test('is refused when its policy is undefined: an import that went wrong must not leave it open', () => {
    const { server } = makeServer()
    expect(() => server.get('/a', { policy: undefined as never }, () => 1)).toThrow(
      /^GET \/a \(registered at .*"policy" is undefined/,
    )
  })

  test('asks about req.user, with the request', async () => {
    const { server } = makeServer()
    const check = vi.fn(() => true)
    server.use((req, _res, next) => {
      ;(req as WithUser).user = 'ann'
      return next()
    })
    server.get('/a', { policy: need(check) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(200)
    expect(check).toHaveBeenCalledWith('ann', expect.objectContaining({ path: '/a' }))
  })

  test.each([
    ['at once', () => 'ann'],
    ['by a promise', async () => 'ann'],
  ])('asks about the subject that the manager finds %s', async (_how, user) => {
    const { server } = makeServer()
    server.get('/a', { policy: need((subject: unknown) => subject === 'ann', { user }) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(200)
  })

  test('never takes a promise for a user', async () => {
    const { server } = makeServer()
    const present = (subject: unknown) => subject !== undefined
    server.get('/a', { policy: need(present, { user: async () => undefined }) }, () => 1)
    server.get('/b', { policy: need(present) }, () => 1)
    server.use((req, _res, next) => {
      ;(req as WithUser).user = Promise.resolve(undefined)
      return next()
    })
    ;(await server.inject.get('/a')).assertStatus(401)
    ;(await server.inject.get('/b')).assertStatus(401)
  })

  test('needs all of a list; the first that refuses is the last that is asked', async () => {
    const { server } = makeServer()
    const asked: string[] = []
    const manager = new PolicyManager({
      site: {
        yes: () => asked.push('yes') > 0,
        later: async () => asked.push('later') > 0,
        no: () => asked.push('no') === 0,
        never: () => asked.push('never') > 0,
      },
    })
    const named = (handler: 'yes' | 'later' | 'no' | 'never') => ({ manager, scope: 'site', handler }) as const
    server.get('/a', { policy: [named('yes'), named('later'), named('no'), named('never')] }, () => 1)
    server.get('/b', { policy: [named('later'), named('yes')] }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(401)
    expect(asked).toEqual(['yes', 'later', 'no'])
    ;(await server.inject.get('/b')).assertStatus(200)
  })

  test('runs after the middlewares of scopes and groups, before its own', async () => {
    const { server } = makeServer()
    const order: string[] = []
    const note = (name: string) =>
      Object.defineProperty(
        defineMiddleware((_req, _res, next) => {
          order.push(name)
          return next()
        }),
        'name',
        { value: name },
      )
    server.use(note('server'))
    server.group('/g', [note('group')], (r) => {
      const policy = need(() => order.push('policy') > 0)
      r.get('/a', { policy, middlewares: [note('route')] }, () => order.push('handler') > 0)
    })
    ;(await server.inject.get('/g/a')).assertStatus(200)
    expect(order).toEqual(['server', 'group', 'policy', 'route', 'handler'])
    const steps = server.explain('GET', '/g/a').steps.filter(({ slot }) => slot === 'guard')
    expect(steps).toEqual([expect.objectContaining({ name: 'policy(site.check)', plugin: 'policy' })])
  })

  test('stays synchronous when its check is', async () => {
    const { server } = makeServer()
    const order: string[] = []
    server.use((_req, _res, next) => {
      const behind = next()
      order.push(`back with ${typeof behind}`)
      return behind
    })
    server.get('/a', { policy: [need(() => true), need(() => true)] }, () => order.push('handler') > 0)
    server.get('/b', { policy: need(() => false) }, () => 1)
    for (const path of ['/a', '/b']) await server.inject.get(path)
    expect(order).toEqual(['handler', 'back with undefined', 'back with undefined'])
  })

  test('works in plugins with a scope, on the shared router and for routes registered late', async () => {
    const router = new RouteCollection()
    router.get('/shared', { policy: need(() => false) }, () => 1)
    const { server } = makeServer({ router })
    const admin = definePlugin({
      name: 'admin',
      scoped: true,
      setup: (ctx) => ctx.get('/scoped', { policy: need(() => false) }, () => 1),
    })
    server.register(admin(), { prefix: '/admin' })
    await server.ready()
    server.get('/late', { policy: need(() => false) }, () => 1)
    for (const path of ['/shared', '/admin/scoped', '/late']) (await server.inject.get(path)).assertStatus(401)
  })

  test('costs other routes nothing', async () => {
    const { server } = makeServer()
    server.get('/a', () => 1)
    await server.ready()
    expect(server.explain('GET', '/a').steps.some(({ plugin }) => plugin === 'policy')).toBe(false)
  })
})

describe('a check that does not answer true or false', () => {
  const throwing = () => {
    throw new Error('database is away')
  }
  test.each<[string, unknown, string]>([
    ['throws', throwing, 'threw'],
    ['throws nothing', () => Promise.reject(undefined), 'rejected'],
    ['rejects', async () => throwing(), 'rejected'],
    ['answers undefined', () => undefined, 'undefined'],
    ['answers null', () => null, 'null'],
    ["answers 'false'", () => 'false', 'string'],
    ['answers 1', () => 1, 'number'],
    ['answers an object', () => ({ allowed: false }), 'object'],
    ['answers a function', () => () => true, 'function'],
    ['resolves to 1', async () => 1, 'number'],
    ['resolves to undefined', async () => undefined, 'undefined'],
    [
      'is a broken thenable',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is what is tested
        get then() {
          throw new Error('no')
        },
      }),
      'threw',
    ],
    ['resolves to a boolean object', async () => new Boolean(true), 'object'],
  ])('%s: denied, and logged with its name', async (_what, check, why) => {
    const { server, log } = makeServer()
    server.get('/a', { policy: need(check) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(401).assertBodyDeepEqual(refused)
    expect(log).toHaveLength(1)
    expect(log[0]).toMatchObject({ level: 'error', fields: { policy: 'site.check', reqId: expect.any(String) } })
    expect(log[0]!.message).toContain(why)
  })

  test('needs a plugin that is not registered: denied, and the log names the plugin', async () => {
    const { server, log } = makeServer()
    const check = (_user: unknown, req: { session: { admin?: boolean } }) => req.session.admin === true
    server.get('/a', { policy: need(check) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(401)
    expect(log.map(({ message }) => message)).toEqual([
      'a policy check threw (req.session is added by the plugin "session", which is not registered): access is denied',
    ])
  })

  test('never settles: the time-out ends the request', async () => {
    const { server, log } = makeServer()
    server.get('/a', { policy: need(() => new Promise(() => {}), { timeout: 30 }) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(401).assertBodyDeepEqual(refused)
    expect(log.map(({ message }) => message)).toEqual(['a policy check did not settle within 30 ms: access is denied'])
  })

  test('says yes or fails when the time is up: nothing comes of it', async () => {
    const { server, log } = makeServer()
    const handler = vi.fn(() => 1)
    const over = gate()
    const late = (end: () => boolean) => need(() => over.opened.then(end), { timeout: 10 })
    server.get('/a', { policy: late(() => true) }, handler)
    server.get('/b', { policy: late(() => throwing()) }, handler)
    for (const path of ['/a', '/b']) (await server.inject.get(path)).assertStatus(401)
    over.open()
    await pause(20)
    expect(handler).not.toHaveBeenCalled()
    expect(log).toHaveLength(2)
  })

  test('has no time-out running once it has answered', async () => {
    const { server } = makeServer()
    const set = vi.spyOn(clock, 'setTimeout')
    const cleared = vi.spyOn(clock, 'clear')
    server.get('/a', { policy: need(async () => true, { timeout: 54_321 }) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(200)
    const at = set.mock.calls.findIndex(([, ms]) => ms === 54_321)
    expect(cleared).toHaveBeenCalledWith(set.mock.results[at]!.value)
    set.mockRestore()
    cleared.mockRestore()
  })

  test.each([
    ['throws', () => throwing()],
    ['rejects', async () => throwing()],
    ['never settles', () => new Promise(() => {})],
  ])('a subject that %s is not a subject', async (_what, user) => {
    const { server, log } = makeServer()
    server.get('/a', { policy: need(() => true, { user, timeout: 20 }) }, () => 1)
    ;(await server.inject.get('/a')).assertStatus(401)
    expect(log).toHaveLength(1)
  })
})
