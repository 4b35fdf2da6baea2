import { definePlugin, type Response, RouteCollection, Server } from 'framework'
import { cookie, type SetCookieOptions } from 'framework/plugins/cookie'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

const secret = 'the first secret of these tests'
const older = 'the secret that was used before it'

function serverWith(options: Parameters<typeof cookie>[0] = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({ plugins: { cookie: options } as {}, router: new RouteCollection(), logger })
  servers.push(server)
  server.get('/cookies', (req) => ({ cookies: req.cookies, signed: req.signedCookies, one: req.cookie('a') ?? null }))
  return Object.assign(server, { entries: logger.entries })
}

/** The lines that a handler's calls lead to. */
async function linesOf(act: (res: Response) => unknown, options?: Parameters<typeof cookie>[0], url = '/') {
  const server = serverWith(options)
  server.get('/', (_req, res) => {
    act(res)
    return 'ok'
  })
  const res = await server.inject.request('GET', url)
  res.assertStatus(200)
  return [res.headers()['set-cookie'] ?? []].flat() as string[]
}
const lineOf = async (name: string, value: string, attributes?: SetCookieOptions, url?: string) =>
  (await linesOf((res) => res.cookie(name, value, attributes), {}, url))[0]

describe('reading', () => {
  test('every cookie by its name, decoded', async () => {
    const server = serverWith()
    const res = await server.inject.get('/cookies', { headers: { cookie: 'a=1; b=x%20y; c=%C3%BC; d=a=b; e=' } })
    res.assertBodyDeepEqual({ cookies: { a: '1', b: 'x y', c: 'ü', d: 'a=b', e: '' }, signed: {}, one: '1' })
  })

  test('none without the header', async () => {
    const res = await serverWith().inject.get('/cookies')
    res.assertBodyDeepEqual({ cookies: {}, signed: {}, one: null })
  })

  test('cookies of the test kit arrive unchanged', async () => {
    const cookies = { a: '1', b: 'x; y', c: 'ü"=,' }
    const res = await serverWith().inject.get('/cookies', { cookies })
    res.assertBodySubset({ cookies })
  })

  test('parsed once, when first read, into an object without prototype', async () => {
    const server = serverWith()
    server.get('/once', (req) => {
      expect(Object.getPrototypeOf(req.cookies)).toBe(null)
      expect(Object.getPrototypeOf(req.signedCookies)).toBe(null)
      const { cookies, signedCookies } = req
      expect(req.cookies).toBe(cookies)
      expect(req.signedCookies).toBe(signedCookies)
      return 'ok'
    })
    const res = await server.inject.get('/once', { cookies: { a: '1' } })
    res.assertStatus(200)
  })
})

describe('setting', () => {
  test('safe by default, and Secure over https', async () => {
    expect(await lineOf('a', '1')).toBe('a=1; Path=/; HttpOnly; SameSite=Lax')
    expect(await lineOf('a', '1', {}, 'https://a.test/')).toBe('a=1; Path=/; HttpOnly; Secure; SameSite=Lax')
    expect(await lineOf('a', '1', { secure: false }, 'https://a.test/')).not.toContain('Secure')
  })

  test.each<[SetCookieOptions, string]>([
    [{ maxAge: 60 }, 'a=1; Max-Age=60; Path=/; HttpOnly; SameSite=Lax'],
    [{ maxAge: 0 }, 'a=1; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'],
    [{ expires: new Date(0) }, 'a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'],
    [{ path: '/x', domain: 'a.test' }, 'a=1; Domain=a.test; Path=/x; HttpOnly; SameSite=Lax'],
    [{ httpOnly: false, sameSite: false }, 'a=1; Path=/'],
    [{ sameSite: true }, 'a=1; Path=/; HttpOnly; SameSite=Strict'],
    [{ sameSite: 'strict', priority: 'high' }, 'a=1; Path=/; HttpOnly; Priority=High; SameSite=Strict'],
    [{ sameSite: 'none' }, 'a=1; Path=/; HttpOnly; Secure; SameSite=None'],
    [{ partitioned: true }, 'a=1; Path=/; HttpOnly; Secure; Partitioned; SameSite=Lax'],
    [{ secure: true, maxAge: undefined }, 'a=1; Path=/; HttpOnly; Secure; SameSite=Lax'],
  ])('%o', async (attributes, line) => {
    expect(await lineOf('a', '1', attributes)).toBe(line)
  })

  test('any text arrives as it was set', async () => {
    const server = serverWith()
    const text = 'ü; Domain=evil.test\r\n"=,\\ 💛'
    server.get('/set', (_req, res) => res.cookie('a', text).ok())
    const set = await server.inject.get('/set')
    set.assertCookie('a', text, { path: '/', httponly: true, domain: undefined })
    const res = await server.inject.get('/cookies', { cookies: set.cookies() })
    res.assertBodySubset({ one: text })
  })

  test('defaults of the application, and of each cookie', async () => {
    const defaults = { sameSite: 'strict', path: '/app', maxAge: 60 } as const
    const lines = await linesOf(
      (res) => {
        res.cookie('a', '1').cookie('b', '2', { path: '/', expires: new Date(0) })
      },
      { defaults },
    )
    expect(lines).toEqual([
      'a=1; Max-Age=60; Path=/app; HttpOnly; SameSite=Strict',
      'b=2; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
    ])
  })

  test('the second one of the same name, domain and path takes the place of the first', async () => {
    const lines = await linesOf((res) => {
      res.cookie('a', '1').cookie('b', '2').cookie('a', '3', { path: '/x' }).cookie('a', '4', { domain: 'A.test' })
      res.cookie('aa', '5').cookie('a', '6', { sameSite: 'strict' }).cookie('a', '7', { domain: '.a.test' })
    })
    expect(lines.map((line) => line.split(';')[0])).toEqual(['b=2', 'a=3', 'aa=5', 'a=6', 'a=7'])
  })

  test('a partitioned cookie and one that is not are two', async () => {
    const lines = await linesOf((res) => {
      res.clearCookie('a').cookie('a', '1', { partitioned: true }).cookie('b', '; Partitioned').cookie('b', '2')
      res.cookie('a', '3', { partitioned: true, priority: 'low' })
    })
    expect(lines.map((line) => line.split(';')[0])).toEqual(['a=', 'b=2', 'a=3'])
  })

  test('beside lines that others have set', async () => {
    const lines = await linesOf((res) => {
      res.setHeader('set-cookie', 'x=1; Path=/')
      res.cookie('a', '1').cookie('x', '2')
    })
    expect(lines.map((line) => line.split(';')[0])).toEqual(['a=1', 'x=2'])
  })

  test('clearing needs the same path and domain, and takes the value back', async () => {
    const lines = await linesOf((res) => {
      res
        .cookie('a', '1', { maxAge: 60 })
        .clearCookie('a')
        .clearCookie('b', { path: '/x', domain: 'a.test', maxAge: 5 })
    })
    const gone = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'
    expect(lines).toEqual([`a=; Max-Age=0; Path=/; ${gone}`, `b=; Max-Age=0; Domain=a.test; Path=/x; ${gone}`])
  })

  test('a failure takes the cookies of the handler back', async () => {
    const server = serverWith()
    server.get('/boom', (_req, res) => {
      res.cookie('a', '1')
      throw new Error('boom')
    })
    const res = await server.inject.get('/boom')
    res.assertStatus(500).assertCookieNotExists('a')
  })
})

describe('signing', () => {
  test('a signed cookie comes back under signedCookies without its signature', async () => {
    const server = serverWith({ secret })
    server.get('/set', (_req, res) => res.cookie('a', 'ada.1', { signed: true }).cookie('b', '2').ok())
    const set = await server.inject.get('/set')
    expect(set.cookies().a).toMatch(/^ada\.1\.[\w-]{43}$/)
    const res = await server.inject.get('/cookies', { cookies: set.cookies() })
    res.assertBodyDeepEqual({ cookies: set.cookies(), signed: { a: 'ada.1' }, one: set.cookies().a })
  })

  test('the first secret signs, all are taken', async () => {
    const signedBy = async (...secrets: string[]) => {
      const server = serverWith({ secret: secrets })
      server.get('/set', (_req, res) => res.cookie('a', '1', { signed: true }).ok())
      return (await server.inject.get('/set')).cookies()
    }
    const rotated = serverWith({ secret: [secret, older] })
    for (const cookies of [await signedBy(older), await signedBy(secret), await signedBy(secret, older)]) {
      const res = await rotated.inject.get('/cookies', { cookies })
      res.assertBodySubset({ signed: { a: '1' } })
    }
    const after = await serverWith({ secret }).inject.get('/cookies', { cookies: await signedBy(older, secret) })
    after.assertBodySubset({ signed: {} })
    expect(after.body<{ signed: object }>().signed).toEqual({})
  })

  test('all cookies, by the defaults', async () => {
    const server = serverWith({ secret, defaults: { signed: true } })
    server.get('/set', (_req, res) => res.cookie('a', '1').cookie('b', '2', { signed: false }).clearCookie('c').ok())
    const { a, b, c } = (await server.inject.get('/set')).cookies()
    expect([a, b, c]).toEqual([expect.stringMatching(/^1\../), '2', ''])
  })

  test('without a secret it is an error that says how to give one', async () => {
    const server = serverWith()
    server.get('/set', (_req, res) => res.cookie('a', '1', { signed: true }).ok())
    ;(await server.inject.get('/set')).assertStatus(500).assertHeaderNotExists('set-cookie')
    expect(server.entries.map(({ fields }) => (fields.err as Error).message)).toEqual([
      'the cookie "a" cannot be signed without a secret. Give the plugin one: cookie: { secret: … }',
    ])
  })
})

describe('options', () => {
  test.each<[object, string]>([
    [{ secret: '' }, 'the option "plugins.cookie.secret" is an empty string; it takes a random string'],
    [{ secret: '   ' }, 'the option "plugins.cookie.secret" is an empty string'],
    [{ secret: [] }, 'the option "plugins.cookie.secret" is an empty list'],
    [{ secret: [secret, ''] }, 'the option "plugins.cookie.secret" is an empty string'],
    [{ secret: 5 }, 'the option "plugins.cookie.secret" is number'],
    [{ secret: null }, 'the option "plugins.cookie.secret" is null'],
    [{ secrets: secret }, 'Unknown option "plugins.cookie.secrets". Did you mean "secret"?'],
    [{ defaults: { httponly: true } }, 'Unknown option "plugins.cookie.defaults.httponly". Did you mean "httpOnly"?'],
    [
      { defaults: { maxAge: '1d' } },
      'the option "plugins.cookie.defaults.maxAge" is "1d"; it takes a whole number of seconds',
    ],
    [
      { defaults: { signed: true } },
      'the option "plugins.cookie.defaults.signed" is true; it takes a secret together with it',
    ],
    [{ defaults: null }, 'the option "plugins.cookie.defaults" is null'],
    [5 as never, 'plugins.cookie is a number'],
  ])('%o is refused when the server is made', (options, message) => {
    expect(() => new Server({ plugins: { cookie: options } as {} })).toThrow(message)
  })

  test('everything that is wrong is in one error', () => {
    const options = { secret: 5, defaults: { sameSite: 'sometimes', maxage: 5 } }
    expect(() => new Server({ plugins: { cookie: options } as {} })).toThrow(
      /^3 options are wrong:\n- .*cookie\.secret.*\n- Unknown option "plugins\.cookie\.defaults\.maxage".*\n- .*sameSite" is "sometimes"; it takes "strict", "lax", "none", or true or false$/,
    )
  })

  test('a short secret is a warning here and an error in production, and is never shown', async () => {
    const server = serverWith({ secret: 'hunter2' })
    await server.ready()
    expect(server.entries.map(({ message }) => message)).toEqual([expect.stringContaining('cookie.secret is short')])
    vi.stubEnv('NODE_ENV', 'production')
    expect(() => serverWith({ secret: ['x'.repeat(16), 'hunter2'] })).toThrow(
      'the option "plugins.cookie.secret" is 7 characters long; it takes a random string of 16 characters or more',
    )
    expect(() => serverWith({ secret: 'hunter2' })).not.toThrow('hunter2')
    expect(() => serverWith({ secret: 'x'.repeat(16) })).not.toThrow()
  })
})

test('a part of the application may have secrets and defaults of its own', async () => {
  const part = definePlugin({
    name: 'part',
    scoped: true,
    setup(ctx) {
      ctx.register(cookie({ secret: older, defaults: { path: '/part' } }))
      ctx.get('/part', (_req, res) => res.cookie('a', '1', { signed: true }).ok())
      ctx.get('/part/read', (req) => req.signedCookies)
    },
  })
  for (const order of ['first', 'last']) {
    const outer = cookie({ secret })
    const plugins = order === 'first' ? [outer, part()] : [part(), outer]
    const server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger() })
    servers.push(server)
    server.get('/read', (req) => req.signedCookies)
    server.get('/', (_req, res) => res.cookie('a', '2', { signed: true }).ok())
    const inner = await server.inject.get('/part')
    inner.assertHeader('set-cookie', /; Path=\/part; /)
    const out = await server.inject.get('/')
    out.assertHeader('set-cookie', /; Path=\/; /)
    for (const [path, cookies, body] of [
      ['/part/read', inner.cookies(), { a: '1' }],
      ['/part/read', out.cookies(), {}],
      ['/read', out.cookies(), { a: '2' }],
      ['/read', inner.cookies(), {}],
    ] as const) {
      const res = await server.inject.get(path, { cookies })
      res.assertBodyDeepEqual(body)
    }
  }
})
