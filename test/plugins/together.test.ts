import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { getCacheService, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../support/kernel.ts'

const folders: string[] = []
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const long = 'all work and no play makes jack a dull boy. '.repeat(100)
const secret = 'a secret of thirty-two characters'
const origin = 'https://a.example'

/** A server with every plugin of the catalog. */
function serverWithAll(limit = 1000) {
  const folder = mkdtempSync(join(tmpdir(), 'framework-together-'))
  folders.push(folder)
  writeFileSync(join(folder, 'long.txt'), long)
  const server: Server = new Server({
    port: 0,
    host: '127.0.0.1',
    router: new RouteCollection(),
    logger: memoryLogger(),
    gracefulShutdown: false,
    plugins: {
      trustProxy: { trustedProxies: ['127.0.0.1'] },
      methodOverride: true,
      log: true,
      requestContext: { agent: (req) => req.headers['user-agent'] },
      helmet: true,
      health: true,
      cors: { origin: [origin], credentials: true },
      timeout: true,
      rateLimit: { limit },
      cookie: { secret },
      session: { secret },
      json: { sizeLimit: 100 },
      urlencoded: true,
      upload: { storage: 'disk', folder },
      cache: true,
      static: [{ root: folder, prefix: '/files', maxAge: 60 }],
      compression: true,
    },
  })
  servers.push(server)
  server.get('/long', { cache: true }, () => ({ long }))
  server.get('/slow', { timeout: 20 }, async (req) => {
    await once(req.signal, 'abort')
    return 'late'
  })
  server.get('/fails', () => {
    throw new Error('no')
  })
  server.post('/login', (req) => {
    Object.assign(req.session, { user: 'ada' })
    return req.ip
  })
  server.put('/upload', (req) => [req.method, req.file('f')?.size])
  return { server, folder }
}

describe('all plugins at once', () => {
  test.each<[number, string, 'get' | 'post', object]>([
    [200, '/long', 'get', {}],
    [200, '/files/long.txt', 'get', {}],
    [206, '/files/long.txt', 'get', { headers: { range: 'bytes=0-3' } }],
    [400, '/login', 'post', { headers: { 'x-http-method-override': 'TRACE' } }],
    [400, '/login', 'post', { headers: { 'content-type': 'application/json' }, body: '{' }],
    [404, '/nothing', 'get', {}],
    [404, '/files/nothing', 'get', {}],
    [405, '/login', 'get', {}],
    [413, '/login', 'post', { body: { long } }],
    [416, '/files/long.txt', 'get', { headers: { range: 'bytes=99999-' } }],
    [500, '/fails', 'get', {}],
    [503, '/slow', 'get', {}],
  ])('%i %s: the headers of helmet, cors and rateLimit', async (status, path, verb, more: { headers?: object }) => {
    const { server } = serverWithAll()
    const res = await server.inject[verb](path, { ...more, headers: { origin, ...more.headers } })
    res.assertStatus(status).assertHeaderExists('x-frame-options').assertHeader('ratelimit-remaining', '999')
    res.assertHeader('access-control-allow-origin', origin)
    expect(res.headers().vary).toMatch(/^Origin\b/)
  })

  test('429 has them too; preflights and probes are not counted', async () => {
    const { server } = serverWithAll(1)
    await server.inject.get('/long')
    const res = await server.inject.get('/long', { headers: { origin } })
    res.assertStatus(429).assertHeaderExists('x-frame-options').assertHeader('access-control-allow-origin', origin)
    ;(await server.inject.get('/health/live')).assertStatus(200)
    const headers = { origin, 'access-control-request-method': 'PUT' }
    expect((await server.inject({ url: '/long', method: 'OPTIONS', headers })).status).toBe(204)
  })

  test('a kept response is compressed for clients that accept it, and 304 for those that have it', async () => {
    const { server } = serverWithAll()
    const get = (headers: Record<string, string>, method = 'GET') => server.inject({ url: '/long', method, headers })
    const brotli = { origin, 'accept-encoding': 'br' }
    for (const how of ['MISS', 'HIT']) {
      const { headers, body } = await get(brotli)
      expect(headers).toMatchObject({ 'x-cache': how, vary: 'Origin, Accept-Encoding', 'content-encoding': 'br' })
      expect(JSON.parse(brotliDecompressSync(body).toString())).toEqual({ long })
    }
    const plain = await get({})
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.headers).not.toHaveProperty('access-control-allow-origin')
    const { etag } = (await get(brotli)).headers as { etag: string }
    const known = await get({ ...brotli, 'if-none-match': etag })
    expect([known.status, known.headers.vary]).toEqual([304, 'Origin, Accept-Encoding'])
    expect((await get(brotli, 'HEAD')).headers).toMatchObject({ 'x-cache': 'HIT', 'content-encoding': 'br' })
  })

  test('a trusted proxy sends the address, the limit counts by it, and the cookie of the session is secure', async () => {
    const { server } = serverWithAll(1)
    for (const ip of ['203.0.113.1', '203.0.113.2']) {
      const headers = { 'x-forwarded-for': ip, 'x-forwarded-proto': 'https' }
      const res = await server.inject.post('/login', { headers })
      res.assertStatus(200).assertBodyDeepEqual(ip)
      expect(String(res.headers()['set-cookie'])).toContain('; Secure')
    }
  })

  test('an upload may be a PUT by its header, and leaves no file', async () => {
    const { server, folder } = serverWithAll()
    const formData = new FormData()
    formData.append('f', new File(['hello'], 'f.txt'))
    const res = await server.inject.post('/upload', { formData, headers: { 'x-http-method-override': 'PUT' } })
    res.assertBodyDeepEqual(['PUT', 5])
    const left = () => readdirSync(folder, { recursive: true }).filter((name) => /[0-9a-f]{32}$/.test(String(name)))
    await expect.poll(left).toEqual([])
  })

  test('nothing is left of a server that was closed', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP')).length
    const [before, cache] = [sockets(), getCacheService()]
    for (let i = 0; i < 3; i++) {
      const { server } = serverWithAll()
      await server.listen()
      await server.inject.get('/long')
      await server.close()
    }
    await expect.poll(sockets).toBeLessThanOrEqual(before)
    expect(getCacheService()).toBe(cache)
  })
})
