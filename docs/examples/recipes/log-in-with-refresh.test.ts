import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './log-in-with-refresh.ts'

interface Tokens {
  access_token: string
  refresh_token: string
}

test('a client logs in, refreshes, and logs out; a refresh token that comes twice ends the log-in', async () => {
  await using server = await testServer(() => makeServer('a secret of thirty-two characters'))
  const me = (token: string) => server.inject.get('/me', { headers: { authorization: `Bearer ${token}` } })
  const refresh = (token: string) => server.inject.post('/token', { body: { refresh_token: token } })
  const ada = { mail: 'ada@example.org', password: 'correct horse battery' }
  ;(await server.inject.post('/accounts', { body: ada })).assertStatus(201)

  const first = (await server.inject.post('/login', { body: ada })).assertStatus(200).body<Tokens>()
  ;(await me(first.access_token)).assertStatus(200).assertBodyDeepEqual({ id: '1' })
  await server.clock.advance('11 min')
  ;(await me(first.access_token)).assertStatus(401)
  const second = (await refresh(first.refresh_token)).assertStatus(200).body<Tokens>()
  ;(await me(second.access_token)).assertStatus(200)

  // A thief has the first one, or the client is the thief: neither goes on.
  ;(await refresh(first.refresh_token)).assertStatus(401)
  ;(await refresh(second.refresh_token)).assertStatus(401)

  const third = (await server.inject.post('/login', { body: ada })).body<Tokens>()
  ;(await server.inject.post('/logout', { body: { refresh_token: third.refresh_token } })).assertStatus(204)
  ;(await refresh(third.refresh_token)).assertStatus(401)
  expect(server.services.get('database').system).toBe('sqlite')
})
