import { type Middleware, RouteCollection, Server } from 'framework'
import { methodOverride, trustProxy } from 'framework/plugins'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

function serverWith(methodOverride: unknown) {
  const server = new Server<{}>({
    plugins: { methodOverride, urlencoded: true } as {},
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  for (const verb of ['get', 'post', 'put', 'patch', 'delete'] as const) {
    server[verb]('/a', (req) => ({ method: req.method, body: req.body }))
  }
  server.post('/only-post', () => 'posted')
  return server
}

const header = 'x-http-method-override'

describe('a POST with the header', () => {
  test.each([
    'PUT',
    'PATCH',
    'DELETE',
    'put',
    ' Patch ',
  ])('%j is routed as that method, with its body', async (method) => {
    const res = await serverWith(true).inject.post('/a', { headers: { [header]: method }, body: { b: 1 } })
    res.assertStatus(200).assertBodyDeepEqual({ method: method.trim().toUpperCase(), body: { b: 1 } })
  })

  test('POST stays unchanged', async () => {
    const res = await serverWith(true).inject.post('/a', { headers: { [header]: 'POST' } })
    res.assertBodySubset({ method: 'POST' })
  })

  test('is 405 where the path has no such method', async () => {
    const res = await serverWith(true).inject.post('/only-post', { headers: { [header]: 'DELETE' } })
    res.assertStatus(405).assertHeader('allow', 'POST')
    res.assertBodySubset({ message: 'METHOD_NOT_ALLOWED: Cannot DELETE /only-post' })
  })

  test.each([
    'GET',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PURGE',
    '',
    'PUT, DELETE',
    '__proto__',
    'PUT\u0000',
  ])('%j is 400', async (method) => {
    const res = await serverWith(true).inject.post('/a', { headers: { [header]: method } })
    res.assertStatus(400).assertBodySubset({ code: 'BadRequestError' })
    expect((res.body() as { message: string }).message).toContain('PUT, PATCH or DELETE')
  })
})

test('a refused one has the address of its client, also if trustProxy comes later', async () => {
  const seen: string[] = []
  const watch: Middleware = (req, _res, next) => {
    seen.push(req.ip)
    return next()
  }
  const server = new Server({
    plugins: [methodOverride(), trustProxy({ trustedProxies: ['10.0.0.1'] }), watch],
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  const headers = { [header]: 'GET', 'x-forwarded-for': '203.0.113.9' }
  ;(await server.inject.post('/a', { headers, ip: '10.0.0.1' })).assertStatus(400)
  expect(seen).toEqual(['203.0.113.9'])
})

describe('requests that are not overridden', () => {
  test('a GET, a HEAD, an OPTIONS, and by default a PUT', async () => {
    const server = serverWith(true)
    const headers = { [header]: 'DELETE' }
    ;(await server.inject.get('/a', { headers })).assertBodySubset({ method: 'GET' })
    ;(await server.inject.request('HEAD', '/a', { headers })).assertStatus(200)
    ;(await server.inject.options('/a', { headers })).assertStatus(405)
    ;(await server.inject.put('/a', { headers })).assertBodySubset({ method: 'PUT' })
  })

  test('not without the plugin, and not by query, body or another header', async () => {
    const headers = { [header]: 'DELETE' }
    ;(await serverWith(false).inject.post('/a', { headers })).assertBodySubset({ method: 'POST' })
    const res = await serverWith(true).inject.post('/a?_method=DELETE', {
      headers: { 'x-method-override': 'DELETE' },
      urlencoded: { _method: 'DELETE' },
    })
    res.assertBodySubset({ method: 'POST' })
  })
})

describe('options', () => {
  test('header and methods', async () => {
    const server = serverWith({ header: 'X-Method', methods: ['POST', 'PUT'] })
    ;(await server.inject.put('/a', { headers: { 'x-method': 'PATCH' } })).assertBodySubset({ method: 'PATCH' })
    ;(await server.inject.put('/a', { headers: { [header]: 'PATCH' } })).assertBodySubset({ method: 'PUT' })
  })

  test.each([
    [{ header: '' }, /methodOverride\.header/],
    [{ header: 'a b' }, /methodOverride\.header/],
    [{ header: 1 }, /methodOverride\.header/],
    [{ methods: ['GET'] }, /safe methods/],
    [{ methods: ['post'] }, /methodOverride\.methods/],
    [{ methods: [] }, /methodOverride\.methods/],
    [{ methods: 'POST' }, /methodOverride\.methods/],
    [{ method: ['POST'] }, /Did you mean "methodOverride\.methods"|Did you mean "methods"/],
    [{ header: 1, methods: ['POST', 'HEAD'] }, /2 options are wrong:\n.*header" is 1.*\n.*methods\[1\]" is "HEAD"/],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => serverWith(options)).toThrow(message)
  })
})
