import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type Request, RouteCollection, Server, type Session, type SessionStore } from 'framework'
import type { session } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Chance } from '../../support/chance.ts'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { isLong } from '../../support/long.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) await server.close()
})

const secret = 'the first secret of these tests'
const older = 'the secret that was used before it'
type Bag = Session & Record<string, unknown>
const bagOf = (req: Request) => req.session as Bag

/** A store in a Map that exposes its ids. */
function mapStore(wait = 0) {
  const rows = new Map<string, object>()
  const asked: string[] = []
  const store: SessionStore = {
    async get(id) {
      asked.push(id)
      if (wait > 0) await pause(wait)
      return rows.get(id)
    },
    async set(id, data) {
      if (wait > 0) await pause(wait)
      rows.set(id, data)
    },
    async destroy(id) {
      if (wait > 0) await pause(wait)
      rows.delete(id)
    },
  }
  return { rows, asked, store }
}

function serverWith(options: Partial<Parameters<typeof session>[0]> = {}) {
  const logger = memoryLogger()
  const plugins = { session: { secret, ...options }, cookie: { secret } } as {}
  const server = new Server<{}>({ plugins, router: new RouteCollection(), logger })
  servers.push(server)
  server.get('/read', (req) => ({ ...req.session }))
  server.post('/write', (req) => {
    Object.assign(req.session, req.body)
    return 'ok'
  })
  server.post('/login', async (req) => {
    await req.session.regenerate()
    bagOf(req).user = 'ada'
    return 'ok'
  })
  server.post('/logout', async (req) => {
    await req.session.destroy()
    return 'ok'
  })
  // Signed with the same secret by the cookie plugin, under whatever name.
  server.get('/sign/:name/:value', (req, res) => res.cookie(req.params.name!, req.params.value!, { signed: true }).ok())
  return Object.assign(server, { entries: logger.entries })
}

const idOf = (cookies: Record<string, string>) => cookies.sid!.split('.')[0]!
const write = async (server: Server, body: object, cookies: Record<string, string> = {}) =>
  (await server.inject.post('/write', { body, cookies })).assertStatus(200).cookies()

describe('CO-05: the signature of the session cookie', () => {
  test('the session and the cookie plugin sign alike', async () => {
    const server = serverWith()
    const cookies = await write(server, { a: 1 })
    const own = (await server.inject.get(`/sign/sid/${idOf(cookies)}`)).cookies()
    expect(own.sid).toBe(cookies.sid)
  })

  test(`not one of ${isLong ? 20 : 4} 000 tampered cookies reaches the store`, async () => {
    const { rows, asked, store } = mapStore()
    const server = serverWith({ store, secret: [secret, older] })
    const { sid } = await write(server, { user: 'ada' })
    const text = sid!
    const chance = new Chance(7)
    const next = (below: number) => chance.below(below)
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    for (let i = 0; i < (isLong ? 20_000 : 4_000); i++) {
      const at = next(text.length)
      const letter = letters[next(letters.length)]!
      let made = [text.slice(0, at) + letter + text.slice(at + 1), text.slice(0, at), text.slice(at), text + letter][
        next(4)
      ]!
      if (made === text) made = `${text}x`
      const res = await server.inject({ url: '/read', headers: { cookie: `sid=${made}` } })
      if (res.body.length !== 2) throw new Error(`accepted ${made}`)
    }
    expect(asked).toEqual([])
    expect(rows.size).toBe(1)
    ;(await server.inject.get('/read', { cookies: { sid: text } })).assertBodyDeepEqual({ user: 'ada' })
  })

  test('a signature for another cookie, another secret, an old secret after rotation', async () => {
    const { store } = mapStore()
    const cookies = await write(serverWith({ store, secret: older }), { user: 'ada' })
    const read = async (options: object, sid = cookies.sid!) =>
      (await serverWith({ store, ...options }).inject.get('/read', { cookies: { sid } })).body()
    expect(await read({ secret: older })).toEqual({ user: 'ada' })
    expect(await read({ secret: [secret, older] })).toEqual({ user: 'ada' })
    expect(await read({ secret })).toEqual({})
    expect(
      await read(
        { secret: older, name: 'sid' },
        (await serverWith().inject.get(`/sign/other/${idOf(cookies)}`)).cookies().other,
      ),
    ).toEqual({})
    // Saved again, it is signed with the first secret.
    const rotated = serverWith({ store, secret: [secret, older] })
    const again = await write(rotated, { n: 1 }, cookies)
    expect(idOf(again)).toBe(idOf(cookies))
    expect(await read({ secret }, again.sid)).toEqual({ user: 'ada', n: 1 })
  })

  test('a signature is compared as a whole, in constant time, however much of it is right', async () => {
    const server = serverWith({ secret: [secret, older] })
    const { sid } = await write(server, { a: 1 })
    const swap = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    const compared = vi.spyOn(crypto, 'timingSafeEqual')
    // Modules that import the function by its name see the spy as well.
    syncBuiltinESMExports()
    try {
      for (const at of [33, sid!.length - 1]) {
        expect(await server.inject({ url: '/read', headers: { cookie: `sid=${swap(sid!, at)}` } })).toBeDefined()
        // Once for each secret, over all 43 characters.
        const sizes = compared.mock.calls.splice(0).map((both) => both.map((one) => one.byteLength))
        expect(sizes).toEqual([
          [43, 43],
          [43, 43],
        ])
        expect(compared.mock.results.splice(0).map(({ value }) => value)).toEqual([false, false])
      }
    } finally {
      compared.mockRestore()
      syncBuiltinESMExports()
    }
  })
})

describe('CO-06: session fixation', () => {
  test('an id of the client is never taken, in whatever form', async () => {
    const { rows, asked, store } = mapStore()
    const server = serverWith({ store })
    const chosen = 'A'.repeat(32)
    rows.set(chosen, { user: 'eve' })
    const forms = [
      '',
      chosen,
      `${chosen}.`,
      `${chosen}.${'A'.repeat(43)}`,
      `s:${chosen}.x`,
      '__proto__',
      '../../x',
      '%00',
    ]
    for (const sid of forms) {
      const cookies = await write(server, { a: 1 }, { sid })
      expect(idOf(cookies)).not.toBe(chosen)
      expect(idOf(cookies)).toMatch(/^[\w-]{32}$/)
    }
    expect(asked).toEqual([])
    expect(rows.get(chosen)).toEqual({ user: 'eve' })
  })

  test('an unknown or expired id gets a new one, though its signature holds', async () => {
    const { rows, store } = mapStore()
    const server = serverWith({ store })
    const first = await write(server, { a: 1 })
    rows.clear()
    ;(await server.inject.get('/read', { cookies: first })).assertBodyDeepEqual({}).assertHeaderNotExists('set-cookie')
    const second = await write(server, { b: 1 }, first)
    expect(idOf(second)).not.toBe(idOf(first))
    expect([...rows.keys()]).toEqual([idOf(second)])
  })

  test('a signed text that is no id never reaches the store', async () => {
    const { asked, store } = mapStore()
    const server = serverWith({ store })
    for (const value of ['x', '__proto__', `${'a'.repeat(31)}:`, 'a'.repeat(33), 'session:*']) {
      const cookies = (await server.inject.get(`/sign/sid/${encodeURIComponent(value)}`)).cookies()
      ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({})
    }
    expect(asked).toEqual([])
  })

  test('after login the id is another, and the one that was planted is worth nothing', async () => {
    const { rows, store } = mapStore()
    const server = serverWith({ store })
    const planted = await write(server, { cart: 1 })
    const login = await server.inject.post('/login', { cookies: planted })
    expect(idOf(login.cookies())).not.toBe(idOf(planted))
    ;(await server.inject.get('/read', { cookies: planted })).assertBodyDeepEqual({})
    ;(await server.inject.get('/read', { cookies: login.cookies() })).assertBodyDeepEqual({ cart: 1, user: 'ada' })
    expect(rows.size).toBe(1)
  })

  test('after logout the cookie is worth nothing, and the store has nothing', async () => {
    const { rows, store } = mapStore()
    const server = serverWith({ store })
    const cookies = (await server.inject.post('/login')).cookies()
    await server.inject.post('/logout', { cookies })
    expect(rows.size).toBe(0)
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({})
    expect(idOf(await write(server, { a: 1 }, cookies))).not.toBe(idOf(cookies))
  })

  test('10 000 ids: no two are alike, and every bit is a coin', async () => {
    const { rows, store } = mapStore()
    const server = serverWith({ store })
    for (let i = 0; i < 10_000; i++) {
      await server.inject({
        method: 'POST',
        url: '/write',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      })
    }
    expect(rows.size).toBe(10_000)
    const ones = new Array<number>(192).fill(0)
    for (const id of rows.keys()) {
      const bytes = Buffer.from(id, 'base64url')
      expect(bytes.length * 8).toBeGreaterThanOrEqual(128)
      for (let bit = 0; bit < 192; bit++) ones[bit]! += (bytes[bit >> 3]! >> (bit & 7)) & 1
    }
    // Six standard deviations.
    for (const count of ones) expect(Math.abs(count - 5_000)).toBeLessThan(300)
  })
})

// Flask CVE-2023-30861: a cache on the way keeps a response with a session cookie, and gives it to the next client.
describe('a cache on the way', () => {
  test('learns that a response is for that cookie alone, when the session was read, changed, refreshed or ended', async () => {
    const server = serverWith()
    const written = await server.inject.post('/write', { body: { user: 'ada' } })
    const cookie = (written.headers()['set-cookie'] as readonly string[])[0]!.split(';')[0]!
    written.assertHeader('vary', 'Cookie')
    ;(await server.inject.get('/read', { headers: { cookie } })).assertHeader('vary', 'Cookie')
    ;(await server.inject.get('/read')).assertHeader('vary', 'Cookie')
    ;(await server.inject.post('/logout', { headers: { cookie } })).assertHeader('vary', 'Cookie')

    const rolling = serverWith({ rolling: true })
    rolling.get('/public', () => 'for all')
    const first = await rolling.inject.post('/write', { body: { user: 'ada' } })
    const rolled = (first.headers()['set-cookie'] as readonly string[])[0]!.split(';')[0]!
    const refreshed = await rolling.inject.get('/public', { headers: { cookie: rolled } })
    refreshed.assertHeaderExists('set-cookie').assertHeader('vary', 'Cookie')
  })

  test('may keep responses independent of the session', async () => {
    const server = serverWith()
    server.get('/public', () => 'for all')
    const cookie = ((await server.inject.post('/login')).headers()['set-cookie'] as readonly string[])[0]!.split(
      ';',
    )[0]!
    for (const headers of [{}, { cookie }]) {
      ;(await server.inject.get('/public', { headers })).assertHeaderNotExists('vary')
    }
  })
})

describe('requests of one session side by side', () => {
  test.each([
    false,
    true,
  ])('a slow request does not restore a session after its log-out (rolling: %s)', async (rolling) => {
    const { rows, store } = mapStore(3)
    const server = serverWith({ store, rolling })
    let held: (() => void)[] = []
    const goOn = () => new Promise<void>((resolve) => void held.push(resolve))
    server.get('/slow', async (req) => {
      await goOn()
      bagOf(req).seen = true
      return 'ok'
    })
    server.get('/idle', async () => {
      await goOn()
      return 'ok'
    })
    for (const end of ['/logout', '/login']) {
      const cookies = (await server.inject.post('/login')).cookies()
      const both = ['/slow', '/idle'].map((path) => server.inject.get(path, { cookies }))
      await expect.poll(() => held).toHaveLength(2)
      await server.inject.post(end, { cookies })
      for (const release of held) release()
      held = []
      for (const res of await Promise.all(both)) res.assertStatus(200).assertHeaderNotExists('set-cookie')
      expect(rows.has(idOf(cookies))).toBe(false)
      ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({})
    }
  })

  test('nor one that is just writing', async () => {
    const { rows, store } = mapStore()
    const held: (() => void)[] = []
    const slowly: SessionStore = {
      ...store,
      set: (id, data) =>
        new Promise((resolve) => {
          held.push(() => {
            rows.set(id, data)
            resolve()
          })
        }),
    }
    const server = serverWith({ store: slowly })
    const id = 'B'.repeat(32)
    rows.set(id, { user: 'ada' })
    const cookies = (await server.inject.get(`/sign/sid/${id}`)).cookies()
    const writing = server.inject.post('/write', { body: { n: 1 }, cookies })
    while (held.length === 0) await pause(1)
    const leaving = server.inject.post('/logout', { cookies })
    await pause(1)
    held[0]!()
    ;(await leaving).assertStatus(200)
    ;(await writing).assertStatus(200).assertHeaderNotExists('set-cookie')
    expect(rows.has(id)).toBe(false)
  })

  test.each(['memory', 'custom'] as const)('nor one that takes minutes (store: %s)', async (kind) => {
    let later = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + later)
    const { rows, store } = mapStore()
    const server = serverWith({ store: kind === 'memory' ? 'memory' : store })
    let goOn: (() => void) | undefined
    server.get('/slow', async (req) => {
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      bagOf(req).seen = true
      return 'ok'
    })
    const cookies = (await server.inject.post('/login')).cookies()
    const slow = server.inject.get('/slow', { cookies })
    while (goOn === undefined) await pause(1)
    await server.inject.post('/logout', { cookies })
    later = 600_000
    // Code that reads the time often may cache it for a moment.
    await pause(5)
    goOn!()
    ;(await slow).assertStatus(200).assertHeaderNotExists('set-cookie')
    expect(rows.size).toBe(0)
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({})
  })

  test('one that renews the id of a session that has ended gets an error, and may begin anew', async () => {
    const { rows, store } = mapStore()
    const server = serverWith({ store })
    server.get('/slow', async (req, res) => {
      const { session } = req
      await server.inject.post('/logout', { cookies: req.cookies as {} })
      await expect(session.regenerate()).rejects.toMatchObject({ code: 'SessionEndedError', status: 409 })
      bagOf(req).again = true
      await expect(session.save()).rejects.toMatchObject({ code: 'SessionEndedError' })
      await expect(session.regenerate()).rejects.toMatchObject({ code: 'SessionEndedError' })
      expect(rows.size).toBe(0)
      if (req.query.anew !== undefined) {
        await session.destroy()
        bagOf(req).anew = true
      }
      return res.ok()
    })
    const cookies = (await server.inject.post('/login')).cookies()
    ;(await server.inject.get('/slow', { cookies })).assertStatus(200).assertHeaderNotExists('set-cookie')
    expect(rows.size).toBe(0)
    const again = (await server.inject.post('/login')).cookies()
    const anew = (await server.inject.get('/slow?anew', { cookies: again })).assertStatus(200).cookies()
    ;(await server.inject.get('/read', { cookies: anew })).assertBodyDeepEqual({ anew: true })
    expect(rows.size).toBe(1)
  })

  test('a cookie of an earlier save does not leave with the response once the session has ended', async () => {
    const { store } = mapStore()
    const server = serverWith({ store })
    server.get('/stream', async (req) => {
      bagOf(req).n = 1
      await req.session.save()
      await server.inject.post('/logout', { cookies: req.cookies as {} })
      bagOf(req).n = 2
      return 'ok'
    })
    const cookies = (await server.inject.post('/login')).cookies()
    ;(await server.inject.get('/stream', { cookies })).assertStatus(200).assertHeaderNotExists('set-cookie')
  })

  test('the last write wins', async () => {
    const server = serverWith()
    server.post('/late/:name/:ms', async (req) => {
      await pause(Number(req.params.ms))
      bagOf(req)[req.params.name!] = 1
      return 'ok'
    })
    const cookies = await write(server, { a: 1 })
    await Promise.all([server.inject.post('/late/b/5', { cookies }), server.inject.post('/late/c/25', { cookies })])
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ a: 1, c: 1 })
  })
})

describe('prototype pollution', () => {
  test('names of data reach no prototype, and a polluted one logs no one in', async () => {
    const { store } = mapStore()
    const server = serverWith({ store })
    server.post('/name', (req) => {
      bagOf(req).__proto__ = { polluted: 'yes' }
      Object.assign(req.session, { constructor: 'x' })
      return 'ok'
    })
    server.get('/user', (req) => String(bagOf(req).user ?? 'nobody'))
    const cookies = (await server.inject.post('/name')).cookies()
    const res = await server.inject.get('/read', { cookies })
    expect(res.text()).toBe('{"__proto__":{"polluted":"yes"},"constructor":"x"}')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    Object.defineProperty(Object.prototype, 'user', { value: 'eve', configurable: true })
    try {
      ;(await server.inject.get('/user')).assertBodyDeepEqual('nobody')
      ;(await server.inject.get('/user', { cookies })).assertBodyDeepEqual('nobody')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'user')
    }
  })
})

describe('a store that fails', () => {
  const failing = (method: keyof SessionStore, how: () => Promise<never> | never) => {
    const { rows, store } = mapStore()
    const state = { broken: false, rows }
    const broken: SessionStore = {
      ...store,
      [method]: (...args: never[]) =>
        state.broken ? how() : (store[method] as (...args: never[]) => unknown)(...args),
    }
    return { state, broken }
  }
  const hows: [string, () => Promise<never>][] = [
    ['rejects', () => Promise.reject(new Error('secret-host:6379 refused'))],
    [
      'throws',
      () => {
        throw new Error('secret-host:6379 refused')
      },
    ],
  ]

  test.each(hows)('%s on reading: 503 for clients with a session, never an empty one', async (_name, how) => {
    const { state, broken } = failing('get', how)
    const server = serverWith({ store: broken })
    const cookies = await write(server, { a: 1 })
    state.broken = true
    for (let i = 0; i < 3; i++) {
      const res = await server.inject.get('/read', { cookies })
      res.assertStatus(503).assertHeaderNotExists('set-cookie').assertBodyDeepEqual({
        code: 'SessionStoreError',
        message: 'SESSION_STORE: the session store "custom" cannot be read. Try again later',
      })
    }
    ;(await server.inject.get('/read')).assertStatus(200)
    state.broken = false
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ a: 1 })
    expect(server.entries.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'error: the session store "custom" cannot be read',
      'warn: the session store "custom" works again',
    ])
  })

  test.each(hows)('%s on writing: 503, no cookie and a log line; save() rejects in the handler', async (_name, how) => {
    const { state, broken } = failing('set', how)
    const server = serverWith({ store: broken })
    server.post('/save', async (req) => {
      bagOf(req).a = 1
      await req.session.save()
      return 'ok'
    })
    state.broken = true
    const written = await server.inject.post('/write', { body: { a: 1 } })
    written.assertStatus(503).assertHeaderNotExists('set-cookie').assertBodyDeepEqual({
      code: 'SessionStoreError',
      message: 'SESSION_STORE: the session store "custom" cannot be written. Try again later',
    })
    const [change, failure] = server.entries
    expect(change).toMatchObject({ level: 'error', message: 'the session store "custom" cannot be written' })
    expect(failure).toMatchObject({ level: 'error', fields: { plugin: 'session' } })
    expect(failure!.message).toMatch(/^POST \/write failed with SessionStoreError: /)
    ;(await server.inject.post('/save')).assertHeaderNotExists('set-cookie')
    ;(await server.inject.get('/read')).assertStatus(200)
    expect(state.rows.size).toBe(0)
  })

  test.each(hows)('%s on forgetting: the session continues, and the client learns that', async (_name, how) => {
    const { state, broken } = failing('destroy', how)
    const server = serverWith({ store: broken })
    const cookies = await write(server, { a: 1 })
    state.broken = true
    for (const path of ['/logout', '/login']) {
      const res = await server.inject.post(path, { cookies })
      res.assertStatus(503).assertHeaderNotExists('set-cookie')
    }
    state.broken = false
    ;(await server.inject.get('/read', { cookies })).assertBodyDeepEqual({ a: 1 })
    ;(await server.inject.post('/logout', { cookies })).assertStatus(200)
    expect(state.rows.size).toBe(0)
  })

  test.each(['text', 5, true, ['a']])('gives %j in place of an object: 503', async (value) => {
    const { rows, store } = mapStore()
    const state = { broken: false }
    const server = serverWith({ store: { ...store, get: (id) => (state.broken ? (value as object) : rows.get(id)) } })
    const cookies = await write(server, { a: 1 })
    state.broken = true
    ;(await server.inject.get('/read', { cookies })).assertStatus(503)
  })

  test.each(['update', 'destroy'] as const)('does not say whether the session was there (%s): 503', async (method) => {
    const { store } = mapStore()
    const server = serverWith({ store: { ...store, update: async () => true, [method]: async () => undefined } })
    const cookies = await write(server, { a: 1 })
    const path = method === 'update' ? '/write' : '/logout'
    ;(await server.inject.post(path, { body: { a: 2 }, cookies })).assertStatus(503).assertHeaderNotExists('set-cookie')
    expect(server.entries[0]!.fields.err).toMatchObject({
      message: expect.stringContaining(`${method}() returned undefined`),
    })
  })

  test('never responds: 503 after two seconds', async () => {
    const { state, broken } = failing('get', () => new Promise<never>(() => {}))
    const server = serverWith({ store: broken })
    const cookies = await write(server, { a: 1 })
    state.broken = true
    const start = performance.now()
    ;(await server.inject.get('/read', { cookies })).assertStatus(503)
    expect(performance.now() - start).toBeLessThan(20_000)
  })
})
