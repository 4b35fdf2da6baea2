import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { definePlugin, type Request, type RouteOptions, type Server } from 'framework'
import { type UploadedFile, upload } from 'framework/plugins/upload'
import { afterEach, describe, expect, test } from 'vitest'
import { gate } from '../../support/queues.ts'
import { type Form, file, makeUploads, multipart, pause } from '../../support/uploads.ts'

const { makeServer, makeFolder } = makeUploads(afterEach)

const send = (server: Server, form: Form | FormData, path = '/upload') =>
  form instanceof FormData
    ? server.inject.post(path, { formData: form })
    : server.inject.post(path, { body: form.body, headers: { 'content-type': form.type } })

describe('a form', () => {
  test('gives its files and its fields', async () => {
    const { server, seen } = makeServer()
    const data = new FormData()
    data.append('title', 'Grüße')
    data.append('tag', 'a')
    data.append('tag', 'b')
    data.append('photo', new File([new Uint8Array([0, 1, 255])], 'pic.png', { type: 'image/png' }))
    data.append('notes', new File(['hello'], 'notes.txt', { type: 'text/plain' }))
    ;(await send(server, data)).assertStatus(200)
    expect({ ...(seen.body as object) }).toEqual({ title: 'Grüße', tag: ['a', 'b'] })
    expect(Object.getPrototypeOf(seen.body)).toBeNull()
    const described = seen.files.map(({ field, filename, mimeType, size }) => [field, filename, mimeType, size])
    expect(described).toEqual([
      ['photo', 'pic.png', 'image/png', 3],
      ['notes', 'notes.txt', 'text/plain', 5],
    ])
    expect([...seen.files[0]!.bytes()]).toEqual([0, 1, 255])
    expect(seen.files[1]!.path).toBeUndefined()
  })

  test('is found by field, the first of several', async () => {
    const { server } = makeServer()
    server.post('/first', (req) => [req.file('a')?.filename, req.file('b')?.filename ?? null, req.files.length])
    const res = await send(server, multipart(file('a', '1.txt', 'x'), file('a', '2.txt', 'y')), '/first')
    res.assertBodyDeepEqual(['1.txt', null, 2])
  })

  test('without any part is an empty object', async () => {
    const { server, seen } = makeServer()
    ;(await send(server, multipart())).assertStatus(200)
    expect(seen.body).toEqual({})
    expect(seen.files).toEqual([])
  })

  test('is read when it arrives byte by byte', async () => {
    const { server, seen } = makeServer()
    const { body, type } = multipart(
      { name: 'a', body: 'x' },
      file('f', 'f.bin', 'line\r\n--not the boundary\r\n--\r\n'),
    )
    async function* drip() {
      for (const byte of body) yield Uint8Array.of(byte)
    }
    ;(await server.inject.post('/upload', { body: drip(), headers: { 'content-type': type } })).assertStatus(200)
    expect(seen.body).toEqual({ a: 'x' })
    expect(seen.files[0]!.bytes().toString()).toBe('line\r\n--not the boundary\r\n--\r\n')
  })

  test('may have text before its first boundary and after its last', async () => {
    const { server, seen } = makeServer()
    const { body, type } = multipart({ name: 'a', body: 'x' })
    const framed = Buffer.concat([Buffer.from('preamble\r\n'), body, Buffer.from('\r\nepilogue')])
    ;(await send(server, { body: framed, type })).assertStatus(200)
    expect(seen.body).toEqual({ a: 'x' })
  })

  test('leaves out a file input that was left empty, and keeps a file without bytes', async () => {
    const { server, seen } = makeServer()
    await send(server, multipart(file('empty', '', ''), file('f', 'zero.bin', '')))
    expect(seen.files.map(({ field, size }) => [field, size])).toEqual([['f', 0]])
    expect(seen.files[0]!.bytes()).toHaveLength(0)
  })

  test('cannot reach a prototype', async () => {
    const { server, seen } = makeServer()
    const names = ['__proto__', 'constructor', 'prototype', '__proto__[x]', 'toString']
    await send(server, multipart(...names.map((name) => ({ name, body: '1' }))))
    expect({ ...(seen.body as object) }).toEqual({ '__proto__[x]': '1', toString: '1' })
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('is the same for handlers as JSON: schemas validate its fields', async () => {
    const { server } = makeServer()
    const body = {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string', minLength: 2 } },
    } as const
    server.post('/valid', { body }, (req) => ({ title: req.body.title, files: req.files.length }))
    const good = await send(server, multipart({ name: 'title', body: 'ok' }, file('f', 'f', '1')), '/valid')
    good.assertBodyDeepEqual({ title: 'ok', files: 1 })
    ;(await send(server, multipart({ name: 'title', body: 'x' }), '/valid')).assertStatus(422)
    ;(await send(server, multipart(), '/valid')).assertStatus(422)
  })

  test('of another kind passes by', async () => {
    const { server, seen } = makeServer()
    for (const type of ['multipart/mixed; boundary=x', 'multipart/form-datax; boundary=x', 'text/plain']) {
      ;(await send(server, { ...multipart({ name: 'a', body: '1' }), type })).assertStatus(200)
      expect(seen.body).toBeUndefined()
    }
    await server.inject.post('/upload', { body: { a: 1 } })
    expect(seen.body).toEqual({ a: 1 })
    expect(seen.files).toEqual([])
  })

  test('that is encoded is 415, identity means no encoding', async () => {
    const { server } = makeServer()
    const { body, type } = multipart({ name: 'a', body: '1' })
    const encoded = (encoding: string) =>
      server.inject.post('/upload', { body, headers: { 'content-type': type, 'content-encoding': encoding } })
    ;(await encoded('gzip')).assertStatus(415)
    ;(await encoded('identity')).assertStatus(200)
  })
})

describe('limits', () => {
  const tooLarge = (code: string) => ({ code })
  const cases: [string, object, Form, string][] = [
    ['a file', { maxFileSize: 10 }, multipart(file('f', 'f', 'x'.repeat(11))), 'FileTooLargeError'],
    ['the form', { maxTotalSize: 500 }, multipart({ name: 'a', body: 'x'.repeat(500) }), 'FileTooLargeError'],
    ['a field', { maxFieldSize: 10 }, multipart({ name: 'a', body: 'x'.repeat(11) }), 'PayloadTooLargeError'],
    ['files', { maxFiles: 1 }, multipart(file('a', 'a', '1'), file('b', 'b', '2')), 'PayloadTooLargeError'],
    ['no file', { maxFiles: 0 }, multipart(file('a', 'a', '1')), 'PayloadTooLargeError'],
    ['fields', { maxFields: 1 }, multipart({ name: 'a', body: '' }, { name: 'b', body: '' }), 'PayloadTooLargeError'],
    [
      'parts',
      { maxFiles: 1, maxFields: 1 },
      multipart(file('a', '', ''), file('b', '', ''), file('c', '', '')),
      'PayloadTooLargeError',
    ],
  ]
  for (const storage of ['memory', 'disk'] as const) {
    test.each(cases)(`on %s, in ${storage}`, async (_what, options, form, code) => {
      const folder = makeFolder()
      const { server, seen } = makeServer({ ...options, storage, folder })
      const res = await send(server, form)
      res.assertStatus(413)
      res.assertBodySubset(tooLarge(code))
      expect(seen.runs).toBe(0)
      expect(leftIn(folder)).toEqual([])
    })
  }

  test('let exactly as much through', async () => {
    const form = multipart({ name: 'a', body: 'x'.repeat(10) }, file('f', 'f', 'y'.repeat(10)))
    const exact = { maxFileSize: 10, maxFieldSize: 10, maxFiles: 1, maxFields: 1, maxTotalSize: form.body.length }
    ;(await send(makeServer(exact).server, form)).assertStatus(200)
    ;(await send(makeServer({ ...exact, maxTotalSize: form.body.length - 1 }).server, form)).assertStatus(413)
  })

  test('have defaults: a megabyte for a file, ten for a form', async () => {
    const { server } = makeServer()
    const megabyte = 'x'.repeat(1024 ** 2)
    ;(await send(server, multipart(file('f', 'f', megabyte)))).assertStatus(200)
    ;(await send(server, multipart(file('f', 'f', `${megabyte}x`)))).assertStatus(413)
    ;(await send(server, multipart(...Array.from({ length: 9 }, (_, i) => file('f', `${i}`, megabyte))))).assertStatus(
      200,
    )
    ;(await send(server, multipart(...Array.from({ length: 10 }, (_, i) => file('f', `${i}`, megabyte))))).assertStatus(
      413,
    )
  })

  test('a larger maxFileSize makes room in the form', async () => {
    const { server } = makeServer({ maxFileSize: '12mb' })
    ;(await send(server, multipart(file('f', 'f', Buffer.alloc(12 * 1024 ** 2))))).assertStatus(200)
  })

  // hono CVE-2026-54288: a length that understates the body got around the limit.
  test('count the received bytes, not content-length', async () => {
    const { server } = makeServer({ maxTotalSize: 1000 })
    const { body, type } = multipart(file('f', 'f', 'x'.repeat(2000)))
    async function* chunks() {
      yield body
    }
    const headers = { 'content-type': type, 'content-length': '10' }
    ;(await server.inject.post('/upload', { body: chunks(), headers })).assertStatus(413)
  })
})

describe('storage on disk', () => {
  test('gives a path that only this user can read, under a name of its own, and removes it after the response', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    let path = ''
    server.post('/disk', async (req) => {
      path = req.file('f')!.path!
      expect(path.startsWith(folder)).toBe(true)
      expect(path).not.toContain('evil')
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
      return await readFile(path, 'utf8')
    })
    const res = await send(server, multipart(file('f', '../../evil', 'content')), '/disk')
    res.assertBodyDeepEqual('content')
    await gone(path)
  })

  test('gives the bytes, of a file that was moved too; for one that was removed a clear error', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    const kept: UploadedFile[] = []
    server.post('/bytes', async (req) => {
      const [moved, left] = req.files as [UploadedFile, UploadedFile]
      kept.push(left)
      const before = Buffer.from(moved.bytes()).toString()
      await moved.moveTo(join(folder, 'kept'))
      return [before, Buffer.from(moved.bytes()).toString(), left.bytes() instanceof Uint8Array, left.bytes().length]
    })
    const res = await send(server, multipart(file('a', 'a', 'content'), file('b', 'b', '')), '/bytes')
    res.assertBodyDeepEqual(['content', 'content', true, 0])
    await expect.poll(() => leftIn(folder)).toEqual([])
    expect(() => kept[0]!.bytes()).toThrow(/bytes\(\) of the file "b": it is removed.*Read it before/)
    await expect(kept[0]!.stream().toArray()).rejects.toThrow(/stream\(\) of the file "b": it is removed/)
    await expect(kept[0]!.moveTo(join(folder, 'late'))).rejects.toThrow(/moveTo\(\) of the file "b": it is removed/)
    // Its failure waits for its reader: without one, it must not end the process.
    const unread = kept[0]!.stream()
    await pause(20)
    await expect(unread.toArray()).rejects.toThrow(/stream\(\) of the file "b": it is removed/)
  })

  test('waits for no named pipe that someone has put in the place of a file', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    server.post('/pipe', async (req) => {
      const moved = req.file('f')!
      await moved.moveTo(join(folder, 'kept'))
      rmSync(join(folder, 'kept'))
      execFileSync('mkfifo', [join(folder, 'kept')])
      expect(() => moved.bytes()).toThrow(/is a named pipe/)
      await expect(moved.stream().toArray()).rejects.toThrow(/is a named pipe/)
      return 'done'
    })
    ;(await send(server, multipart(file('f', 'f', 'x')), '/pipe')).assertBodyDeepEqual('done')
  })

  test('streams a file to its end that is removed after the response, and closes it', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder, maxFileSize: '2mb' })
    const content = Buffer.alloc(1_500_000, 'abc')
    const streams: Readable[] = []
    server.post('/later', async (req) => {
      const stream = req.file('f')!.stream()
      await once(stream, 'readable')
      streams.push(stream)
      return 'answered'
    })
    await send(server, multipart(file('f', 'f', content)), '/later')
    await expect.poll(() => leftIn(folder)).toEqual([])
    const closed = once(streams[0]!, 'close')
    expect(Buffer.compare(Buffer.concat(await streams[0]!.toArray()), content)).toBe(0)
    await closed
  })

  test('keeps a moved file, and the path follows', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    const target = join(folder, 'deep/er/kept.txt')
    server.post('/keep', async (req) => {
      await req.file('f')!.moveTo(target)
      return req.file('f')!.path === target
    })
    ;(await send(server, multipart(file('f', 'f', 'kept')), '/keep')).assertBodyDeepEqual(true)
    await pause(30)
    expect(await readFile(target, 'utf8')).toBe('kept')
    expect(leftIn(folder)).toEqual([])
  })

  test('a file in memory can be moved, too', async () => {
    const folder = makeFolder()
    const { server } = makeServer()
    server.post('/keep', async (req) => {
      await req.file('f')!.moveTo(join(folder, 'kept'))
      return 'ok'
    })
    await send(server, multipart(file('f', 'f', 'kept')), '/keep')
    expect(await readFile(join(folder, 'kept'), 'utf8')).toBe('kept')
    expect(statSync(join(folder, 'kept')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['kept'])
  })

  const endings: [string, (req: Request) => unknown, number][] = [
    ['throws', () => Promise.reject(new Error('on purpose')), 500],
    ['answers', () => 'fine', 200],
    ['responds with the stream of the file', (req) => req.file('f')!.stream(), 200],
  ]
  test.each(endings)('removes the file when the handler %s', async (_how, handler, status) => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    server.post('/end', handler as () => unknown)
    ;(await send(server, multipart(file('f', 'f', 'x'.repeat(1000))), '/end')).assertStatus(status)
    await expect.poll(() => leftIn(folder)).toEqual([])
  })

  test('removes the file when validation refuses the form', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    server.post('/valid', { body: { type: 'object', required: ['a'] } }, () => 'never')
    ;(await send(server, multipart(file('f', 'f', 'x')), '/valid')).assertStatus(422)
    await expect.poll(() => leftIn(folder)).toEqual([])
  })

  test('does not remove a file that is still being sent', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder, maxFileSize: '4mb' })
    const content = Buffer.alloc(3 * 1024 ** 2, 'abc')
    server.post('/back', (req, res) => {
      const { path } = req.file('f')!
      async function* slowly() {
        for (let at = 0; at < content.length; at += 2 ** 20) {
          await pause(15)
          yield (await readFile(path!)).subarray(at, at + 2 ** 20)
        }
      }
      return res.stream(slowly())
    })
    server.post('/file', (req, res) => res.file(req.file('f')!.path!))
    for (const path of ['/back', '/file']) {
      const res = await send(server, multipart(file('f', 'f', content)), path)
      expect(Buffer.compare(res.raw(), content)).toBe(0)
      await expect.poll(() => leftIn(folder)).toEqual([])
    }
  })

  test('removes files that arrive after a middleware has given up waiting for them', async () => {
    const folder = makeFolder()
    const { server, seen } = makeServer({ storage: 'disk', folder })
    const answered = gate()
    server.use(async (_req, _res, next) => {
      setTimeout(answered.open, 20)
      const late = pause(5).then(() => Promise.reject(new Error('too late')))
      await Promise.race([next(), late])
    })
    const { body, type } = multipart(file('f', 'f', 'content'))
    async function* slow() {
      yield body.subarray(0, -10)
      await answered.opened
      yield body.subarray(-10)
    }
    const res = await server.inject.post('/upload', { body: slow(), headers: { 'content-type': type } })
    res.assertStatus(500)
    await expect.poll(() => seen.runs).toBe(1)
    await expect.poll(() => leftIn(folder)).toEqual([])
  })

  test('removes everything when the server closes, the folder as well', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    await send(server, multipart(file('f', 'f', 'x')))
    expect(readdirSync(folder)).toHaveLength(1)
    await server.close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('makes its folder again when someone has removed it', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    ;(await send(server, multipart(file('f', 'f', 'x')))).assertStatus(200)
    await expect.poll(() => leftIn(folder)).toEqual([])
    await rm(join(folder, readdirSync(folder)[0]!), { recursive: true })
    ;(await send(server, multipart(file('f', 'f', 'x')))).assertStatus(200)
  })
})

describe('a route', () => {
  test('has limits of its own, or none of it', async () => {
    const { server, seen } = makeServer({ maxFileSize: 10 })
    const route = (path: string, options: RouteOptions) =>
      server.post(path, options, (req) => ({ files: req.files.length, body: req.body !== undefined }))
    route('/large', { upload: { maxFileSize: 100 } })
    route('/small', { upload: { maxFiles: 0 } })
    route('/off', { upload: false })
    const form = multipart(file('f', 'f', 'x'.repeat(50)))
    ;(await send(server, form)).assertStatus(413)
    ;(await send(server, form, '/large')).assertBodyDeepEqual({ files: 1, body: true })
    ;(await send(server, form, '/small')).assertBodySubset({ code: 'PayloadTooLargeError' })
    ;(await send(server, form, '/off')).assertBodyDeepEqual({ files: 0, body: false })
    expect(seen.runs).toBe(0)
  })

  test('that reads nothing can read the body itself', async () => {
    const { server } = makeServer()
    server.post('/raw', { upload: false }, async (req) => {
      let size = 0
      for await (const chunk of req.raw.stream()) size += chunk.length
      return size
    })
    const form = multipart(file('f', 'f', 'x'.repeat(5000)))
    ;(await send(server, form, '/raw')).assertBodyDeepEqual(form.body.length)
  })

  test('that reads nothing, with a schema for the body: 415', async () => {
    const { server } = makeServer()
    server.post('/off', { upload: false, body: { type: 'object' } }, () => 'never')
    ;(await send(server, multipart({ name: 'a', body: '1' }), '/off')).assertStatus(415)
  })

  test('reads nothing from clients that may not enter, and runs before its own middlewares', async () => {
    const { server } = makeServer()
    const order: string[] = []
    const watch = (name: string) =>
      async function named(req: Request, _res: unknown, next: () => void | Promise<void>) {
        order.push(`${name} ${req.files.length}`)
        await next()
      }
    server.use(watch('scope') as never)
    server.post('/order', { middlewares: [watch('route') as never] }, () => 'ok')
    server.post('/closed', { middlewares: [] }, () => 'never')
    await send(server, multipart(file('f', 'f', 'x')), '/order')
    expect(order).toEqual(['scope 0', 'route 1'])
    const missing = await send(server, multipart(file('f', 'f', 'x')), '/nowhere')
    missing.assertStatus(404)
  })

  test('shows the step in explain', async () => {
    const { server } = makeServer()
    await server.ready()
    const steps = (method: string, path: string) => server.explain(method, path).steps.map(({ name }) => name)
    server.get('/page', () => 'x')
    expect(steps('POST', '/upload')).toContain('upload')
    expect(steps('GET', '/page')).not.toContain('upload')
  })

  test('in a scope with uploads of its own takes those', async () => {
    const { server } = makeServer({ maxFileSize: 10 })
    const album = definePlugin({
      name: 'album',
      scoped: true,
      setup(ctx) {
        ctx.register(upload({ maxFileSize: 100 }))
        ctx.post('/album', (req) => req.files.length)
      },
    })
    server.register(album())
    ;(await send(server, multipart(file('f', 'f', 'x'.repeat(50))), '/album')).assertBodyDeepEqual(1)
    ;(await send(server, multipart(file('f', 'f', 'x'.repeat(50))))).assertStatus(413)
  })
})

describe('options', () => {
  test.each<[object, RegExp]>([
    [{ maxFileSize: 'much' }, /"upload\.maxFileSize" is "much"; it takes a number of bytes/],
    [{ maxTotalSize: 0 }, /"upload\.maxTotalSize" is 0/],
    [{ maxFieldSize: -1 }, /"upload\.maxFieldSize" is -1/],
    [{ maxFiles: 1.5 }, /"upload\.maxFiles" is 1.5; it takes a whole number, 0 or more/],
    [{ maxFields: '3' }, /"upload\.maxFields" is "3"/],
    [{ storage: 'cloud' }, /"upload\.storage" is "cloud"; it takes "memory", "disk" or a sink/],
    [{ storage: { discard() {} } }, /"upload\.storage"/],
    [{ storage: { write() {}, discard: 1 } }, /"upload\.storage"/],
    [
      { storage: 'disk', folder: '/does/not/exist' },
      /"upload\.folder" is "\/does\/not\/exist"; it takes a folder that can/,
    ],
    [{ storage: 'disk', folder: 3 }, /"upload\.folder" is 3/],
    // Who writes null wants no limit, and would get the default.
    [{ maxFileSize: null }, /"upload\.maxFileSize" is null/],
    [{ maxTotalSize: null }, /"upload\.maxTotalSize" is null/],
    [{ maxFieldSize: null }, /"upload\.maxFieldSize" is null/],
    [{ maxFiles: null }, /"upload\.maxFiles" is null/],
    [{ storage: null }, /"upload\.storage" is null/],
    [{ maxFilesize: 1 }, /Did you mean "maxFileSize"/],
    [{ maxFiles: -1, storage: 'cloud' }, /2 options are wrong:\n.*maxFiles.*\n.*storage/],
  ])('%o is refused when the server is made', (options, message) => {
    expect(() => makeServer(options)).toThrow(message)
  })

  test('that are undefined for a route are as the plugin has them', async () => {
    const { server } = makeServer({ maxFileSize: 10 })
    server.post('/small', { upload: { maxFileSize: undefined, maxFiles: 2 } }, (req) => req.files.length)
    ;(await send(server, multipart(file('f', 'f', 'x'.repeat(50))), '/small')).assertStatus(413)
  })

  test.each<[unknown, RegExp]>([
    [true, /^POST \/x .*"upload" is true; it takes false, or an object with maxFileSize/],
    [{ maxFiles: 'x' }, /POST \/x .*"upload\.maxFiles"/],
    [{ storage: 'disk', folder: '/does/not/exist' }, /"upload\.folder" is "\/does/],
    [{ limit: 1 }, /POST \/x .*Unknown option "upload.limit"/],
  ])('of a route: %o', async (option, message) => {
    const { server } = makeServer()
    server.post('/x', { upload: option as false }, () => 'x')
    await expect(server.ready()).rejects.toThrow(message)
  })
})

function leftIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{32}$/.test(entry.name))
    .map(({ name }) => name)
}

async function gone(path: string): Promise<void> {
  await expect.poll(() => existsSync(path)).toBe(false)
}
