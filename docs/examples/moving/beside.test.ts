import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { RouteCollection, type Server } from 'framework'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './beside.ts'

const old = createServer(async (req, res) => {
  if (req.url === '/login') return res.writeHead(302, { location: '/home' }).end()
  res.writeHead(201, { 'set-cookie': ['a=1', 'b=2'] })
  res.end(`${req.method} ${req.url} ${req.headers['x-forwarded-host']} ${await text(req)}`)
})
const moved = new RouteCollection()
moved.get('/books', () => ['Emma'])
let server: Server
beforeAll(async () => {
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve))
  server = makeServer(moved, `http://127.0.0.1:${(old.address() as AddressInfo).port}`) as Server
})
afterAll(async () => {
  await server.close()
  old.close()
})

test('what has moved is answered here', async () => {
  ;(await server.inject.get('/books')).assertStatus(200).assertBodyDeepEqual(['Emma'])
})

test('everything else goes to the old application, with method, query, body, cookies and redirects', async () => {
  const res = await server.inject.post('/orders?page=2', { body: { book: 1 } })
  res.assertStatus(201).assertCookie('a', '1').assertCookie('b', '2')
  expect(res.text()).toBe('POST /orders?page=2 localhost {"book":1}')
  ;(await server.inject.get('/login')).assertStatus(302).assertHeader('location', '/home')
  ;(await server.inject.get('/')).assertStatus(201)
})

test.each([
  ['//evil.example/x', 'GET //evil.example/x'],
  ['/%2f%2fevil.example', 'GET /%2f%2fevil.example'],
  ['/\\evil.example', 'GET //evil.example'],
  ['/@evil.example?a=//b', 'GET /@evil.example?a=//b'],
])('no path leads to another host: %s', async (path, asked) => {
  expect((await server.inject.get(path)).text()).toMatch(asked)
})

test('an old application that is away is a 502', async () => {
  await using lost = makeServer(moved, 'http://127.0.0.1:1')
  ;(await lost.inject.get('/orders')).assertStatus(502)
})
