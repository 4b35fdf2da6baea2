import { RouteCollection, Server } from 'framework'
import type { cookie, SetCookieOptions } from 'framework/plugins/cookie'
import { afterEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../../conformance/raw-client.ts'
import { Chance } from '../../support/chance.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { isLong } from '../../support/long.ts'
import { quickest } from '../../support/quickest.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const secret = 'the first secret of these tests'

function serverWith(options: Parameters<typeof cookie>[0] = {}) {
  const logger = memoryLogger()
  const plugins = { cookie: options } as {}
  const server = new Server<{}>({ plugins, router: new RouteCollection(), logger, port: 0, host: '127.0.0.1' })
  servers.push(server)
  server.get('/cookies', (req) => ({ ...req.cookies }))
  server.get('/signed', (req) => ({ ...req.signedCookies }))
  return Object.assign(server, { entries: logger.entries })
}

/** What a request with this header is said to have. */
async function read(cookie: string): Promise<Record<string, string>> {
  const server = serverWith()
  let cookies: Record<string, string> = {}
  server.get('/', (req) => {
    cookies = { ...req.cookies } as Record<string, string>
    return 'ok'
  })
  const res = await server.inject.get('/', { headers: { cookie } })
  res.assertStatus(200)
  return cookies
}

describe('CO-03: whatever a Cookie header holds', () => {
  // The class of Elysia CVE-2026-31865 (prototype pollution by a cookie name).
  test.each([
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
  ])('prototype pollution: %s is a name like any other', async (name) => {
    const server = serverWith({ secret })
    let own: unknown
    server.get('/', (req) => {
      expect(Object.getPrototypeOf(req.cookies)).toBe(null)
      expect(Object.getPrototypeOf(req.signedCookies)).toBe(null)
      own = [Object.keys(req.cookies), req.cookie(name), (req.cookies as Record<string, unknown>).polluted]
      return Object.keys(req.signedCookies)
    })
    const res = await server.inject.get('/', { headers: { cookie: `${name}=polluted; ${name}[polluted]=1` } })
    res.assertBodyDeepEqual([])
    expect(own).toEqual([[name, `${name}[polluted]`], 'polluted', undefined])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const without = await server.inject.get('/', { headers: { cookie: 'a=1' } })
    without.assertStatus(200)
    expect(own).toEqual([['a'], undefined, undefined])
  })

  // The class of hono CVE-2026-39410: a no-break space that is trimmed makes a forged name one with a prefix.
  test.each([
    '\u00a0',
    '\u000b',
    '\u000c',
    '\u0085',
    '\ufeff',
    '\u2003',
  ])('prefix forgery: %j before a name stays', async (space) => {
    const cookies = await read(`${space}__Host-sid=evil; a=1`)
    expect(Object.keys(cookies)).toEqual([`${space}__Host-sid`, 'a'])
    expect(await read(`__Host-sid${space}=evil`)).toEqual({ [`__Host-sid${space}`]: 'evil' })
    expect((await read(`__Host-sid=good; ${space}__Host-sid=evil`))['__Host-sid']).toBe('good')
  })

  test('the same over a socket', async () => {
    const server = serverWith()
    server.get('/', (req) => req.cookie('__Host-sid') ?? 'none')
    const { port } = await server.listen()
    const answer = async (cookie: string) => {
      const head = `GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncookie: ${cookie}\r\n\r\n`
      return (await sendRaw(port, head)).text.split('\r\n\r\n')[1]
    }
    expect(await answer('\u00a0__Host-sid=evil')).toBe('"none"')
    expect(await answer('a=1; \u00a0__Host-sid=evil')).toBe('"none"')
    expect(await answer('\t __Host-sid=good')).toBe('"good"')
    expect(await answer('__Host-sid=good; __Host-sid=evil')).toBe('"good"')
  })

  test('the first of duplicates wins', async () => {
    expect(await read('a=1; a=2; a=; b=3; a=4')).toEqual({ a: '1', b: '3' })
    expect(await read('a=; a=2')).toEqual({ a: '' })
  })

  test('500 cookies, and one of 8 kB', async () => {
    const many = Array.from({ length: 500 }, (_, i) => `c${i}=${i}`).join('; ')
    expect(Object.keys(await read(many))).toHaveLength(500)
    const server = serverWith({ secret })
    const forged = Array.from({ length: 500 }, (_, i) => `c${i}=x.${'A'.repeat(43)}`).join('; ')
    const { result, ms } = await quickest(() => server.inject.get('/signed', { headers: { cookie: forged } }), 5, 300)
    result.assertBodyDeepEqual({})
    expect(ms).toBeLessThan(300)
    expect(await read(`a=${'x'.repeat(8192)}`)).toEqual({ a: 'x'.repeat(8192) })
  })

  test.each([
    ['a=%', { a: '%' }],
    ['a=%zz; b=%41', { a: '%zz', b: 'A' }],
    ['a=%ff%fe', { a: '%ff%fe' }],
    ['a=%C3', { a: '%C3' }],
    ['a="x y"', { a: '"x y"' }],
    ['a="x; b=1', { a: '"x', b: '1' }],
    ['a=1,b=2', { a: '1,b=2' }],
    ['a', {}],
    ['a; b=1', { b: '1' }],
    [';;;a=1;;', { a: '1' }],
    ['=1', { '': '1' }],
    ['=', {}],
    ['%61=1', { '%61': '1' }],
    ['a=1\tb=2', { a: '1\tb=2' }],
    ['$Version=1; a=1', { $Version: '1', a: '1' }],
    ['', {}],
    [' ', {}],
  ])('%j throws nothing', async (header, cookies) => {
    expect(await read(header)).toEqual(cookies)
  })

  test('a million separators are read in no time', async () => {
    for (const text of [';', '=', ' ', 'a=;', ' = ; ', '"', '%']) {
      expect((await quickest(() => read(text.repeat(1_000_000 / text.length)), 3, 400)).ms).toBeLessThan(400)
    }
  })
})

describe('CO-04: whatever is set', () => {
  /** The message of the error, and that nothing was set. */
  async function refusal(name: unknown, value: unknown, options?: unknown, url = '/') {
    const server = serverWith({ secret })
    server.get('/', (_req, res) => {
      expect(() => res.cookie(name as string, value as string, options as SetCookieOptions)).toThrow()
      return res.cookie(name as string, value as string, options as SetCookieOptions).ok()
    })
    const res = await server.inject.request('GET', url)
    res.assertStatus(500).assertHeaderNotExists('set-cookie')
    return (server.entries.at(-1)!.fields.err as Error).message
  }

  const hostile = [
    'a;b',
    'a; Domain=evil.test',
    'a\r\nset-cookie: b=1',
    'a\nb',
    'a\0b',
    '\u0100',
    'a\u0100',
    'ü',
    '\x7f',
  ]

  // The class of cookie CVE-2024-47764: characters of name, path and domain that begin another attribute.
  test.each([...hostile, '', 'a b', 'a=b', ' a', 'a\t', 'a,b\u00a0'])('the name %j', async (name) => {
    expect(await refusal(name, '1')).toMatch(/^the cookie ".*" cannot be set: .*A name has no spaces/s)
  })
  test.each([...hostile, '', 'x', '*', 'https://a.test/'])('the path %j', async (path) => {
    expect(await refusal('a', '1', { path })).toContain('the option "res.cookie.path" is ')
  })
  test.each([
    ...hostile,
    '',
    'a b',
    'a.test/',
    'a..test',
    '-a.test',
    '*',
    'a.test:80',
    'a.test.',
  ])('the domain %j', async (domain) => {
    expect(await refusal('a', '1', { domain })).toContain('the option "res.cookie.domain" is ')
  })

  // The class of hono CVE-2026-47675: attributes injected by sameSite and priority.
  test.each([
    ...hostile,
    '',
    'Strict; Domain=evil.test',
    'sometimes',
    'lax ',
  ])('attribute injection: sameSite and priority %j', async (value) => {
    expect(await refusal('a', '1', { sameSite: value })).toContain('the option "res.cookie.sameSite" is ')
    expect(await refusal('a', '1', { priority: value })).toContain('the option "res.cookie.priority" is ')
  })

  test.each(hostile)('the value %j stays a value', async (value) => {
    const server = serverWith({ secret })
    server.get('/', (_req, res) => res.cookie('a', value).cookie('b', value, { signed: true }).ok())
    const res = await server.inject.get('/')
    for (const line of res.headers()['set-cookie'] as string[]) {
      expect(line).toMatch(/^[ab]=[\w%.!'()*~-]*; Path=\/; HttpOnly; SameSite=Lax$/)
    }
    const back = await server.inject.get('/cookies', { headers: { cookie: `a=${encodeURIComponent(value)}` } })
    back.assertBodyDeepEqual({ a: value })
  })

  test.each<[unknown, unknown]>([
    ['1', { maxAge: 1.5 }],
    ['1', { maxAge: Number.NaN }],
    ['1', { maxAge: Number.POSITIVE_INFINITY }],
    ['1', { maxAge: 1e21 }],
    ['1', { maxAge: '60' }],
    ['1', { maxAge: '60; Domain=evil.test' }],
    ['1', { expires: 'tomorrow' }],
    ['1', { expires: new Date(Number.NaN) }],
    ['1', { expires: { toUTCString: () => 'x; Domain=evil.test' } }],
    ['1', { secure: 'false' }],
    ['1', { httpOnly: 0 }],
    ['1', { partitioned: 'yes' }],
    ['1', { signed: 'no' }],
    ['1', { path: ['/'] }],
    ['1', { domain: { toString: () => 'a.test' } }],
    ['1', { samesite: 'none' }],
    ['1', 'Path=/'],
    ['1', null],
    [1, {}],
    [{ a: 1 }, {}],
    [undefined, {}],
    [null, {}],
    ['\ud800', {}],
  ])('the value %j with %o is a clear error', async (value, options) => {
    expect(await refusal('a', value, options)).toMatch(/^(the cookie "a"|(UNKNOWN_)?.*res\.cookie)/)
  })

  test('a name that is not text', async () => {
    for (const name of [undefined, null, 5, {}, ['a']]) expect(await refusal(name, '1')).toContain('has no name')
  })

  test('a cookie at the limit of browsers is set, one byte more is not', async () => {
    const room = 4096 - 'a=; Path=/; HttpOnly; SameSite=Lax'.length
    expect(await refusal('a', 'x'.repeat(room + 1))).toContain('has 4097 bytes; browsers keep 4096')
    const server = serverWith()
    server.get('/', (_req, res) => res.cookie('a', 'x'.repeat(room)).ok())
    ;(await server.inject.get('/')).assertCookie('a', 'x'.repeat(room))
    expect(await refusal('a', 'ü'.repeat(700))).toContain('has 4234 bytes')
  })

  const https = 'https://a.test/'
  test.each<[string, object, string, string]>([
    ['__Host-a', {}, '/', 'needs https: set secure: true'],
    ['__Host-a', { secure: false }, https, 'needs https'],
    ['__Host-a', { domain: 'a.test' }, https, 'forbids domain'],
    ['__Host-a', { path: '/x' }, https, 'needs path: "/"'],
    ['__HOST-a', { path: '/x' }, https, 'needs path: "/"'],
    ['__Secure-a', {}, '/', 'needs https'],
    ['__secure-a', { secure: false }, https, 'needs https'],
    ['__Http-a', { httpOnly: false }, https, 'needs httpOnly'],
    ['__Host-Http-a', { httpOnly: false }, https, 'needs httpOnly'],
    ['__Host-Http-a', { path: '/x' }, https, 'needs path'],
    ['a', { sameSite: 'none', secure: false }, https, 'needs secure: true'],
    ['a', { partitioned: true, secure: false }, https, 'needs secure: true'],
  ])('%s with %o at %s: browsers would drop it', async (name, options, url, message) => {
    expect(await refusal(name, '1', options, url)).toContain(message)
  })

  test.each<[string, object, string]>([
    ['__Host-a', { secure: true }, '/'],
    ['__Host-a', {}, https],
    ['__Secure-a', { domain: 'a.test', path: '/x' }, https],
    ['__Host-Http-a', {}, https],
    ['__Hosta', { path: '/x' }, '/'],
  ])('%s with %o at %s is set', async (name, options, url) => {
    const server = serverWith()
    server.get('/', (_req, res) => res.cookie(name, '1', options).ok())
    ;(await server.inject.request('GET', url)).assertCookieExists(name)
  })
})

describe('CO-05: signed cookies', () => {
  async function signed(value: string, secrets: string | string[] = secret, name = 'a') {
    const server = serverWith({ secret: secrets })
    server.get('/set', (_req, res) => res.cookie(name, value, { signed: true }).ok())
    return { server, text: (await server.inject.get('/set')).cookies()[name]! }
  }

  test(`not one of ${isLong ? 20 : 4} 000 tampered values is taken`, async () => {
    const { server, text } = await signed('user.1', [secret, 'another secret that is taken too'])
    let accepted: unknown[] = []
    server.get('/count', (req) => {
      accepted = Object.values(req.signedCookies)
      return 'ok'
    })
    const chance = new Chance(1)
    const next = (below: number) => chance.below(below)
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ü\u0141'
    const tamper = () => {
      const at = next(text.length)
      const letter = letters[next(letters.length)]!
      const kinds = [
        () => text.slice(0, at) + letter + text.slice(at + 1),
        () => text.slice(0, at) + letter + text.slice(at),
        () => text.slice(0, at) + text.slice(at + 1),
        () => text.slice(0, at),
        () => text.slice(at),
        () => text.slice(0, -1) + letter,
        () => `${text}${letter}`,
        () => text.toUpperCase(),
      ]
      const made = kinds[next(kinds.length)]!()
      return made === text ? `${text}x` : made
    }
    for (let i = 0; i < (isLong ? 40 : 8); i++) {
      // The same name each time: a signature counts for one name only, so that another would prove nothing.
      for (let j = 0; j < 500; j++) {
        const value = encodeURIComponent(tamper())
        const res = await server.inject({ url: '/count', headers: { cookie: `a=${value}` } })
        expect(res.status).toBe(200)
        if (accepted.length > 0) throw new Error(`accepted ${decodeURIComponent(value)}`)
      }
    }
    await server.inject({ url: '/count', headers: { cookie: `a=${text}` } })
    expect(accepted).toEqual(['user.1'])
  })

  test('the signature of one cookie does not hold in another', async () => {
    const { server, text } = await signed('1')
    const res = await server.inject.get('/signed', { cookies: { b: text, aa: text, a: text } })
    res.assertBodyDeepEqual({ a: '1' })
    // Nor where name and value only look the same one after the other.
    const long = await signed('b=1', secret, 'a')
    const mac = long.text.slice('b=1'.length)
    ;(await server.inject.get('/signed', { headers: { cookie: `a=b=1${mac}; a=b=1` } })).assertBodyDeepEqual({
      a: 'b=1',
    })
    ;(await server.inject.get('/signed', { headers: { cookie: `b=1${mac}; =a=b=1${mac}` } })).assertBodyDeepEqual({})
  })

  test('the four letters that mean the same last bits are not the same signature', async () => {
    const { server, text } = await signed('1')
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const taken: string[] = []
    for (const letter of letters) {
      const res = await server.inject.get('/signed', { cookies: { a: text.slice(0, -1) + letter } })
      if (Object.keys(res.body<object>()).length > 0) taken.push(letter)
    }
    expect(taken).toEqual([text.at(-1)])
  })

  test('another secret, none, and one that was taken out of the list', async () => {
    const { text } = await signed('1', ['an old secret that is long', secret])
    for (const options of [{ secret }, { secret: [secret, 'yet another one'] }, {}]) {
      const res = await serverWith(options).inject.get('/signed', { cookies: { a: text } })
      res.assertBodyDeepEqual({})
    }
  })
})
