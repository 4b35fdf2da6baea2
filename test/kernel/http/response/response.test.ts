import { mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Context, definePlugin, type Kernel, type Request, type Response } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'
import { makePipe } from '../../../support/pipe.ts'

/** Answers one request with a handler. */
async function answer(handler: (req: Request, res: Response) => unknown, method = 'GET') {
  const { kernel, router, log } = makeKernel()
  router.any('/x', handler as never)
  const { status, headers, text } = await send(kernel, '/x', method)
  return { status, headers, text, log }
}

describe('shorthands', () => {
  test.each([
    ['ok', 200],
    ['created', 201],
    ['accepted', 202],
    ['badRequest', 400],
    ['unauthorized', 401],
    ['forbidden', 403],
    ['notFound', 404],
    ['methodNotAllowed', 405],
    ['notAcceptable', 406],
    ['conflict', 409],
    ['gone', 410],
    ['payloadTooLarge', 413],
    ['unsupportedMediaType', 415],
    ['unprocessableEntity', 422],
    ['tooManyRequests', 429],
    ['internalServerError', 500],
    ['notImplemented', 501],
    ['badGateway', 502],
    ['serviceUnavailable', 503],
    ['gatewayTimeout', 504],
  ] as const)('res.%s is %i, with and without a body', async (name, status) => {
    const full = await answer((_req, res) => res[name]({ a: 1 }))
    expect(full).toMatchObject({ status, text: '{"a":1}' })
    expect(full.headers['content-type']).toBe('application/json; charset=utf-8')
    const empty = await answer((_req, res) => res[name]())
    expect(empty).toMatchObject({ status, text: '' })
    expect({ ...empty.headers }).toEqual({ 'content-length': '0' })
  })

  test('res.noContent is 204 without a body and without a length', async () => {
    const res = await answer((_req, res) => res.noContent())
    expect(res).toMatchObject({ status: 204, text: '' })
    expect({ ...res.headers }).toEqual({})
  })
})

describe('bodies', () => {
  test('text is JSON for ok, send and json, and plain for text and html', async () => {
    expect((await answer((_req, res) => res.ok('hi'))).text).toBe('"hi"')
    expect((await answer((_req, res) => res.send('hi'))).text).toBe('"hi"')
    expect((await answer((_req, res) => res.status(202).json('hi'))).text).toBe('"hi"')
    const text = await answer((_req, res) => res.text('hé'))
    expect(text.text).toBe('hé')
    expect({ ...text.headers }).toEqual({ 'content-type': 'text/plain; charset=utf-8', 'content-length': '3' })
    expect((await answer((_req, res) => res.html('<p>'))).headers['content-type']).toBe('text/html; charset=utf-8')
  })

  test('bytes are sent as they are', async () => {
    const bytes = new Uint8Array([0, 255, 1])
    for (const give of [
      (res: Response) => res.bytes(bytes),
      (res: Response) => res.send(bytes),
      (res: Response) => res.ok(bytes.buffer),
    ]) {
      const { kernel, router } = makeKernel()
      router.get('/x', (_req, res) => give(res))
      const { body, headers } = await kernel.inject({ url: '/x' })
      expect([...body]).toEqual([0, 255, 1])
      expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'content-length': '3' })
    }
  })

  test.each([
    [
      'a web stream',
      () =>
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('ab'))
            controller.enqueue(new TextEncoder().encode('c'))
            controller.close()
          },
        }),
    ],
    ['a Readable', () => Readable.from([Buffer.from('ab'), Buffer.from('c')])],
    [
      'an async generator',
      async function* () {
        yield 'ab'
        yield new TextEncoder().encode('c')
      },
    ],
  ])('%s is streamed', async (_name, make) => {
    const res = await answer((_req, res) => res.type('text').stream((make as () => never)()))
    expect(res.text).toBe('abc')
    expect({ ...res.headers }).toEqual({ 'content-type': 'text/plain; charset=utf-8' })
    expect((await answer(() => (make as () => never)())).text).toBe('abc')
  })

  test('HEAD and 204 release the stream they do not send', async () => {
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
    ] as const) {
      const stream = Readable.from(['x'])
      const { kernel, router } = makeKernel()
      router.get('/x', (_req, res) => res.status(status).stream(stream))
      await send(kernel, '/x', method)
      await expect.poll(() => stream.destroyed).toBe(true)
    }
  })

  test('a stream that is not sent is released: a generator, one of the web, one that someone reads, one of another library', async () => {
    const released: string[] = []
    const web = () => new ReadableStream<Uint8Array>({ cancel: () => void released.push('web') })
    const locked = web()
    locked.getReader()
    const foreign = {
      destroy: () => void released.push('foreign'),
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true as const, value: undefined }) }),
    }
    const iterator = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: true as const, value: undefined }),
        return: () => Promise.reject(new Error(`it ends badly: ${released.push('iterator')}`)),
      }),
    }
    for (const stream of [web(), locked, foreign, iterator]) {
      expect((await answer((_req, res) => res.status(204).stream(stream))).status).toBe(204)
    }
    await expect.poll(() => released).toEqual(['web', 'foreign', 'iterator'])
  })

  test.each<[string, (res: Response) => unknown]>([
    ['res.stream takes', (res) => res.stream('x' as never)],
    ['res.bytes takes', (res) => res.bytes('x' as never)],
    ['res.sse takes', (res) => res.sse(5 as never)],
    ['res.redirect takes the URL', (res) => res.redirect(undefined as never)],
    ['res.redirect takes the status 301, ', (res) => res.redirect('/', 200 as never)],
  ])('%s nothing else', async (message, use) => {
    const { status, log } = await answer((_req, res) => use(res))
    expect(status).toBe(500)
    expect(log[0]?.message).toContain(message)
  })
})

describe('headers', () => {
  test.each([
    ['transfer-encoding', 'chunked', /the server itself sends bodies of unknown length in chunks/],
    ['Transfer-Encoding', 'identity', /the server itself sends bodies of unknown length in chunks/],
    ['trailer', 'x-sum', /a response cannot have headers after its body/],
  ])('%s is for the server to set', async (name, value, why) => {
    const set = await answer((_req, res) => res.setHeader(name, value).ok('a'))
    expect([set.status, set.text, set.headers[name.toLowerCase()]]).toEqual([500, '', undefined])
    expect(set.log[0]?.message).toMatch(why)
    // To take it away, where the headers of another answer were copied, is not a mistake.
    expect((await answer((_req, res) => res.removeHeader(name).ok('a'))).status).toBe(200)
    const copied = await answer(() => new globalThis.Response('a', { headers: { [name]: value } }))
    expect([copied.status, copied.headers[name.toLowerCase()]]).toEqual([200, undefined])
  })

  test.each([
    ['a\r\nb: c'],
    ['a\nb'],
    ['a\0'],
    ['\u0100'],
    ['\x7f'],
  ])('the value %j is refused and nothing is split', async (value) => {
    const res = await answer((_req, res) => res.setHeader('x-a', value).ok())
    expect(res.status).toBe(500)
    expect(res.headers['x-a']).toBeUndefined()
    expect(res.log[0]?.message).toMatch(/the value of the header "x-a" has a/)
  })

  test.each([[undefined], [null], [{}]])('the value %j is refused', async (value) => {
    const res = await answer((_req, res) => res.setHeader('x-a', value as never).ok())
    expect([res.status, res.headers['x-a']]).toEqual([500, undefined])
    expect(res.log[0]?.message).toMatch(/"x-a" is (undefined|null|an object): it takes a string/)
  })

  test.each([[''], ['a b'], ['a:'], ['é'], ['a\r\n']])('the name %j is refused', async (name) => {
    expect((await answer((_req, res) => res.header(name, 'x').ok())).log[0]?.message).toMatch(/is not a header name/)
  })

  test('names ignore case, lists become lines, vary is kept unique', async () => {
    const res = await answer((_req, res) => {
      res
        .setHeader('X-A', '1')
        .header('x-a', 2)
        .setHeader('Set-Cookie', ['a=1', 'b=2'])
        .appendHeader('set-cookie', 'c=3')
      res.vary('Origin').vary('origin', 'Accept')
      expect(res.getHeader('X-a')).toBe('2')
      res.setHeader('x-gone', 'x').removeHeader('X-Gone')
      return 'x'
    })
    expect(res.headers).toMatchObject({ 'x-a': '2', 'set-cookie': ['a=1', 'b=2', 'c=3'], vary: 'Origin, Accept' })
    expect(res.headers['x-gone']).toBeUndefined()
  })

  test('a length that someone set is not believed for a known body', async () => {
    expect((await answer((_req, res) => res.setHeader('content-length', '99').ok('a'))).headers['content-length']).toBe(
      '3',
    )
  })

  test.each([[99], [600], [200.5], [Number.NaN], ['200']])('the status %j is refused', async (status) => {
    expect((await answer((_req, res) => res.status(status as number).json(1))).log[0]?.message).toMatch(
      /a status is a whole number/,
    )
  })
})

describe('redirects', () => {
  test.each([
    ['/x?a=b', '/x?a=b'],
    ['/é x', '/%C3%A9%20x'],
    ['/a\r\nset-cookie: x', '/a%0D%0Aset-cookie:%20x'],
    ['/%20', '/%20'],
    ['/\ud800', '/%EF%BF%BD'],
  ])('to %j', async (given, location) => {
    const res = await answer((_req, res) => res.redirect(given))
    expect(res).toMatchObject({ status: 302, text: '', headers: { location } })
  })

  test('with a status', async () => {
    expect((await answer((_req, res) => res.redirect('/', 308))).status).toBe(308)
  })
})

describe('server-sent events', () => {
  test('line breaks never forge a field', async () => {
    const fraction = 5.7
    const res = await answer((_req, res) =>
      res.sse(
        (async function* () {
          yield 'one\ntwo\rthree\r\nfour'
          yield { data: { a: 1 }, event: 'x\ndata: forged', id: '1\r2', retry: fraction }
        })(),
      ),
    )
    expect(res.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(res.text).toBe(
      'data: one\ndata: two\ndata: three\ndata: four\n\nevent: x data: forged\nid: 1 2\nretry: 5\ndata: {"a":1}\n\n',
    )
  })

  test('data is JSON as everywhere, or no event', async () => {
    const eventsOf = (data: unknown) =>
      answer((_req, res) =>
        res.sse(
          (async function* () {
            yield { data }
          })(),
        ),
      )
    expect((await eventsOf(undefined)).text).toBe('data: \n\n')
    expect((await eventsOf([null])).text).toBe('data: [null]\n\n')
    await expect(eventsOf(new Map([[1, 2]]))).rejects.toThrow('nothing of the Map would be left')
    await expect(eventsOf(() => 1)).rejects.toThrow('it is a function')
  })
})

describe('files', () => {
  test('are sent with type and length, and missing ones are 404 without their path', async () => {
    const root = await mkdtemp(join(tmpdir(), 'files-'))
    await writeFile(join(root, 'a.txt'), 'héllo')
    await writeFile(join(root, 'empty.bin'), '')
    await writeFile(join(root, '..', 'outside-secret.txt'), 'secret')
    await symlink(join(root, '..', 'outside-secret.txt'), join(root, 'link.txt'))
    const file = await answer((_req, res) => res.file(join(root, 'a.txt')))
    expect(file.text).toBe('héllo')
    expect(file.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'content-length': '6' })
    expect(await answer((_req, res) => res.file('empty.bin', { root }))).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '0' },
    })
    for (const path of ['nope.txt', '../outside-secret.txt', 'link.txt', '.', 'a.txt/x', '\0', 'x'.repeat(5_000)]) {
      const missing = await answer((_req, res) => res.file(path, { root }))
      expect(missing).toMatchObject({
        status: 404,
        text: '{"code":"FileNotFoundError","message":"FILE_NOT_FOUND: the file does not exist"}',
      })
    }
  })

  test('a pipe, a device and a folder are not files, and no one waits for them', async () => {
    const root = await mkdtemp(join(tmpdir(), 'files-'))
    const pipe = makePipe(join(root, 'pipe'))
    await symlink(pipe, join(root, 'link'))
    const seen: unknown[] = []
    const ask = async (path: string, options?: { root: string }) => {
      const { kernel } = makeKernel()
      kernel.register(definePlugin({ name: 'seen', setup: (ctx) => ctx.onError((error) => void seen.push(error)) })())
      kernel.get('/x', (_req, res) => res.file(path, options))
      kernel.get('/y', (_req, res) => res.download(path))
      expect((await send(kernel, '/y')).status).toBe(404)
      return send(kernel, '/x')
    }
    for (const [path, options] of [
      [pipe],
      [join(root, 'link')],
      ['pipe', { root }],
      ['link', { root }],
      [root],
      ['/dev/zero'],
    ] as const) {
      expect(await ask(path, options)).toMatchObject({
        status: 404,
        text: '{"code":"FileNotFoundError","message":"FILE_NOT_FOUND: the file does not exist"}',
      })
    }
    // The operator learns why.
    expect(seen[0]).toMatchObject({
      cause: { message: `${pipe} is a named pipe, not a file` },
    })
  })

  describe('are awaited, also where the sender forgets that', () => {
    const here = import.meta.filename
    const gone = `${here}.gone`
    const serve: Record<string, (kernel: Kernel, path: string) => unknown> = {
      'a handler': (kernel, path) => kernel.get('/x', (_req, res) => void res.file(path)),
      'an async handler': (kernel, path) => kernel.get('/x', async (_req, res) => void res.download(path)),
      'a middleware': (kernel, path) => kernel.use((_req, res) => void res.file(path)).get('/x', () => 1),
      'an async middleware': (kernel, path) => kernel.use(async (_req, res) => void res.file(path)).get('/x', () => 1),
      'a not-found handler': (kernel, path) =>
        kernel.setNotFoundHandler((_req, res) => void res.status(200).file(path)),
      'a fallback': (kernel, path) => kernel.register(fallback((_req, res) => void res.file(path))),
      'an async fallback': (kernel, path) => kernel.register(fallback(async (_req, res) => void res.file(path))),
    }
    const fallback = (answer: Parameters<Context['fallback']>[1]) =>
      definePlugin({ name: 'fallback', setup: (ctx) => ctx.fallback('/', answer) })()
    test.each(Object.entries(serve))('%s', async (_name, serveWith) => {
      for (const [path, status] of [
        [here, 200],
        [gone, 404],
      ] as const) {
        const { kernel, log } = makeKernel()
        serveWith(kernel, path)
        const answered = await send(kernel, '/x')
        expect(answered.status).toBe(status)
        expect(answered.text).toContain(status === 200 ? 'where the sender forgets that' : '"code":"FileNotFoundError"')
        expect(log).toEqual([])
        await kernel.close()
      }
    })

    test('an error handler, whose own failure is an empty 500', async () => {
      for (const [path, status] of [
        [here, 200],
        [gone, 500],
      ] as const) {
        const { kernel, log } = makeKernel()
        kernel.get('/x', () => {
          throw new Error('first')
        })
        kernel.setErrorHandler((_req, res) => void res.status(200).file(path))
        const answered = await send(kernel, '/x')
        expect([answered.status, answered.text !== '']).toEqual([status, status === 200])
        expect(log).toHaveLength(status === 200 ? 0 : 1)
        await kernel.close()
      }
    })

    test('an error or a response in the meantime takes precedence', async () => {
      const { kernel } = makeKernel()
      kernel.get('/throws', (_req, res) => {
        void res.file(here)
        throw new Error('after it')
      })
      kernel.get('/answers', (_req, res) => {
        void res.file(gone)
        return { a: 1 }
      })
      expect((await send(kernel, '/throws')).status).toBe(500)
      expect(await send(kernel, '/answers')).toMatchObject({ status: 200, text: '{"a":1}' })
      await kernel.close()
    })
  })

  test('are offered for download from a root, with or without a name', async () => {
    const root = await mkdtemp(join(tmpdir(), 'framework-root-'))
    await writeFile(join(root, 'a.txt'), 'a')
    const plain = await answer((_req, res) => res.download('a.txt', { root }))
    expect([plain.status, plain.headers['content-disposition']]).toEqual([200, 'attachment; filename="a.txt"'])
    const named = await answer((_req, res) => res.download('a.txt', 'b.txt', { root }))
    expect(named.headers['content-disposition']).toBe('attachment; filename="b.txt"')
    expect((await answer((_req, res) => res.download('../a.txt', { root }))).status).toBe(404)
    for (const options of [{ root: undefined }, { root: '' }, { roots: root }, root]) {
      const { status, log } = await answer((_req, res) => res.file(join(root, 'a.txt'), options as never))
      expect([status, String((log.at(-1)?.fields.err as Error).message)]).toEqual([
        500,
        expect.stringContaining('res.file'),
      ])
    }
  })

  test('are offered for download under a safe name', async () => {
    const disposition = async (name: string) =>
      (await answer((_req, res) => res.download(new Uint8Array([1]), name))).headers['content-disposition']
    expect(await disposition('a.pdf')).toBe('attachment; filename="a.pdf"')
    expect(await disposition('é".txt')).toBe('attachment; filename="__.txt"; filename*=UTF-8\'\'%C3%A9%22.txt')
    expect(await disposition('a\r\nb')).toBe('attachment; filename="a__b"; filename*=UTF-8\'\'a%0D%0Ab')
  })

  test.each([
    ['x.pdf', 'application/pdf'],
    ['x.HTML', 'text/html; charset=utf-8'],
    ['x.text/html', 'application/octet-stream'],
    ['x.a/b.svg', 'image/svg+xml'],
    ['html', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
    ['x.', 'application/octet-stream'],
  ])('bytes for download as %s have the type of the ending: %s', async (name, type) => {
    const { headers } = await answer((_req, res) => res.download(new Uint8Array([1]), name))
    expect(headers['content-type']).toBe(type)
  })
})
