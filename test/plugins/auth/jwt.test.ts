import { createHmac, createPublicKey } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwt } from 'framework/plugins/auth'
import { testClock } from 'framework/testing'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { localKeys, secretKeys } from '../../../plugins/auth/schemes/keys.ts'
import { bearing, serverWith, user } from './support.ts'

const issuer = 'https://login.example.org'
const audience = 'https://orders.example.org'
const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
const publicJwk: JWK = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: '1' }
const jwks = { keys: [publicJwk] }
const options = { algorithms: ['RS256'], issuer, audience, jwks } as const

type Claims = { scope?: unknown; exp?: unknown; iss?: unknown; aud?: unknown; nbf?: unknown; sub?: unknown }
const seconds = () => Math.floor(Date.now() / 1000)
const sign = (claims: Claims = {}, header: object = {}, key: Parameters<SignJWT['sign']>[0] = privateKey) =>
  new SignJWT({ iss: issuer, aud: audience, sub: 'ada', exp: seconds() + 60, scope: 'read write', ...claims } as never)
    .setProtectedHeader({ alg: 'RS256', kid: '1', ...header })
    .sign(key)

function api(more: object = {}) {
  const { server } = serverWith({ schemes: { login: jwt({ ...options, ...more } as never) } })
  server.get('/', (req) => (req as { user?: object }).user)
  server.get('/write', { auth: { scopes: ['write'] } }, () => 'written')
  server.get('/admin', { auth: { scopes: ['admin'] } }, () => 'admin')
  return (token: string, path = '/') => server.inject.get(path, bearing(token))
}

const raw = (header: object, claims: object, signature = '') => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(claims)}.${signature}`
}
const good = { iss: issuer, aud: audience, sub: 'ada', exp: seconds() + 3600 }

test('a token of the issuer for this API lets in, with its claims and scopes', async () => {
  const get = api()
  expect((await get(await sign())).assertStatus(200).body()).toMatchObject({ sub: 'ada', iss: issuer })
  ;(await get(await sign(), '/write')).assertStatus(200)
  ;(await get(await sign(), '/admin')).assertStatus(403)
  const mapped = api({ subject: ({ sub }: { sub: string }) => (sub === 'ada' ? user('Ada') : undefined) })
  ;(await mapped(await sign())).assertBodyDeepEqual({ id: 'Ada' })
  ;(await mapped(await sign({ sub: 'eve' }))).assertStatus(401)
  const powerful = api({ subject: () => user('Ada', { scopes: ['admin'] }) })
  ;(await powerful(await sign({ scope: undefined }), '/admin')).assertStatus(403)
})

describe('a token is refused', () => {
  const foreign = generateKeyPair('RS256')
  test.each<[string, () => Promise<string> | string]>([
    ['with the algorithm none', () => raw({ alg: 'none' }, good)],
    ['with the algorithm None', () => raw({ alg: 'None' }, good)],
    ['without an algorithm', () => raw({}, good)],
    [
      'signed with the public key as the secret',
      async () => {
        const token = raw({ alg: 'HS256', kid: '1' }, good).slice(0, -1)
        const pem = await exportSPKI(publicKey)
        return `${token}.${createHmac('sha256', pem).update(token).digest('base64url')}`
      },
    ],
    [
      'signed with the public JWK as the secret',
      () => {
        const token = raw({ alg: 'HS256', kid: '1' }, good).slice(0, -1)
        return `${token}.${createHmac('sha256', JSON.stringify(publicJwk)).update(token).digest('base64url')}`
      },
    ],
    ['signed with another algorithm of the key', () => sign({}, { alg: 'PS256' }, privateKey).catch(() => 'a.b.c')],
    [
      'that brings its key',
      async () => {
        const { publicKey: own, privateKey: mine } = await generateKeyPair('RS256', { extractable: true })
        return sign({}, { jwk: await exportJWK(own), kid: undefined }, mine)
      },
    ],
    [
      'that names the address of its keys',
      async () => sign({}, { jku: 'https://evil.example/keys' }, (await foreign).privateKey),
    ],
    [
      'that names the address of a certificate',
      async () => sign({}, { x5u: 'https://evil.example' }, (await foreign).privateKey),
    ],
    ['with a key id that is a path', async () => sign({}, { kid: '../../dev/null' }, (await foreign).privateKey)],
    ['with a key id that is SQL', async () => sign({}, { kid: "1' or '1'='1" }, (await foreign).privateKey)],
    ['with a key id of every object', async () => sign({}, { kid: '__proto__' }, (await foreign).privateKey)],
    ['signed by someone else', async () => sign({}, {}, (await foreign).privateKey)],
    [
      'with a critical header that is unknown',
      () => raw({ alg: 'RS256', kid: '1', crit: ['b64'], b64: false }, good, 'AAAA'),
    ],
    ['that has expired', () => sign({ exp: seconds() - 10 })],
    ['without an end', () => sign({ exp: undefined })],
    ['whose end is a string', () => raw({ alg: 'RS256', kid: '1' }, { ...good, exp: 'never' }, 'AAAA')],
    ['that is not yet valid', () => sign({ nbf: seconds() + 60 })],
    ['for another audience', () => sign({ aud: 'https://mail.example.org' })],
    ['without an audience', () => sign({ aud: undefined })],
    ['of another issuer', () => sign({ iss: `${issuer}/` })],
    ['without an issuer', () => sign({ iss: undefined })],
    ['without a subject', () => sign({ sub: undefined })],
    ['that is larger than 8 KB', async () => sign({ pad: 'a'.repeat(9000) } as never)],
    ['whose signature is cut off', async () => `${(await sign()).split('.').slice(0, 2).join('.')}.`],
    [
      'whose claims were changed',
      async () => (await sign()).replace(/\.[^.]*\./, `.${Buffer.from(JSON.stringify(good)).toString('base64url')}.`),
    ],
    ['with five parts', async () => `${await sign()}.a.b`],
  ])('%s', async (_what, make) => {
    const res = await api()(await make())
    res.assertStatus(401)
    expect(res.headers()['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
  })

  test('with another type, if one is required', async () => {
    const get = api({ type: 'at+jwt' })
    ;(await get(await sign())).assertStatus(401)
    ;(await get(await sign({}, { typ: 'at+jwt' }))).assertStatus(200)
  })

  test('once the clock of the server has passed its end and the skew', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const get = api()
    const token = await sign({ exp: Math.floor(clock.now() / 1000) + 60 })
    await clock.advance(63_000)
    ;(await get(token)).assertStatus(200)
    await clock.advance(5_000)
    ;(await get(token)).assertStatus(401)
  })
})

test.each([
  [{ algorithms: [] }, /1 or more/],
  [{ algorithms: undefined }, /algorithms/],
  [{ algorithms: ['none'] }, /algorithms/],
  [{ algorithms: ['RS256', 'HS256'] }, /algorithms/],
  [{ jwks: undefined }, /jwks or secret/],
  [{ secret: 'a'.repeat(32) }, /jwks or secret/],
  [{ jwks: undefined, secret: 'short', algorithms: ['HS256'] }, /32 characters/],
  [{ jwks: 'http://login.example.org/keys' }, /https/],
  [{ jwks: 'keys' }, /https/],
  [{ audience: undefined }, /audience/],
  [{ issuer: [] }, /issuer/],
])('the options %j are refused', (more, message) => {
  expect(() => jwt({ ...options, ...more } as never)).toThrow(message)
})

describe('published vectors', () => {
  const load = () => import('jose')
  // RFC 7515 appendix A.1: HS256.
  const token =
    'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
  const key = Buffer.from(
    'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
    'base64url',
  )
  const then = { currentDate: new Date(1_300_819_379_000), issuer: 'joe' }

  test('the token of RFC 7515 A.1 and RFC 7519 3.1 is accepted until its end', async () => {
    const jose = await load()
    const { verify } = secretKeys(jose, [])
    await expect(verify(token, {})).rejects.toThrow()
    const { payload } = await jose.jwtVerify(token, key, { ...then, algorithms: ['HS256'] })
    expect(payload).toMatchObject({ iss: 'joe', exp: 1_300_819_380 })
  })

  test('the token of RFC 7515 A.3 is accepted with the key of the appendix', async () => {
    const es256 =
      'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q'
    const point = { x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' }
    const { verify } = localKeys(await load(), { keys: [{ kty: 'EC', crv: 'P-256', ...point }] })
    await expect(verify(es256, { ...then, algorithms: ['ES256'] })).resolves.toMatchObject({ iss: 'joe' })
    await expect(verify(es256, { ...then, algorithms: ['RS256'] })).rejects.toThrow(/alg/)
    const changed = es256.replace('.DtEh', '.DtEi')
    await expect(verify(changed, { ...then, algorithms: ['ES256'] })).rejects.toThrow(/signature/)
    // RFC 7519 6.1: an unsecured JWT.
    const none = `eyJhbGciOiJub25lIn0.${es256.split('.')[1]}.`
    await expect(verify(none, then)).rejects.toThrow()
  })
})

describe('the keys of an issuer', () => {
  async function login(respond?: (res: ServerResponse, asked: number) => void) {
    let asked = 0
    const state = { keys: [publicJwk] as JWK[] }
    const http = createServer((_req, res) => {
      asked++
      if (respond !== undefined) respond(res, asked)
      else res.end(JSON.stringify(state))
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>((resolve) => void http.close(() => resolve())))
    const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`
    return { get: api({ jwks: address }), state, http, asked: () => asked }
  }

  test('are fetched once for many requests, and again when a new key appears', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const { get, state, asked } = await login()
    const claims = () => ({ exp: Math.floor(clock.now() / 1000) + 3600 })
    const all = await Promise.all(Array.from({ length: 20 }, async () => get(await sign(claims()))))
    for (const res of all) res.assertStatus(200)
    expect(asked()).toBe(1)
    const next = await generateKeyPair('RS256')
    const rotated = await sign(claims(), { kid: '2' }, next.privateKey)
    ;(await get(rotated)).assertStatus(401)
    state.keys = [publicJwk, { ...(await exportJWK(next.publicKey)), alg: 'RS256', kid: '2' }]
    await clock.advance(31_000)
    ;(await get(rotated)).assertStatus(200)
    expect(asked()).toBe(2)
  })

  test('are not fetched for each token with a made-up key id', async () => {
    const { get, asked } = await login()
    ;(await get(await sign())).assertStatus(200)
    const made = await Promise.all(Array.from({ length: 200 }, async (_, i) => sign({}, { kid: `made-up-${i}` })))
    for (const res of await Promise.all(made.map((token) => get(token)))) res.assertStatus(401)
    expect(asked()).toBe(1)
  })

  test('that cannot be fetched let no one in, and are a 503', async () => {
    const { get, asked } = await login((res) => void res.writeHead(500).end())
    const all = await Promise.all(Array.from({ length: 50 }, async () => get(await sign())))
    for (const res of all) res.assertStatus(503)
    expect(asked()).toBe(1)
  })

  test.each<[string, (res: ServerResponse) => void]>([
    ['nonsense', (res) => void res.end('nonsense')],
    ['no keys', (res) => void res.end('{}')],
    ['a redirect', (res) => void res.writeHead(302, { location: 'https://evil.example/keys' }).end()],
    ['a huge body', (res) => void res.end('a'.repeat(600_000))],
    ['a closed connection', (res) => void res.destroy()],
  ])('that are %s let no one in', async (_what, respond) => {
    ;(await (await login(respond)).get(await sign())).assertStatus(503)
  })

  test('that are withdrawn are not accepted after maxAge, whether or not the issuer responds', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const { get, state, http, asked } = await login()
    const token = await sign({ exp: Math.floor(clock.now() / 1000) + 7200 })
    ;(await get(token)).assertStatus(200)
    state.keys = [{ ...publicJwk, kid: 'other' }]
    await clock.advance(599_000)
    ;(await get(token)).assertStatus(200)
    await clock.advance(2_000)
    ;(await get(token)).assertStatus(401)
    expect(asked()).toBe(2)
    await clock.advance(601_000)
    http.close()
    http.closeAllConnections()
    ;(await get(token)).assertStatus(503)
  })
})

test('a PEM key becomes a JWKS with node:crypto alone', async () => {
  const jwk = createPublicKey(await exportSPKI(publicKey)).export({ format: 'jwk' })
  ;(await api({ jwks: { keys: [jwk] } })(await sign({}, { kid: undefined }))).assertStatus(200)
})
