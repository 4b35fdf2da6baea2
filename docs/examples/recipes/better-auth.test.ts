import { memoryAdapter } from 'better-auth/adapters/memory'
import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { baseURL, makeServer } from './better-auth.ts'

test('a member signs up, is known by the cookie of the library, and signs out', async () => {
  const rows = { user: [], session: [], account: [], verification: [] }
  await using server = await testServer(() => makeServer(memoryAdapter(rows), 'a secret of thirty-two characters'))
  const ada = { name: 'Ada', email: 'ada@example.org', password: 'correct horse battery' }
  const headers = { origin: baseURL }
  ;(await server.inject.get('/me')).assertStatus(401)

  const signedUp = await server.inject.post('/api/auth/sign-up/email', { headers, body: ada })
  const { user } = signedUp.assertStatus(200).body<{ user: { id: string } }>()
  const cookies = signedUp.cookies()
  expect(Object.keys(cookies)).toContain('__Secure-better-auth.session_token')
  ;(await server.inject.get('/me', { cookies })).assertStatus(200).assertBodyDeepEqual({ id: user.id })

  // A page of another origin signs no one out.
  const elsewhere = { origin: 'https://evil.example' }
  ;(await server.inject.post('/api/auth/sign-out', { headers: elsewhere, cookies, body: {} })).assertStatus(403)
  ;(await server.inject.post('/api/auth/sign-out', { headers, cookies, body: {} })).assertStatus(200)
  ;(await server.inject.get('/me', { cookies })).assertStatus(401)

  const wrong = { email: ada.email, password: 'another password' }
  ;(await server.inject.post('/api/auth/sign-in/email', { headers, body: wrong })).assertStatus(401)
  const again = await server.inject.post('/api/auth/sign-in/email', { headers, body: ada })
  ;(await server.inject.get('/me', { cookies: again.assertStatus(200).cookies() })).assertStatus(200)

  // Without its tables no one is let in.
  Reflect.deleteProperty(rows, 'session')
  ;(await server.inject.get('/me', { cookies: again.cookies() })).assertStatus(500)
})
