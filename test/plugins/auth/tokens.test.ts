import { memoryRefreshTokens, type RefreshTokenStore, redisRefreshTokens, tokens } from 'framework/plugins/auth'
import { testClock } from 'framework/testing'
import { Redis } from 'ioredis'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../support/redis.ts'
import { bearing, serverWith } from './support.ts'

const secret = '0123456789abcdef0123456789abcdef'
const issuer = 'https://shop.example.org'

function shop(more: object = {}) {
  const logins = tokens({ secret, issuer, refresh: memoryRefreshTokens(), ...more } as never)
  const { server } = serverWith({ schemes: { logins } })
  server.get('/', (req) => (req as { user?: object }).user)
  return { logins, get: (token: string) => server.inject.get('/', bearing(token)) }
}

test('an issued token lets in until it expires', async () => {
  const clock = testClock()
  onTestFinished(() => clock.restore())
  const { logins, get } = shop({ claims: (sub: string) => ({ scope: `of-${sub}`, iss: 'eve', exp: 9e9 }) })
  const issued = await logins.issue('ada')
  expect(issued).toMatchObject({ token_type: 'Bearer', expires_in: 600, refresh_token: expect.any(String) })
  expect((await get(issued.access_token)).assertStatus(200).body()).toMatchObject({
    sub: 'ada',
    iss: issuer,
    scope: 'of-ada',
  })
  await clock.advance(606_000)
  ;(await get(issued.access_token)).assertStatus(401)
  const own = await logins.sign({ sub: 'job' }, { expiresIn: 5 })
  ;(await get(own)).assertStatus(200)
  await expect(logins.sign({ sub: 'job' }, { expiresIn: 0 })).rejects.toThrow(/expiresIn/)
})

test('a refresh without a store is a mistake of the application, not of the client', async () => {
  const { logins } = shop({ refresh: undefined })
  expect(await logins.issue('ada')).not.toHaveProperty('refresh_token')
  await expect(logins.refresh('any')).rejects.toThrow(/tokens.refresh.*store/)
})

test('secrets and keys can be replaced', async () => {
  const old = shop()
  const token = (await old.logins.issue('ada')).access_token
  ;(await shop({ secret: [`${secret}new`, secret] }).get(token)).assertStatus(200)
  ;(await shop({ secret: `${secret}new` }).get(token)).assertStatus(401)

  const jwk = async (kid: string) => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    return { ...(await exportJWK(privateKey)), kid, alg: 'ES256' }
  }
  const [one, two] = [await jwk('1'), await jwk('2')]
  const signed = (await shop({ secret: undefined, keys: [one] }).logins.issue('ada')).access_token
  expect(decodeProtectedHeader(signed)).toEqual({ alg: 'ES256', typ: 'JWT', kid: '1' })
  expect(decodeJwt(signed)).toMatchObject({ iss: issuer, aud: issuer, sub: 'ada' })
  ;(await shop({ secret: undefined, keys: [two, one] }).get(signed)).assertStatus(200)
  ;(await shop({ secret: undefined, keys: [two] }).get(signed)).assertStatus(401)
})

test.each([
  [{ secret: undefined }, /secret or keys/],
  [{ secret: 'short' }, /32 characters/],
  [{ keys: [{ kty: 'oct', k: 'a', kid: '1', alg: 'HS256' }], secret: undefined }, /private JWK/],
  [{ refresh: {} }, /refresh/],
  [{ expiresIn: 0 }, /expiresIn/],
])('the options %j are refused without the secret', (more, message) => {
  expect(() => shop(more)).toThrow(message)
  expect(() => shop({ issuer: 7 })).not.toThrow(secret)
})

let redis: Awaited<ReturnType<typeof startRedis>>
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client?.disconnect()
  await redis?.stop()
})

const stores: [string, () => RefreshTokenStore][] = [
  ['memory', memoryRefreshTokens],
  ['Redis', () => redisRefreshTokens(client, { prefix: 'test:' })],
]

describe.each(stores)('refresh tokens in %s', (_name, store) => {
  test('are used once, and a second use ends the log-in', async () => {
    const { logins, get } = shop({ refresh: store() })
    const first = (await logins.issue('ada')).refresh_token!
    const second = await logins.refresh(first)
    ;(await get(second.access_token)).assertStatus(200)
    const other = (await logins.issue('ada')).refresh_token!
    await expect(logins.refresh(first)).rejects.toMatchObject({ code: 'RefreshTokenError', status: 401 })
    await expect(logins.refresh(second.refresh_token!)).rejects.toMatchObject({ status: 401 })
    await expect(logins.refresh(other)).resolves.toBeDefined()
  })

  test('that two requests use at once end the log-in', async () => {
    const { logins } = shop({ refresh: store() })
    const first = (await logins.issue('ada')).refresh_token!
    const settled = await Promise.allSettled([logins.refresh(first), logins.refresh(first), logins.refresh(first)])
    const won = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(won).toHaveLength(1)
    await expect(logins.refresh(won[0]!.refresh_token!)).rejects.toMatchObject({ status: 401 })
  })

  test('end with a log-out, with their account, and with a wrong form', async () => {
    let isKnown = true
    const { logins } = shop({ refresh: store(), claims: () => (isKnown ? {} : undefined) })
    const [one, two] = [(await logins.issue('ada')).refresh_token!, (await logins.issue('ada')).refresh_token!]
    await logins.revoke(one)
    await expect(logins.refresh(one)).rejects.toMatchObject({ status: 401 })
    for (const wrong of ['', `${two}a`, two.split('.')[0], 7, undefined])
      await expect(logins.refresh(wrong as string)).rejects.toMatchObject({ status: 401 })
    isKnown = false
    await expect(logins.refresh(two)).rejects.toMatchObject({ status: 401 })
    isKnown = true
    await expect(logins.refresh(two)).rejects.toMatchObject({ status: 401 })
  })

  test('may be tried again where the claims could not be read', async () => {
    let isAway = false
    const claims = () => {
      if (isAway) throw new Error('the database is away')
      return {}
    }
    const { logins } = shop({ refresh: store(), claims })
    const { refresh_token: token } = await logins.issue('ada')
    isAway = true
    await expect(logins.refresh(token!)).rejects.toThrow(/away/)
    isAway = false
    await expect(logins.refresh(token!)).resolves.toBeDefined()
  })
})

test('a refresh whose claims fail rejects with that error, also where the token cannot be given back', async () => {
  const down = new Error('the store is down')
  const store = memoryRefreshTokens()
  let thrown: unknown
  let calls = 0
  const rotate: RefreshTokenStore['rotate'] = (...given) => {
    if (++calls % 2 === 0) throw down
    return store.rotate(...given)
  }
  const claims = () => {
    if (thrown !== undefined) throw thrown
    return {}
  }
  const { logins } = shop({ refresh: { ...store, rotate }, claims })
  for (const error of [
    Object.assign(new Error('away'), { status: 503 }),
    new Error('own', { cause: 'its own' }),
    'text',
  ]) {
    thrown = undefined
    const { refresh_token: token } = await logins.issue('ada')
    thrown = error
    await expect(logins.refresh(token!)).rejects.toBe(error)
    if (error instanceof Error) expect(error.cause).toBe(error.message === 'own' ? 'its own' : down)
  }
})

test('refresh tokens end when they are unused for too long', async () => {
  const clock = testClock()
  onTestFinished(() => clock.restore())
  const { logins } = shop({ refreshExpiresIn: 100 })
  const { refresh_token: one } = await logins.issue('ada')
  await clock.advance(99_000)
  const { refresh_token: two } = await logins.refresh(one!)
  await clock.advance(99_000)
  const { refresh_token: three } = await logins.refresh(two!)
  await clock.advance(101_000)
  await expect(logins.refresh(three!)).rejects.toMatchObject({ status: 401 })
})
