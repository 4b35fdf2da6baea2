import { definePlugin } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { setExposure } from '../../../plugins/shared/failures/formatted-failures.ts'
import { makeKernel, pause, send } from '../../support/kernel.ts'

const boom = () => {
  throw new Error('boom')
}

describe('a throw without an error handler', () => {
  const throwing: [string, (kernel: ReturnType<typeof makeKernel>) => void][] = [
    ['a handler', ({ router }) => router.get('/x', boom)],
    ['an async handler', ({ router }) => router.get('/x', async () => boom())],
    ['a late handler', ({ router }) => router.get('/x', () => pause(5).then(boom))],
    ['a middleware', ({ router }) => router.get('/x', [boom], () => 'x')],
    ['an async middleware', ({ router }) => router.get('/x', [async () => boom()], () => 'x')],
    [
      'a middleware after next()',
      ({ router }) =>
        router.get(
          '/x',
          [
            (_req, _res, next) => {
              next()
              boom()
            },
          ],
          () => 'x',
        ),
    ],
    [
      'an async middleware after next()',
      ({ router }) =>
        router.get(
          '/x',
          [
            async (_req, _res, next) => {
              await next()
              boom()
            },
          ],
          () => 'x',
        ),
    ],
    [
      'a middleware after next(), with the handler still at work and failing later',
      ({ router }) =>
        router.get(
          '/x',
          [
            (_req, _res, next) => {
              next()
              boom()
            },
          ],
          () => pause(10).then(boom),
        ),
    ],
    [
      'a root middleware',
      ({ kernel, router }) => {
        kernel.use(boom)
        router.get('/x', () => 'x')
      },
    ],
    [
      'an onSend hook',
      ({ kernel, router }) => {
        kernel.register(definePlugin({ name: 'p', setup: (ctx) => ctx.onSend(boom) })())
        router.get('/x', () => 'x')
      },
    ],
    [
      'an async onSend hook',
      ({ kernel, router }) => {
        kernel.register(definePlugin({ name: 'p', setup: (ctx) => ctx.onSend(async () => boom()) })())
        router.get('/x', () => 'x')
      },
    ],
    [
      'after the response was given',
      ({ router }) =>
        router.get('/x', (_req, res) => {
          res.ok('x')
          boom()
        }),
    ],
    [
      'a body that is circular',
      ({ router }) =>
        router.get('/x', () =>
          Object.assign(
            {},
            {
              get self() {
                return boom()
              },
            },
          ),
        ),
    ],
    [
      'an error handler that throws',
      ({ kernel, router }) => {
        kernel.setErrorHandler(boom)
        router.get('/x', boom)
      },
    ],
    [
      'an error handler that rejects',
      ({ kernel, router }) => {
        kernel.setErrorHandler(async () => boom())
        router.get('/x', boom)
      },
    ],
    [
      'an error handler that only calls next()',
      ({ kernel, router }) => {
        kernel.setErrorHandler((_req, _res, next) => next())
        router.get('/x', boom)
      },
    ],
    [
      'an error handler that neither answers nor goes on',
      ({ kernel, router }) => {
        kernel.setErrorHandler(() => {})
        router.get('/x', boom)
      },
    ],
    [
      'a not-found handler that throws',
      ({ kernel }) => {
        kernel.setNotFoundHandler(boom)
      },
    ],
  ]

  test.each(throwing)('in %s: 500, empty, one log line with the request id, at once', async (_name, prepare) => {
    const made = makeKernel()
    prepare(made)
    await made.kernel.ready()
    const res = await send(made.kernel, '/x')
    expect(res).toMatchObject({ status: 500, text: '' })
    expect(res.headers['content-length']).toBe('0')
    await pause(15)
    const errors = made.log.filter((entry) => entry.level === 'error')
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      fields: { reqId: expect.any(String) },
      message: expect.stringMatching(/^GET \/x failed with .*boom/),
    })
  })

  test.each([
    ['a string', 'text'],
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['a frozen error', Object.freeze(new Error('boom'))],
  ])('of %s is answered nevertheless', async (_name, thrown) => {
    const { kernel, router } = makeKernel()
    router.get('/sync', () => {
      throw thrown
    })
    router.get('/async', () => Promise.reject(thrown))
    expect(await send(kernel, '/sync')).toMatchObject({ status: 500, text: '' })
    expect(await send(kernel, '/async')).toMatchObject({ status: 500, text: '' })
  })

  test('of an error whose members throw is answered nevertheless', async () => {
    const { kernel, router } = makeKernel()
    const hostile = Object.defineProperty(new Error('x'), 'message', { get: boom })
    router.get('/x', () => {
      throw hostile
    })
    router.get('/y', () => Promise.reject({ toString: boom }))
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '' })
    expect(await send(kernel, '/y')).toMatchObject({ status: 500, text: '' })
  })

  test.each([
    [
      'a circular body',
      () => {
        const a: Record<string, unknown> = {}
        a.a = a
        return a
      },
    ],
    ['a BigInt', () => ({ n: 1n })],
    ['a function', () => () => {}],
    ['a toJSON that throws', () => ({ toJSON: boom })],
  ])('%s is a 500, never half a body', async (_name, body) => {
    const { kernel, router } = makeKernel()
    router.get('/x', body)
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '' })
  })
})

describe('the error handler', () => {
  test('gets the raw error and answers', async () => {
    const { kernel, router } = makeKernel()
    const cause = new Error('deep')
    router.get('/x', () => {
      throw new Error('top', { cause })
    })
    let seen: unknown
    kernel.setErrorHandler((req, res, _next, error) => {
      seen = error
      res.badRequest({ path: req.path })
    })
    expect(await send(kernel, '/x')).toMatchObject({ status: 400, json: { path: '/x' } })
    expect(seen).toMatchObject({ message: 'top', cause, stack: expect.any(String) })
  })

  test('may be set at any time', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', boom)
    expect((await send(kernel, '/x')).status).toBe(500)
    kernel.setErrorHandler((_req, res) => res.status(418).json('late'))
    expect((await send(kernel, '/x')).status).toBe(418)
  })

  test('starts from status 500, and a returned value is the body', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', boom)
    kernel.setErrorHandler(async () => ({ sorry: true }))
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, json: { sorry: true } })
  })

  test('that returns an error has failed itself', async () => {
    const { kernel, router, log } = makeKernel()
    router.get('/x', boom)
    kernel.setErrorHandler(() => Object.assign(new Error('of the handler'), { path: '/etc/secret' }))
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '' })
    expect(log.map(({ message }) => message)).toEqual(['GET /x failed with Error: of the handler'])
    expect(log[0]?.fields).toMatchObject({ original: expect.any(Error) })
  })

  test('does not see failures that the framework answers itself', async () => {
    const { kernel } = makeKernel()
    let called = false
    kernel.setErrorHandler(() => {
      called = true
    })
    expect((await send(kernel, '/missing')).status).toBe(404)
    expect(await send(kernel, '/%zz')).toMatchObject({ status: 400, json: { code: 'BadRequestError' } })
    expect(called).toBe(false)
  })

  test('keeps headers of root middlewares, and drops those of the failed body', async () => {
    const { kernel, router } = makeKernel()
    kernel.use((_req, res, next) => {
      res.setHeader('vary', 'Origin')
      return next()
    })
    router.get('/x', (_req, res) => {
      res.setHeader('etag', '"1"').setHeader('cache-control', 'max-age=60').type('html')
      // What caches that ignore `cache-control`, or have one of their own, keep a response by.
      res.setHeader('expires', 'Wed, 21 Oct 2099 07:28:00 GMT').setHeader('surrogate-control', 'max-age=60')
      for (const cache of ['cdn', 'vercel-cdn']) res.setHeader(`${cache}-cache-control`, 'max-age=60')
      for (const of of ['content-language', 'content-location', 'accept-ranges']) res.setHeader(of, 'x')
      res.setHeader('content-security-policy', "default-src 'none'")
      boom()
    })
    const res = await send(kernel, '/x')
    expect({ ...res.headers }).toEqual({
      vary: 'Origin',
      'content-security-policy': "default-src 'none'",
      'content-length': '0',
    })
  })
})

describe('404 and 405', () => {
  test('have the fixed two-field body and Allow', async () => {
    const { kernel, router } = makeKernel()
    router.post('/users', () => 'x')
    router.get('/users', () => 'x')
    router.delete('/users', () => 'x')
    expect((await send(kernel, '/nope?x=1')).json).toEqual({
      code: 'RouteNotFoundError',
      message: 'ROUTE_NOT_FOUND: Cannot GET /nope',
    })
    const res = await send(kernel, '/users', 'PUT')
    expect(res).toMatchObject({
      status: 405,
      json: { code: 'MethodNotAllowedError', message: 'METHOD_NOT_ALLOWED: Cannot PUT /users' },
    })
    expect(res.headers.allow).toBe('GET, POST, DELETE')
  })

  test('a custom handler answers both, with the status preset and Allow its own business', async () => {
    const { kernel, router } = makeKernel()
    router.get('/users', () => 'x')
    const seen: string[] = []
    kernel.setNotFoundHandler((_req, res, error) => {
      seen.push(error.code)
      res.json({ mine: error.status })
    })
    expect(await send(kernel, '/nope')).toMatchObject({ status: 404, json: { mine: 404 } })
    const res = await send(kernel, '/users', 'POST')
    expect(res).toMatchObject({ status: 405, json: { mine: 405 } })
    expect(res.headers.allow).toBeUndefined()
    expect(seen).toEqual(['RouteNotFoundError', 'MethodNotAllowedError'])
  })
})

describe('error details', () => {
  test.each([
    [false, 'development', false],
    [true, 'production', false],
    [true, 'development', true],
    ['auto', 'production', false],
    ['auto', 'development', true],
  ] as const)('with %j in %s: shown %j', async (setting, environment, shown) => {
    const { kernel, router } = makeKernel()
    router.get('/fails', () => {
      throw new Error('boom')
    })
    const before = process.env.NODE_ENV
    process.env.NODE_ENV = environment
    setExposure(setting)
    try {
      const { json } = await send(kernel, '/fails')
      expect('stack' in ((json as object | undefined) ?? {})).toBe(shown)
      expect((await send(kernel, '/nope')).json).not.toHaveProperty('stack')
    } finally {
      process.env.NODE_ENV = before
      setExposure(false)
    }
  })
})
