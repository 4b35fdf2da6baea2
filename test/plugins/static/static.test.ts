import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { definePlugin, type Middleware, type Response, RouteCollection, Server } from 'framework'
import { static as staticFiles } from 'framework/plugins/static'
import { afterEach, describe, expect, test } from 'vitest'
import { pause } from '../../support/kernel.ts'
import { makeStatic } from '../../support/static-files.ts'

const { makeServer } = makeStatic(afterEach)

describe('a file', () => {
  test('is sent with length, type, validators and nosniff', async () => {
    const { get } = makeServer()
    const res = await get('/a.txt')
    res.assertStatus(200)
    expect(res.text()).toBe('hello world')
    expect({ ...res.headers() }).toMatchObject({
      'content-length': '11',
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=0',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^W\/"b-[0-9a-f]+"$/),
      'last-modified': expect.stringMatching(/GMT$/),
    })
  })

  test('has the same headers for HEAD, and no body', async () => {
    const { get } = makeServer()
    const [whole, head] = [await get('/a.txt'), await get('/a.txt', {}, 'HEAD')]
    expect(head.statusCode()).toBe(200)
    expect({ ...head.headers() }).toEqual({ ...whole.headers() })
    expect(head.raw()).toHaveLength(0)
  })

  test('without bytes is a response without bytes', async () => {
    const { get } = makeServer()
    const res = await get('/empty.txt', { range: 'bytes=0-' })
    expect([res.statusCode(), res.headers()['content-range']]).toEqual([416, 'bytes */0'])
    expect((await get('/empty.txt')).headers()['content-length']).toBe('0')
  })

  test.each([
    ['/style.css', 'text/css; charset=utf-8'],
    ['/app.js', 'text/javascript; charset=utf-8'],
    ['/data.json', 'application/json; charset=utf-8'],
    ['/pic.svg', 'image/svg+xml'],
    ['/font.woff', 'font/woff'],
    ['/binary', 'application/octet-stream'],
    ['/', 'text/html; charset=utf-8'],
  ])('%s is %s', async (path, type) => {
    const { get } = makeServer()
    expect((await get(path)).headers()['content-type']).toBe(type)
  })

  test.each([
    ['/with%20space.txt', 'space'],
    ['/%C3%BCn%C3%AF%20%E2%80%93%20%E6%97%A5%E6%9C%AC.txt', 'unicode'],
    ['/100%25.txt', 'percent'],
    ['/a+b&c.txt', 'signs'],
    ['/%61.txt', 'hello world'],
    ['/a.txt?b=c', 'hello world'],
    ['/./docs/../a.txt', 'hello world'],
    ['/link-in.txt', 'hello world'],
  ])('%s is found', async (path, content) => {
    const { get } = makeServer()
    expect((await get(path)).text()).toBe(content)
  })

  test('has the headers of setHeaders, which override others', async () => {
    const paths: string[] = []
    const setHeaders = (res: Response, path: string) => {
      paths.push(path)
      res.header('cache-control', 'private').header('content-type', 'text/x-own')
    }
    const { get, root } = makeServer({ setHeaders })
    const res = await get('/a.txt')
    expect([res.headers()['cache-control'], res.headers()['content-type']]).toEqual(['private', 'text/x-own'])
    expect(paths).toEqual([join(root, 'a.txt')])
  })

  test('waits for headers of an async setHeaders, whose failure is a 500', async () => {
    const setHeaders = async (res: Response, path: string) => {
      await pause(1)
      if (path.endsWith('.css')) throw new Error('on purpose')
      res.header('x-late', 'yes')
    }
    const { get } = makeServer({ setHeaders })
    expect((await get('/a.txt')).headers()['x-late']).toBe('yes')
    ;(await get('/style.css')).assertStatus(500)
  })

  test('keeps its length when it is replaced while it is sent', async () => {
    const { server, root } = makeServer()
    const large = Buffer.alloc(3 * 1024 ** 2, 'a')
    writeFileSync(join(root, 'large.bin'), large)
    writeFileSync(join(root, 'other.bin'), 'short')
    const { port } = await server.listen()
    const response = await fetch(`http://127.0.0.1:${port}/large.bin`)
    const reader = response.body!.getReader()
    let size = (await reader.read()).value!.length
    await rename(join(root, 'other.bin'), join(root, 'large.bin'))
    for (let next = await reader.read(); !next.done; next = await reader.read()) size += next.value.length
    expect([size, Number(response.headers.get('content-length'))]).toEqual([large.length, large.length])
  })

  test.each([
    [{}, 'public, max-age=0'],
    [{ maxAge: 60 }, 'public, max-age=60'],
    [{ maxAge: '2h' }, 'public, max-age=7200'],
    [{ maxAge: '1y', immutable: true }, 'public, max-age=31536000, immutable'],
  ])('%o is kept: %s', async (options, value) => {
    const { get } = makeServer(options)
    expect((await get('/a.txt')).headers()['cache-control']).toMatch(value)
  })
})

describe('conditions', () => {
  test.each(['GET', 'HEAD'] as const)('a file that has not changed is 304 without a body, for %s', async (method) => {
    const { get } = makeServer()
    const { etag, 'last-modified': modified } = (await get('/a.txt')).headers() as Record<string, string>
    const cases: Record<string, string>[] = [
      { 'if-none-match': etag! },
      { 'if-none-match': `"x", ${etag}` },
      { 'if-none-match': etag!, 'cache-control': 'no-cache' },
      { 'if-modified-since': modified! },
    ]
    for (const headers of cases) {
      const res = await get('/a.txt', headers, method)
      res.assertStatus(304)
      expect(res.raw()).toHaveLength(0)
      expect(res.headers().etag).toBe(etag)
      expect(res.headers()['content-type']).toBeUndefined()
    }
  })

  test('one that has changed is sent, and a failed precondition is 412', async () => {
    const { get } = makeServer()
    ;(await get('/a.txt', { 'if-none-match': '"x"' })).assertStatus(200)
    ;(await get('/a.txt', { 'if-modified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' })).assertStatus(200)
    ;(await get('/a.txt', { 'if-modified-since': 'junk' })).assertStatus(200)
    ;(await get('/a.txt', { 'if-match': '"x"' })).assertStatus(412)
    ;(await get('/a.txt', { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' })).assertStatus(412)
  })
})

describe('conditions of validators that setHeaders has replaced', () => {
  const old = 'Mon, 01 Jan 2001 00:00:00 GMT'
  test.each<[headers: Record<string, string>, status: number]>([
    [{ 'if-match': '"own"' }, 200],
    [{ 'if-match': 'W/"b-0"' }, 412],
    [{ 'if-none-match': '"own"' }, 304],
    [{ 'if-modified-since': old }, 304],
    [{ 'if-unmodified-since': old }, 200],
    [{ 'if-unmodified-since': 'Sun, 31 Dec 2000 00:00:00 GMT' }, 412],
  ])('%o is %i', async (headers, status) => {
    const { get } = makeServer({
      setHeaders: (res: Response) => void res.header('etag', '"own"').header('last-modified', old),
    })
    ;(await get('/a.txt', headers)).assertStatus(status)
  })

  test('a tag that was removed matches nothing', async () => {
    let etag = ''
    const setHeaders = (res: Response) => {
      etag = String(res.getHeader('etag'))
      res.removeHeader('etag')
    }
    const { get } = makeServer({ setHeaders })
    ;(await get('/a.txt')).assertHeaderNotExists('etag')
    ;(await get('/a.txt', { 'if-none-match': etag })).assertStatus(200)
    ;(await get('/a.txt', { 'if-match': etag })).assertStatus(412)
  })
})

// ST-02, RFC 9110 section 14.
describe('ranges', () => {
  test.each<[string, number, string, string?]>([
    ['bytes=0-', 206, 'hello world', 'bytes 0-10/11'],
    ['bytes=0-0', 206, 'h', 'bytes 0-0/11'],
    ['bytes=6-8', 206, 'wor', 'bytes 6-8/11'],
    ['bytes=6-999', 206, 'world', 'bytes 6-10/11'],
    ['bytes=-5', 206, 'world', 'bytes 6-10/11'],
    ['bytes=-500', 206, 'hello world', 'bytes 0-10/11'],
    ['Bytes=0-0', 206, 'h', 'bytes 0-0/11'],
    ['bytes=11-', 416, '', 'bytes */11'],
    ['bytes=-0', 416, '', 'bytes */11'],
    ['bytes=999999999999999-', 416, '', 'bytes */11'],
    ['bytes=5-1', 200, 'hello world'],
    ['bytes=99999999999999999999-', 200, 'hello world'],
    ['bytes=0-1,3-4', 200, 'hello world'],
    ['bytes=0-1, 0-1, 0-1', 200, 'hello world'],
    ['bytes=', 200, 'hello world'],
    ['bytes=-', 200, 'hello world'],
    ['bytes=a-b', 200, 'hello world'],
    ['bytes=0x1-2', 200, 'hello world'],
    ['lines=0-1', 200, 'hello world'],
    [`bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-${i}`).join(',')}`, 200, 'hello world'],
  ])('%s', async (range, status, content, contentRange) => {
    const { get } = makeServer()
    const res = await get('/a.txt', { range })
    expect([res.statusCode(), res.text(), res.headers()['content-range']]).toEqual([status, content, contentRange])
    expect(res.headers()['content-length']).toBe(String(content.length))
  })

  // The class of CPDoS: a cache that keeps the refusal as long as the file responds to all clients with it.
  test('that are refused say nothing of how long that holds', async () => {
    const setHeaders = (res: Response) => void res.header('expires', 'Wed, 21 Oct 2099 07:28:00 GMT')
    const { get } = makeServer({ maxAge: '1y', immutable: true, setHeaders })
    for (const [headers, status] of [
      [{ range: 'bytes=11-' }, 416],
      [{ 'if-match': '"x"' }, 412],
    ] as const) {
      const res = await get('/a.txt', headers)
      expect(res.statusCode()).toBe(status)
      for (const name of ['cache-control', 'expires', 'etag', 'last-modified', 'content-type'])
        res.assertHeaderNotExists(name)
    }
  })

  test('are for GET alone, and heeded with If-Range only while the file is the same', async () => {
    const { get } = makeServer()
    const range = 'bytes=0-0'
    const first = await get('/a.txt', { range }, 'HEAD')
    expect([first.statusCode(), first.headers()['content-length']]).toEqual([200, '11'])
    const { etag, 'last-modified': modified } = first.headers() as Record<string, string>
    const withIfRange = async (value: string) => (await get('/a.txt', { range, 'if-range': value })).statusCode()
    expect(await withIfRange(modified!)).toBe(206)
    expect(await withIfRange('Mon, 01 Jan 2001 00:00:00 GMT')).toBe(200)
    expect(await withIfRange(etag!)).toBe(200)
    expect(await withIfRange('"x"')).toBe(200)
  })
})

// ST-03.
describe('folders', () => {
  test('response with their index, and are redirected to their slash', async () => {
    const { get } = makeServer()
    expect((await get('/docs/')).text()).toBe('docs')
    expect((await get('/')).text()).toBe('<h1>home</h1>')
    const res = await get('/docs?a=1&b=//evil')
    expect([res.statusCode(), res.headers().location]).toEqual([301, '/docs/?a=1&b=//evil'])
  })

  test('are never listed', async () => {
    const { get } = makeServer()
    for (const path of ['/bare', '/bare/']) (await get(path)).assertBodySubset({ code: 'RouteNotFoundError' })
  })

  test('may have another index, several, or none, and no redirect', async () => {
    expect((await makeServer({ index: 'guide.txt' }).get('/docs/')).text()).toBe('guide')
    expect((await makeServer({ index: ['none.html', 'index.html'] }).get('/docs/')).text()).toBe('docs')
    ;(await makeServer({ index: false }).get('/docs/')).assertStatus(404)
    ;(await makeServer({ index: false }).get('/docs')).assertStatus(404)
    ;(await makeServer({ redirect: false }).get('/docs')).assertStatus(404)
  })

  test('a trailing slash is not a file', async () => {
    ;(await makeServer().get('/a.txt/')).assertStatus(404)
  })

  test('endings that may be left out', async () => {
    const { get } = makeServer({ extensions: ['htm', '.html'] })
    expect((await get('/about')).text()).toBe('about')
    ;(await makeServer().get('/about')).assertStatus(404)
  })
})

describe('beside routes', () => {
  test('a route wins over a file, and a missing file falls through', async () => {
    const { server, get } = makeServer()
    server.get('/a.txt', () => 'route')
    server.get('/api', () => 'api')
    server.post('/style.css', () => 'posted')
    ;(await get('/a.txt')).assertBodyDeepEqual('route')
    ;(await get('/api')).assertBodyDeepEqual('api')
    ;(await get('/nothing.txt')).assertBodyDeepEqual({
      code: 'RouteNotFoundError',
      message: 'ROUTE_NOT_FOUND: Cannot GET /nothing.txt',
    })
    expect((await get('/style.css')).text()).toBe('a{}')
    ;(await get('/style.css', {}, 'POST')).assertBodyDeepEqual('posted')
    ;(await get('/a.txt', {}, 'POST')).assertStatus(405)
    ;(await get('/data.json', {}, 'POST')).assertStatus(404)
  })

  test('a wildcard route that hides the files is warned of', async () => {
    const { server, log } = makeServer({ prefix: '/assets' })
    server.get('/other/*', () => 'x')
    server.get('/*', () => 'x')
    await server.ready()
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^GET \/\* handles these requests before the files of .*public/),
    ])
  })

  test('under a prefix a missing file is 404 FileNotFoundError', async () => {
    const { server, get } = makeServer({ prefix: '/assets/' })
    server.get('/assets/own', () => 'own')
    expect((await get('/assets/a.txt')).text()).toBe('hello world')
    expect((await get('/assets/')).text()).toBe('<h1>home</h1>')
    expect((await get('/assets')).headers().location).toBe('/assets/')
    ;(await get('/assets/own')).assertBodyDeepEqual('own')
    for (const path of [
      '/assets/none',
      '/assets/bare/',
      '/assets/.env',
      '/assets/%2e%2e%2fsecret.txt',
      '/assets//a.txt',
    ])
      (await get(path)).assertBodyDeepEqual({
        code: 'FileNotFoundError',
        message: 'FILE_NOT_FOUND: the file does not exist',
      })
    for (const path of ['/a.txt', '/assetsa.txt', '/ASSETS/a.txt'])
      (await get(path)).assertBodySubset({ code: 'RouteNotFoundError' })
  })

  test('a list has several folders', async () => {
    const { root } = makeServer()
    const server = new Server({
      router: new RouteCollection(),
      plugins: { static: [{ root: join(root, 'docs') }, { root, prefix: '/all' }] },
    })
    expect((await server.inject.get('/guide.txt')).text()).toBe('guide')
    expect((await server.inject.get('/all/a.txt')).text()).toBe('hello world')
    ;(await server.inject.get('/all/guide.txt')).assertBodySubset({ code: 'FileNotFoundError' })
    await server.close()
  })

  test('every middleware runs before a file is sent, also one that is added later', async () => {
    const { server, get } = makeServer()
    const closed: Middleware = (_req, res) => void res.unauthorized()
    server.use(closed)
    const res = await get('/a.txt')
    expect([res.statusCode(), res.text()]).toEqual([401, ''])
  })

  test('a bracket in the prefix is written encoded', async () => {
    const { get } = makeServer({ prefix: '/%28app%29/caf%C3%A9' })
    for (const path of ['/(app)/caf%C3%A9/a.txt', '/%28app%29/caf%c3%a9/a.txt'])
      expect((await get(path)).text()).toBe('hello world')
  })

  test('in a scope the files are after the middlewares of the scope', async () => {
    const { server, get, root } = makeServer()
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.use((req, res, next) => (req.headers.authorization === 'yes' ? next() : void res.unauthorized()))
        ctx.register(staticFiles({ root, prefix: '/files' }))
      },
    })
    server.register(area(), { prefix: '/area' })
    for (const path of [
      '/area/files/a.txt',
      '/area/files',
      '/area/files/none',
      '/%61rea/files/a.txt',
      '/area/files/%2e%2e/files/a.txt',
    ])
      (await get(path)).assertStatus(401)
    expect((await get('/area/files/a.txt', { authorization: 'yes' })).text()).toBe('hello world')
    ;(await get('/area/files/none', { authorization: 'yes' })).assertBodySubset({ code: 'FileNotFoundError' })
    expect((await get('/a.txt')).text()).toBe('hello world')
  })

  test('the not-found handler responds for missing files', async () => {
    const { server, get } = makeServer()
    server.setNotFoundHandler((_req, res) => res.status(200).html('app'))
    expect((await get('/some/page')).text()).toBe('app')
    expect((await get('/a.txt')).text()).toBe('hello world')
  })
})

describe('a single-page application', () => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  const home = '<h1>home</h1>'

  test.each(['/users/7', '/users/', '/v1.2/users', '/bare', '/users?next=/a.b'])('%s is its page', async (path) => {
    const { get } = makeServer({ spa: true, maxAge: 60 })
    const [page, head, index] = [await get(path, browser), await get(path, browser, 'HEAD'), await get('/', browser)]
    expect([page.statusCode(), page.text()]).toEqual([200, home])
    expect(page.headers()).toMatchObject({ ...index.headers(), vary: 'Accept', 'cache-control': 'public, max-age=60' })
    expect([head.statusCode(), head.text(), head.headers()]).toEqual([200, '', page.headers()])
    ;(await get(path, { ...browser, 'if-none-match': String(page.headers().etag) })).assertStatus(304)
  })

  test.each<[method: 'GET' | 'POST', path: string, accept: string | undefined]>([
    ['GET', '/missing.js', browser.accept],
    ['GET', '/users/john.doe', browser.accept],
    ['GET', '/.well-known', browser.accept],
    ['GET', '/.git/config', browser.accept],
    ['GET', '/users//7', browser.accept],
    ['GET', '/users%2F7', browser.accept],
    ['POST', '/users/7', browser.accept],
    ['GET', '/api/none', '*/*'],
    ['GET', '/api/none', undefined],
    ['GET', '/api/none', ''],
    ['GET', '/api/none', 'application/json, text/plain, */*'],
    ['GET', '/api/none', 'text/html;q=0, */*'],
  ])('%s %s with %s is a 404 as without it', async (method, path, accept) => {
    const { get } = makeServer({ spa: true })
    const res = await get(path, accept === undefined ? {} : { accept }, method)
    res.assertStatus(404)
    res.assertBodySubset({ code: 'RouteNotFoundError' })
  })

  test('routes and files come first, and a 405 has its methods', async () => {
    const { server, get } = makeServer({ spa: true })
    server.get('/api/books', () => 'books')
    server.post('/login', () => 'in')
    ;(await get('/api/books', browser)).assertBodyDeepEqual('books')
    expect((await get('/docs/', browser)).text()).toBe('docs')
    expect((await get('/docs', browser)).headers().location).toBe('/docs/')
    expect((await get('/login', browser)).text()).toBe(home)
    for (const [method, path] of [
      ['POST', '/api/books'],
      ['GET', '/login'],
    ] as const) {
      const res = await get(path, method === 'POST' ? browser : { accept: '*/*' }, method)
      res.assertStatus(405)
      expect(res.headers().allow).toMatch(path === '/login' ? 'POST' : 'GET')
    }
  })

  test('may be under a prefix, beside other folders, precompressed and with other dotfiles', async () => {
    const { root } = makeServer()
    writeFileSync(join(root, 'index.html.gz'), gzipSync(home))
    const server = new Server({
      router: new RouteCollection(),
      plugins: {
        static: [
          { root: join(root, 'docs'), prefix: '/app/assets' },
          { root, prefix: '/app', spa: true, precompressed: true, dotfiles: 'deny' },
        ],
      },
    })
    const get = (path: string, more = {}) => server.inject.get(path, { headers: { ...browser, ...more } })
    expect((await get('/app/users/7')).text()).toBe(home)
    const small = await get('/app/users/7', { 'accept-encoding': 'gzip' })
    expect(small.headers()).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' })
    ;(await get('/app/.users')).assertBodySubset({ code: 'FileForbiddenError' })
    for (const path of ['/app/none.js', '/app/assets/none']) {
      ;(await get(path)).assertBodySubset({ code: 'FileNotFoundError' })
    }
    ;(await get('/app/users/7', { accept: '*/*' })).assertBodySubset({ code: 'FileNotFoundError' })
    ;(await get('/users/7')).assertBodySubset({ code: 'RouteNotFoundError' })
    await server.close()
  })

  test.each([{ index: false }, { index: 'app.html' }])('without an index file does not boot: %o', async (options) => {
    const { server, root } = makeServer({ spa: true, ...options })
    await expect(server.ready()).rejects.toThrow(
      `the option "static.spa" is true; it takes a root with an index file: ${root} has none (the option index)`,
    )
  })
})

describe('precompressed files', () => {
  const compressed = () => {
    const made = makeServer({ precompressed: true })
    const content = 'x'.repeat(5000)
    writeFileSync(join(made.root, 'big.js'), content)
    writeFileSync(join(made.root, 'big.js.br'), brotliCompressSync(content))
    writeFileSync(join(made.root, 'big.js.gz'), gzipSync(content))
    writeFileSync(join(made.root, 'only.js'), content)
    return made
  }

  test.each<[string | undefined, string | undefined]>([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['zstd', undefined],
    [undefined, undefined],
  ])('%s gets %s', async (accepted, encoding) => {
    const { get, root } = compressed()
    const res = await get('/big.js', accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect(res.headers()['content-encoding']).toBe(encoding)
    expect(res.headers()['content-type']).toBe('text/javascript; charset=utf-8')
    expect(res.headers().vary).toBe('Accept-Encoding')
    const file = encoding === undefined ? 'big.js' : `big.js.${encoding === 'br' ? 'br' : 'gz'}`
    expect(Buffer.compare(res.raw(), await readFile(join(root, file)))).toBe(0)
    const again = await get('/big.js', {
      ...(accepted && { 'accept-encoding': accepted }),
      'if-none-match': res.headers().etag as string,
    })
    again.assertStatus(304)
  })

  test('of a link are those beside the file that it leads to', async () => {
    const { get, root } = makeServer({ precompressed: true, followSymlinks: true })
    mkdirSync(join(root, '../shared'))
    writeFileSync(join(root, '../shared/app.js'), 'shared')
    symlinkSync('../shared/app.js', join(root, 'shared.js'))
    for (const folder of ['.', 'docs']) writeFileSync(join(root, folder, 'app.js.gz'), gzipSync('another file'))
    const headers = { 'accept-encoding': 'gzip' }
    const plain = await get('/shared.js', headers)
    expect([plain.headers()['content-encoding'], plain.text()]).toEqual([undefined, 'shared'])
    writeFileSync(join(root, '../shared/app.js.gz'), gzipSync('shared'))
    const packed = await get('/shared.js', headers)
    expect([packed.headers()['content-encoding'], gunzipSync(packed.raw()).toString()]).toEqual(['gzip', 'shared'])
  })

  test('one without a sibling is sent as it is', async () => {
    const { get } = compressed()
    const res = await get('/only.js', { 'accept-encoding': 'br' })
    expect([res.statusCode(), res.headers()['content-encoding'], res.text().length]).toEqual([200, undefined, 5000])
  })
})

describe('options', () => {
  test('a root may be relative, or a URL', async () => {
    const { root } = makeServer()
    for (const one of [relative(process.cwd(), root), pathToFileURL(root)]) {
      const server = new Server({ router: new RouteCollection(), plugins: [staticFiles({ root: one })] })
      expect((await server.inject.get('/a.txt')).text()).toBe('hello world')
      await server.close()
    }
  })

  test.each<[unknown, RegExp]>([
    [undefined, /"static" is missing/],
    [{}, /"static.root" is missing; it takes the path of a folder, or a file: URL/],
    [{ root: '' }, /"static.root"/],
    [
      { root: '/no/such/folder' },
      /"static.root" is "\/no\/such\/folder"; it takes a folder that exists; \/no\/such\/folder is not one/,
    ],
    [{ root: new URL('http://x/') }, /"static.root"/],
    [{ root: import.meta.filename }, /a folder that exists/],
    [[], /"static" is an empty array; it takes one or more folders/],
    [[{ root: '.' }, { root: 3 }], /"static\[1\].root" is 3/],
    [{ root: '.', prefix: 'assets' }, /"static.prefix" is "assets"; it takes a path such as "\/assets"/],
    [{ root: '.', prefix: '/a//b' }, /"static.prefix"/],
    [{ root: '.', prefix: '/a/../b' }, /"static.prefix"/],
    [{ root: '.', prefix: '/:id' }, /"static.prefix": the path "\/:id" has a parameter/],
    [{ root: '.', prefix: '/(a)' }, /"static.prefix": the path "\/\(a\)" has a "\(" .* encode it: %28/],
    [{ root: '.', prefix: '/[a]' }, /"static.prefix": .* has a "\["/],
    [{ root: '.', prefix: '/{a}' }, /"static.prefix": .* has a "\{"/],
    [{ root: '.', prefix: '/a\\b' }, /"static.prefix"/],
    [{ root: '.', prefix: '' }, /"static.prefix"/],
    [{ root: '.', dotfiles: 'maybe' }, /"static.dotfiles" is "maybe"/],
    [{ root: '.', index: 'a/b' }, /"static.index"/],
    [{ root: '.', index: true }, /"static.index"/],
    [{ root: '.', extensions: [1] }, /"static.extensions\[0\]" is 1/],
    [
      [{ root: '.' }, { rot: '.', maxAge: 'soon' }],
      /3 options are wrong:\n.*static\[1\].rot.*\n.*static\[1\].root.*\n.*maxAge/,
    ],
    [{ root: '.', maxAge: 'soon' }, /"static.maxAge" is "soon"; it takes seconds, 0 or more, or a time such as "7d"/],
    [{ root: '.', maxAge: -1 }, /"static.maxAge"/],
    [{ root: '.', maxAge: '' }, /"static.maxAge"/],
    [{ root: '.', maxAge: '1'.repeat(200) }, /"static.maxAge"/],
    [{ root: '.', immutable: 'yes' }, /"static.immutable" is "yes"; it takes true or false/],
    [{ root: '.', setHeaders: {} }, /"static.setHeaders"/],
    [{ root: '.', maxAge: null }, /"static.maxAge" is null/],
    [{ root: '.', prefix: null }, /"static.prefix" is null/],
    [{ root: '.', redirect: null }, /"static.redirect" is null/],
    [{ root: '.', maxage: 1 }, /Did you mean "maxAge"/],
  ])('%o is refused when it is registered', (options, message) => {
    const plugins = [staticFiles(options as { root: string })]
    expect(() => new Server({ router: new RouteCollection(), plugins })).toThrow(message)
  })
})
