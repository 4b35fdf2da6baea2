import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SharedApp, shareApp, targets } from './targets.ts'

const script = join(import.meta.dirname, 'web-plugins.mjs')
const long = 'all work and no play makes jack a dull boy. '.repeat(200)

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

function ask(port: number, path: string, options: RequestOptions = {}, onData = () => {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const client = request({ port, host: '127.0.0.1', path, agent: false, ...options }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).once('data', onData)
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) }))
      res.on('error', reject)
    })
    client.on('error', reject)
    client.end()
  })
}

const decoders: Record<string, (bytes: Buffer) => Buffer> = { gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync }

describe.each(targets)('plugins of the web: $name', (target) => {
  let app: SharedApp
  let port: number
  beforeAll(async () => {
    app = await shareApp(target, {}, { file: 'web-plugins.mjs' })
    port = app.port
  })
  afterAll(() => app?.stop())
  const json = async (path: string, options?: RequestOptions) =>
    JSON.parse((await ask(port, path, options)).body.toString()) as unknown

  test('the headers of a trusted proxy', async () => {
    const headers = {
      'x-forwarded-for': '10.0.0.1, 2001:DB8::1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.test',
    }
    expect(await json('/who', { headers })).toEqual({
      ip: '2001:db8::1',
      url: 'https://shop.test/who',
      protocol: 'https',
    })
    expect(await json('/who')).toMatchObject({ ip: '127.0.0.1', protocol: 'http' })
    expect((await ask(port, '/who', { headers: { 'x-forwarded-host': 'evil:x@good' } })).status).toBe(400)
  })

  test('helmet asks a browser for https only where the request came by it, through a proxy as well', async () => {
    const policyOf = async (headers: IncomingHttpHeaders, path: string) =>
      (await ask(port, path, { headers })).headers['content-security-policy']
    for (const path of ['/who', '/nowhere', '/json']) {
      const http = await policyOf({ host: 'demo.test' }, path)
      expect(http).toContain("default-src 'self'")
      expect(http).not.toContain('upgrade-insecure-requests')
      const https = { host: 'demo.test', 'x-forwarded-for': '10.0.0.1', 'x-forwarded-proto': 'https' }
      expect(await policyOf(https, path)).toBe(`${http};upgrade-insecure-requests`)
    }
  })

  test('a method in a header', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'content-type': 'application/json', 'content-length': '0' }
    expect(await json('/who', { method: 'POST', headers })).toEqual({ method: 'DELETE' })
    expect(
      (await ask(port, '/who', { method: 'POST', headers: { ...headers, 'x-http-method-override': 'GET' } })).status,
    ).toBe(400)
  })

  test('a form with a file, from the test client', async () => {
    expect(await json('/inject')).toEqual({ body: { title: 'a title' }, name: 'a.txt', size: 9 })
  })

  test('the same security headers on every response', async () => {
    const names = (headers: IncomingHttpHeaders) =>
      Object.keys(headers).filter((name) => /^(?:x-|content-security|strict|referrer|cross|origin)/.test(name))
    const requests: [string, RequestOptions?][] = [
      ['/who'],
      ['/nowhere'],
      ['/who', { method: 'PUT' }],
      ['/%zz'],
      ['/never'],
    ]
    for (const [path, options] of requests) {
      const { headers } = await ask(port, path, options)
      expect([path, names(headers).length, headers['x-powered-by']]).toEqual([path, 12, undefined])
    }
  })

  test('a context for each of 200 concurrent requests, in streams too', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => json(`/context?n=${n}`)))
    answers.forEach((answer, n) => {
      expect(answer).toEqual(Array(5).fill(String(n)))
    })
    const streams = await Promise.all([1, 2, 3].map((n) => ask(port, `/context-stream?n=${n}`)))
    expect(streams.map(({ body }) => String(body))).toEqual(['1;1;1;', '2;2;2;', '3;3;3;'])
  })

  test('503 for a handler that takes too long; its late response is dropped', async () => {
    const [never, late] = await Promise.all([ask(port, '/never'), ask(port, '/late')])
    expect([never.status, late.status]).toEqual([503, 503])
    expect(JSON.parse(String(late.body))).toMatchObject({ code: 'RequestTimeoutError' })
    await expect.poll(() => json('/events')).toContain('late true RequestTimeoutError')
  })

  test('exactly as many requests as the limit', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await ask(port, '/limited')).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })

  test.each(['gzip', 'br'])('bodies and streams in %s', async (encoding) => {
    const headers = { 'accept-encoding': encoding }
    const file = readFileSync(script, 'utf8')
    const expected = {
      text: long,
      json: JSON.stringify({ long }),
      bytes: long,
      readable: long + long,
      'web-stream': long + long,
      file,
    }
    for (const [path, whole] of Object.entries(expected)) {
      const res = await ask(port, `/${path}`, { headers })
      expect([path, res.headers['content-encoding'], res.headers.vary]).toEqual([path, encoding, 'Accept-Encoding'])
      expect(decoders[encoding]!(res.body).toString()).toBe(whole)
      const head = await ask(port, `/${path}`, { headers, method: 'HEAD' })
      expect([path, head.headers['content-encoding'], head.body.length]).toEqual([path, encoding, 0])
    }
    expect((await ask(port, '/text', { headers })).headers.etag).toBe('W/"1"')
    expect((await ask(port, '/text')).body.toString()).toBe(long)
  })

  test('zstd where the runtime has it', async () => {
    const { headers, body } = await ask(port, '/text', { headers: { 'accept-encoding': 'zstd' } })
    if (headers['content-encoding'] === undefined) expect(body.toString()).toBe(long)
    // The magic number of a frame (RFC 8878 section 3.1.1).
    else expect([headers['content-encoding'], body.readUInt32LE(0)]).toEqual(['zstd', 0xfd2fb528])
    if (target.runtime === 'node24' || target.runtime === 'node26') expect(headers['content-encoding']).toBe('zstd')
  })

  test.each(['gzip', 'br', 'zstd'])('a slow stream arrives bit by bit in %s', async (encoding) => {
    const onData = () => void ask(port, '/seen')
    const { body, headers } = await ask(port, '/slow', { headers: { 'accept-encoding': encoding } }, onData)
    // It goes on when its beginning has arrived.
    const decode = decoders[headers['content-encoding'] ?? '']
    if (decode !== undefined) expect(decode(body).toString()).toBe('one two three ')
  })

  test('a compressed stream ends when the client leaves', async () => {
    const client = request({
      port,
      host: '127.0.0.1',
      path: '/endless',
      headers: { 'accept-encoding': 'gzip' },
      agent: false,
    })
    client.on('error', () => {})
    await new Promise<void>((resolve) => {
      client.on('response', (res) => {
        res.on('error', () => {})
        res.once('data', () => resolve())
      })
      client.end()
    })
    client.destroy()
    await expect.poll(() => json('/events'), { timeout: 20_000 }).toContain('endless ended')
    const events = (await json('/events')) as string[]
    expect(events.filter((event) => event.startsWith('un'))).toEqual([])
  })
})
