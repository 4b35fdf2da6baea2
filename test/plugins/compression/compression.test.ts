import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { definePlugin, RouteCollection, Server } from 'framework'
import { compression, requestContext } from 'framework/plugins'
import { currentContext } from 'framework/plugins/requestContext'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const long = 'all work and no play makes jack a dull boy. '.repeat(100)
const data = { items: Array.from({ length: 100 }, (_, id) => ({ id, name: `item ${id}` })) }

function serverWith(options: unknown = true, more: object = {}) {
  const server = new Server<{}>({
    host: '127.0.0.1',
    port: 0,
    gracefulShutdown: false,
    closeTimeout: 500,
    plugins: { compression: options, ...more } as {},
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  servers.push(server)
  server.get('/text', (_req, res) => res.text(long))
  server.get('/json', () => data)
  server.get('/bytes', (_req, res) => res.type('text/css').bytes(Buffer.from(long)))
  server.get('/short', (_req, res) => res.text('short'))
  return server
}

const decoders: Record<string, (bytes: Uint8Array) => Buffer> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: (bytes) => (zlib as unknown as { zstdDecompressSync(bytes: Uint8Array): Buffer }).zstdDecompressSync(bytes),
}

/** A response with its body decoded. */
async function get(server: Server, url: string, accept: string | undefined = 'gzip', method = 'GET') {
  const { status, headers, body } = await server.inject({ url, method, headers: { 'accept-encoding': accept } })
  const encoding = headers['content-encoding'] as string | undefined
  const decoded = encoding === undefined || body.length === 0 ? Buffer.from(body) : decoders[encoding]!(body)
  return { status, headers, encoding, size: body.length, text: decoded.toString() }
}

describe('bodies', () => {
  test('text, JSON and bytes arrive smaller, and whole', async () => {
    const server = serverWith()
    for (const [url, whole] of [
      ['/text', long],
      ['/json', JSON.stringify(data)],
      ['/bytes', long],
    ] as const) {
      const res = await get(server, url)
      expect([res.encoding, res.text === whole, res.size < whole.length / 3]).toEqual(['gzip', true, true])
      expect(res.headers['content-length']).toBe(String(res.size))
      expect(res.headers.vary).toBe('Accept-Encoding')
    }
    expect((await get(server, '/json')).headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test.each(['gzip', 'deflate', 'br', ...('zstdCompress' in zlib ? ['zstd'] : [])])('in %s', async (encoding) => {
    const server = serverWith({ encodings: [encoding] })
    server.get('/stream', (_req, res) => res.type('text').stream(Readable.from([long, long])))
    expect(await get(server, '/text', encoding)).toMatchObject({ encoding, text: long })
    expect(await get(server, '/stream', encoding)).toMatchObject({ encoding, text: long + long })
  })

  test('404, failures and responses of an error handler too', async () => {
    const server = serverWith({ threshold: 10 })
    server.setErrorHandler((_req, res) => res.internalServerError({ long }))
    server.get('/boom', () => {
      throw new Error('boom')
    })
    expect(await get(server, '/nowhere')).toMatchObject({ status: 404, encoding: 'gzip' })
    const res = await get(server, '/boom')
    expect([res.status, res.encoding, JSON.parse(res.text)]).toEqual([500, 'gzip', { long }])
  })
})

describe('unchanged responses', () => {
  test('a body that is shorter than the threshold, in bytes', async () => {
    const server = serverWith({ threshold: 1_000 })
    server.get('/:n', (req, res) => res.text('a'.repeat(Number(req.params.n))))
    server.get('/euro/:n', (req, res) => res.text('€'.repeat(Number(req.params.n))))
    const encodings = ['/999', '/1000', '/euro/333', '/euro/334'].map(async (url) => (await get(server, url)).encoding)
    expect(await Promise.all(encodings)).toEqual([undefined, 'gzip', undefined, 'gzip'])
    expect((await get(server, '/999')).headers.vary).toBeUndefined()
    expect((await get(serverWith({ threshold: '10kb' }), '/text')).encoding).toBeUndefined()
    expect((await get(serverWith({ threshold: 0 }), '/short')).encoding).toBe('gzip')
  })

  test.each([
    'image/png',
    'application/octet-stream',
    'video/mp4',
    'application/zip',
    'nonsense',
    'text/event-stream',
  ])('%s', async (type) => {
    const server = serverWith()
    server.get('/', (_req, res) => res.type(type).bytes(Buffer.from(long)))
    const { encoding, headers } = await get(server, '/')
    expect([encoding, headers.vary]).toEqual([undefined, undefined])
  })

  test.each([
    'image/svg+xml',
    'application/problem+json',
    'application/javascript',
    'TEXT/HTML',
    'application/wasm',
  ])('but not %s', async (type) => {
    const server = serverWith()
    server.get('/', (_req, res) => res.type(type).bytes(Buffer.from(long)))
    expect((await get(server, '/')).encoding).toBe('gzip')
  })

  test('a response that is encoded, partial, forbidden to transform, or without a body', async () => {
    const server = serverWith()
    server.get('/encoded', (_req, res) =>
      res.setHeader('content-encoding', 'gzip').type('text').bytes(zlib.gzipSync(long)),
    )
    server.get('/partial', (_req, res) => res.status(206).text(long))
    server.get('/range', (_req, res) => res.setHeader('content-range', 'bytes 0-9/9').text(long))
    server.get('/private', (_req, res) => res.setHeader('cache-control', 'private, No-Transform').text(long))
    server.get('/none', (_req, res) => res.noContent())
    server.get('/empty', () => undefined)
    const encodings = ['/partial', '/range', '/private', '/none', '/empty'].map(async (url) => {
      const { encoding, headers } = await get(server, url)
      return [encoding, headers.vary]
    })
    const varies = [undefined, 'Accept-Encoding']
    const not = [undefined, undefined]
    expect(await Promise.all(encodings)).toEqual([varies, varies, not, not, not])
    expect(await get(server, '/encoded')).toMatchObject({ encoding: 'gzip', text: long })
  })

  test('the responses of a route with compress: false, its HEAD too', async () => {
    const server = serverWith()
    server.get('/secret', { compress: false }, (_req, res) => res.text(long))
    expect((await get(server, '/secret')).headers).not.toHaveProperty('content-encoding')
    expect((await get(server, '/secret', 'gzip', 'HEAD')).headers).not.toHaveProperty('content-encoding')
    const wrong = serverWith()
    wrong.get('/secret', { compress: true as never }, () => 1)
    await expect(wrong.ready()).rejects.toThrow(/GET \/secret.*compress/)
  })
})

describe('Accept-Encoding', () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.5, identity;q=0.9', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['GZIP', 'gzip'],
    ['compress, x-junk', undefined],
    ['gzip;q=junk', undefined],
    [';;;,,,', undefined],
    ['__proto__', undefined],
    [`${'x,'.repeat(5_000)}gzip`, undefined],
  ]
  test.each(cases)('%.40j → %s', async (header, encoding) => {
    const server = serverWith({ encodings: ['br', 'gzip'] })
    for (let i = 0; i < 2; i++) {
      const { headers } = await server.inject({ url: '/text', headers: { 'accept-encoding': header } })
      expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding'])
    }
  })

  test('Vary is added to the existing value', async () => {
    const server = serverWith(true, { cors: { origin: ['http://a.test'] } })
    server.get('/any', (_req, res) => res.setHeader('vary', '*').text(long))
    expect((await get(server, '/text')).headers.vary?.toString().split(', ').sort()).toEqual([
      'Accept-Encoding',
      'Origin',
    ])
    expect((await get(server, '/any')).headers.vary).toContain('*')
  })
})

describe('headers that speak of the body', () => {
  test('a strong ETag becomes weak, ranges are not offered, the length is that of the sent body', async () => {
    const server = serverWith()
    const headers = { etag: '"abc"', 'accept-ranges': 'bytes', 'content-length': '5' }
    server.get('/', (_req, res) => {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
      return res.text(long)
    })
    server.get('/weak', (_req, res) => res.setHeader('etag', 'W/"abc"').text(long))
    const res = await get(server, '/')
    expect(res.headers).toMatchObject({ etag: 'W/"abc"', 'content-length': String(res.size) })
    expect(res.headers).not.toHaveProperty('accept-ranges')
    expect((await get(server, '/weak')).headers.etag).toBe('W/"abc"')
    expect((await get(server, '/', 'identity')).headers).toMatchObject({ etag: '"abc"', 'accept-ranges': 'bytes' })
  })

  test('HEAD has those of GET but the length, and compresses nothing', async () => {
    const server = serverWith()
    server.get('/stream', (_req, res) => res.type('text').stream(Readable.from([long])))
    for (const url of ['/text', '/json', '/bytes', '/stream', '/short']) {
      const { 'content-length': length, ...ofGet } = (await get(server, url)).headers
      const { 'content-length': ofHead, ...rest } = (await get(server, url, 'gzip', 'HEAD')).headers
      expect(rest).toEqual(ofGet)
      expect(ofHead).toBe(url === '/short' ? length : undefined)
    }
  })

  test('HEAD of a file has those of GET, but for a length that only compressing it would show', async () => {
    const root = mkdtempSync(join(tmpdir(), 'framework-compression-'))
    writeFileSync(join(root, 'long.txt'), long)
    writeFileSync(join(root, 'short.txt'), 'short')
    const server = serverWith(true, { static: { root } })
    const { 'content-length': _, ...compressed } = (await get(server, '/long.txt')).headers
    expect((await get(server, '/long.txt', 'gzip', 'HEAD')).headers).toEqual(compressed)
    expect((await get(server, '/short.txt', 'gzip', 'HEAD')).headers).toEqual((await get(server, '/short.txt')).headers)
    rmSync(root, { recursive: true })
  })

  test.each([206, 304, 416])('%i varies like the response that it represents', async (status) => {
    const server = serverWith()
    server.get('/', (_req, res) => (status === 206 ? res.status(status).text('part') : res.status(status).send()))
    expect((await get(server, '/')).headers).toMatchObject({ vary: 'Accept-Encoding' })
  })

  test('a part of an uncompressible response does not vary', async () => {
    const server = serverWith()
    server.get('/', (_req, res) => res.status(206).type('image/png').send(Buffer.from('part')))
    expect((await get(server, '/')).headers).not.toHaveProperty('vary')
  })
})

describe('streams', () => {
  const bodies: Record<string, () => Readable | ReadableStream<Uint8Array> | AsyncIterable<string>> = {
    'a Readable': () => Readable.from([Buffer.from(long), Buffer.from(long)]),
    'a web stream': () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(Buffer.from(long))
          controller.enqueue(Buffer.from(long))
          controller.close()
        },
      }),
    'a generator': async function* () {
      yield long
      yield long
    },
  }
  test.each(Object.keys(bodies))('%s', async (kind) => {
    const server = serverWith()
    server.get('/', (_req, res) => res.type('text').stream(bodies[kind]!()))
    const res = await get(server, '/')
    expect([res.encoding, res.text === long + long, res.headers['content-length']]).toEqual(['gzip', true, undefined])
  })

  test('a file', async () => {
    const server = serverWith()
    server.get('/file', (_req, res) => res.type('text').file(import.meta.filename))
    server.get('/bytes-of-it', (_req, res) => res.type('bin').file(import.meta.filename))
    const file = readFileSync(import.meta.filename, 'utf8')
    expect(await get(server, '/file')).toMatchObject({ encoding: 'gzip', text: file })
    expect(await get(server, '/bytes-of-it')).toMatchObject({ encoding: undefined, text: file })
  })

  test('one whose length is declared and short stays', async () => {
    const server = serverWith()
    server.get('/', (_req, res) =>
      res
        .type('text')
        .setHeader('content-length', 3)
        .stream(Readable.from(['abc'])),
    )
    expect((await get(server, '/')).headers).toMatchObject({ 'content-length': '3' })
  })

  test('event streams are not compressed', async () => {
    const server = serverWith()
    server.get('/', (_req, res) =>
      res.sse(
        (async function* () {
          yield long
        })(),
      ),
    )
    expect((await get(server, '/')).encoding).toBeUndefined()
  })

  test.each(['gzip', 'br'])('a slow one arrives bit by bit (%s)', async (encoding) => {
    const server = serverWith()
    let text = ''
    server.get('/', (_req, res) =>
      res.type('text').stream(
        (async function* () {
          let sent = ''
          for (const piece of ['one ', 'two ', 'three ']) {
            yield piece
            sent += piece
            // The client has it before there is more.
            await expect.poll(() => text).toBe(sent)
          }
        })(),
      ),
    )
    const { port } = await server.listen()
    await new Promise<void>((resolve, reject) => {
      request({ port, host: '127.0.0.1', headers: { 'accept-encoding': encoding } }, (res) => {
        const decoder = encoding === 'gzip' ? zlib.createGunzip() : zlib.createBrotliDecompress()
        res
          .pipe(decoder)
          .on('data', (chunk) => {
            text += String(chunk)
          })
          .on('end', resolve)
          .on('error', reject)
      }).end()
    })
    expect(text).toBe('one two three ')
  })

  test('without a reader the source waits, and ends when the client leaves', async () => {
    const server = serverWith()
    let made = 0
    let ended = false
    server.get('/', (_req, res) =>
      res.type('text').stream(
        (async function* () {
          try {
            for (; made < 5_000; made++) {
              // Not compressible, so that the buffers fill.
              yield Array.from({ length: 4_000 }, () => Math.random().toString(36)).join('')
              await null
            }
          } finally {
            ended = true
          }
        })(),
      ),
    )
    const { port } = await server.listen()
    const client = request({ port, host: '127.0.0.1', headers: { 'accept-encoding': 'gzip' } })
    client.on('error', () => {})
    await new Promise<void>((resolve) => {
      client.on('response', (res) => {
        res.pause()
        resolve()
      })
      client.end()
    })
    // Until every buffer on the way is full; without backpressure that would be never.
    let before = -1
    const stands = async () => {
      const grew = made - before
      before = made
      return grew
    }
    await expect.poll(stands, { timeout: 20_000, interval: 400 }).toBe(0)
    expect(made).toBeLessThan(1_000)
    client.destroy()
    await expect.poll(() => ended).toBe(true)
  })

  test.each(['a Readable', 'a web stream'])('a client that leaves ends %s that is waiting', async (kind) => {
    const server = serverWith()
    let ended = false
    const waiting = () =>
      kind === 'a Readable'
        ? new Readable({
            read() {
              if (!this.readableFlowing) this.push('a')
            },
            destroy(_error, done) {
              ended = true
              done(null)
            },
          })
        : new ReadableStream<Uint8Array>({
            start: (controller) => controller.enqueue(Buffer.from('a')),
            cancel() {
              ended = true
            },
          })
    server.get('/', (_req, res) => res.type('text').stream(waiting()))
    const { port } = await server.listen()
    const client = request({ port, host: '127.0.0.1', headers: { 'accept-encoding': 'gzip' } })
    client.on('error', () => {})
    await new Promise<void>((resolve) => client.on('response', (res) => res.once('data', () => resolve())).end())
    client.destroy()
    await expect.poll(() => ended).toBe(true)
  })

  test('one that fails breaks the response and nothing else', async () => {
    const server = serverWith()
    server.get('/', (_req, res) =>
      res.type('text').stream(
        (async function* () {
          yield long
          throw new Error('boom')
        })(),
      ),
    )
    const { port } = await server.listen()
    await expect(fetch(`http://127.0.0.1:${port}/`).then((res) => res.text())).rejects.toThrow()
    expect((await fetch(`http://127.0.0.1:${port}/short`)).status).toBe(200)
  })
})

describe('where it holds', () => {
  test('a scope may have its own', async () => {
    const server = serverWith({ encodings: ['br', 'gzip'] })
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(compression({ encodings: ['gzip'] }))
        ctx.get('/part', (_req, res) => res.text(long))
      },
    })
    server.register(part())
    expect((await get(server, '/part', 'br, gzip')).encoding).toBe('gzip')
    expect((await get(server, '/text', 'br, gzip')).encoding).toBe('br')
  })

  test('after the cache, which keeps the uncompressed response', async () => {
    const server = serverWith(true, { cache: true })
    let runs = 0
    server.get('/cached', { cache: { ttl: 60 } }, () => ({ runs: ++runs, ...data }))
    const seen: unknown[] = []
    for (const accept of ['gzip', 'identity', 'br']) {
      const res = await get(server, '/cached', accept)
      seen.push([res.headers['x-cache'], res.encoding, (JSON.parse(res.text) as { runs: number }).runs])
    }
    expect(seen).toEqual([
      ['MISS', 'gzip', 1],
      ['HIT', undefined, 1],
      ['HIT', 'br', 1],
    ])
  })

  test.each(['gzip', 'identity'])('a 304 of the cache has the tag of its 200, for %s', async (encoding) => {
    const server = serverWith(true, { cache: true })
    server.get('/cached', { cache: { ttl: 60 } }, () => data)
    const headers = { 'accept-encoding': encoding }
    const { etag } = (await server.inject({ url: '/cached', headers })).headers
    for (const known of [etag, `"other", ${etag}`]) {
      const again = await server.inject({ url: '/cached', headers: { ...headers, 'if-none-match': `${known}` } })
      expect([again.status, again.headers.etag]).toEqual([304, etag])
    }
    expect(String(etag).startsWith('W/')).toBe(encoding === 'gzip')
  })

  test('a streamed body is made in the context that a scope within has given it', async () => {
    const server = serverWith(true)
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(requestContext({ who: () => 'ann' }))
        ctx.get('/part', (_req, res) =>
          res.type('text').stream(
            (async function* () {
              yield `1 ${JSON.stringify(currentContext())}`
              await pause(1)
              yield `, 2 ${JSON.stringify(currentContext())}`
            })(),
          ),
        )
      },
    })
    server.register(part())
    for (const accept of ['gzip', 'identity']) {
      expect((await get(server, '/part', accept)).text).toBe('1 {"who":"ann"}, 2 {"who":"ann"}')
    }
  })

  test('bodies of requests are not inflated', async () => {
    const server = serverWith(true, { json: true })
    server.post('/', (req) => req.body)
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const { status } = await server.inject({ url: '/', method: 'POST', body: zlib.gzipSync('{}'), headers })
    expect(status).toBe(415)
  })
})

describe('options', () => {
  test('encodings that this runtime lacks are left out', async () => {
    const server = serverWith({ encodings: ['zstd', 'gzip'] })
    const has = 'zstdCompress' in zlib
    expect((await get(server, '/text', 'zstd, gzip')).encoding).toBe(has ? 'zstd' : 'gzip')
  })

  test.each([
    [{ threshold: -1 }, /compression\.threshold/],
    [{ threshold: 'much' }, /compression\.threshold/],
    [{ encodings: [] }, /compression\.encodings/],
    [{ encodings: 'gzip' }, /compression\.encodings/],
    [{ encodings: ['gzip', 'brotli'] }, /encodings\[1\]" is "brotli"; it takes "br", "zstd", "gzip" or "deflate"/],
    [{ treshold: 1 }, /Did you mean/],
  ])('%j is refused', (options, message) => {
    expect(() => serverWith(options)).toThrow(message)
  })
})
