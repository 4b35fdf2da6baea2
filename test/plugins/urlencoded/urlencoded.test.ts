import { definePlugin, RouteCollection, Server } from 'framework'
import { urlencoded } from 'framework/plugins'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(plugins: object | readonly unknown[] = { urlencoded: true }) {
  const logger = memoryLogger()
  const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger })
  servers.push(server)
  const seen: { body?: unknown; runs: number } = { runs: 0 }
  server.post('/form', (req) => {
    seen.body = req.body
    seen.runs++
    return { parsed: req.body !== undefined }
  })
  return { server, seen, log: logger.entries }
}

const formType = 'application/x-www-form-urlencoded'
const post = (server: Server, body: string | Uint8Array | AsyncIterable<Uint8Array>, type = formType) =>
  server.inject.post('/form', { body, headers: { 'content-type': type } })

describe('a form', () => {
  test.each([
    ['object form', { urlencoded: {} }],
    ['array form', [urlencoded()]],
  ])('is parsed, in %s', async (_form, plugins) => {
    const { server, seen } = makeServer(plugins)
    const res = await server.inject.post('/form', { urlencoded: { name: 'Ada L', tag: ['a', 'b'], empty: '' } })
    res.assertBodyDeepEqual({ parsed: true })
    expect({ ...(seen.body as object) }).toEqual({ name: 'Ada L', tag: ['a', 'b'], empty: '' })
    expect(Object.getPrototypeOf(seen.body)).toBeNull()
  })

  test('is off unless it is turned on', async () => {
    const { server } = makeServer({})
    ;(await server.inject.post('/form', { urlencoded: { a: 1 } })).assertBodyDeepEqual({ parsed: false })
  })

  test('without a body is undefined', async () => {
    const { server } = makeServer()
    ;(await post(server, '')).assertBodyDeepEqual({ parsed: false })
  })

  test.each<[string, object]>([
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a', { a: '' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1+2%2B3', { a: '1 2+3' }],
    ['%61=%C3%A9', { a: 'é' }],
    ['é=ü', { é: 'ü' }],
    ['a=%zz&b=%', { a: '%zz', b: '%' }],
    ['a[b]=1&a[]=2&a.b=3', { 'a[b]': '1', 'a[]': '2', 'a.b': '3' }],
    ['__proto__=1&constructor=2&prototype=3&a=4', { a: '4' }],
    ['__proto__[x]=1', { '__proto__[x]': '1' }],
    ['toString=1&hasOwnProperty=2', { toString: '1', hasOwnProperty: '2' }],
  ])('%s', async (body, expected) => {
    const { server, seen } = makeServer()
    ;(await post(server, body)).assertStatus(200)
    expect({ ...(seen.body as object) }).toEqual(expected)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('a JSON body beside it is still JSON', async () => {
    const { server, seen } = makeServer()
    await server.inject.post('/form', { body: { a: 1 } })
    expect(seen.body).toEqual({ a: 1 })
  })
})

describe('content types', () => {
  test.each([
    formType,
    'Application/X-WWW-Form-Urlencoded',
    `${formType};charset=UTF-8`,
    `${formType}; charset="utf-8"`,
    `${formType} ;`,
    ` ${formType}\t`,
  ])('%j is a form', async (type) => {
    const { server } = makeServer()
    ;(await post(server, 'a=1', type)).assertStatus(200).assertBodyDeepEqual({ parsed: true })
  })

  test.each([
    'application/x-www-form-urlencodedx',
    'x-www-form-urlencoded',
    `${formType} x`,
    `${formType},text/plain`,
    `${formType}, ${formType}`,
    `${formType}; boundary=x`,
    `${formType}; charset`,
    `${formType}; charset="utf-8`,
    `text/plain; ${formType}`,
    'multipart/form-data',
    'text/plain',
    '',
  ])('%j is not a form', async (type) => {
    const { server } = makeServer()
    ;(await post(server, 'a=1', type)).assertStatus(200).assertBodyDeepEqual({ parsed: false })
  })

  test('another charset and an encoding are 415', async () => {
    const { server, seen } = makeServer()
    for (const type of [`${formType}; charset=iso-8859-1`, `${formType}; charset=utf-7`]) {
      ;(await post(server, 'a=1', type)).assertStatus(415).assertBodySubset({ code: 'UnsupportedMediaTypeError' })
    }
    const headers = { 'content-encoding': 'gzip' }
    ;(await server.inject.post('/form', { urlencoded: 'a=1', headers })).assertStatus(415)
    expect(seen.runs).toBe(0)
  })
})

describe('limits', () => {
  async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000)
  }

  test.each([
    [{ urlencoded: true }, 1024 * 1024],
    [{ urlencoded: { sizeLimit: '2kb' } }, 2_048],
    [{ urlencoded: { sizeLimit: 500 } }, 500],
  ])('%j', async (plugins, limit) => {
    const { server, seen } = makeServer(plugins)
    const text = (size: number) => `a=${'x'.repeat(size - 2)}`
    ;(await post(server, text(limit))).assertStatus(200)
    ;(await post(server, inPieces(text(limit)))).assertStatus(200)
    for (const body of [text(limit + 1), inPieces(text(limit + 1))]) {
      ;(await post(server, body)).assertStatus(413).assertBodySubset({ code: 'PayloadTooLargeError' })
    }
    expect(seen.runs).toBe(2)
  })

  test('a nearer parser takes the place of the one around it', async () => {
    const { server } = makeServer({ urlencoded: { sizeLimit: 10 } })
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.register(urlencoded({ sizeLimit: 100 }))
        ctx.post('/form', (req) => req.body)
      },
    })
    server.register(area(), { prefix: '/area' })
    const urlencodedBody = `a=${'x'.repeat(50)}`
    ;(await server.inject.post('/area/form', { urlencoded: urlencodedBody })).assertStatus(200)
    ;(await server.inject.post('/form', { urlencoded: urlencodedBody })).assertStatus(413)
  })

  test('a thousand fields, and no more', async () => {
    const { server, seen } = makeServer()
    const fields = (count: number, name = (i: number) => `k${i}`) =>
      Array.from({ length: count }, (_, i) => `${name(i)}=1`).join('&')
    ;(await post(server, fields(1_000))).assertStatus(200)
    expect(Object.keys(seen.body as object)).toHaveLength(1_000)
    for (const body of [fields(1_001), fields(10_000, () => 'a[]'), '&'.repeat(1_001)]) {
      const res = await post(server, body)
      res.assertStatus(400).assertBodyDeepEqual({
        code: 'BadRequestError',
        message: 'BAD_REQUEST: the form has more than 1000 parameters',
      })
    }
    expect(seen.runs).toBe(1)
  })

  test('hostile forms are answered at once, without a failure', async () => {
    const { server, log } = makeServer({ urlencoded: { sizeLimit: '2mb' } })
    const bombs = [
      `a=${','.repeat(1_000_000)}`,
      `a${'[b]'.repeat(1_000)}=1`,
      `a=${'%'.repeat(1_000_000)}`,
      `a=${'+'.repeat(1_000_000)}`,
      `${'%41'.repeat(300_000)}=1`,
      '='.repeat(1_000_000),
      '&'.repeat(2_000_000),
    ]
    for (const body of bombs) {
      const { result, ms } = await quickest(() => post(server, body), 3, 400)
      expect(result.statusCode()).toBeLessThan(500)
      expect(ms).toBeLessThan(400)
    }
    expect(log).toEqual([])
  })

  test.each([
    ['Latin-1', [0x61, 0x3d, 0xfc]],
    ['cut short', [0x61, 0x3d, 0xe2, 0x82]],
  ])('bytes that are not UTF-8: %s', async (_name, bytes) => {
    const { server } = makeServer()
    const res = await post(server, Uint8Array.from(bytes))
    res
      .assertStatus(400)
      .assertBodyDeepEqual({ code: 'BadRequestError', message: 'BAD_REQUEST: the form is not UTF-8' })
  })
})

describe('invalid options are refused at once', () => {
  test.each([
    [{ sizeLimit: 'big' }, /urlencoded\.sizeLimit.*"big"/],
    [{ sizeLimit: 0 }, /urlencoded\.sizeLimit/],
    [{ limit: '1mb' }, /urlencoded\.limit.*Known options: sizeLimit/],
  ])('%j', (options, message) => {
    expect(() => makeServer({ urlencoded: options })).toThrow(message)
  })
})

test('the route option urlencoded takes another limit, and false leaves the body to the handler', async () => {
  const { server } = makeServer({ urlencoded: { sizeLimit: 100 } })
  server.post('/large', { urlencoded: { sizeLimit: '1kb' } }, (req) => req.body)
  server.post('/raw', { urlencoded: false }, async (req) => {
    expect(req.body).toBeUndefined()
    return new TextDecoder().decode(await req.raw.bytes(1_000))
  })
  const body = `a=${'x'.repeat(200)}`
  const headers = { 'content-type': formType }
  ;(await post(server, body)).assertStatus(413)
  ;(await server.inject.post('/large', { body, headers })).assertStatus(200).assertBodyDeepEqual({ a: 'x'.repeat(200) })
  ;(await server.inject.post('/raw', { body, headers })).assertStatus(200).assertBodyDeepEqual(body)
})
