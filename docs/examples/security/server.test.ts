import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './server.ts'

const server = makeServer()
beforeAll(() => server.ready())
afterAll(() => server.close())

/** The routes that anyone may call. To add one here is to say so in the review. */
const open = ['GET /', 'POST /login', 'GET /health/live', 'GET /health/ready']

test('every other route asks a policy', () => {
  const unguarded = server.listing.routes
    .map(({ record: { method, path } }) => server.explain(method, path.replaceAll(/:\w+\??|\*/g, 'x')))
    .filter(({ steps }) => !steps.some(({ name }) => name.startsWith('policy(')))
  expect(unguarded.map(({ route }) => route).sort()).toEqual(open.sort())
})

test('a response has what its schema names, and nothing else', async () => {
  const res = await server.inject.get('/users/1', { headers: { 'x-user': 'ada' } })
  res.assertStatus(200).assertBodyDeepEqual({ id: '1', name: 'Ada' })
})

test('bodies that are too large, and keys that reach a prototype, are refused', async () => {
  ;(await server.inject.post('/login', { body: { text: 'x'.repeat(21_000) } })).assertStatus(413)
  const body = '{"__proto__":{"isAdmin":true}}'
  ;(await server.inject.post('/login', { body })).assertStatus(400).assertBodySubset({ code: 'JsonNotValidError' })
})

test('a client cannot choose its address, and with it a fresh limit', async () => {
  for (let i = 0; i < 10; i++) await server.inject.post('/login', { headers: { 'x-forwarded-for': `10.0.0.${i}` } })
  ;(await server.inject.post('/login', { headers: { 'x-forwarded-for': '10.0.1.1' } })).assertStatus(429)
})

test('a page has the headers that browsers act on', async () => {
  const res = await server.inject.get('/')
  res.assertHeaderExists('content-security-policy').assertHeader('x-content-type-options', 'nosniff')
})
