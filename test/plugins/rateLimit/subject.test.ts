import { inspect } from 'node:util'
import { type AuthSubject, definePlugin, type Request } from 'framework'
import { rateLimit } from 'framework/plugins'
import { bearer } from 'framework/plugins/auth'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RouteCollection, Server, type ServerOptions } from '../../../index.ts'
import { memoryLogger } from '../../support/kernel.ts'

const callers: Record<string, unknown> = {
  ada: { id: 'ada', plan: 'pro' },
  bob: { id: 'bob', plan: 'free' },
  number: { id: 7 },
  text: { id: '7' },
  nameless: { plan: 'free' },
  sub: { sub: 'sub' },
}
const scheme = bearer((token) => callers[token] as AuthSubject | undefined)
type Routes = (server: Server) => void

function serverWith(limits: object, routes: Routes = (server) => server.get('/', () => 'ok')) {
  const logger = memoryLogger()
  const plugins = { rateLimit: limits, auth: { schemes: { scheme }, default: 'optional' } } as ServerOptions['plugins']
  const server = new Server({ plugins, router: new RouteCollection(), logger })
  onTestFinished(() => server.close())
  routes(server as never)
  return Object.assign(server, { log: logger.entries })
}
type Testable = Pick<ReturnType<typeof serverWith>, 'inject'>
const asking = (token?: string, ip = '192.0.2.1') => ({
  ip,
  ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
})
async function statuses(server: Testable, n: number, token?: string, url = '/', ip?: string) {
  const all = await Promise.all(Array.from({ length: n }, () => server.inject.get(url, asking(token, ip))))
  return all.map((response) => response.statusCode())
}
const passed = async (...given: Parameters<typeof statuses>) =>
  (await statuses(...given)).filter((status) => status === 200).length

const planOf = ({ user }: Request & { readonly user: AuthSubject }) =>
  (user as { plan?: string }).plan === 'pro' ? 6 : 3

describe('the limit of a subject', () => {
  test('counts callers by their plan, wherever they come from, beside the limit of the address', async () => {
    const server = serverWith({ limit: 30, subject: { limit: planOf } })
    expect(await passed(server, 5, 'ada')).toBe(5)
    expect(await passed(server, 5, 'ada', '/', '192.0.2.2')).toBe(1)
    expect(await passed(server, 5, 'bob')).toBe(3)
    expect(await passed(server, 30)).toBe(20)
    expect(await passed(server, 1, 'sub')).toBe(0)
  })

  test('says which limit has decided', async () => {
    const server = serverWith({ limit: 30, subject: { limit: planOf, windowMs: 3_600_000 } })
    const first = await server.inject.get('/', asking('bob'))
    first.assertHeader('ratelimit-limit', '3').assertHeader('ratelimit-policy', '3;w=3600')
    const anonymous = await server.inject.get('/', asking())
    anonymous.assertHeader('ratelimit-limit', '30')
  })

  test('leaves guesses to the limit of the address, which counts them before they are checked', async () => {
    const server = serverWith({ limit: 4, subject: { limit: 100 } })
    expect(await statuses(server, 6, 'wrong')).toEqual([401, 401, 401, 401, 429, 429])
    expect(await statuses(server, 1, 'ada')).toEqual([429])
  })

  test('never takes 7 for "7", an id for an address, nor the limit of a route for that of the server', async () => {
    const server = serverWith({ limit: 100, subject: { limit: 2 } }, (server) => {
      server.get('/', () => 'ok')
      server.get('/own', { rateLimit: { subject: { limit: 1 } } }, () => 'ok')
    })
    for (const token of ['number', 'text', 'sub']) {
      expect(await passed(server, 5, token)).toBe(2)
      expect(await passed(server, 5, token, '/own')).toBe(1)
    }
  })

  test('of a caller without an id fails closed, and takes a key', async () => {
    const server = serverWith({ subject: { limit: 2 } })
    expect(await statuses(server, 1, 'nameless')).toEqual([500])
    expect(inspect(server.log)).toContain('the caller has neither "id" nor "sub". Set rateLimit.subject.key')
    const byPlan = serverWith({ subject: { limit: 2, key: ({ user }: { user: { plan: string } }) => user.plan } })
    expect(await passed(byPlan, 2, 'nameless')).toBe(2)
    expect(await passed(byPlan, 2, 'bob')).toBe(0)
  })

  test('pays for what a route costs, in its counter or in one of the route', async () => {
    const server = serverWith({ limit: 100, subject: { limit: 12 } }, (server) => {
      server.get('/', () => 'ok')
      server.get('/export', { rateLimit: { subject: { cost: 5 } } }, () => 'ok')
      server.get('/free', { rateLimit: { subject: false } }, () => 'ok')
      server.get('/none', { rateLimit: false }, () => 'ok')
      server.get('/tight', { rateLimit: { limit: 3 } }, () => 'ok')
    })
    expect(await passed(server, 3, 'ada', '/export')).toBe(2)
    expect(await passed(server, 3, 'ada')).toBe(2)
    expect(await passed(server, 3, 'ada', '/free')).toBe(3)
    expect(await passed(server, 3, 'ada', '/none')).toBe(3)
    expect(await passed(server, 1, 'ada', '/tight')).toBe(0)
    expect(await passed(server, 5, 'bob', '/tight', '192.0.2.2')).toBe(3)
  })

  test('comes before validation, policies and the handler, and after the address', async () => {
    const order: string[] = []
    const server = serverWith(
      {
        key: () => void order.push('address'),
        subject: { key: () => void order.push('subject') },
      },
      (server) => server.get('/', () => order.push('handler')),
    )
    await server.inject.get('/', asking('ada'))
    expect(order).toEqual(['address', 'subject', 'handler'])
  })

  test('of an inner scope replaces that of the outer one', async () => {
    const server = serverWith({ subject: { limit: 5 } })
    const inner = definePlugin({
      name: 'inner',
      scoped: true,
      setup(ctx) {
        ctx.register(rateLimit({ subject: { limit: 2 } }))
        ctx.get('/inner', () => 'ok')
      },
    })
    server.register(inner())
    expect(await passed(server, 9, 'ada', '/inner')).toBe(2)
    expect(await passed(server, 9, 'ada')).toBe(5)
  })

  test('without anything that finds callers is reported', async () => {
    for (const [ofServer, ofRoute] of [
      [{ subject: { limit: 2 } }, undefined],
      [true, { subject: { limit: 2 } }],
    ] as const) {
      const logger = memoryLogger()
      const server = new Server({ plugins: { rateLimit: ofServer }, router: new RouteCollection(), logger })
      server.get('/', { ...(ofRoute && { rateLimit: ofRoute }) }, () => 'ok')
      await server.ready()
      expect(inspect(logger.entries)).toContain('this scope has no plugin auth')
      await server.close()
    }
  })
})
