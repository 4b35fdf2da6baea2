import {
  definePlugin,
  type Failure,
  HttpError,
  type HttpErrorOptions,
  RouteCollection,
  Server,
  type ServerOptions,
} from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { setExposure } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { type Entry, memoryLogger } from '../../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  setExposure(false)
  for (const server of servers.splice(0)) await server.close()
})

function throwing(thrown: unknown, options: ServerOptions = {}) {
  const logger = memoryLogger()
  const server = new Server<{}>({ logger, router: new RouteCollection(), ...options } as {})
  servers.push(server)
  server.get('/', () => {
    throw thrown
  })
  return { server, log: logger.entries }
}

const about = (log: readonly Entry[]) => log.filter(({ message }) => message?.includes(' failed with '))

describe('an HttpError that is thrown', () => {
  test('is answered with its status, its code and its message', async () => {
    const { server } = throwing(new HttpError(404, { code: 'BOOK_NOT_FOUND', message: 'There is no such book' }))
    const res = await server.inject.get('/')
    res.assertStatus(404).assertBodyDeepEqual({ code: 'BOOK_NOT_FOUND', message: 'There is no such book' })
    expect(res.headers()['content-type']).toBe('application/json; charset=utf-8')
  })

  test.each([
    [400, 'BadRequestError', 'Bad Request'],
    [404, 'NotFoundError', 'Not Found'],
    [418, 'ImATeapotError', "I'm a Teapot"],
    [499, 'ClientError', 'Client Error'],
    [500, 'InternalServerError', 'Internal Server Error'],
    [503, 'ServiceUnavailableError', 'Service Unavailable'],
  ])('of %i alone has the code %s', async (status, code, message) => {
    const { server } = throwing(new HttpError(status))
    const res = await server.inject.get('/')
    res.assertStatus(status).assertBodyDeepEqual({ code, message })
  })

  test('gives its headers and its details', async () => {
    const { server } = throwing(
      new HttpError(429, { headers: { 'Retry-After': '30' }, details: { limit: 10 }, cause: new Error('hidden') }),
    )
    const res = await server.inject.get('/')
    res.assertBodyDeepEqual({ code: 'TooManyRequestsError', message: 'Too Many Requests', limit: 10 })
    expect(res.headers()['retry-after']).toBe('30')
  })

  test('keeps its message to itself from 500 on, unless it says otherwise', async () => {
    const hidden = throwing(new HttpError(502, { message: 'db7 is down' }))
    expect((await hidden.server.inject.get('/')).body()).toEqual({ code: 'BadGatewayError', message: 'Bad Gateway' })
    const shown = throwing(new HttpError(503, { message: 'Back at noon', expose: true }))
    expect((await shown.server.inject.get('/')).body()).toMatchObject({ message: 'Back at noon' })
    const quiet = throwing(new HttpError(404, { message: 'secret', expose: false }))
    expect((await quiet.server.inject.get('/')).body()).toMatchObject({ message: 'Not Found' })
  })

  test('keeps its details to itself together with its message', async () => {
    const details = { host: 'db7' }
    for (const errorFormat of ['default', 'problem', ({ details: all, code }: Failure) => ({ code, all })] as const)
      for (const [error, isShown] of [
        [new HttpError(500, { details }), false],
        [new HttpError(404, { details, expose: false }), false],
        [new HttpError(500, { details, expose: true }), true],
        [new HttpError(404, { details }), true],
      ] as const) {
        const { server } = throwing(error, { errorFormat })
        expect((await server.inject.get('/')).text().includes('db7')).toBe(isShown)
      }
  })

  test('is logged by its status: below 500 it is not a mistake of the application', async () => {
    const cause = new Error('why')
    const mild = throwing(new HttpError(409, { message: 'taken', cause }))
    await mild.server.inject.get('/')
    expect(about(mild.log)).toMatchObject([
      { level: 'info', fields: { status: 409, code: 'ConflictError', err: { cause } } },
    ])
    const bare = throwing(new HttpError(404))
    await bare.server.inject.get('/')
    expect(about(bare.log)[0]!.fields).not.toHaveProperty('err')
    const severe = throwing(new HttpError(503))
    await severe.server.inject.get('/')
    expect(about(severe.log)).toMatchObject([{ level: 'error' }])
  })

  test('has its cause where it is exposed, and from 500 on the stack', async () => {
    const { server } = throwing(new HttpError(404, { cause: new Error('why') }), { exposeErrorDetails: true })
    expect((await server.inject.get('/')).body()).toEqual({
      code: 'NotFoundError',
      message: 'Not Found',
      cause: { name: 'Error', message: 'why' },
    })
    const severe = throwing(new HttpError(503, { cause: new Error('why') }), { exposeErrorDetails: true })
    const stack = expect.stringContaining('http-error.test.ts')
    expect((await severe.server.inject.get('/')).body()).toMatchObject({ stack, cause: { message: 'why', stack } })
  })

  test('is one from another copy of the package', async () => {
    const other = Object.assign(new Error('not shown'), {
      [Symbol.for('framework.httpError')]: { status: 404, code: 'GONE_FISHING', exposes: false },
    })
    const res = await throwing(other).server.inject.get('/')
    res.assertStatus(404).assertBodyDeepEqual({ code: 'GONE_FISHING', message: 'Not Found' })
  })

  test('is not cut by the schema of a response', async () => {
    const { server } = throwing(new Error('unused'))
    const Missing = { type: 'object', properties: { code: { const: 'A' } }, required: ['code'] }
    server.get('/x', { responses: { 404: Missing } }, () => {
      throw new HttpError(404, { code: 'B', details: { id: 7 } })
    })
    expect((await server.inject.get('/x')).body()).toEqual({ code: 'B', message: 'Not Found', id: 7 })
  })

  test('is answered without details that cannot be written', async () => {
    const { server, log } = throwing(new HttpError(409, { details: { big: 1n } }))
    const res = await server.inject.get('/')
    res.assertStatus(409).assertBodyDeepEqual({ code: 'ConflictError', message: 'Conflict' })
    expect(log).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('left out') }),
    )
  })
})

describe('an error handler', () => {
  const gone = () => new HttpError(410, { code: 'SOLD', message: 'sold out' })

  test('is given it, with its status preset, and wins', async () => {
    const { server } = throwing(gone())
    server.setErrorHandler((_req, res, _next, error) => {
      res.json({ seen: error instanceof HttpError, status: res.statusCode })
    })
    const res = await server.inject.get('/')
    res.assertStatus(410).assertBodyDeepEqual({ seen: true, status: 410 })
  })

  test('that calls next() leaves it to the server', async () => {
    const { server, log } = throwing(gone())
    server.setErrorHandler((_req, _res, next) => next())
    const res = await server.inject.get('/')
    res.assertStatus(410).assertBodyDeepEqual({ code: 'SOLD', message: 'sold out' })
    expect(about(log)).toMatchObject([{ level: 'info' }])
  })

  test('may throw one in place of its argument', async () => {
    const { server } = throwing(new Error('duplicate key'))
    server.setErrorHandler((_req, _res, _next, cause) => {
      throw new HttpError(409, { message: 'there is one already', cause })
    })
    const res = await server.inject.get('/')
    res.assertStatus(409).assertBodyDeepEqual({ code: 'ConflictError', message: 'there is one already' })
  })

  test('that turns an error into one gives a response like any other: onSend hooks run, and sessions are saved', async () => {
    const plugins = {
      session: { secret: 'a-secret-of-32-characters-or-more' },
      stamp: definePlugin({
        name: 'stamp',
        setup: (ctx) => ctx.onSend((_req, res) => void res.header('x-stamp', '1')),
      })(),
    }
    const { server } = throwing(new Error('duplicate key'), { plugins })
    server.use((req, _res, next) => {
      Object.assign(req.session, { tries: 1 })
      return next()
    })
    server.setErrorHandler((_req, _res, next) => next(gone()))
    const res = await server.inject.get('/')
    res.assertStatus(410).assertHeader('x-stamp', '1').assertCookieExists('sid').assertHeader('vary', 'Cookie')
  })

  test('that turns an error into a refusal logs no stack, but the original error', async () => {
    const { server, log } = throwing(new RangeError('no such book'))
    server.setErrorHandler((_req, _res, next) => next(gone()))
    await server.inject.get('/')
    expect(about(log)).toMatchObject([
      { level: 'info', fields: { code: 'SOLD', original: 'RangeError: no such book' } },
    ])
    expect(about(log)[0]!.fields).not.toHaveProperty('err')
  })

  test('that throws anything else has failed: 500, and no hook of the application runs', async () => {
    const stamp = definePlugin({
      name: 'stamp',
      setup: (ctx) => ctx.onSend((_req, res) => void res.header('x-stamp', '1')),
    })
    const { server, log } = throwing(gone(), { plugins: { stamp: stamp() } })
    server.setErrorHandler(() => {
      throw new Error('the handler is broken')
    })
    const res = await server.inject.get('/')
    res.assertStatus(500).assertHeaderNotExists('x-stamp')
    expect(about(log)).toMatchObject([{ level: 'error' }])
  })
})

describe('errors of other packages', () => {
  test('in the form of http-errors count as such, with their headers', async () => {
    const headers = { 'www-authenticate': 'Basic', 'content-length': '999', 'x-\n': 'bad' }
    class Unauthorized extends Error {}
    const { server, log } = throwing(
      Object.assign(new Unauthorized('who?'), { statusCode: 401, expose: true, headers }),
    )
    const res = await server.inject.get('/')
    res.assertStatus(401).assertBodyDeepEqual({ code: 'Unauthorized', message: 'who?' })
    expect(res.headers()['www-authenticate']).toBe('Basic')
    expect(log).toContainEqual(expect.objectContaining({ message: 'a header of a failure is left out' }))
  })

  test.each([
    ['a bare status, an upstream’s for example', { status: 401 }],
    ['a bare statusCode', { statusCode: 404 }],
    ['an error that is not to be shown', { status: 403, expose: false }],
  ])('%s is 500, and the log line says why', async (_what, members) => {
    const { server, log } = throwing(Object.assign(new Error('upstream'), members))
    const res = await server.inject.get('/')
    res.assertStatus(500).assertHeader('content-length', 0)
    expect(about(log)[0]).toMatchObject({ level: 'error', message: expect.stringContaining('throw an HttpError') })
  })

  test.each([
    ['no status of a failure', Object.assign(new Error('x'), { status: 200, expose: true })],
    ['no error', { status: 404, expose: true, message: 'x' }],
    ['an HttpError that was changed to a success', Object.assign(new HttpError(404), { status: 204 })],
  ])('%s is 500', async (_what, thrown) => {
    const { server } = throwing(thrown)
    const res = await server.inject.get('/')
    res.assertStatus(500).assertHeader('content-length', 0)
  })
})

test.each<[string, unknown, HttpErrorOptions | string | null | undefined, RegExp]>([
  ['a status of a success', 200, undefined, /status from 400 to 599, not 200/],
  ['a status that is a text', '404', undefined, /status from 400 to 599/],
  ['a message alone', 404, 'gone', /new HttpError\(404, \{ message/],
  ['null', 404, null, /an object after the status/],
  ['a misspelt option', 404, { mesage: 'x' } as HttpErrorOptions, /Did you mean "message"/],
  ['details that are a list', 404, { details: [] as never }, /details that are an object/],
  ['details in place of the code', 404, { details: { code: 'X' } as never }, /details without "code"/],
  ['details in place of the title', 404, { details: { title: 'X' } as never }, /details without "title"/],
  ['a header with a line break', 404, { headers: { a: 'b\r\nc: d' } }, /the value of the header "a"/],
  ['a type of the body', 404, { headers: { 'Content-Type': 'text/html' } }, /headers without content-type/],
  ['an invalid code', 404, { code: 7 as never }, /a code that is a string/],
  ['an expose that is a text', 500, { expose: 'false' as never }, /expose: true or false/],
  ['a type that is not a URI', 404, { type: 7 as never }, /a type that is a URI/],
])('%s is refused where the error is made', (_what, status, options, message) => {
  expect(() => new HttpError(status as number, options as HttpErrorOptions)).toThrow(message)
})
