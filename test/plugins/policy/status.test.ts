import {
  type PolicyErrorHandler,
  PolicyManager,
  type PolicyManagerOptions,
  type PolicyRequirement,
  RouteCollection,
  Server,
} from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Ask = { user?: unknown; check?: () => boolean | Promise<boolean>; status?: PolicyRequirement['status'] }

async function refusal(options: PolicyManagerOptions, { user, check = () => false, status }: Ask = {}) {
  const server = new Server<{}>({ router: new RouteCollection(), logger: memoryLogger() } as {})
  servers.push(server)
  server.use((req, _res, next) => {
    Object.assign(req, { user })
    return next()
  })
  const manager = new PolicyManager({ site: { check } }, options as {})
  server.get('/', { policy: { manager, scope: 'site', handler: 'check', ...(status && { status }) } }, () => 'in')
  const res = await server.inject.get('/')
  return [res.statusCode(), res.body()]
}

const unauthorized = [401, { error: 'Unauthorized' }]
const forbidden = [403, { error: 'Forbidden' }]

describe('a refused request', () => {
  test('is 401 for every client, unless the policy says otherwise', async () => {
    expect(await refusal({})).toEqual(unauthorized)
    expect(await refusal({}, { user: { id: 1 } })).toEqual(unauthorized)
  })

  test('is 403 where the manager says so, or the policy of the route', async () => {
    expect(await refusal({ status: 403 })).toEqual(forbidden)
    expect(await refusal({}, { status: 403 })).toEqual(forbidden)
    expect(await refusal({ status: 403 }, { status: 401 })).toEqual(unauthorized)
  })
})

describe('by user', () => {
  const byUser = { status: 'byUser' } as const

  test.each([
    ['an object', { id: 1 }],
    ['a name', 'ada'],
    ['the number 0', 0],
  ])('%s is a user: 403', async (_what, user) => {
    expect(await refusal(byUser, { user })).toEqual(forbidden)
    expect(await refusal({}, { user, status: 'byUser' })).toEqual(forbidden)
  })

  test.each([[undefined], [null], [false]])('%s is not a user: 401', async (user) => {
    expect(await refusal(byUser, { user })).toEqual(unauthorized)
  })

  test('the user is that of the manager, a promise too', async () => {
    expect(await refusal({ ...byUser, user: () => 'ada' })).toEqual(forbidden)
    expect(await refusal({ ...byUser, user: async () => 'ada' })).toEqual(forbidden)
    expect(await refusal({ ...byUser, user: async () => undefined }, { user: 'ada' })).toEqual(unauthorized)
  })

  test('where no user could be found out it is 401', async () => {
    const failing = () => Promise.reject(new Error('no directory'))
    expect(await refusal({ ...byUser, user: failing })).toEqual(unauthorized)
    expect(await refusal({ ...byUser, user: () => pause(500), timeout: 5 })).toEqual(unauthorized)
  })

  test('a check that fails also refuses a known user', async () => {
    const check = () => {
      throw new Error('broken')
    }
    expect(await refusal(byUser, { user: 'ada', check })).toEqual(forbidden)
  })
})

test('setPolicyErrorHandler wins, with the status of the policy preset', async () => {
  const server = new Server<{}>({ router: new RouteCollection(), logger: memoryLogger() } as {})
  servers.push(server)
  const manager = new PolicyManager({ site: { check: () => false } }, { status: 403 })
  server.get('/', { policy: { manager, scope: 'site', handler: 'check' } }, () => 'in')
  server.setPolicyErrorHandler((_req, res) => ({ was: res.statusCode }))
  ;(await server.inject.get('/')).assertStatus(403).assertBodyDeepEqual({ was: 403 })
  server.setPolicyErrorHandler({ map: () => ({ mapped: true }) })
  ;(await server.inject.get('/')).assertStatus(403).assertBodyDeepEqual({ mapped: true })
  server.setPolicyErrorHandler({ status: 404 })
  ;(await server.inject.get('/')).assertStatus(404).assertBodyDeepEqual({ error: 'Not Found' })
})

describe('a challenge', () => {
  async function challenged(options: PolicyManagerOptions, user?: unknown, answer?: PolicyErrorHandler) {
    const server = new Server<{}>({ router: new RouteCollection(), logger: memoryLogger() } as {})
    servers.push(server)
    const manager = new PolicyManager({ site: { check: () => false } }, { user: () => user, ...options })
    server.get('/', { policy: { manager, scope: 'site', handler: 'check' } }, () => 'in')
    server.group('/group', [manager.guard('site', 'check')], (group) => group.get('/', () => 'in'))
    if (answer) server.setPolicyErrorHandler(answer)
    const [route, group] = [await server.inject.get('/'), await server.inject.get('/group')]
    expect(route.headers()['www-authenticate']).toEqual(group.headers()['www-authenticate'])
    return [route.statusCode(), route.headers()['www-authenticate']]
  }

  test('stands in a response with 401, of a route and of a group, and in no other', async () => {
    expect(await challenged({ challenge: 'Bearer' })).toEqual([401, 'Bearer'])
    expect(await challenged({})).toEqual([401, undefined])
    expect(await challenged({ challenge: 'Bearer', status: 403 })).toEqual([403, undefined])
    expect(await challenged({ challenge: 'Bearer', status: 'byUser' }, 'ada')).toEqual([403, undefined])
    expect(await challenged({ challenge: 'Bearer', status: 'byUser' })).toEqual([401, 'Bearer'])
  })

  test('is left out where a handler hides the route, and gives way to one of the handler', async () => {
    expect(await challenged({ challenge: 'Bearer' }, undefined, { status: 404 })).toEqual([404, undefined])
    const own: PolicyErrorHandler = async (_req, res) => res.header('www-authenticate', 'Basic').json({})
    expect(await challenged({ challenge: 'Bearer' }, undefined, own)).toEqual([401, 'Basic'])
    expect(await challenged({ challenge: 'Bearer' }, undefined, async () => 'sign in')).toEqual([401, 'Bearer'])
  })

  test('that no header can hold is refused', () => {
    expect(() => new PolicyManager({}, { challenge: 'Bearer\r\nx: y' })).toThrow('PolicyManager.challenge')
  })
})

test('another status is refused', () => {
  expect(() => new PolicyManager({}, { status: 404 as 403 })).toThrow('401, 403 or "byUser"')
})
