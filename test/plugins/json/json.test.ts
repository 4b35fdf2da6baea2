import { definePlugin, RouteCollection, Server } from 'framework'
import { json } from 'framework/plugins'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** Echoes `req.body`, and counts how often the handler ran. */
function makeServer(plugins: object | readonly unknown[] = {}) {
  const log = memoryLogger()
  const options = { plugins: plugins as {}, router: new RouteCollection(), logger: log, port: 0, host: '127.0.0.1' }
  const server = new Server<{}>(options)
  servers.push(server)
  const seen = { runs: 0, errors: log.entries }
  server.any('/echo', (req) => {
    seen.runs++
    return { parsed: req.body !== undefined, body: req.body ?? null }
  })
  return { server, seen }
}

const post = (server: Server, body: string | Uint8Array | AsyncIterable<Uint8Array>, type = 'application/json') =>
  server.inject.post('/echo', { body, headers: { 'content-type': type } })

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe.each([
  ['on by default', {}],
  ['in object form', { json: true }],
  ['in array form', [json()]],
  ['in array form without being named', []],
])('json %s', (_form, plugins) => {
  test('parses a JSON body', async () => {
    const { server } = makeServer(plugins)
    const res = await server.inject.post('/echo', { body: { a: [1, 'ü', null] } })
    res.assertStatus(200).assertBodyDeepEqual({ parsed: true, body: { a: [1, 'ü', null] } })
  })
})

test('is turned off with false', async () => {
  const { server } = makeServer({ json: false })
  ;(await server.inject.post('/echo', { body: { a: 1 } })).assertBodyDeepEqual({ parsed: false, body: null })
})

describe('which bodies are read', () => {
  test('a request without a body', async () => {
    const { server } = makeServer()
    const res = await server.inject.post('/echo', { headers: { 'content-type': 'application/json' } })
    res.assertBodySubset({ parsed: false })
  })

  test('length 0 means no body', async () => {
    const { server } = makeServer()
    ;(await post(server, '')).assertStatus(200).assertBodySubset({ parsed: false })
  })

  test('a streamed body that turns out empty is not JSON', async () => {
    const { server } = makeServer()
    const res = await post(server, inPieces(new Uint8Array(), 1))
    res.assertStatus(400).assertBodySubset({ code: 'JsonNotValidError' })
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s with a body', async (method) => {
    const { server } = makeServer()
    const res = await server.inject.request(method, '/echo', { body: { a: 1 } })
    res.assertStatus(200).assertBodyDeepEqual({ parsed: true, body: { a: 1 } })
  })

  test.each([
    ['null', null],
    ['0', 0],
    ['false', false],
    ['""', ''],
    [' [1 , 2]\n', [1, 2]],
    ['"text"', 'text'],
  ])('%s is a JSON text', async (text, value) => {
    const { server } = makeServer()
    const seen: unknown[] = []
    server.post('/seen', (req) => void seen.push(req.body))
    await server.inject.post('/seen', { body: text })
    expect(seen).toEqual([value])
  })
})

describe('content types', () => {
  const isJson = [
    'application/json',
    'application/json;',
    'application/json ;',
    'application/json; ',
    'application/json;;',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset=utf-8',
    'application/json\t;\tcharset=utf-8',
    'application/json; charset="utf-8"',
    'application/json; CHARSET=Utf-8',
    'application/json; profile="a;b,c"',
    'application/json; profile="a\\"b"',
    'application/json; x=1; charset=utf-8',
    'Application/JSON',
    'APPLICATION/JSON; CHARSET=UTF-8',
    ' application/json',
    'application/json\t',
    'application/vnd.api+json',
    'application/problem+json; charset=utf-8',
    'application/Merge-Patch+JSON',
    'application/a.b-c_d+e+json',
  ]
  const isNot = [
    '',
    ' ',
    'json',
    '/json',
    'application',
    'application/',
    'application /json',
    'application/ json',
    'application/\tjson',
    'application/json garbage',
    'application/json/',
    'application/json/x',
    'application/json,text/plain',
    'application/json, application/json',
    'text/plain, application/json',
    'application/json; charset',
    'application/json; charset=',
    'application/json; charset =utf-8',
    'application/json; charset= utf-8',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8"',
    'application/json; charset=utf-8 garbage',
    'application/json; =utf-8',
    'application/json; a b=c',
    'application/json; charset=utf-8, text/html',
    'application/json\u00a0',
    '\u00a0application/json',
    'application/jsonp',
    'application/xjson',
    'application/json-seq',
    'application/+json',
    'application/json+xml',
    'application/jsonx+',
    'application/x+jsonx',
    'application/x-json',
    'text/json',
    'text/plain',
    'text/plain; application/json',
    'text/plain; a="application/json"',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/octet-stream',
    'application/j\u0000son',
    'application/ĵson',
    '*/*',
  ]
  const otherCharset = [
    'application/json; charset=utf-7',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf8',
    'application/json; charset=""',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset=utf-7; charset=utf-8',
  ]
  const bodies = ['{"a":1}', '{"a":', '\u0000']

  test('there are more than 61 spellings', () => {
    expect(new Set([...isJson, ...isNot, ...otherCharset]).size).toBeGreaterThanOrEqual(61)
  })

  test.each(isJson)('%j is JSON', async (type) => {
    const { server } = makeServer()
    ;(await post(server, bodies[0]!, type)).assertStatus(200).assertBodyDeepEqual({ parsed: true, body: { a: 1 } })
    for (const bad of bodies.slice(1)) (await post(server, bad, type)).assertStatus(400)
  })

  test.each(isNot)('%j is never read as JSON', async (type) => {
    const { server } = makeServer()
    for (const body of bodies) (await post(server, body, type)).assertStatus(200).assertBodySubset({ parsed: false })
  })

  test.each(otherCharset)('%j is a 415', async (type) => {
    const { server, seen } = makeServer()
    for (const body of bodies) {
      ;(await post(server, body, type)).assertStatus(415).assertBodySubset({ code: 'UnsupportedMediaTypeError' })
    }
    expect(seen.runs).toBe(0)
  })

  test('without a content type nothing is read', async () => {
    const { server } = makeServer()
    const { status, body } = await server.inject({ url: '/echo', method: 'POST', body: '{"a":1}' })
    expect([status, new TextDecoder().decode(body)]).toEqual([200, '{"parsed":false,"body":null}'])
  })

  test('a long hostile type takes no time', async () => {
    const { server } = makeServer()
    const types = [
      `application/json${';  '.repeat(5_000)}!`,
      `application/json;${' '.repeat(15_000)}`,
      `application/json; ${'a'.repeat(15_000)}`,
      `application/json; a="${'\\"'.repeat(7_000)}`,
      `${'a'.repeat(15_000)}/json`,
    ]
    for (const type of types) {
      const { result, ms } = await quickest(() => post(server, '{}', type), 5, 40)
      expect(result.statusCode()).toBeLessThan(500)
      expect(ms).toBeLessThan(40)
    }
  })

  test.each(['gzip', 'br', 'x-gzip', 'deflate, gzip', ''])('content-encoding %j is a 415', async (encoding) => {
    const { server } = makeServer()
    const headers = { 'content-encoding': encoding }
    ;(await server.inject.post('/echo', { body: '{}', headers })).assertStatus(415)
  })

  test.each(['identity', 'Identity'])('content-encoding %s means no encoding', async (encoding) => {
    const { server } = makeServer()
    const headers = { 'content-encoding': encoding }
    ;(await server.inject.post('/echo', { body: '{}', headers })).assertStatus(200)
  })
})

describe('the size limit', () => {
  const bodyOf = (size: number) => `"${'a'.repeat(size - 2)}"`
  const cases: [string, object | undefined, number][] = [
    ['by default 100 kB', undefined, 102_400],
    ['as a size', { sizeLimit: '10kb' }, 10_240],
    ['as a fraction', { sizeLimit: '0.5 KB' }, 512],
    ['as a number', { sizeLimit: 1_000 }, 1_000],
  ]
  test.each(cases)('%s', async (_name, options, limit) => {
    const { server, seen } = makeServer(options && { json: options })
    for (const size of [limit - 1, limit]) (await post(server, bodyOf(size))).assertStatus(200)
    expect(seen.runs).toBe(2)
    const bytes = new TextEncoder().encode(bodyOf(limit + 1))
    const ways = [bodyOf(limit + 1), bytes, inPieces(bytes, 1_000), inPieces(bytes, 1)]
    for (const body of ways) {
      const res = await post(server, body)
      res.assertStatus(413).assertBodyDeepEqual({
        code: 'PayloadTooLargeError',
        message: `PAYLOAD_TOO_LARGE: the body is larger than ${limit} bytes`,
      })
    }
    expect(seen.runs).toBe(2)
  })

  test('a body in many pieces up to the limit', async () => {
    const { server } = makeServer({ json: { sizeLimit: 1_000 } })
    const bytes = new TextEncoder().encode(bodyOf(1_000))
    ;(await post(server, inPieces(bytes, 1))).assertStatus(200)
  })

  test('a declared length above the limit is refused unread', async () => {
    const { server } = makeServer()
    let read = 0
    async function* endless() {
      for (;;) {
        read++
        yield new Uint8Array(1_000)
      }
    }
    const headers = { 'content-type': 'application/json', 'content-length': '10000000000' }
    ;(await server.inject.post('/echo', { body: endless(), headers })).assertStatus(413)
    expect(read).toBe(0)
    ;(await post(server, endless())).assertStatus(413)
    expect(read).toBeLessThan(200)
  })

  test('an understated length does not widen it', async () => {
    const { server } = makeServer({ json: { sizeLimit: 100 } })
    const headers = { 'content-length': '5' }
    ;(await server.inject.post('/echo', { body: bodyOf(200), headers })).assertStatus(413)
  })

  test('a nearer json takes the place of the one around it', async () => {
    const { server } = makeServer({ json: { sizeLimit: 100 } })
    const { definePlugin } = await import('framework')
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.register(json({ sizeLimit: 1_000 }))
        ctx.post('/echo', (req) => req.body)
      },
    })
    server.register(area(), { prefix: '/area' })
    ;(await server.inject.post('/area/echo', { body: bodyOf(500) })).assertStatus(200)
    ;(await server.inject.post('/echo', { body: bodyOf(500) })).assertStatus(413)
    await server.ready()
    expect(
      server
        .explain('POST', '/area/echo')
        .steps.map((step) => step.name)
        .filter((name) => name === 'json'),
    ).toHaveLength(1)
  })
})

describe('invalid options are refused at once', () => {
  test.each([
    [{ sizeLimit: 'big' }, /json\.sizeLimit.*"big".*size like "100kb"/],
    [{ sizeLimit: '10 apples' }, /json\.sizeLimit/],
    [{ sizeLimit: '' }, /json\.sizeLimit/],
    [{ sizeLimit: 0 }, /json\.sizeLimit/],
    [{ sizeLimit: -5 }, /json\.sizeLimit/],
    [{ sizeLimit: Number.NaN }, /json\.sizeLimit/],
    [{ sizeLimit: Number.POSITIVE_INFINITY }, /json\.sizeLimit/],
    [{ sizeLimit: null }, /json\.sizeLimit/],
    [{ maxDepth: 0 }, /json\.maxDepth.*whole number/],
    [{ maxDepth: 1.5 }, /json\.maxDepth/],
    [{ sizelimit: '1mb' }, /json\.sizelimit.*Did you mean "sizeLimit"/],
  ])('%j', (options, message) => {
    expect(() => makeServer({ json: options })).toThrow(message)
  })
})

describe('the route option json', () => {
  const text = `{"a":"${'x'.repeat(200)}"}`

  test('false leaves the body to the handler, whatever is wrong with it', async () => {
    const { server } = makeServer({ json: { sizeLimit: 100 } })
    server.post('/hook', { json: false }, async (req) => {
      const bytes = await req.raw.bytes(1_000)
      return { body: req.body ?? null, text: new TextDecoder().decode(bytes) }
    })
    for (const body of [text, '{"a":'])
      (await server.inject.post('/hook', { body, headers: { 'content-type': 'application/json' } }))
        .assertStatus(200)
        .assertBodyDeepEqual({ body: null, text: body })
    const headers = { 'content-type': 'application/json; charset=latin1', 'content-encoding': 'gzip' }
    ;(await server.inject.post('/hook', { body: '{}', headers })).assertBodyDeepEqual({ body: null, text: '{}' })
    ;(await post(server, text)).assertStatus(413)
  })

  test('takes other limits, and omitted ones are as in the plugin', async () => {
    const { server } = makeServer({ json: { sizeLimit: 100, maxDepth: 2 } })
    server.post('/large', { json: { sizeLimit: '1kb', maxDepth: undefined } }, (req) => req.body)
    server.post('/deep', { json: { maxDepth: 3 } }, (req) => req.body)
    const headers = { 'content-type': 'application/json' }
    const status = async (url: string, body: string) => (await server.inject.post(url, { body, headers })).statusCode()
    expect([await status('/large', text), await status('/deep', text), await status('/echo', text)]).toEqual([
      200, 413, 413,
    ])
    expect([await status('/large', '[[[1]]]'), await status('/deep', '[[[1]]]')]).toEqual([400, 200])
    expect(await status('/large', `"${'x'.repeat(2_000)}"`)).toBe(413)
  })

  test('holds for the nearest of two registrations, and for a route that comes late', async () => {
    const inner = definePlugin({
      name: 'inner',
      scoped: true,
      setup(ctx) {
        ctx.register(json({ sizeLimit: 50 }))
        ctx.post('/inner', { json: { maxDepth: 1 } }, (req) => req.body)
      },
    })
    const { server } = makeServer({ json: { sizeLimit: 1_000 }, inner: inner() })
    await server.ready()
    server.post('/late', { json: false }, (req) => ({ parsed: req.body !== undefined }))
    const headers = { 'content-type': 'application/json' }
    ;(await server.inject.post('/inner', { body: text, headers })).assertStatus(413)
    ;(await server.inject.post('/inner', { body: '[[1]]', headers })).assertStatus(400)
    ;(await server.inject.post('/late', { body: text, headers })).assertBodyDeepEqual({ parsed: false })
  })

  test.each([
    [true, /json.*true.*false, or an object with sizeLimit, maxDepth/],
    [[], /json.*false, or an object/],
    [{ sizeLimit: 'big' }, /json\.sizeLimit/],
    [{ limit: 1 }, /json\.limit/],
  ])('%j fails the boot and names the route', async (option, why) => {
    const { server } = makeServer()
    server.post('/wrong', { json: option as never }, () => 'never')
    const error = await server.ready().catch((error: Error) => error)
    expect(String((error as Error).message)).toMatch(why)
    expect(String((error as Error).message)).toMatch('POST /wrong')
  })
})
