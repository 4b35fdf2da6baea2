import { RouteCollection, Server } from 'framework'
import { MockServer } from 'framework/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

let server: Server
beforeEach(() => {
  server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  server.any('/echo', async (req, res) => {
    const bytes = req.body === undefined && req.raw.hasBody ? await req.raw.bytes(1_000_000) : undefined
    return res.json({
      method: req.method,
      query: req.query,
      headers: req.headers,
      ip: req.ip,
      url: req.url,
      body: req.body,
      text: bytes && Buffer.from(bytes).toString('latin1'),
    })
  })
})
afterEach(() => server.close())

interface Echo {
  method: string
  query: Record<string, unknown>
  headers: Record<string, string>
  ip: string
  url: string
  body?: unknown
  text?: string
}
const echo = async (options?: Parameters<typeof server.inject.post>[1], path = '/echo'): Promise<Echo> =>
  (await server.inject.post(path, options)).assertStatus(200).body<Echo>()

describe('methods', () => {
  test.each(['get', 'post', 'put', 'patch', 'delete', 'options'] as const)('%s', async (method) => {
    const clients = [server.inject, server.getMockServer(), new MockServer(server.inject)]
    for (const client of clients) {
      const res = await client[method]('/echo', { query: { a: 1 } })
      res.assertStatus(200).assertBodySubset({ method: method.toUpperCase(), query: { a: '1' } })
    }
  })

  test('head has the headers and no body', async () => {
    const res = await server.inject.head('/echo')
    expect(res.assertStatus(200).assertHeaderExists('content-length').body()).toBeUndefined()
  })

  test('request takes any method in any case', async () => {
    ;(await server.inject.request('patch', '/echo')).assertBodySubset({ method: 'PATCH' })
    ;(await server.inject.request('PROPFIND', '/echo')).assertStatus(405)
  })

  test('inject itself stays a function', async () => {
    expect((await server.inject({ url: '/echo' })).status).toBe(200)
  })

  test('a mock server is one of its own; its methods need no this', async () => {
    expect(server.getMockServer()).not.toBe(server.getMockServer())
    const { get, request } = server.getMockServer()
    ;(await get('/echo')).assertStatus(200)
    ;(await request('GET', '/echo')).assertStatus(200)
  })

  test('the responses are those of the pipeline: 404, 405, 500', async () => {
    server.get('/boom', () => {
      throw new Error('boom')
    })
    const missing = await server.inject.get('/missing?a=1')
    missing.assertStatus(404).assertBodyDeepEqual({
      code: 'RouteNotFoundError',
      message: 'ROUTE_NOT_FOUND: Cannot GET /missing',
    })
    const wrong = await server.inject.post('/boom')
    wrong.assertStatus(405).assertHeader('Allow', 'GET').assertBodySubset({ code: 'MethodNotAllowedError' })
    const thrown = await server.inject.get('/boom')
    expect(thrown.assertStatus(500).body()).toBeUndefined()
  })

  test('after close it rejects', async () => {
    await server.inject.get('/echo')
    await server.close()
    await expect(server.inject.get('/echo')).rejects.toThrow('closed')
  })
})

describe('bodies', () => {
  test.each([
    ['an object', { a: [1] }, { a: [1] }],
    ['an array', [1, 'x'], [1, 'x']],
    ['null', null, null],
    ['a number', 5, 5],
    ['false', false, false],
    ['a string, as it is', '{"a":1}', { a: 1 }],
  ])('%s goes as JSON', async (_name, body, seen) => {
    const { headers, ...rest } = await echo({ body })
    expect(headers['content-type']).toBe('application/json')
    expect(rest.body).toEqual(seen)
  })

  test('the content type that is named wins, in any case', async () => {
    const { headers, text } = await echo({ body: 'a;b', headers: { 'Content-Type': 'text/csv' } })
    expect([headers['content-type'], text]).toEqual(['text/csv', 'a;b'])
  })

  test('bytes and streams', async () => {
    async function* pieces() {
      yield new Uint8Array([1])
      yield new Uint8Array([2, 255])
    }
    for (const body of [
      new Uint8Array([1, 2, 255]),
      Buffer.from([1, 2, 255]),
      new Uint8Array([1, 2, 255]).buffer,
      pieces(),
    ]) {
      const { headers, text } = await echo({ body })
      expect([headers['content-type'], text]).toEqual(['application/octet-stream', '\u0001\u0002\u00ff'])
    }
  })

  test('urlencoded, from data, parameters and text', async () => {
    const params = new URLSearchParams([
      ['a', '1 2'],
      ['b', 'x'],
      ['b', 'y'],
    ])
    for (const urlencoded of [{ a: '1 2', b: ['x', 'y'], c: undefined }, params, 'a=1+2&b=x&b=y']) {
      const { headers, text } = await echo({ urlencoded })
      expect([headers['content-type'], text]).toEqual(['application/x-www-form-urlencoded', 'a=1+2&b=x&b=y'])
    }
  })

  test('formData is written as a client writes it', async () => {
    const file = new File(['hello'], 'a"b.txt', { type: 'text/plain' })
    const data = new FormData()
    data.append('name', 'Ada')
    data.append('file', file)
    for (const formData of [data, { name: 'Ada', file, left: undefined }]) {
      const { headers, text } = await echo({ formData })
      const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type']!)?.[1]
      expect(boundary).toBeDefined()
      expect(text).toContain(`--${boundary}\r\n`)
      expect(text).toContain('Content-Disposition: form-data; name="name"\r\n\r\nAda\r\n')
      expect(text).toMatch(/name="file"; filename="a%22b\.txt"\r\nContent-Type: text\/plain/i)
      expect(text).toContain(`--${boundary}--`)
      expect(headers['content-length']).toBe(String(text!.length))
    }
  })

  test('lists in formData repeat the name', async () => {
    const { text } = await echo({ formData: { tag: ['a', 1, true, new Blob(['x'])] } })
    expect(text!.match(/name="tag"/g)).toHaveLength(4)
  })

  test.each([
    { body: {}, formData: {} },
    { body: '', urlencoded: '' },
    { formData: new FormData(), urlencoded: {} },
    { body: null, formData: {}, urlencoded: {} },
  ])('two kinds at once are refused: %j', async (options) => {
    const expected = 'Only one of body, formData, urlencoded can be provided'
    await expect(server.inject.post('/echo', options)).rejects.toThrow(expected)
    await expect(server.getMockServer().request('PUT', '/echo', options)).rejects.toThrow(expected)
  })

  test.each([
    [{ json: { a: 1 } }, 'Unknown option "inject.post.json"'],
    [{ bdy: { a: 1 } }, 'Unknown option "inject.post.bdy". Did you mean "body"?'],
    [{ name: 'Ada' }, 'Known options: body, formData, urlencoded, headers, query, cookies, ip, signal'],
    [{ headers: 'accept: a/b' }, 'the option "inject.post.headers" is a string (not shown); it takes an object'],
    [{ ip: 1 }, 'the option "inject.post.ip" is 1; it takes an address, or an empty string'],
    [{ signal: {} }, 'the option "inject.post.signal" is an empty object; it takes an AbortSignal'],
  ])('an option that there is not, or that takes something else, is refused: %j', async (options, message) => {
    await expect(server.inject.post('/echo', options as never)).rejects.toThrow(message)
  })

  test('undefined is not a kind', async () => {
    expect((await echo({ body: { a: 1 }, formData: undefined, urlencoded: undefined })).body).toEqual({ a: 1 })
  })

  test.each([
    [new FormData(), /formData/],
    [new URLSearchParams(), /urlencoded/],
    [() => 1, /cannot be sent as JSON/],
  ])('what is not JSON is refused: %s', async (body, message) => {
    await expect(server.inject.post('/echo', { body })).rejects.toThrow(message)
  })
})

describe('the rest of a request', () => {
  test('query is merged over the one of the path', async () => {
    const { query } = await echo(
      { query: { b: 'new', c: [1, 2], d: undefined, e: true } },
      '/echo?a=1&b=old&b=older&c=0',
    )
    expect(query).toEqual({ a: '1', b: 'new', c: ['1', '2'], e: 'true' })
  })

  test('undefined in a query takes the name out of the path', async () => {
    expect((await echo({ query: { a: undefined } }, '/echo?a=1')).query).toEqual({})
  })

  test('without the option the query goes as it is', async () => {
    expect((await echo({}, '/echo?a=%zz&b=1+1')).url).toMatch(/\/echo\?a=%zz&b=1\+1$/)
  })

  test('names and values in a query are escaped', async () => {
    const { query } = await echo({ query: { 'a&b': 'c=d#é ?' } })
    expect(query).toEqual({ 'a&b': 'c=d#é ?' })
  })

  test('headers in any case, numbers and undefined too', async () => {
    const { headers } = await echo({
      headers: { 'X-One': 'a', 'x-two': 2, 'x-three': undefined, 'X-Four': ['a', 'b'] },
    })
    expect(headers).toMatchObject({ 'x-one': 'a', 'x-two': '2', 'x-four': 'a, b' })
    expect(headers).not.toHaveProperty('x-three')
  })

  test('cookies become one header, after an existing one', async () => {
    const cookies = { sid: 'abc', name: 'a b;c,"d"é%', ok: 's:1.2+3/4=' }
    const { headers } = await echo({ cookies, headers: { Cookie: 'first=1' } })
    expect(headers.cookie).toBe('first=1; sid=abc; name=a%20b%3Bc%2C%22d%22%C3%A9%25; ok=s:1.2+3/4=')
    expect((await echo({ cookies: {} })).headers.cookie).toBe('')
    await expect(server.inject.get('/echo', { cookies: { 'a;b': '1' } })).rejects.toThrow('not a cookie name')
  })

  test('ip', async () => {
    expect((await echo({ ip: '203.0.113.7' })).ip).toBe('203.0.113.7')
    expect((await echo()).ip).toBe('127.0.0.1')
  })

  test('a signal takes the client away', async () => {
    server.get('/gone', (req) => ({ gone: req.signal.aborted }))
    const res = await server.inject.get('/gone', { signal: AbortSignal.abort() })
    res.assertBodyDeepEqual({ gone: true })
  })

  test('a mock server keeps no cookies, and those of a response can be passed on', async () => {
    server.get('/login', (_req, res) => res.appendHeader('set-cookie', 'sid=a%20b; Path=/').noContent())
    const client = server.getMockServer()
    const login = await client.get('/login')
    expect((await client.get('/echo')).body<Echo>().headers.cookie).toBeUndefined()
    expect((await client.get('/echo', { cookies: login.cookies() })).body<Echo>().headers.cookie).toBe('sid=a%20b')
  })
})

test('100 000 requests leave no resources', async () => {
  server.get('/small', () => 'ok')
  const handles = () => process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length
  await server.inject.get('/small')
  const before = handles()
  for (let i = 0; i < 1_000; i++) await Promise.all(Array.from({ length: 100 }, () => server.inject.get('/small')))
  expect(handles()).toBeLessThanOrEqual(before)
})
