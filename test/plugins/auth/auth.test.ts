import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { definePlugin, PolicyManager, type Request, RouteCollection, Server, type ServerOptions } from 'framework'
import { apiKey, auth, basic, bearer, session, userOf } from 'framework/plugins/auth'
import { session as sessions } from 'framework/plugins/session'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { bearing, serverWith, user } from './support.ts'

const token = bearer((given) => (given === 'ada' ? user('ada', { scopes: ['orders:read'] }) : undefined))
const staff = basic((name, password) => (name === 'bob' && password === 'a:b' ? user('bob') : undefined))
const basicOf = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } })

function shop(more: object = {}) {
  const made = serverWith({ schemes: { token, staff }, ...more })
  const { server } = made
  server.get('/', (req) => ({ user: (req as { user?: { id: string } }).user?.id }))
  server.get('/open', { auth: false }, (req) => ({ user: (req as { user?: unknown }).user }))
  server.get('/maybe', { auth: 'optional' }, (req) => ({ user: (req as { user?: { id: string } }).user?.id }))
  server.get('/orders', { auth: { scopes: ['orders:read'] } }, () => 'orders')
  server.get('/write', { auth: { scopes: ['orders:read', 'orders:write'] } }, () => 'orders')
  server.get('/staff', { auth: { schemes: ['staff'] } }, () => 'staff')
  return made
}

describe('a request', () => {
  test('without a credential is refused unless the route says otherwise, with the schemes to use', async () => {
    const { server } = shop()
    const res = await server.inject.get('/')
    res.assertStatus(401).assertHeader('www-authenticate', 'Bearer, Basic realm="restricted", charset="UTF-8"')
    res.assertBodyDeepEqual({ code: 'AuthenticationError', message: 'AUTHENTICATION: authentication is required' })
    ;(await server.inject.get('/open')).assertStatus(200)
    ;(await server.inject.get('/maybe')).assertStatus(200).assertBodyDeepEqual({})
    ;(await server.inject.get('/staff')).assertHeader('www-authenticate', 'Basic realm="restricted", charset="UTF-8"')
    ;(await server.inject.get('/missing')).assertStatus(401)
  })

  test('has its caller as req.user, by each scheme', async () => {
    const { server } = shop()
    const res = await server.inject.get('/', bearing('ada'))
    res.assertStatus(200).assertBodyDeepEqual({ user: 'ada' }).assertHeader('vary', 'authorization')
    ;(await server.inject.get('/', basicOf('bob:a:b'))).assertBodyDeepEqual({ user: 'bob' })
    ;(await server.inject.get('/open', bearing('ada'))).assertBodyDeepEqual({})
    ;(await server.inject.get('/missing', bearing('ada'))).assertStatus(404)
  })

  test.each([
    ['Bearer eve'],
    ['Bearer'],
    ['Bearer  '],
    ['bearer a b'],
    ['Bearer ada, Bearer eve'],
    [`Bearer ${'a'.repeat(9000)}`],
    ['Basic !'],
    ['Basic Ym9i'],
    ['Digest username="ada"'],
    ['ada'],
  ])('with the wrong credential %.30s is never anonymous', async (authorization) => {
    const { server } = shop()
    for (const path of ['/', '/maybe', '/missing', '/staff']) {
      const res = await server.inject.get(path, { headers: { authorization } })
      res.assertStatus(401).assertHeaderExists('www-authenticate')
      expect(res.headers()['www-authenticate']).not.toContain('eve')
    }
    ;(await server.inject.get('/open', { headers: { authorization } })).assertStatus(200)
  })

  test('with a wrong token gets the error of RFC 6750, and one without scopes a 403 with them', async () => {
    const { server } = shop({ realm: 'shop' })
    const wrong = await server.inject.get('/', bearing('eve'))
    expect(wrong.headers()['www-authenticate']).toBe(
      'Bearer realm="shop", error="invalid_token", error_description="the credential is not valid", Basic realm="shop", charset="UTF-8"',
    )
    ;(await server.inject.get('/orders', bearing('ada'))).assertStatus(200)
    const res = await server.inject.get('/write', bearing('ada'))
    res.assertStatus(403)
    expect(res.headers()['www-authenticate']).toBe(
      'Bearer realm="shop", error="insufficient_scope", scope="orders:read orders:write"',
    )
    ;(await server.inject.get('/orders', basicOf('bob:a:b'))).assertStatus(403)
  })

  test('keeps the realm of a scheme of its own', async () => {
    const own = { ...staff, challenge: 'Basic realm="mine"' }
    const { server } = serverWith({ schemes: { own } })
    ;(await server.inject.get('/')).assertStatus(401).assertHeader('www-authenticate', own.challenge)
  })

  test('fails where a scheme fails, on optional routes too', async () => {
    const { server } = serverWith({
      default: 'optional',
      schemes: {
        token: bearer(() => {
          throw new Error('the database is away')
        }),
      },
    })
    server.get('/', () => 'in')
    ;(await server.inject.get('/', bearing('ada'))).assertStatus(500)
    ;(await server.inject.get('/')).assertStatus(200)
  })

  test.each([
    ['', 401],
    [0, 401],
    [[], 500],
    [true, 500],
    ['ada', 500],
    [() => 'ada', 500],
    [undefined, 401],
    [null, 401],
    [false, 401],
    [Object.prototype, 401],
  ])('whose function returns %j is refused', async (found, status) => {
    const own = {
      authenticate: () => ({ subject: found as never }),
      ...{ challenge: 'Own', header: 'x-own', description: {} },
    }
    for (const scheme of [bearer(() => found as never), basic(() => found as never), own]) {
      const { server } = serverWith({ schemes: { scheme } })
      server.get('/', () => 'in')
      const given = scheme.challenge === 'Bearer' ? bearing('x') : basicOf('a:b')
      ;(await server.inject.get('/', given)).assertStatus(status)
    }
  })

  test('is for the first scheme that finds a credential of its own, and is checked once', async () => {
    const calls: string[] = []
    const scheme = (name: string) =>
      bearer(() => {
        calls.push(name)
        return name === 'one' ? undefined : user(name)
      })
    const { server } = serverWith({ schemes: { one: scheme('one'), two: scheme('two') } })
    server.get('/', () => 'in')
    ;(await server.inject.get('/', bearing('ada'))).assertStatus(401)
    expect(calls).toEqual(['one'])
  })

  test.each([
    0,
    '',
    false,
    null,
    Number.NaN,
  ])('is refused if its function returns %j, such as a count of rows', async (found) => {
    const { server } = serverWith({ schemes: { token: bearer(() => found as never) } })
    server.get('/', () => 'in')
    ;(await server.inject.get('/', bearing('ada'))).assertStatus(401)
  })

  test('names its caller in the log, without the credential', async () => {
    const entries: string[] = []
    const sink = { write: (line: string) => void entries.push(line) }
    await using server = new Server({
      router: new RouteCollection(),
      plugins: { log: { stream: sink }, auth: { schemes: { token } } },
    })
    server.get('/', () => 'in')
    await server.inject.get('/', bearing('ada'))
    expect(entries.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request')).toMatchObject({ user: 'ada' })
  })
})

describe('a route option', () => {
  test.each([
    [{ auth: 'yes' }, /"auth"/],
    [{ auth: true }, /"auth"/],
    [{ auth: null }, /"auth"/],
    [{ auth: { schemes: ['tokne'] } }, /Did you mean "token"/],
    [{ auth: { schemes: [] } }, /1 or more/],
    [{ auth: { scopes: [] } }, /1 or more/],
    [{ auth: { scopes: undefined } }, /scopes/],
    [{ auth: { role: 'admin' } }, /role/],
  ])('%j fails the boot', async (options, message) => {
    const { server } = serverWith({ schemes: { token } })
    server.get('/', options as object, () => 'open')
    await expect(server.ready()).rejects.toThrow(message)
  })

  test('fails the boot where the plugin is missing', async () => {
    const { server } = serverWith(false as never)
    server.get('/', { auth: 'required' } as object, () => 'open')
    await expect(server.ready()).rejects.toThrow(/auth/)
  })
})

test('an inner registration replaces the outer one for its routes', async () => {
  const { server } = serverWith({ schemes: { token } })
  const inner = definePlugin({
    name: 'inner',
    scoped: true,
    setup(ctx) {
      ctx.register(auth({ schemes: { staff } }))
      ctx.get('/inner', () => 'in')
    },
  })
  server.register(inner())
  server.get('/', () => 'out')
  ;(await server.inject.get('/inner', basicOf('bob:a:b'))).assertStatus(200)
  ;(await server.inject.get('/inner', bearing('ada'))).assertStatus(401)
  ;(await server.inject.get('/', bearing('ada'))).assertStatus(200)
  ;(await server.inject.get('/', basicOf('bob:a:b'))).assertStatus(401)
})

test('policies, health probes and rate limits fit', async () => {
  const policies = new PolicyManager(
    { site: { admin: (one: unknown) => (one as { id: string }).id === 'ada' } },
    { status: 'byUser' },
  )
  const keys: unknown[] = []
  const { server } = serverWith(
    { schemes: { token, staff } },
    {
      health: true,
      rateLimit: {
        key: async (req: Request) => {
          const one = (await server.services.get('auth').subject(req)) as { id: string } | undefined
          keys.push(one?.id)
          return one?.id
        },
      },
    },
  )
  server.get('/admin', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, () => 'in')
  ;(await server.inject.get('/health/ready')).assertStatus(200)
  ;(await server.inject.get('/admin')).assertStatus(401)
  ;(await server.inject.get('/admin', bearing('ada'))).assertStatus(200)
  ;(await server.inject.get('/admin', bearing('eve'))).assertStatus(401)
  ;(await server.inject.get('/admin', basicOf('bob:a:b'))).assertStatus(403)
  expect(keys).toEqual([undefined, 'ada', undefined, 'bob'])
})

test('a cache never gives the response for one caller to another, whatever the header', async () => {
  const key = {
    authenticate: (req: Request) => {
      const id = req.raw.header('x-shop')
      return id === undefined ? undefined : { subject: user(id) }
    },
    ...{ challenge: 'Shop', header: 'x-shop', description: {} },
  }
  const { server } = serverWith({ default: 'optional', schemes: { key } }, { cache: true })
  const who = (req: Request) => `${(userOf(req) as { id: string } | undefined)?.id}`
  server.get('/', { cache: true }, who)
  server.get('/keyed', { cache: { include: { headers: ['x-shop'] } } }, who)
  server.get('/shared', { cache: { shared: true } }, who)
  const of = async (path: string, id: string) =>
    (await server.inject.get(path, id === '' ? {} : { headers: { 'x-shop': id } })).body()
  for (const path of ['/', '/keyed'])
    for (const id of ['ada', 'bob', '', 'ada']) expect(await of(path, id)).toBe(id || 'undefined')
  expect([await of('/shared', 'ada'), await of('/shared', 'bob')]).toEqual(['ada', 'ada'])
})

describe('an API key', () => {
  type Row = { hash: string; subject: never; scopes?: string[]; expiresAt?: Date }
  function partners(more: object = {}) {
    const rows = new Map<string, Row>()
    const used: string[] = []
    const keys = apiKey({ prefix: 'shop_live', find: (id) => rows.get(id), onUse: (id) => used.push(id), ...more })
    const { server } = serverWith({ schemes: { keys, token } })
    server.get('/', { auth: { scopes: ['read'] } }, () => 'in')
    const add = (row: object = {}) => {
      const { key, id, hash } = keys.issue()
      rows.set(id, { hash, subject: user('partner') as never, scopes: ['read'], ...row })
      return { key, id }
    }
    return { rows, used, add, get: (headers: Record<string, string>) => server.inject.get('/', { headers }) }
  }

  test('lets in while it is stored and has not expired', async () => {
    const { rows, used, add, get } = partners()
    const { key, id } = add()
    expect(key).toMatch(/^shop_live_[0-9a-f]{24}_[\w-]{43}$/)
    for (let i = 0; i < 3; i++) (await get({ 'x-api-key': key })).assertStatus(200)
    expect(used).toEqual([id])
    expect(JSON.stringify([...rows])).not.toContain(key.slice(-43))
    rows.delete(id)
    ;(await get({ 'x-api-key': key })).assertStatus(401)
    ;(await get({ 'x-api-key': add({ expiresAt: new Date(0) }).key })).assertStatus(401)
    ;(await get({ 'x-api-key': add({ expiresAt: new Date('never') }).key })).assertStatus(401)
    ;(await get({ 'x-api-key': add({ scopes: [] }).key })).assertStatus(403)
    // What the account may do is not what the key may do.
    const account = user('partner', { scopes: ['read'] })
    ;(await get({ 'x-api-key': add({ scopes: undefined, subject: account }).key })).assertStatus(403)
  })

  test('is refused with another secret, another id, or without its form', async () => {
    const { add, get } = partners()
    const { key } = add()
    const other = add().key
    const half = key.slice(0, -43)
    for (const one of [half + other.slice(-43), `${key}a`, key.slice(0, -1), half, '', 'constructor', `${key}, ${key}`])
      (await get({ 'x-api-key': one })).assertStatus(401)
  })

  test('is compared by one comparison of whole hashes, however much of it is right, and without a row too', async () => {
    const { rows, add, get } = partners()
    const { key, id } = add()
    const { hash } = rows.get(id)!
    const broken = [hash.slice(0, 5), hash + hash, '', undefined]
    const keyOf = (row: string) => key.replace(id, row)
    const at = (place: number) => key.slice(0, place) + (key[place] === 'A' ? 'B' : 'A') + key.slice(place + 1)
    const secret = key.length - 43
    const wrong = Array.from({ length: 43 }, (_, i) => at(secret + i))
    const guesses = [...wrong, key.slice(0, secret) + 'A'.repeat(43), keyOf('0'.repeat(24))]
    const compared = vi.spyOn(crypto, 'timingSafeEqual')
    const hashed = vi.spyOn(crypto, 'createHash')
    syncBuiltinESMExports()
    try {
      const workOf = async (one: string) => {
        const status = (await get({ 'x-api-key': one })).statusCode()
        const sizes = compared.mock.calls.splice(0).map((both) => both.map(({ byteLength }) => byteLength))
        return { status, sizes, hashes: hashed.mock.calls.splice(0).length }
      }
      const right = await workOf(key)
      // One comparison of two strings of 43 characters, and as many hashes, whatever is right.
      expect(right).toEqual({ status: 200, sizes: [[43, 43]], hashes: 3 })
      for (const guess of guesses) expect(await workOf(guess), guess).toEqual({ ...right, status: 401 })
      for (const one of broken) {
        rows.set(id, { ...rows.get(id)!, hash: one as string })
        expect(await workOf(key), `the hash ${one}`).toEqual({ ...right, status: 401 })
      }
      // Its form is public: nothing is looked up or compared.
      for (const guess of [key.slice(5), `x${key}`, keyOf('x'), `${key}a`, key.slice(0, -1), key.toUpperCase()])
        expect(await workOf(guess), guess).toEqual({ status: 401, sizes: [], hashes: 0 })
    } finally {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    }
  })

  test('may share Authorization with tokens', async () => {
    const { add, get } = partners({ header: 'Authorization' })
    ;(await get({ authorization: `Bearer ${add().key}` })).assertStatus(200)
    ;(await get({ authorization: 'Bearer ada' })).assertStatus(403)
    ;(await get({ authorization: 'Bearer shop_live_x' })).assertStatus(401)
  })
})

describe('a session', () => {
  function site() {
    const accounts = new Map([['ada', user('ada')]])
    const web = session((id: string) => accounts.get(id))
    const { server } = serverWith({ schemes: { web, token } }, { session: { secret: '0123456789abcdef0123456789' } })
    server.post('/login', { auth: false }, async (req, res) => {
      await web.logIn(req, 'ada')
      return res.noContent()
    })
    server.post('/logout', async (req, res) => {
      await web.logOut(req)
      return res.noContent()
    })
    server.get('/', () => 'in')
    server.get('/maybe', { auth: 'optional' }, () => 'in')
    server.get('/basket', { auth: false }, (req) => {
      Object.assign(req.session, { basket: 1 })
      return 'basket'
    })
    return { server, accounts }
  }

  test('begins under a new id, and ends in the store', async () => {
    const { server } = site()
    ;(await server.inject.get('/')).assertStatus(401).assertHeader('www-authenticate', 'Cookie, Bearer')
    const planted = { cookies: (await server.inject.get('/basket')).cookies() }
    const ada = { cookies: (await server.inject.post('/login', planted)).assertStatus(204).cookies() }
    expect(ada.cookies.sid).not.toBe(planted.cookies.sid)
    ;(await server.inject.get('/', planted)).assertStatus(401)
    ;(await server.inject.get('/', ada)).assertStatus(200)
    ;(await server.inject.post('/logout', ada)).assertStatus(204)
    ;(await server.inject.get('/', ada)).assertStatus(401)
  })

  test('of an account that has gone is refused once, and has ended then', async () => {
    const { server, accounts } = site()
    const ada = { cookies: (await server.inject.post('/login')).cookies() }
    accounts.delete('ada')
    ;(await server.inject.get('/maybe', ada)).assertStatus(401)
    ;(await server.inject.get('/maybe', ada)).assertStatus(200)
  })

  test('is not loaded before its plugin: subject is undefined then, and the request has its caller all the same', async () => {
    const web = session((id: string) => (id === 'ada' ? user(id) : undefined))
    const early: unknown[] = []
    let isAwaited = true
    const look = definePlugin({
      name: 'look',
      setup(ctx) {
        ctx.use(async (req, _res, next) => {
          const subject = ctx.server.services.get('auth').subject(req)
          if (isAwaited) early.push(await subject)
          return next()
        })
        ctx.use(async (req, _res, next) => {
          await next()
          early.push(await ctx.server.services.get('auth').subject(req))
        })
      },
    })
    const server = new Server({
      router: new RouteCollection(),
      logger: memoryLogger(),
      plugins: [look(), sessions({ secret: '0123456789abcdef0123456789' }), auth({ schemes: { web, token } })],
    })
    onTestFinished(() => server.close())
    server.post('/login', { auth: false }, async (req, res) => {
      await web.logIn(req, 'ada')
      return res.noContent()
    })
    server.get('/', userOf)
    server.get('/maybe', { auth: 'optional' }, (req) => ({ user: userOf(req) }))
    const ada = { cookies: (await server.inject.post('/login')).cookies() }
    const forged = { cookies: { ...ada.cookies, sid: `${ada.cookies.sid}x` } }
    const other = { headers: { cookie: 'connect.sid=of-another' } }
    early.length = 0
    for (isAwaited of [true, false]) {
      ;(await server.inject.get('/', ada)).assertStatus(200).assertBodyDeepEqual({ id: 'ada' })
      for (const wrong of [forged, other]) {
        ;(await server.inject.get('/', wrong)).assertStatus(401)
        ;(await server.inject.get('/maybe', wrong)).assertStatus(200).assertBodyDeepEqual({})
      }
    }
    const none = [undefined, undefined]
    const awaited = [undefined, { id: 'ada' }, ...none, ...none, ...none, ...none]
    expect(early).toEqual([...awaited, { id: 'ada' }, ...none, ...none])
  })

  test('fails the boot where it is loaded after auth, which would not find it', async () => {
    const web = session((id: string) => user(id))
    const own = { schemes: { web, token } }
    const loaded = () => sessions({ secret: '0123456789abcdef0123456789' })
    const inner = definePlugin({
      name: 'inner',
      scoped: true,
      setup(ctx) {
        ctx.register(auth(own))
        ctx.get('/in', () => 'in')
      },
    })
    const boot = async (plugins: ServerOptions['plugins'], options: object) => {
      await using server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins })
      server.get('/', options, () => 'in')
      await server.ready()
    }
    for (const mode of ['required', 'optional', { schemes: ['web'] }])
      await expect(boot([auth(own), loaded()], { auth: mode })).rejects.toThrow(/GET \/.*Register session before auth/)
    await boot([auth(own), loaded()], { auth: { schemes: ['token'] } })
    await boot([auth(own), loaded()], { auth: false })
    await boot([loaded(), auth(own)], {})
    // The middlewares of an outer scope come first, whatever the order.
    await boot([inner(), loaded()], {})
  })

  test('needs the plugin session', async () => {
    const { server } = serverWith({ schemes: { web: session(() => undefined) } })
    await expect(server.ready()).rejects.toThrow(/needs the plugin "session"/)
  })
})
