import { definePlugin, type Request, RouteCollection, Server, type Session, type SessionStore } from 'framework'
import { cookie, session } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeKernel, memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

const secret = 'the first secret of these tests'
type Options = Partial<Parameters<typeof session>[0]>
type Bag = Session & Record<string, unknown>
const bagOf = (req: Request) => req.session as Bag

/** A store that records its calls. */
function spyStore() {
  const rows = new Map<string, object>()
  const calls: string[] = []
  const store: SessionStore = {
    async get(id) {
      calls.push('get')
      return rows.get(id)
    },
    async set(id, data, ttl) {
      calls.push(`set ${ttl}`)
      rows.set(id, data)
    },
    async update(id, data, ttl) {
      calls.push(`update ${ttl}`)
      if (!rows.has(id)) return false
      rows.set(id, data)
      return true
    },
    async destroy(id) {
      calls.push('destroy')
      return rows.delete(id)
    },
  }
  return { rows, calls, store }
}

function serverWith(options: Options = {}, more: object = {}) {
  const logger = memoryLogger()
  const plugins = { session: { secret, ...options }, ...more } as {}
  const server = new Server<{}>({ plugins, router: new RouteCollection(), logger })
  servers.push(server)
  server.get('/read', (req) => ({ ...req.session }))
  server.get('/ignore', () => 'ok')
  server.post('/write', (req) => {
    Object.assign(req.session, req.body)
    return 'ok'
  })
  server.post('/nested', (req) => {
    ;(bagOf(req).user as { name: string }).name = 'bob'
    return 'ok'
  })
  server.post('/login', async (req, res) => {
    await req.session.regenerate()
    bagOf(req).user = 'ada'
    return res.redirect('/read')
  })
  server.post('/logout', async (req, res) => {
    await req.session.destroy()
    return res.noContent()
  })
  return Object.assign(server, { entries: logger.entries })
}

const write = async (server: Server, body: object, cookies?: Record<string, string>) =>
  (await server.inject.post('/write', { body, ...(cookies && { cookies }) })).assertStatus(200)
const read = async (server: Server, cookies?: Record<string, string>) =>
  (await server.inject.get('/read', { ...(cookies && { cookies }) })).assertStatus(200)

describe('a session', () => {
  test('remembers plain data from request to request', async () => {
    const server = serverWith()
    const data = { user: { name: 'ada', roles: ['a'] }, n: 1, yes: true, nothing: null }
    const cookies = (await write(server, data)).cookies()
    ;(await read(server, cookies)).assertBodyDeepEqual(data).assertHeaderNotExists('set-cookie')
    ;(await read(server)).assertBodyDeepEqual({})
  })

  test('has a cookie that is safe by default, and Secure over https', async () => {
    const server = serverWith({ ttl: 60 })
    const res = await write(server, { n: 1 })
    res.assertHeader('set-cookie', /^sid=[\w-]{32}\.[\w-]{43}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/)
    const https = await server.inject.request('POST', 'https://a.test/write', { body: { n: 1 } })
    https.assertHeader('set-cookie', /; HttpOnly; Secure; SameSite=Lax$/)
  })

  test('is nothing until something is stored: no cookie, no store', async () => {
    const { calls, store } = spyStore()
    const server = serverWith({ store })
    for (const path of ['/read', '/ignore', '/missing']) {
      const res = await server.inject.get(path)
      res.assertHeaderNotExists('set-cookie')
    }
    await write(server, {})
    expect(calls).toEqual([])
  })

  test('is written when something has changed, also deep inside, and only then', async () => {
    const { calls, store } = spyStore()
    const server = serverWith({ store })
    const cookies = (await write(server, { user: { name: 'ada' } })).cookies()
    expect(calls.splice(0)).toEqual(['set 86400'])
    await read(server, cookies)
    await server.inject.get('/ignore', { cookies })
    await write(server, { user: { name: 'ada' } }, cookies)
    expect(calls.splice(0)).toEqual(['get', 'get', 'get'])
    ;(await server.inject.post('/nested', { cookies })).assertCookie('sid', cookies.sid!)
    expect(calls.splice(0)).toEqual(['get', 'update 86400'])
    ;(await read(server, cookies)).assertBodyDeepEqual({ user: { name: 'bob' } })
  })

  test('shows its data only', async () => {
    const server = serverWith()
    server.post('/shape', (req) => {
      const bag = bagOf(req)
      bag.a = 1
      expect(Object.keys(bag)).toEqual(['a'])
      expect({ ...bag }).toEqual({ a: 1 })
      expect(JSON.stringify(bag)).toBe('{"a":1}')
      const seen: string[] = []
      for (const name in bag) seen.push(name)
      expect(seen).toEqual(['a'])
      expect(bag).toEqual({ a: 1 })
      expect(req.session).toBe(bag)
      return bag
    })
    ;(await server.inject.post('/shape')).assertBodyDeepEqual({ a: 1 })
  })

  test('is saved before a redirect leaves, and with a response that an error handler gives', async () => {
    const server = serverWith()
    const login = await server.inject.post('/login')
    login.assertStatus(302)
    ;(await read(server, login.cookies())).assertBodyDeepEqual({ user: 'ada' })
    server.setErrorHandler((req, res) => {
      bagOf(req).flash = 'it failed'
      return res.redirect('/read')
    })
    server.get('/boom', () => {
      throw new Error('boom')
    })
    const boom = await server.inject.get('/boom', { cookies: login.cookies() })
    boom.assertStatus(302).assertCookie('sid', login.cookies().sid!)
    ;(await read(server, login.cookies())).assertBodyDeepEqual({ user: 'ada', flash: 'it failed' })
  })

  test('an emptied one stays a session', async () => {
    const server = serverWith()
    const cookies = (await write(server, { a: 1 })).cookies()
    server.post('/clear', (req) => {
      delete bagOf(req).a
      return 'ok'
    })
    ;(await server.inject.post('/clear', { cookies })).assertCookie('sid', cookies.sid!)
    ;(await read(server, cookies)).assertBodyDeepEqual({})
  })

  test('an object that a store returns twice is not shared by two requests', async () => {
    const { store } = spyStore()
    const server = serverWith({ store })
    const cookies = (await write(server, { user: { name: 'ada' } })).cookies()
    server.post('/fail', (req) => {
      ;(bagOf(req).user as { name: string }).name = 'eve'
      bagOf(req).cycle = bagOf(req)
      return 'ok'
    })
    ;(await server.inject.post('/fail', { cookies })).assertStatus(500)
    expect(server.entries.map(({ message }) => message)).toEqual([
      expect.stringContaining('the session cannot be written as JSON: '),
    ])
    ;(await read(server, cookies)).assertBodyDeepEqual({ user: { name: 'ada' } })
  })
})

describe('regenerate, destroy, save', () => {
  test('regenerate keeps the data under a new id and forgets the old one', async () => {
    const { rows, store } = spyStore()
    const server = serverWith({ store })
    const before = (await write(server, { cart: [1] })).cookies()
    const after = (await server.inject.post('/login', { cookies: before })).cookies()
    expect(after.sid).not.toBe(before.sid)
    ;(await read(server, after)).assertBodyDeepEqual({ cart: [1], user: 'ada' })
    ;(await read(server, before)).assertBodyDeepEqual({})
    expect([...rows.keys()]).toEqual([after.sid!.split('.')[0]])
  })

  test('regenerate alone writes under the new id', async () => {
    const server = serverWith()
    server.post('/renew', async (req) => {
      await req.session.regenerate()
      return 'ok'
    })
    const before = (await write(server, { a: 1 })).cookies()
    const after = (await server.inject.post('/renew', { cookies: before })).cookies()
    ;(await read(server, after)).assertBodyDeepEqual({ a: 1 })
    ;(await read(server, before)).assertBodyDeepEqual({})
    ;(await server.inject.post('/renew')).assertHeaderNotExists('set-cookie')
  })

  test('destroy forgets the data in the store and the cookie in the browser', async () => {
    const { rows, store } = spyStore()
    const server = serverWith({ store, cookie: { path: '/', domain: 'a.test' } })
    const cookies = (await write(server, { a: 1 })).cookies()
    const res = await server.inject.post('/logout', { cookies })
    res.assertCookie('sid', '', { 'max-age': '0', path: '/', domain: 'a.test' })
    expect(rows.size).toBe(0)
    ;(await read(server, cookies)).assertBodyDeepEqual({})
    ;(await server.inject.post('/logout')).assertHeaderNotExists('set-cookie')
  })

  test('data that is stored after destroy is a new session', async () => {
    const server = serverWith()
    const before = (await write(server, { user: 'ada' })).cookies()
    server.post('/bye', async (req) => {
      await req.session.destroy()
      expect({ ...req.session }).toEqual({})
      bagOf(req).flash = 'bye'
      return 'ok'
    })
    const after = (await server.inject.post('/bye', { cookies: before })).cookies()
    expect(after.sid).not.toBe(before.sid)
    ;(await read(server, after)).assertBodyDeepEqual({ flash: 'bye' })
    ;(await read(server, before)).assertBodyDeepEqual({})
  })

  test('save writes at once, and once', async () => {
    const { calls, store } = spyStore()
    const server = serverWith({ store })
    server.post('/save', async (req) => {
      bagOf(req).a = 1
      await Promise.all([req.session.save(), req.session.save()])
      expect(calls).toEqual(['set 86400'])
      return 'ok'
    })
    const res = await server.inject.post('/save')
    expect(calls).toEqual(['set 86400'])
    ;(await read(server, res.cookies())).assertBodyDeepEqual({ a: 1 })
  })

  test('the cookie of a saved session survives the failure of the handler', async () => {
    const server = serverWith()
    server.post('/save', async (req) => {
      bagOf(req).a = 1
      await req.session.save()
      throw new Error('later')
    })
    const res = await server.inject.post('/save')
    res.assertStatus(500)
    ;(await read(server, res.cookies())).assertBodyDeepEqual({ a: 1 })
  })

  test('the cookie survives a response that cannot be written', async () => {
    const server = serverWith()
    server.post('/cycle', (req) => {
      bagOf(req).a = 1
      const cycle: Record<string, unknown> = {}
      cycle.cycle = cycle
      return cycle
    })
    const res = await server.inject.post('/cycle')
    res.assertStatus(500)
    ;(await read(server, res.cookies())).assertBodyDeepEqual({ a: 1 })
  })

  test('calls that were not awaited finish before the response is sent', async () => {
    const server = serverWith({ store: slow(spyStore().store) })
    const before = (await write(server, { a: 1 })).cookies()
    server.post('/hasty', (req) => {
      void req.session.regenerate()
      bagOf(req).b = 2
      return 'ok'
    })
    const after = (await server.inject.post('/hasty', { cookies: before })).cookies()
    expect(after.sid).toBeDefined()
    expect(after.sid).not.toBe(before.sid)
    ;(await read(server, after)).assertBodyDeepEqual({ a: 1, b: 2 })
    ;(await read(server, before)).assertBodyDeepEqual({})
  })

  test.each([
    'destroy',
    'regenerate',
    'save',
  ])('what was not waited for and has failed is not success: %s()', async (method) => {
    const { store } = spyStore()
    const server = serverWith({ store })
    const { sid } = (await write(server, { a: 1 })).cookies()
    const fail = () => Promise.reject(new Error('down'))
    Object.assign(store, { destroy: fail, update: fail })
    server.post('/hasty', (req) => {
      bagOf(req).b = 2
      void (req.session as unknown as Record<string, () => Promise<void>>)[method]!()
      return 'ok'
    })
    server.post('/careful', async (req, res) => {
      try {
        await req.session.destroy()
      } catch {
        return res.status(502).send('not logged out')
      }
      return 'ok'
    })
    const cookies = { sid: sid! }
    const hasty = await server.inject.post('/hasty', { cookies })
    hasty.assertStatus(503).assertHeaderNotExists('set-cookie')
    ;(await server.inject.post('/careful', { cookies })).assertStatus(502)
  })

  test('nor is what has failed and is followed by what takes no failure', async () => {
    const { store } = spyStore()
    const server = serverWith({ store })
    const { sid } = (await write(server, { a: 1 })).cookies()
    Object.assign(store, { destroy: () => Promise.reject(new Error('down')) })
    const seen: unknown[] = []
    const onRejection = (error: unknown) => seen.push(error)
    process.on('unhandledRejection', onRejection)
    const follow: Record<string, (call: Promise<void>) => unknown> = {
      '/then': (call) => void call.then(() => {}),
      '/finally': (call) => void call.finally(() => {}).then(() => {}),
      '/caught': (call) => void call.then(() => {}).catch(() => {}),
      '/awaited': (call) => call.then(() => {}).then(undefined, () => 'taken'),
    }
    const statuses: number[] = []
    for (const [path, run] of Object.entries(follow)) {
      server.post(path, (req) => run(req.session.destroy()) ?? 'ok')
      statuses.push((await server.inject.post(path, { cookies: { sid: sid! } })).statusCode())
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', onRejection)
    expect(statuses).toEqual([503, 503, 200, 200])
    expect(seen).toEqual([])
  })

  test('their names are not for data, and the session itself is not to be replaced', async () => {
    const server = serverWith()
    server.get('/names', (req) => {
      for (const name of ['save', 'destroy', 'regenerate']) {
        expect(() => {
          bagOf(req)[name] = 1
        }).toThrow(TypeError)
      }
      expect(() => Object.assign(req, { session: {} })).toThrow(TypeError)
      return 'ok'
    })
    ;(await server.inject.get('/names')).assertStatus(200)
  })
})

function slow(store: SessionStore): SessionStore {
  return {
    get: (id) => pause(5).then(() => store.get(id)),
    set: (id, data, ttl) => pause(5).then(() => store.set(id, data, ttl)),
    update: (id, data, ttl) => pause(5).then(() => store.update!(id, data, ttl)),
    destroy: (id) => pause(5).then(() => store.destroy(id)),
  }
}

describe('how long it lasts', () => {
  test('ttl seconds after it was last saved', async () => {
    const time = testClock()
    onTestFinished(() => time.restore())
    const server = serverWith({ ttl: 10 })
    const cookies = (await write(server, { a: 1 })).cookies()
    await time.advance(9_000)
    ;(await read(server, cookies)).assertBodyDeepEqual({ a: 1 }).assertHeaderNotExists('set-cookie')
    await time.advance(1_500)
    ;(await read(server, cookies)).assertBodyDeepEqual({})
    // An expired id is not taken up again.
    const again = (await write(server, { b: 1 }, cookies)).cookies()
    expect(again.sid).not.toBe(cookies.sid)
  })

  test('with rolling, after every response; the data is left alone', async () => {
    const time = testClock()
    onTestFinished(() => time.restore())
    const server = serverWith({ ttl: 10, rolling: true })
    const cookies = (await write(server, { a: 1 })).cookies()
    for (let i = 0; i < 4; i++) {
      await time.advance(8_000)
      const res = await server.inject.get(i % 2 === 0 ? '/ignore' : '/read', { cookies })
      res.assertCookie('sid', cookies.sid!, { 'max-age': '10' })
    }
    await time.advance(10_500)
    ;(await read(server, cookies)).assertBodyDeepEqual({}).assertHeaderNotExists('set-cookie')
    ;(await server.inject.get('/ignore')).assertHeaderNotExists('set-cookie')
  })

  test('rolling does not write back the data of a slow request', async () => {
    const { rows, store } = spyStore()
    const server = serverWith({ store, rolling: true })
    const cookies = (await write(server, { n: 1 })).cookies()
    server.get('/slow', async () => {
      await pause(30)
      return 'ok'
    })
    const slowly = server.inject.get('/slow', { cookies })
    await pause(5)
    await write(server, { n: 2 }, cookies)
    await slowly
    expect([...rows.values()]).toEqual([{ n: 2 }])
  })
})

describe('registration', () => {
  const forms: [string, () => Server<{}>][] = [
    ['object form', () => new Server<{}>({ plugins: { session: { secret } } as {}, router: new RouteCollection() })],
    ['array form', () => new Server<{}>({ plugins: [session({ secret })] as {}, router: new RouteCollection() })],
    [
      'cookie before',
      () => new Server<{}>({ plugins: [cookie(), session({ secret })] as {}, router: new RouteCollection() }),
    ],
    [
      'cookie after',
      () => new Server<{}>({ plugins: [session({ secret }), cookie()] as {}, router: new RouteCollection() }),
    ],
    [
      'register',
      () => {
        const server = new Server<{}>({ router: new RouteCollection() })
        server.register(session({ secret }))
        return server
      },
    ],
    [
      'inside of a plugin',
      () => {
        const app = definePlugin({ name: 'app', setup: (ctx) => ctx.register(session({ secret })) })
        return new Server<{}>({ plugins: [app()] as {}, router: new RouteCollection() })
      },
    ],
  ]
  test.each(forms)('%s: the cookie plugin comes by itself', async (_name, make) => {
    const server = make()
    servers.push(server)
    server.get('/', (req) => {
      bagOf(req).n = Number(bagOf(req).n ?? 0) + 1
      return { n: bagOf(req).n, cookies: Object.keys(req.cookies) }
    })
    const first = await server.inject.get('/')
    const second = await server.inject.get('/', { cookies: first.cookies() })
    second.assertBodyDeepEqual({ n: 2, cookies: ['sid'] })
  })

  test('a misspelt dependency is compared with all plugins that the server knows', async () => {
    const server = new Server({ logger: memoryLogger() })
    servers.push(server)
    server.register(definePlugin({ name: 'mine', dependencies: ['sesion'] })())
    await expect(server.ready()).rejects.toThrow('Did you mean "session"? Otherwise register "sesion"')
  })

  test('on a bare kernel it is asked for', async () => {
    const { kernel } = makeKernel()
    kernel.register(session({ secret }))
    await expect(kernel.ready()).rejects.toThrow('the plugin "session" depends on "cookie", which is not registered')
    const { kernel: whole } = makeKernel()
    whole.register(session({ secret }))
    whole.register(cookie())
    whole.get('/', (req) => ({ ...req.session }))
    await whole.ready()
  })

  test('parts of an application have sessions of their own', async () => {
    const part = (name: string) =>
      definePlugin({
        name,
        setup(ctx) {
          ctx.register(session({ secret, name: `sid-${name}` }))
          ctx.get('/count', (req) => {
            bagOf(req).n = Number(bagOf(req).n ?? 0) + 1
            return bagOf(req).n
          })
        },
      })()
    const logger = memoryLogger()
    const server = new Server<{}>({ router: new RouteCollection(), logger })
    servers.push(server)
    server.register(part('a'), { prefix: '/a' }).register(part('b'), { prefix: '/b' })
    server.get('/outside', (req) => ({ ...req.session }))
    const a = await server.inject.get('/a/count')
    const b = await server.inject.get('/b/count', { cookies: a.cookies() })
    expect([Object.keys(a.cookies()), Object.keys(b.cookies())]).toEqual([['sid-a'], ['sid-b']])
    ;(await server.inject.get('/a/count', { cookies: { ...a.cookies(), ...b.cookies() } })).assertBodyDeepEqual(2)
    ;(await server.inject.get('/outside', { cookies: a.cookies() })).assertStatus(500)
    expect(logger.entries.at(-1)!.message).toContain('req.session was read where it is not loaded')
  })

  test('read before the plugin it is an error, not an empty session', async () => {
    const early = definePlugin({
      name: 'early',
      setup: (ctx) =>
        ctx.use((req, _res, next) => {
          if (req.path === '/early') expect({ ...req.session }).toEqual({})
          return next()
        }),
    })
    const server = new Server<{}>({
      plugins: [early(), session({ secret })] as {},
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    servers.push(server)
    server.get('/early', () => 'ok')
    server.get('/write', (req) => {
      bagOf(req).a = 1
      return 'ok'
    })
    const cookies = (await server.inject.get('/write')).cookies()
    ;(await server.inject.get('/early', { cookies })).assertStatus(500)
    ;(await server.inject.get('/early')).assertStatus(200)
  })

  test('the defaults of the cookie plugin are not those of the session cookie', async () => {
    const defaults = { httpOnly: false, signed: true, sameSite: 'none', domain: 'a.test', maxAge: 5 }
    const server = serverWith({}, { cookie: { secret, defaults } })
    const res = await write(server, { a: 1 })
    res.assertHeader('set-cookie', /^sid=[\w-]{32}\.[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/)
    ;(await read(server, res.cookies())).assertBodyDeepEqual({ a: 1 })
  })

  test('a cookie with a prefix is Secure, also behind a proxy', async () => {
    const server = serverWith({ name: '__Host-sid' })
    const res = await write(server, { a: 1 })
    res.assertHeader('set-cookie', /^__Host-sid=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    ;(await read(server, res.cookies())).assertBodyDeepEqual({ a: 1 })
  })
})

describe('options', () => {
  const store = spyStore().store
  test.each<[unknown, string]>([
    [true, 'the option "plugins.session.secret" is missing'],
    [{}, 'the option "plugins.session.secret" is missing'],
    [{ secrt: secret }, 'Unknown option "plugins.session.secrt". Did you mean "secret"?'],
    [{ secret, nme: 'x' }, 'Unknown option "plugins.session.nme". Did you mean "name"?'],
    [{ secret, name: '' }, 'the option "plugins.session.name" is ""'],
    [{ secret, name: 'a b' }, 'the option "plugins.session.name" is "a b"'],
    [{ secret, name: 'a;b' }, 'the option "plugins.session.name" is "a;b"'],
    [{ secret, name: 5 }, 'the option "plugins.session.name" is 5'],
    [{ secret, ttl: 0 }, 'the option "plugins.session.ttl" is 0; it takes a whole number of SECONDS'],
    [{ secret, ttl: 1.5 }, 'the option "plugins.session.ttl" is 1.5'],
    [{ secret, ttl: '1d' }, 'the option "plugins.session.ttl" is "1d"'],
    [{ secret, ttl: 86_400_000 }, 'from 1 to 34560000 (400 days)'],
    [{ secret, rolling: 'yes' }, 'the option "plugins.session.rolling" is "yes"'],
    [
      { secret, store: 'valkey' },
      'the option "plugins.session.store" is "valkey"; it takes "memory", { memory: { max } }, "redis", { redis:',
    ],
    [{ secret, store: {} }, 'an object with nothing'],
    [{ secret, store: { get() {} } }, 'an object with get'],
    [{ secret, store: { ...store, update: true } }, 'the option "plugins.session.store.update" is true'],
    [{ secret, store: { ...store, touch: 5 } }, 'the option "plugins.session.store.touch" is 5'],
    [{ secret, store: null }, 'the option "plugins.session.store" is null'],
    [{ secret, store: { memory: { max: 0 } } }, 'the option "plugins.session.store.memory.max" is 0'],
    [{ secret, store: { memory: true } }, 'the option "plugins.session.store.memory" is true'],
    [
      { secret, store: { redis: 'localhost' } },
      'the option "plugins.session.store.redis.url" is a string (not shown); it takes an address',
    ],
    [{ secret, store: { redis: { url: 5 } } }, 'the option "plugins.session.store.redis.url" is a number (not shown)'],
    [
      { secret, store: { redis: { get() {}, setEx() {} } } },
      'store.redis" is { get, setEx }; it takes an address, or options of ioredis ({ url }, { host, port } or { client })',
    ],
    [{ secret, store: { redis: { client: { get() {}, setEx() {} } } } }, 'store.redis.client" is'],
    [{ secret, store: { redis: 'redis://a', max: 5 } }, 'Unknown option "plugins.session.store.max"'],
    [{ secret, cookie: { maxAge: 5 } }, 'Unknown option "plugins.session.cookie.maxAge"'],
    [{ secret, cookie: null }, 'the option "plugins.session.cookie" is null'],
    [{ secret: '' }, 'the option "plugins.session.secret" is an empty string'],
    [{ secret: [] }, 'the option "plugins.session.secret" is an empty list'],
    [{ secret: 5 }, 'the option "plugins.session.secret" is number'],
    [{ secret, cookie: { sameSite: 'sometimes' } }, 'the option "plugins.session.cookie.sameSite" is "sometimes"'],
    [{ secret, cookie: { path: 'x' } }, 'the option "plugins.session.cookie.path" is "x"'],
  ])('%o is refused when the server is made', (options, message) => {
    expect(() => new Server({ plugins: { session: options } as {} })).toThrow(message)
  })

  test('everything that is wrong is in one error', () => {
    const options = { secret: '', ttl: 0, store: { memory: { mx: 5 } }, cookie: { pth: '/' } }
    expect(() => new Server({ plugins: { session: options } as {} })).toThrow(
      /^4 options are wrong:\n- .*session\.secret.*\n- .*session\.ttl.*\n- Unknown option "plugins\.session\.store\.memory\.mx".*\n- Unknown option "plugins\.session\.cookie\.pth"\. Did you mean "path"/,
    )
  })

  test('no listing shows the secret, nor the access to a store', () => {
    const server = new Server({
      plugins: {
        session: { secret, store: { redis: { url: 'redis://user:hunter2@127.0.0.1:1', password: 'hunter2' } } },
      },
      router: new RouteCollection(),
    })
    expect(server.plugins.children.find(({ name }) => name === 'session')?.settings).toEqual({
      secret: '(secret)',
      name: 'sid',
      ttl: 86_400,
      store: '(secret)',
      rolling: false,
      cookie: {},
    })
  })

  test('a store in memory is a warning in production, a short secret an error', async () => {
    const quiet = serverWith()
    await quiet.ready()
    expect(quiet.entries).toEqual([])
    vi.stubEnv('NODE_ENV', 'production')
    const server = serverWith()
    await server.ready()
    expect(server.entries.map(({ level, message }) => [level, message])).toEqual([
      ['warn', expect.stringContaining('sessions are kept in memory')],
    ])
    const own = serverWith({ store })
    await own.ready()
    expect(own.entries).toEqual([])
    const { update, ...without } = store
    const old = serverWith({ store: without })
    await old.ready()
    expect(old.entries.map(({ level, message }) => [level, message])).toEqual([
      ['warn', expect.stringContaining('the session store "custom" has no update()')],
    ])
    expect(() => serverWith({ secret: 'short' })).toThrow('is 5 characters long')
  })

  test('the store in memory is bounded, and says so once when it is full', async () => {
    const server = serverWith({ store: { memory: { max: 3 } } })
    const all: Record<string, string>[] = []
    for (let n = 0; n < 6; n++) all.push((await write(server, { n })).cookies())
    const kept = await Promise.all(all.map(async (cookies) => (await read(server, cookies)).body<{ n?: number }>().n))
    expect(kept).toEqual([undefined, undefined, undefined, 3, 4, 5])
    expect(server.entries.map(({ message }) => message)).toEqual([expect.stringContaining('the session store is full')])
  })
})
