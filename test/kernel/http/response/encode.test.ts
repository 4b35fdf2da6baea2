import { Readable } from 'node:stream'
import { definePlugin, type Request, type Response } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

/** A kernel whose responses pass one hook. */
function withHook(hook: (req: Request, res: Response) => void | Promise<void>) {
  const made = makeKernel()
  made.kernel.register(definePlugin({ name: 'hook', setup: (ctx) => ctx.onSend(hook) })())
  return made
}

describe('res.encode', () => {
  test.each<[string, (res: Response) => unknown, string | null, string | undefined]>([
    ['JSON', (res) => res.json({ a: 1 }), '{"a":1}', 'application/json; charset=utf-8'],
    ['a JSON string', (res) => res.json('hi'), '"hi"', 'application/json; charset=utf-8'],
    ['text', (res) => res.text('hi'), 'hi', 'text/plain; charset=utf-8'],
    ['nothing', (res) => res.noContent(), null, undefined],
  ])('gives %s as it leaves', async (_, answer, body, type) => {
    let seen: unknown
    const { kernel, router } = withHook((_req, res) => {
      seen = res.encode()
    })
    router.get('/', (_req, res) => answer(res) as never)
    const { text, headers } = await send(kernel, '/')
    expect(seen).toBe(body)
    expect(text).toBe(body ?? '')
    expect(headers['content-type']).toBe(type)
  })

  test('gives bytes and streams as they are, and keeps a type that was set', async () => {
    const seen: unknown[] = []
    const { kernel, router } = withHook((_req, res) => void seen.push(res.encode()))
    const bytes = new Uint8Array([1, 2])
    const stream = Readable.from(['x'])
    router.get('/bytes', (_req, res) => res.type('image/png').bytes(bytes))
    router.get('/stream', (_req, res) => res.stream(stream))
    expect((await send(kernel, '/bytes')).headers['content-type']).toBe('image/png')
    expect((await send(kernel, '/stream')).text).toBe('x')
    expect(seen).toEqual([bytes, stream])
  })

  test('is written once by the serialiser of the route', async () => {
    let written = 0
    const { kernel, router } = makeKernel()
    kernel.register(
      definePlugin({
        name: 'writer',
        setup(ctx) {
          ctx.onRoute((route) =>
            route.serializeWith((body) => {
              written++
              return `<${JSON.stringify(body)}>`
            }),
          )
          ctx.onSend((_req, res) => {
            expect(res.encode()).toBe('<1>')
            expect(res.encode()).toBe('<1>')
          })
        },
      })(),
    )
    router.get('/', () => 1)
    expect((await send(kernel, '/')).text).toBe('<1>')
    expect(written).toBe(1)
  })

  test('a body that cannot be written goes to the error handler, as without a hook', async () => {
    const { kernel, router, log } = withHook((_req, res) => void res.encode())
    kernel.setErrorHandler((_req, res, _next, error) => res.status(500).text(String((error as { code?: string }).code)))
    router.get('/', () => ({ big: 1n }))
    expect(await send(kernel, '/')).toMatchObject({ status: 500, text: 'UnserializableError' })
    expect(log).toEqual([])
  })

  test('an error handler whose response cannot be written either: 500 without a body, logged', async () => {
    const { kernel, router, log } = withHook((_req, res) => void res.encode())
    kernel.setErrorHandler(() => ({ big: 1n }))
    router.get('/', () => ({ big: 1n }))
    expect(await send(kernel, '/')).toMatchObject({ status: 500, text: '' })
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

describe('res.replaceBody', () => {
  test.each<[string, () => string | Uint8Array | Readable]>([
    ['text', () => 'other'],
    ['bytes', () => new TextEncoder().encode('other')],
    ['a stream', () => Readable.from(['oth', 'er'])],
  ])('sends %s in place of the response; status and headers stay, the length is the new one', async (name, body) => {
    const { kernel, router } = withHook((_req, res) => {
      res.encode()
      res.replaceBody(body())
    })
    router.get('/', (_req, res) => res.header('x-kept', '1').created({ a: 1 }))
    const { status, text, headers } = await send(kernel, '/')
    expect({ status, text, kept: headers['x-kept'] }).toEqual({ status: 201, text: 'other', kept: '1' })
    expect(headers['content-length']).toBe(name === 'a stream' ? undefined : '5')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
  })
})

describe('req.abort', () => {
  test('aborts the signal with the reason, and a later answer is silently dropped', async () => {
    const { kernel, router, log } = makeKernel()
    let late: Promise<unknown> | undefined
    router.get('/', (req, res) => {
      const { signal } = req
      late = Promise.resolve().then(() => res.ok('late'))
      req.abort(new Error('enough'))
      res.status(503).text('gave up')
      return signal.aborted && signal.reason.message === 'enough' ? undefined : Promise.reject(new Error('not aborted'))
    })
    expect(await send(kernel, '/')).toMatchObject({ status: 503, text: 'gave up' })
    await late
    expect(log).toEqual([])
  })
})
