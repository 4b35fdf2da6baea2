import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeApi } from './tokens.ts'

const issuer = 'https://login.example.org'
const audience = 'https://orders.example.org'
const { privateKey, publicKey } = await generateKeyPair('ES256')
const server = makeApi({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: '1' }] })
beforeAll(() => server.ready())
afterAll(() => server.close())

function sign(claims: { aud?: string; iss?: string; exp?: string } = {}, key = privateKey) {
  return new SignJWT({ scope: 'orders:read' })
    .setProtectedHeader({ alg: 'ES256', kid: '1' })
    .setSubject('ada')
    .setIssuer(claims.iss ?? issuer)
    .setAudience(claims.aud ?? audience)
    .setExpirationTime(claims.exp ?? '5m')
    .sign(key)
}
const get = (token: string) => server.inject.get('/orders', { headers: { authorization: `Bearer ${token}` } })

test('a token of the issuer, for this API, lets in', async () => {
  ;(await get(await sign())).assertStatus(200).assertBodyDeepEqual({ for: 'ada' })
})

test('a request without a token is asked for one', async () => {
  const res = await server.inject.get('/orders')
  res.assertStatus(401).assertHeader('www-authenticate', 'Bearer')
})

test('a token without the scope is refused', async () => {
  const headers = { authorization: `Bearer ${await sign()}` }
  ;(await server.inject.post('/orders', { headers })).assertStatus(403)
})

test.each([
  ['for another API', () => sign({ aud: 'https://mail.example.org' })],
  ['of another issuer', () => sign({ iss: 'https://evil.example' })],
  ['that has expired', () => sign({ exp: '-1m' })],
  ['that someone else has signed', async () => sign({}, (await generateKeyPair('ES256')).privateKey)],
  ['that is no token', async () => 'hello'],
])('a token %s is a 401 that says so', async (_what, make) => {
  const res = await get(await make())
  res.assertStatus(401)
  expect(res.headers()['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
})

test('while the issuer is away, no token is called wrong', async () => {
  await using other = makeApi('http://127.0.0.1:9/keys')
  ;(await other.inject.get('/orders', { headers: { authorization: `Bearer ${await sign()}` } })).assertStatus(503)
})
