import { Readable } from 'node:stream'
import { defineError, definePlugin, type Request, type Response } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { setExposure } from '../../../plugins/shared/failures/formatted-failures.ts'
import { makeKernel, pause, send } from '../../support/kernel.ts'

const StoreError = defineError('StoreError', 503, (name: string) => `the store "${name}" cannot be written`)
const answer = '{"code":"StoreError","message":"STORE: the store \\"main\\" cannot be written"}'
const failStore = () => {
  throw Object.assign(StoreError('main'), { cause: new Error('redis://user:password@host') })
}
const boom = () => {
  throw new Error('boom')
}

const thenable = (then: (resolve: () => void, reject: (error: unknown) => void) => void) =>
  Object.fromEntries([['then', then]])

type Hook = (req: Request, res: Response) => unknown

/** A kernel whose responses pass these hooks, each of a plugin of its own: `p0`, `p1` … */
function withHooks(...hooks: Hook[]) {
  const made = makeKernel()
  hooks.forEach((hook, i) => {
    const setup = (ctx: { onSend(hook: never): void }) => ctx.onSend(hook as never)
    made.kernel.register(definePlugin({ name: `p${i}`, setup })())
  })
  made.router.get('/', (_req, res) =>
    res.header('x-own', '1').header('etag', '"1"').header('set-cookie', 'a=1').json({ of: 'the handler' }),
  )
  return made
}

describe('an error of the framework in an onSend hook', () => {
  test.each<[string, Hook]>([
    ['thrown', failStore],
    ['rejected', async () => failStore()],
    ['rejected later', () => pause(5).then(failStore)],
    ['of a thenable that throws', () => thenable(failStore)],
    [
      'of a thenable that rejects twice',
      () =>
        thenable((_, reject) => {
          reject(StoreError('main'))
          reject(new Error('again'))
        }),
    ],
  ])('%s: is answered with its status and body, in place of the response that was meant, and logged', async (_, hook) => {
    const { kernel, log } = withHooks(hook)
    const { status, headers, text } = await send(kernel, '/')
    expect([status, text]).toEqual([503, answer])
    expect({ ...headers }).toEqual({
      'x-own': '1',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(answer.length),
    })
    expect(log).toEqual([
      {
        level: 'error',
        fields: { reqId: expect.any(String), err: expect.objectContaining({ code: 'StoreError' }), plugin: 'p0' },
        message: 'GET / failed with StoreError: STORE: the store "main" cannot be written',
      },
    ])
  })

  test('HEAD has the head of that response', async () => {
    const { kernel } = withHooks(failStore)
    const { status, headers, text } = await send(kernel, '/', 'HEAD')
    expect([status, text, headers['content-length']]).toEqual([503, '', String(answer.length)])
  })

  test('applies to a 404, and to refused requests', async () => {
    const { kernel } = withHooks(failStore)
    expect(await send(kernel, '/nowhere')).toMatchObject({ status: 503, text: answer })
    expect(await send(kernel, '/', 'PUT')).toMatchObject({ status: 503, text: answer })
    expect(await send(kernel, '/%zz')).toMatchObject({ status: 503, text: answer })
  })

  test('a stream that was the response is let go', async () => {
    const { kernel, router } = withHooks(failStore)
    const source = Readable.from(['never sent'])
    const cancelled: unknown[] = []
    router.get('/readable', (_req, res) => res.stream(source))
    router.get('/web', (_req, res) => res.stream(new ReadableStream({ cancel: (why) => void cancelled.push(why) })))
    expect(await send(kernel, '/readable')).toMatchObject({ status: 503, text: answer })
    expect(source.destroyed).toBe(true)
    expect(await send(kernel, '/web')).toMatchObject({ status: 503, text: answer })
    expect(cancelled).toHaveLength(1)
  })

  test('the other hooks see the response that takes the place, and the one that failed is not asked again', async () => {
    const asked = { failing: 0, before: 0, behind: 0 }
    const { kernel } = withHooks(
      (_req, res) => void res.setHeader('set-cookie', `before=${++asked.before}`),
      () => {
        asked.failing++
        failStore()
      },
      (_req, res) => void res.setHeader('x-behind', `${++asked.behind} ${res.statusCode}`),
    )
    const { status, headers } = await send(kernel, '/')
    expect([status, headers['set-cookie'], headers['x-behind']]).toEqual([503, ['before=2'], '1 503'])
    expect(asked).toEqual({ failing: 1, before: 2, behind: 1 })
  })

  test('there is an end when every hook fails, and no response but the last one leaves', async () => {
    const seen: string[] = []
    const { kernel, log } = withHooks(failStore, boom, async () => boom(), failStore)
    kernel.register(
      definePlugin({
        name: 'seeing',
        setup(ctx) {
          ctx.onError((error) => void seen.push((error as Error).name))
          ctx.onResponse((_req, res) => void seen.push(`sent ${res.statusCode}`))
        },
      })(),
    )
    expect(await send(kernel, '/')).toMatchObject({ status: 503, text: answer })
    expect(seen).toEqual(['StoreError', 'Error', 'Error', 'StoreError', 'sent 503'])
    expect(log.map(({ level, fields }) => `${level} ${fields.plugin}`)).toEqual([
      'error p0',
      'error p1',
      'error p2',
      'error p3',
    ])
  })

  test('takes the place of a response to another failure, too', async () => {
    const { kernel, router } = withHooks(failStore)
    let asked = 0
    kernel.setErrorHandler((_req, res) => {
      asked++
      res.badRequest({ handled: true })
    })
    router.get('/x', boom)
    expect(await send(kernel, '/x')).toMatchObject({ status: 503, text: answer })
    expect(asked).toBe(1)
  })
})

describe('another error in an onSend hook', () => {
  test('goes to the error handler, with the status preset', async () => {
    const { kernel, log } = withHooks(boom)
    kernel.setErrorHandler((_req, _res, _next, error) => ({ handled: (error as Error).message }))
    expect(await send(kernel, '/')).toMatchObject({ status: 500, json: { handled: 'boom' } })
    expect(log).toEqual([])
  })

  test('over the response of an error handler: 500 without a body, and the handler is not asked again', async () => {
    const { kernel, router, log } = withHooks(boom)
    let asked = 0
    kernel.setErrorHandler(() => ++asked)
    router.get('/x', boom)
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '' })
    expect(asked).toBe(1)
    expect(log.map(({ level }) => level)).toEqual(['error'])
  })

  test('an error handler whose response cannot be written: 500 without a body', async () => {
    const { kernel } = withHooks(boom)
    kernel.setErrorHandler(() => ({ big: 1n }))
    expect(await send(kernel, '/')).toMatchObject({ status: 500, text: '' })
  })
})

/** Values that throw when they are inspected; for example a draft of a state library once its producer has ended. */
const illegible: [string, unknown][] = [
  ['a revoked proxy', revoked({})],
  ['a revoked function', revoked(() => {})],
  [
    'a proxy with a trap that throws',
    new Proxy(new Error('x'), {
      get: () => {
        throw new Error('trap')
      },
    }),
  ],
]

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

describe('a value that cannot be inspected', () => {
  test.each(illegible)('%s is answered and logged, wherever it is thrown', async (_, thrown) => {
    const { kernel, router, log } = withHooks((req) => {
      if (req.path === '/hook') throw thrown
    })
    const fail = () => {
      throw thrown
    }
    kernel.register(
      definePlugin({
        name: 'watching',
        setup(ctx) {
          ctx.onResponse(fail)
          ctx.onError(fail)
        },
      })(),
    )
    router.get('/sync', fail)
    router.get('/async', () => Promise.reject(thrown))
    router.get('/hook', () => 1)
    router.get('/gives', () => thrown)
    for (const path of ['/sync', '/async', '/hook', '/gives']) {
      expect(await send(kernel, path), path).toMatchObject({ status: 500, text: '' })
    }
    kernel.setErrorHandler(fail)
    expect(await send(kernel, '/sync')).toMatchObject({ status: 500, text: '' })
    for (const { fields } of log) expect(fields.err).toBeInstanceOf(Error)
  })

  test.each([
    ['', Object.assign(Object.create(null), { big: 1n })],
    ...illegible,
  ])('%s as a cause does not keep an exposed failure from being answered', async (_, cause) => {
    const { kernel } = withHooks(() => {
      throw Object.assign(StoreError('main'), { cause })
    })
    setExposure(true)
    try {
      expect(await send(kernel, '/')).toMatchObject({ status: 503, json: { code: 'StoreError' } })
    } finally {
      setExposure(false)
    }
  })
})
