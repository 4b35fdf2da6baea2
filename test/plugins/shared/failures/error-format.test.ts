import { type ErrorFormat, HttpError, PolicyManager, RouteCollection, Server, type ServerOptions } from 'framework'
import { definePlugin } from 'framework/kernel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { setExposure } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { memoryLogger } from '../../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  setExposure(false)
  for (const server of servers.splice(0)) await server.close()
})

const Name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const policies = new PolicyManager({ site: { admin: () => false } })

function makeServer(errorFormat?: ErrorFormat, options: ServerOptions = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({ logger, router: new RouteCollection(), errorFormat, ...options } as {})
  servers.push(server)
  server.get('/book', () => {
    throw new HttpError(404, { code: 'BOOK_NOT_FOUND', message: 'no such book', details: { id: 7 } })
  })
  server.get('/boom', () => {
    throw new Error('the password is 1234')
  })
  server.post('/names', { body: Name }, () => 'fine')
  server.get('/admin', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, () => 'fine')
  return { server, log: logger.entries }
}

describe('the default format', () => {
  test('is the default of every failure', async () => {
    for (const { server } of [makeServer(), makeServer('default')]) {
      const missing = await server.inject.get('/nowhere')
      missing.assertBodyDeepEqual({ code: 'RouteNotFoundError', message: 'ROUTE_NOT_FOUND: Cannot GET /nowhere' })
      const invalid = await server.inject.post('/names', { body: {} })
      invalid.assertStatus(422)
      expect(Object.keys(invalid.body<object>())).toEqual(['code', 'message', 'errors'])
      ;(await server.inject.get('/admin')).assertStatus(401).assertBodyDeepEqual({ error: 'Unauthorized' })
      ;(await server.inject.get('/boom')).assertStatus(500).assertHeader('content-length', 0)
    }
  })
})

describe('problem details', () => {
  const get = async (path: string, options?: ServerOptions) => {
    const { server } = makeServer('problem', options)
    return server.inject.get(path)
  }

  test('of an HttpError have its code and its details as members', async () => {
    const res = await get('/book')
    res.assertStatus(404)
    expect(res.headers()['content-type']).toBe('application/problem+json')
    expect(res.body()).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'no such book',
      instance: expect.stringMatching(/^urn:request:[\w-]+$/),
      code: 'BOOK_NOT_FOUND',
      id: 7,
    })
  })

  test('name the type that the error names', async () => {
    const { server } = makeServer('problem')
    server.get('/x', () => {
      throw new HttpError(403, { type: 'https://example.com/problems/credit' })
    })
    expect((await server.inject.get('/x')).body()).toMatchObject({ type: 'https://example.com/problems/credit' })
  })

  test('of the framework’s own errors leave their prefix to the code', async () => {
    expect((await get('/nowhere')).body()).toMatchObject({ code: 'RouteNotFoundError', detail: 'Cannot GET /nowhere' })
  })

  test('of an invalid request list its mistakes', async () => {
    const { server } = makeServer('problem')
    const res = await server.inject.post('/names', { body: {} })
    expect(res.body()).toMatchObject({
      status: 422,
      code: 'ValidationError',
      errors: [{ part: 'body', path: '/name' }],
    })
  })

  test('of a mistake say nothing about it', async () => {
    const res = await get('/boom')
    expect(res.body()).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      instance: expect.any(String),
      code: 'INTERNAL_ERROR',
    })
  })

  test('of a mistake in development have the error', async () => {
    const res = await get('/boom', { exposeErrorDetails: true })
    expect(res.body()).toMatchObject({ code: 'Error', detail: 'the password is 1234', stack: expect.any(String) })
  })

  test('have the id of the request that the log has', async () => {
    const { server } = makeServer('problem', { plugins: { log: true } })
    const res = await server.inject.get('/nowhere')
    expect(res.body()).toMatchObject({ instance: `urn:request:${String(res.headers()['x-request-id'])}` })
  })

  test('of a failure over a failure are problem details, too', async () => {
    const { server } = makeServer('problem')
    server.setErrorHandler(() => {
      throw new Error('again')
    })
    const res = await server.inject.get('/boom')
    res.assertStatus(500)
    expect(res.body()).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 })
  })

  test('of a response that cannot be written, and of a hook that fails', async () => {
    const { server } = makeServer('problem')
    server.register(
      definePlugin({
        name: 'hooked',
        setup: (ctx) =>
          ctx.onSend((req) => {
            if (req.path === '/hook') throw new HttpError(409)
          }),
      })(),
    )
    server.get('/cycle', () => ({ big: 1n }))
    server.get('/hook', () => 'fine')
    expect((await server.inject.get('/cycle')).body()).toMatchObject({ status: 500 })
    expect((await server.inject.get('/hook')).body()).toMatchObject({ status: 409 })
  })
})

describe('a function', () => {
  test('makes the body of every failure', async () => {
    const { server } = makeServer(({ status, code, message, errors, details }, req) => ({
      error: { status, code, message, errors, ...details },
      path: req?.path,
    }))
    expect((await server.inject.get('/book')).body()).toEqual({
      error: { status: 404, code: 'BOOK_NOT_FOUND', message: 'no such book', id: 7 },
      path: '/book',
    })
    expect((await server.inject.get('/boom')).body()).toEqual({
      error: { status: 500, code: 'INTERNAL_ERROR', message: 'Internal Server Error' },
      path: '/boom',
    })
    expect((await server.inject.get('/admin')).body()).toMatchObject({ error: { code: 'UnauthorizedError' } })
    expect((await server.inject.post('/names', { body: {} })).body()).toMatchObject({
      error: { errors: [{ part: 'body' }] },
    })
  })

  test('may name the type of its bodies', async () => {
    const { server } = makeServer({ body: ({ code }) => ({ code }), contentType: 'application/vnd.error+json' })
    const res = await server.inject.get('/book')
    expect(res.headers()['content-type']).toBe('application/vnd.error+json')
  })

  test.each<[string, (...args: never[]) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('oops')
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a text', () => 'text'],
    ['returns a promise', async () => ({})],
    ['returns what cannot be written', () => ({ big: 1n })],
    ['returns a Map', () => new Map()],
  ])('that %s is reported, and the default stands in', async (_what, format) => {
    const { server, log } = makeServer(format as never)
    const res = await server.inject.get('/book')
    res.assertStatus(404).assertBodyDeepEqual({ code: 'BOOK_NOT_FOUND', message: 'no such book', id: 7 })
    ;(await server.inject.get('/boom')).assertStatus(500).assertHeader('content-length', 0)
    const reports = log.filter(({ message }) => message?.startsWith('the error format of the server failed over '))
    expect(reports.map(({ message }) => message)).toEqual([
      'the error format of the server failed over 404 BOOK_NOT_FOUND',
      'the error format of the server failed over 500 INTERNAL_ERROR',
    ])
  })

  test('whose body is an object of the application does not free that from the schemas of responses', async () => {
    const shared = { name: 'ada', password: 'secret' }
    const { server } = makeServer(() => shared)
    server.get('/shared', { responses: { 200: Name } }, () => shared)
    expect((await server.inject.get('/book')).body()).toEqual(shared)
    expect((await server.inject.get('/shared')).body()).toEqual({ name: 'ada' })
  })
})

test('handlers that are set for failures win', async () => {
  const { server } = makeServer('problem')
  server.setNotFoundHandler((_req, res) => res.json({ mine: 404 }))
  server.setErrorHandler((_req, res) => res.json({ mine: 500 }))
  server.setValidationErrorHandler((_req, res) => res.json({ mine: 422 }))
  server.setPolicyErrorHandler((_req, res) => res.json({ mine: 401 }))
  const bodies = [
    await server.inject.get('/nowhere'),
    await server.inject.get('/boom'),
    await server.inject.post('/names', { body: {} }),
    await server.inject.get('/admin'),
  ].map((res) => [res.statusCode(), res.body()])
  expect(bodies).toEqual([404, 500, 422, 401].map((mine) => [mine, { mine }]))
})

test('handlers that name a status alone leave the body to the format', async () => {
  const { server } = makeServer('problem')
  server.setValidationErrorHandler({ status: 400 })
  server.setPolicyErrorHandler({ status: 404 })
  expect((await server.inject.post('/names', { body: {} })).body()).toMatchObject({ status: 400, title: 'Bad Request' })
  expect((await server.inject.get('/admin')).body()).toMatchObject({ status: 404, title: 'Not Found' })
})

test.each([
  ['an unknown name', 'problems', /"default" or "problem"/],
  ['a misspelt member', { body: () => ({}), contenttype: 'a/b' }, /Did you mean "contentType"/],
  ['an object without a function', { schema: {} }, /errorFormat.body/],
  ['an invalid content type', { body: () => ({}), contentType: 'json' }, /media type/],
])('%s is refused', (_what, errorFormat, message) => {
  expect(() => new Server({ errorFormat: errorFormat as ErrorFormat })).toThrow(message)
})

test('a request that takes too long, and one whose response to a failure does, are problems', async () => {
  const { server } = makeServer('problem', { requestTimeout: 20 })
  server.get('/late', () => new Promise(() => {}))
  server.setErrorHandler(() => new Promise(() => {}))
  for (const path of ['/late', '/boom']) {
    const res = await server.inject.get(path)
    expect(res.body()).toMatchObject({ status: 503, code: 'RequestTimeoutError' })
    res.assertHeader('content-type', 'application/problem+json')
  }
})

describe('a format of one’s own', () => {
  test('that is asynchronous is refused, and its failure ends nothing', async () => {
    // biome-ignore lint/suspicious/noThenProperty: an awaited value is a promise, whatever its class
    for (const pending of [() => Promise.reject(new Error('lookup')), () => ({ then() {}, a: 1 })]) {
      const { server, log } = makeServer(pending as never)
      const res = await server.inject.get('/nowhere')
      res.assertStatus(404).assertBodySubset({ code: 'RouteNotFoundError' })
      expect(log).toContainEqual(
        expect.objectContaining({ message: expect.stringContaining('the error format of the server failed') }),
      )
    }
  })

  test('does not send the thrown value by spreading the failure, and cannot change it', async () => {
    const { server } = makeServer((failure) => {
      expect(failure.error).toBeInstanceOf(Error)
      expect(() => Object.assign(failure, { status: 200 })).toThrow(TypeError)
      return { ...failure }
    })
    server.get('/upstream', () => {
      throw Object.assign(new Error('no'), { config: { headers: { authorization: 'Bearer S' } } })
    })
    const res = await server.inject.get('/upstream')
    res.assertStatus(500)
    expect(res.text()).not.toContain('Bearer')
    expect(Object.keys(res.body<object>())).not.toContain('error')
  })
})

test('a message that is withheld is in no stack either, in production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  const { server } = makeServer('default', { exposeErrorDetails: true })
  server.get('/late', () => {
    throw new HttpError(503, { message: 'the host db-7 is down', cause: new Error('db-7') })
  })
  const res = await server.inject.get('/late')
  res.assertStatus(503).assertBodyDeepEqual({ code: 'ServiceUnavailableError', message: 'Service Unavailable' })
  vi.unstubAllEnvs()
})
