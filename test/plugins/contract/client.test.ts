import { transform } from 'esbuild'
import { implement, RouteCollection, Server } from 'framework'
import { type ContractClientOptions, contractClient, defineContract } from 'framework/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { runtime } from '../../../cli/sdk/generate.ts'

const anything = z.object({})
const api = defineContract({
  read: {
    method: 'GET',
    path: '/gr%C3%BC%C3%9Fe/:id/:part?',
    query: z.object({ a: z.unknown(), b: z.unknown() }).partial(),
  },
  file: { method: 'GET', path: '/files/*' },
  dated: { method: 'GET', path: '/dated/:year?/:month?/in/:place?/*' },
  add: { method: 'POST', path: '/add', body: z.unknown() },
  root: { method: 'GET', path: '/' },
  probe: { method: 'HEAD', path: '/probe', responses: { 200: anything } },
})

/** What a client sends: method, address, headers, body. */
async function sent(call: (options: ContractClientOptions) => Promise<unknown>, options: ContractClientOptions = {}) {
  let request: Request | undefined
  const fetch = (given: Request) => {
    request = given
    return Promise.resolve(new Response(null, { status: 204 }))
  }
  await call({ baseUrl: 'http://a.test/base/', ...options, fetch })
  const { method, url, headers } = request!
  return { method, url, headers: Object.fromEntries(headers), body: await request!.text() }
}
const answered = (body: BodyInit | null, type?: string, status = 200) =>
  contractClient(api, {
    baseUrl: 'http://a.test',
    fetch: async () => new Response(body, { status, headers: type === undefined ? {} : { 'content-type': type } }),
  }).root()

describe('requests', () => {
  const url = async (call: (client: ReturnType<typeof contractClient<typeof api>>) => Promise<unknown>) =>
    (await sent((options) => call(contractClient(api, options)))).url.slice('http://a.test/base'.length)

  test('parameters are escaped, slashes too, and stay in a wildcard', async () => {
    expect(await url((client) => client.read({ params: { id: 'a/b c?%' } }))).toBe('/gr%C3%BC%C3%9Fe/a%2Fb%20c%3F%25')
    expect(await url((client) => client.read({ params: { id: 1, part: 'x' } }))).toBe('/gr%C3%BC%C3%9Fe/1/x')
    expect(await url((client) => client.file({ params: { '*': 'a/b c//d' } }))).toBe('/files/a/b%20c//d')
    expect(await url((client) => client.root())).toBe('/')
    const place = { place: 'x', '*': 'a/b' }
    expect(await url((client) => client.dated({ params: { year: 1, ...place } }))).toBe('/dated/1/in/x/a/b')
    expect(await url((client) => client.dated({ params: place }))).toBe('/dated/in/x/a/b')
    expect(await url((client) => client.dated({ params: { '*': 'a' } }))).toBe('/dated/in/a')
  })

  test('lists are repeated names, dates text, and missing members are not sent', async () => {
    const query = { a: ['x&y', 1, true], b: new Date(0) }
    expect(await url((client) => client.read({ params: { id: 1 }, query }))).toContain(
      '?a=x%26y&a=1&a=true&b=1970-01-01T00%3A00%3A00.000Z',
    )
    expect(await url((client) => client.read({ params: { id: 1 }, query: { a: undefined, b: [] } }))).not.toContain('?')
  })

  test('bodies are JSON, headers those of the call over those of the client', async () => {
    const request = await sent(
      (options) => contractClient(api, options).add({ body: { x: 1 }, headers: { b: 2, c: null, d: [1, 'x'] } }),
      {
        headers: async () => ({ a: 'client', b: 'client', c: undefined }),
      },
    )
    expect(request).toEqual({
      method: 'POST',
      url: 'http://a.test/base/add',
      headers: { a: 'client', b: '2', d: '1,x', 'content-type': 'application/json' },
      body: '{"x":1}',
    })
  })

  test('is the same as of the generated client', async () => {
    const { code } = await transform(`${runtime()}\nexport { connect, rest, segment }`, {
      loader: 'ts',
      target: 'es2022',
    })
    const generated = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      connect(options: object): (method: string, path: string, input?: object, type?: string) => Promise<unknown>
      segment(name: string, value: unknown): string
      rest(value: string): string
    }
    const query = { a: ['ü', '', null], b: new Date(5) }
    const headers = { x: 1, y: undefined, z: false }
    const form = new URLSearchParams({ a: 'b' })
    for (const [call, input] of [
      [
        (o: object) =>
          generated.connect(o)('GET', `/gr%C3%BC%C3%9Fe/${generated.segment('id', 'ä/ö')}`, { query, headers }),
        (o: object) => contractClient(api, o).read({ params: { id: 'ä/ö' }, query, headers }),
      ],
      [
        (o: object) => generated.connect(o)('GET', `/files/${generated.rest('/a b/../c'.replace('..', 'd'))}`),
        (o: object) => contractClient(api, o).file({ params: { '*': '/a b/d/c' } }),
      ],
      [
        (o: object) => generated.connect(o)('POST', '/add', { body: [1, 'ü'] }, 'application/json'),
        (o: object) => contractClient(api, o).add({ body: [1, 'ü'] }),
      ],
      [
        (o: object) => generated.connect(o)('POST', '/add', { body: form }, 'application/json'),
        (o: object) => contractClient(api, o).add({ body: form }),
      ],
    ] as const)
      expect(await sent(input)).toEqual(await sent(call))
  })
})

describe('the generated client', () => {
  type Call = PromiseLike<{ data: unknown }> & { raw(): Promise<Response> }
  const generated = async (response: Response, onError?: (error: unknown) => void) => {
    const { code } = await transform(`${runtime()}\nexport { connect }`, { loader: 'ts', target: 'es2022' })
    const { connect } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      connect(options: object): (method: string, path: string) => Call
    }
    return connect({ baseUrl: 'http://a.test', fetch: async () => response, onError })
  }

  test('has no data of a response to HEAD', async () => {
    const send = await generated(new Response(null, { headers: { 'content-type': 'text/plain' } }))
    expect((await send('HEAD', '/')).data).toBe(undefined)
    expect((await send('GET', '/')).data).toBe('')
  })

  test('reports a failed call also where its body is left to the caller', async () => {
    const errors: unknown[] = []
    const send = await generated(new Response('no', { status: 422 }), (error) => errors.push(error))
    expect(await (await send('GET', '/').raw()).text()).toBe('no')
    expect(errors).toMatchObject([{ name: 'ApiError', status: 422, data: undefined }])
  })
})

describe('a call is refused that', () => {
  const client = contractClient(api, { baseUrl: 'http://a.test', fetch: () => Promise.reject(new Error('was sent')) })
  test.each<[string, () => Promise<unknown>, string]>([
    ['lacks a parameter', () => client.read({ params: {} as never }), 'read: the parameter "id" is missing'],
    [
      'has one that the path does not have',
      () => client.read({ params: { id: 1, no: 2 } as never }),
      '"read: params.no"',
    ],
    ['has parameters for a path without', () => client.root({ params: {} } as never), 'params'],
    ['has a body for GET', () => client.root({ body: 1 } as never), 'body'],
    ['has an empty parameter', () => client.read({ params: { id: '' } }), 'which cannot be sent in a path'],
    [
      'has an optional parameter without the one before it',
      () => client.dated({ params: { month: 2, '*': 'a' } }),
      'dated: the parameter "month" cannot be sent without "year"',
    ],
    [
      'has a rest that would begin with the one before it',
      () => client.dated({ params: { '*': 'a/b' } }),
      'the parameter "*" cannot be sent without "place"',
    ],
    ['has dots for a parameter', () => client.file({ params: { '*': 'a/../b' } }), '"..", which cannot be sent'],
    [
      'has an object in its query',
      () => client.read({ params: { id: 1 }, query: { a: {} } }),
      '"a" in the query is an object',
    ],
  ])('%s', (_what, call, message) => expect(call()).rejects.toThrow(message))

  test('has unknown options of the client', () => {
    expect(() => contractClient(api, { timout: 5 } as {})).toThrow('timeout')
  })
})

describe('answers', () => {
  test('is JSON, text, nothing or a Blob by its content type', async () => {
    expect(await answered('{"a":1}', 'application/json')).toMatchObject({ ok: true, status: 200, body: { a: 1 } })
    expect((await answered('{"a":1}', 'application/problem+json; charset=utf-8', 404)).body).toEqual({ a: 1 })
    expect((await answered('<p>', 'text/html')).body).toBe('<p>')
    expect((await answered('', 'text/plain')).body).toBeUndefined()
    expect((await answered('', 'application/json')).body).toBeUndefined()
    expect((await answered(null, undefined, 204)).body).toBeUndefined()
    expect((await answered(new Uint8Array([1]), 'image/png')).body).toBeInstanceOf(Blob)
    expect((await answered('\x1e1\n\x1e2\n', 'application/json-seq')).body).toBeInstanceOf(Blob)
    expect((await answered('data: 1\n\n', 'text/event-stream')).body).toBeInstanceOf(ReadableStream)
    expect((await answered('x', 'text/plain')).headers.get('content-type')).toBe('text/plain')
  })

  test('rejects with the name of the call where it is not JSON', async () => {
    await expect(answered('{', 'application/json')).rejects.toThrow(
      expect.objectContaining({
        code: 'ContractCallError',
        message: expect.stringContaining('root (GET http://a.test/)'),
        cause: expect.any(SyntaxError),
      }),
    )
  })
})

describe('over a network', () => {
  const slow = defineContract({
    slow: { method: 'GET', path: '/slow' },
    echo: {
      method: 'POST',
      path: '/echo/:id',
      query: z.object({ list: z.array(z.string()) }),
      body: anything.loose(),
      responses: { 200: z.any() },
    },
  })
  const routes = new RouteCollection()
  implement(routes, slow, {
    slow: () => new Promise(() => {}),
    echo: (req) => ({ id: req.params.id, list: req.query.list, body: req.body }),
  })
  const server = new Server({ router: routes, port: 0, host: '127.0.0.1', closeTimeout: 100 })
  let baseUrl: string
  beforeAll(async () => {
    baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  })
  afterAll(() => server.close().catch(() => undefined))

  test('everything arrives', async () => {
    const answer = await contractClient(slow, { baseUrl }).echo({
      params: { id: 'a/b' },
      query: { list: ['x', 'y'] },
      body: { é: 1 },
    })
    expect(answer).toMatchObject({ status: 200, body: { id: 'a/b', list: ['x', 'y'], body: { é: 1 } } })
  })

  test('a call is given up by its signal and by its time, with the error of either', async () => {
    const client = contractClient(slow, { baseUrl, timeout: 20 })
    await expect(client.slow()).rejects.toMatchObject({ name: 'TimeoutError' })
    const controller = new AbortController()
    const call = client.slow({ signal: controller.signal, timeout: 10_000 })
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    const whole = contractClient(slow, { baseUrl, signal: controller.signal })
    await expect(whole.slow()).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('a server that is not there is named with the call', async () => {
    const client = contractClient(slow, { baseUrl: 'http://127.0.0.1:9' })
    await expect(client.slow()).rejects.toThrow(
      expect.objectContaining({
        code: 'ContractCallError',
        message: expect.stringContaining('slow (GET http://127.0.0.1:9/slow)'),
        cause: expect.anything(),
      }),
    )
    await expect(contractClient(slow, { baseUrl: 'nonsense' }).slow()).rejects.toThrow('slow (GET nonsense/slow)')
  })
})
