import { testServer } from 'framework/testing'
import { test } from 'vitest'
import { makeServer } from './rate-limit-by-plan.ts'

test('a customer may ask as often as the plan says, and an export counts fifty times', async () => {
  const customers = new Map([
    ['key-of-ann', { id: 'ann', plan: 'free' }],
    ['key-of-bob', { id: 'bob', plan: 'pro' }],
  ] as const)
  await using server = await testServer(() => makeServer(customers))
  const get = (path: string, key?: string) =>
    server.inject.get(path, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })

  ;(await get('/prices')).assertStatus(401)
  ;(await get('/prices', 'key-of-ann')).assertStatus(200).assertHeader('ratelimit-limit', '100')
  ;(await get('/export', 'key-of-ann')).assertStatus(200).assertHeader('ratelimit-remaining', '49')
  ;(await get('/export', 'key-of-ann')).assertStatus(429)
  ;(await get('/prices', 'key-of-ann')).assertStatus(200)
  ;(await get('/export', 'key-of-bob')).assertStatus(200).assertHeader('ratelimit-limit', '10000')

  await server.clock.advance('1 hour')
  ;(await get('/export', 'key-of-ann')).assertStatus(200)
})
