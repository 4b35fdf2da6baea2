import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { hashQuickly } from '../../../test/support/passwords.ts'
import { Accounts } from './accounts.ts'
import { makeServer } from './server.ts'

const password = 'correct horse battery'
let accounts: Accounts
let server: ReturnType<typeof makeServer>

beforeAll(async () => {
  hashQuickly()
  accounts = new Accounts()
  await accounts.add('1', 'ada@example.org', password, 'admin')
  await accounts.add('2', 'bob@example.org', password)
})
beforeEach(() => {
  server = makeServer(accounts, 'a-secret-of-32-characters-or-more')
})
afterEach(() => server.close())
afterAll(() => void vi.restoreAllMocks())

async function signIn(mail: string, given = password) {
  const res = await server.inject.post('/login', { body: { mail, password: given } })
  return { cookies: res.assertStatus(204).cookies() }
}

test('who signs in is known from then on', async () => {
  ;(await server.inject.get('/me')).assertStatus(401)
  const ada = await signIn('Ada@example.org')
  const me = await server.inject.get('/me', ada)
  me.assertStatus(200).assertBodyDeepEqual({ id: '1', mail: 'ada@example.org', role: 'admin' })
})

test('a wrong password and an unknown address get the same response', async () => {
  const wrong = await server.inject.post('/login', { body: { mail: 'ada@example.org', password: 'guess' } })
  const unknown = await server.inject.post('/login', { body: { mail: 'eve@example.org', password: 'guess' } })
  wrong.assertStatus(401).assertBodyDeepEqual(unknown.assertStatus(401).body())
})

test('an id from before the login is worth nothing after it', async () => {
  const before = await signIn('bob@example.org')
  const again = await server.inject.post('/login', { ...before, body: { mail: 'bob@example.org', password } })
  expect(again.assertStatus(204).cookies().sid).not.toBe(before.cookies.sid)
  ;(await server.inject.get('/me', before)).assertStatus(401)
})

test('a log-out ends the session in the store, not only in the browser', async () => {
  const ada = await signIn('ada@example.org')
  ;(await server.inject.post('/logout', ada)).assertStatus(204)
  ;(await server.inject.get('/me', ada)).assertStatus(401)
})

test('a new password ends all other sessions', async () => {
  const phone = await signIn('bob@example.org')
  const laptop = await signIn('bob@example.org')
  const next = 'another horse battery'
  const res = await server.inject.put('/password', { ...laptop, body: { current: password, password: next } })
  res.assertStatus(204)
  ;(await server.inject.get('/me', phone)).assertStatus(401)
  ;(await server.inject.get('/me', { cookies: res.cookies() })).assertStatus(200)
  await accounts.add('2', 'bob@example.org', password)
})

test('strangers are asked to sign in, members are refused', async () => {
  ;(await server.inject.get('/admin/stats')).assertStatus(401)
  ;(await server.inject.get('/admin/stats', await signIn('bob@example.org'))).assertStatus(403)
  ;(await server.inject.get('/admin/stats', await signIn('ada@example.org'))).assertStatus(200)
})

test('guessing ends after ten tries', async () => {
  for (let i = 0; i < 10; i++) await server.inject.post('/login', { body: { mail: 'x', password: 'guess' } })
  const res = await server.inject.post('/login', { body: { mail: 'ada@example.org', password } })
  res.assertStatus(429).assertHeaderExists('retry-after')
})

test.each([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site', origin: 'https://blog.example.org' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ 'sec-fetch-site': 'same-origin' }, 204],
  [{ origin: 'http://localhost', host: 'localhost' }, 204],
  [{}, 204],
])('a page may only send what is its own: %j is %i', async (headers, status) => {
  ;(await server.inject.post('/logout', { headers })).assertStatus(status)
})
