import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AzureBlobStorageProvider,
  definePlugin,
  LocalStorageProvider,
  type Logger,
  MemoryStorageProvider,
  RouteCollection,
  S3StorageProvider,
  Server,
  Storage,
  type StorageProvider,
  type StoredUpload,
} from 'framework'
import { auth, json, storage as storagePlugin } from 'framework/plugins'
import { bearer } from 'framework/plugins/auth'
import { afterEach, describe, expect, test } from 'vitest'
import { keysOf } from '../../support/storage.ts'

const memory = () => new MemoryStorageProvider()

describe('new Storage', () => {
  test('is its default provider; use() gives each', async () => {
    const storage = new Storage({ a: memory(), b: memory() }, { defaultProvider: 'b' })
    await storage.putObject('k', 'in b')
    expect(storage.name).toBe('b')
    expect(await storage.use('b').getObject('k', 'text')).toBe('in b')
    expect(await storage.use('a').exists('k')).toBe(false)
    expect(() => storage.use('c' as 'a')).toThrow(/a, b/)
    expect(() => storage.use('toString' as 'a')).toThrow(expect.objectContaining({ code: 'StorageProviderError' }))
  })

  test('of one provider needs no default, of several it does', () => {
    expect(new Storage({ only: memory() }).name).toBe('only')
    expect(() => new Storage({ a: memory(), b: memory() })).toThrow(/a, b/)
    expect(() => new Storage({})).toThrow(expect.objectContaining({ code: 'OptionError' }))
    expect(() => new Storage({ a: memory() }, { defaultProvider: 'b' as 'a' })).toThrow(
      'the option "storage.defaultProvider" is "b"; it takes the name of a provider: a',
    )
    expect(() => new Storage({ a: memory() }, { default: 'a' } as object)).toThrow(/defaultProvider/)
    expect(() => new Storage(null as never)).toThrow(expect.objectContaining({ code: 'OptionError' }))
    expect(() => new Storage({ a: {} as StorageProvider })).toThrow(/storage.providers.a.put/)
    expect(() => new Storage({ a: Object.assign(memory(), { copy: 1 }) as never })).toThrow(/providers.a.copy/)
  })

  test('a custom provider has its own features', async () => {
    const inner = memory()
    const own: StorageProvider = {
      put: (key, body, type) => inner.put(key, body, type),
      read: (key) => inner.read(key),
      remove: (key) => inner.remove(key),
      head: (key) => inner.head(key),
      list: (prefix) => inner.list(prefix),
      copy: (from, to) => inner.copy(from, to),
      publicUrl: async (key) => `https://example.org/${key}`,
    }
    const storage = new Storage({ own })
    await storage.putObject('a', 'x')
    await storage.move('a', 'b')
    expect(await keysOf(storage)).toEqual(['b'])
    expect(await storage.getPublicUrl('b')).toBe('https://example.org/b')
    await expect(storage.getDownloadUrl('b')).rejects.toMatchObject({ code: 'StorageUrlError' })
    await expect(storage.health()).resolves.toBeUndefined()
    await expect(storage.close()).resolves.toBeUndefined()
  })

  test.each([
    [() => new LocalStorageProvider({ root: '' })],
    [() => new LocalStorageProvider({ root: 1 as never })],
    [() => new LocalStorageProvider({ root: new URL('https://example.org') })],
    [() => new LocalStorageProvider({ folder: '/tmp' } as never)],
    [() => new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: 'short' } })],
    [() => new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: [] } })],
    [() => new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: 's'.repeat(32), path: 'x' } })],
    [() => new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: 's'.repeat(32), origin: 'x' } })],
    [() => new S3StorageProvider({ bucket: '' })],
    [() => new S3StorageProvider({ bucket: 'b', endpoint: 'no address' })],
    [() => new S3StorageProvider({ bucket: 'b', forcePathStyle: 'yes' as never })],
    [() => new S3StorageProvider({ bucket: 'b', client: {} })],
    [() => new S3StorageProvider({ bucket: 'b', timeout: 0 })],
    [() => new S3StorageProvider({ bucketName: 'b' } as never)],
    [() => new AzureBlobStorageProvider({ container: '' })],
    [() => new AzureBlobStorageProvider({ container: 'c', connectionString: '' })],
    [() => new AzureBlobStorageProvider({ container: 'c', client: {} })],
  ])('invalid options are reported at once %#', (make) =>
    expect(make).toThrow(expect.objectContaining({ code: 'OptionError' })))

  test('everything that is wrong with the options of a provider is in one error, with its path', () => {
    const signedUrls = { secret: ['short'], pth: '/a', maxUploadSize: 'much' } as never
    expect(() => new LocalStorageProvider({ root: '/tmp', signedUrls })).toThrow(
      /^3 options are wrong:\n- Unknown option "LocalStorageProvider\.signedUrls\.pth"\. Did you mean "path"\?.*\n- the option "LocalStorageProvider\.signedUrls\.secret\[0\]" is a string \(not shown\);.*\n- the option "LocalStorageProvider\.signedUrls\.maxUploadSize" is "much"/,
    )
    const cdn = { url: 'https://cdn.example.org', keyPair: 'K' } as never
    expect(() => new S3StorageProvider({ bucket: 'b', cdn })).toThrow('Unknown option "S3StorageProvider.cdn.keyPair"')
  })

  test('the plugin reports wrong options where it is registered', () => {
    const make = (options: unknown) => () => new Server({ plugins: { storage: options as never } })
    expect(make(true)).toThrow(
      /^"plugins\.storage" needs at least one provider: \{ providers: \{ files: new LocalStorageProvider/,
    )
    expect(make({ providers: { a: { put() {} } } })).toThrow(
      '"plugins.storage.providers.a.read" is undefined; it takes a function',
    )
    expect(make({ providers: { a: memory() }, default: 'a' })).toThrow('Unknown option "plugins.storage.default"')
  })

  test('a secret that is too short is not called undefined, nor shown', () => {
    const make = (secret?: string) => () => new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: secret! } })
    expect(make('short one')).toThrow('signedUrls.secret" is a string (not shown); it takes a string of at least 16')
    expect(make('short one')).not.toThrow(/short one/)
    expect(make()).toThrow('signedUrls.secret" is missing; it takes')
  })
})

let folders: string[] = []
let servers: Server[] = []
const folder = () => {
  folders.push(mkdtempSync(join(tmpdir(), 'framework-storage-')))
  return folders.at(-1)!
}
afterEach(async () => {
  for (const server of servers) await server.close()
  for (const one of folders) rmSync(one, { recursive: true, force: true })
  servers = []
  folders = []
})
const nothing = () => {}
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
const quiet = { gracefulShutdown: false, drainWindow: 0, port: 0, host: '127.0.0.1' }
function started<One extends Server>(server: One): One {
  servers.push(server)
  return server
}

describe('the plugin', () => {
  test('provides the storage, and a missing object is a 404', async () => {
    const plugins = { storage: { providers: { files: memory(), other: memory() }, defaultProvider: 'files' } }
    const server = started(new Server({ ...quiet, router: new RouteCollection(), plugins }))
    server.get('/files/*', async (req, res) => {
      const key = req.params['*']!
      res.stream(await server.services.get('storage').getObject(key, 'stream'))
    })
    await server.services.get('storage').putObject('a/b.txt', 'here')
    expect((await server.inject.get('/files/a/b.txt')).text()).toBe('here')
    const missing = await server.inject.get('/files/a/c.txt')
    expect([missing.statusCode(), missing.body()]).toEqual([
      404,
      // The key is for the log, and not for a stranger.
      { code: 'FileNotFoundError', message: 'FILE_NOT_FOUND: the file does not exist' },
    ])
    const bad = await server.inject.get('/files/a%5Cb')
    expect([bad.statusCode(), (bad.body() as { code: string }).code]).toEqual([400, 'StorageKeyError'])
  })

  test('refuses wrong options when it is registered', () => {
    const make = (storage: object) => () => new Server({ ...quiet, plugins: { storage: storage as never } })
    expect(make({})).toThrow()
    expect(make({ providers: { a: memory() }, defaultProvider: 'b' })).toThrow()
    expect(make({ provider: { a: memory() } })).toThrow()
  })

  test('closes its providers with the server', async () => {
    let closed = 0
    const provider = Object.assign(memory(), { close: async () => void closed++ })
    const server = new Server({ ...quiet, plugins: { storage: { providers: { provider } } } })
    await server.ready()
    await server.close()
    expect(closed).toBe(1)
  })

  test('its health is a check', async () => {
    const broken = Object.assign(memory(), { ping: async () => Promise.reject(new Error('down')) })
    const storage = new Storage({ broken })
    const checks = { storage: () => storage.health() }
    const server = started(new Server({ ...quiet, logger: silent, plugins: { health: { checks } } }))
    expect((await server.inject.get('/health/ready')).body()).toMatchObject({ checks: { storage: 'error' } })
  })
})

describe('the sink for uploads', () => {
  const form = (filename: string, content: string, type = 'image/png') => {
    const data = new FormData()
    data.set('avatar', new File([content], filename, { type }))
    return data
  }
  function uploading(storage: Storage, options = {}) {
    const plugins = { upload: { storage: storage.sink({ prefix: 'avatars/', ...options }), maxFileSize: '1mb' } }
    const server = started(new Server({ ...quiet, router: new RouteCollection(), plugins }))
    server.post('/avatar', (req, res) => res.created(req.file<StoredUpload>('avatar')?.result))
    server.post('/refused', (_req, res) => res.badRequest({}))
    return server
  }

  test('keeps files under keys that no client chooses', async () => {
    const storage = new Storage({ main: memory() })
    const { port } = await uploading(storage).listen()
    const url = `http://127.0.0.1:${port}`
    const res = await fetch(`${url}/avatar`, { method: 'POST', body: form('../../me.PNG', 'picture') })
    const { key, provider, contentType } = (await res.json()) as StoredUpload
    expect([provider, contentType]).toEqual(['main', 'image/png'])
    expect(key).toMatch(/^avatars\/[\w-]{36}\.png$/)
    expect(await storage.getObject(key, 'text')).toBe('picture')
    expect((await storage.metadata(key)).contentType).toBe('image/png')

    for (const body of [form('x.png', 'y'), form('big', 'x'.repeat(2_000_000))]) {
      const refused = await fetch(`${url}/refused`, { method: 'POST', body }).catch(() => undefined)
      expect([400, 413, undefined]).toContain(refused?.status)
    }
    await expect.poll(() => keysOf(storage)).toEqual([key])
  })

  test('takes keys of your own, which are checked', async () => {
    const storage = new Storage({ main: memory() })
    const key = ({ filename }: { filename: string }) => `${filename}/../../x`
    const { port } = await uploading(storage, { key }).listen()
    const res = await fetch(`http://127.0.0.1:${port}/avatar`, { method: 'POST', body: form('a', 'x') })
    expect(res.status).toBe(400)
    expect(await keysOf(storage)).toEqual([])
    expect(() => storage.sink({ prefix: '../' })).toThrow(/STORAGE_KEY/)
    expect(() => storage.sink({ key: 'x' as never })).toThrow(expect.objectContaining({ code: 'OptionError' }))
    expect(() => storage.sink({ keys: 'x' } as never)).toThrow(expect.objectContaining({ code: 'OptionError' }))
  })
})

describe('signed addresses of a disk', () => {
  const secret = 'a secret of this test alone, long enough'
  async function serving(signedUrls: object = {}) {
    const root = folder()
    const disk = new LocalStorageProvider({ root, signedUrls: { secret, ...signedUrls } })
    const plugins = { storage: { providers: { disk } } }
    const server = started(new Server({ ...quiet, router: new RouteCollection(), plugins }))
    const { port } = await server.listen()
    const origin = `http://127.0.0.1:${port}`
    const storage = server.services.get('storage')
    return { root, storage, at: async (path: string | Promise<string>) => `${origin}${await path}` }
  }

  test('give an object, in ranges too, that cannot run as a page', async () => {
    const { storage, at } = await serving()
    await storage.putObject('a b/ü#?.html', '<script>alert(1)</script>')
    const url = await at(storage.getDownloadUrl('a b/ü#?.html', 60))
    const res = await fetch(url)
    expect(res.status).toBe(200)
    expect(await res.text()).toBe('<script>alert(1)</script>')
    expect(Object.fromEntries(res.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': '25',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="_#?.html"; filename*=UTF-8''%C3%BC%23%3F.html`,
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
    })
    const part = await fetch(url, { headers: { range: 'bytes=1-6' } })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 1-6/25', 'script'])
    const beyond = await fetch(url, { headers: { range: 'bytes=99-' } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */25'])
    // A cache that keeps the refusal must not take it for the object.
    expect(['etag', 'last-modified', 'cache-control'].map((name) => beyond.headers.get(name))).toEqual([
      null,
      null,
      null,
    ])
    // Range is for GET alone (RFC 9110 section 14.2).
    const whole = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=1-6' } })
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '25'])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '25'])
    const known = await fetch(url, { headers: { 'if-none-match': res.headers.get('etag')! } })
    expect(known.status).toBe(304)
  })

  test('send it under the signed name, and of the signed type, still in a sandbox', async () => {
    const { storage, at } = await serving()
    await storage.putObject('c8df3683.txt', '<script>alert(1)</script>')
    const options = { filename: 'Angebot "März"\r\nset-cookie: a=1.html', disposition: 'inline' } as const
    const url = await at(
      storage.getDownloadUrl('c8df3683.txt', { ...options, contentType: 'text/html', expirySeconds: 60 }),
    )
    const headers = (await fetch(url)).headers
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': `inline; filename="Angebot _M_rz___set-cookie: a=1.html"; filename*=UTF-8''Angebot%20%22M%C3%A4rz%22%0D%0Aset-cookie%3A%20a%3D1.html`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
    expect(headers.get('set-cookie')).toBeNull()
    const plain = await at(storage.getDownloadUrl('c8df3683.txt', { disposition: 'inline' }))
    expect((await fetch(plain)).headers.get('content-disposition')).toBe('inline; filename="c8df3683.txt"')
    for (const forged of [
      url.replace('inline', 'attachment'),
      url.replace('text%2Fhtml', 'image%2Fpng'),
      url.replace(/disposition=[^&]*&/, ''),
      url.replace(/type=[^&]*&/, ''),
      `${plain}&type=text%2Fhtml`,
      `${url}&disposition=inline`,
    ])
      expect((await fetch(forged)).status).toBe(403)
    // An address for uploads with the same parts is another one.
    const upload = await at(storage.getUploadUrl('c8df3683.txt', 60, 'text/html'))
    expect((await fetch(upload)).status).toBe(403)
  })

  test.each([
    [{ filename: '' }],
    [{ filename: 'x'.repeat(256) }],
    [{ filename: 7 }],
    [{ disposition: 'form-data' }],
    [{ contentType: 'text/html\r\nx: y' }],
    [{ contentType: '' }],
    [{ expires: 60 }],
    [null],
  ])('options of an address that cannot be meant: %j', async (options) => {
    const { storage } = await serving()
    await expect(storage.getDownloadUrl('a', options as never)).rejects.toMatchObject({ code: 'OptionError' })
  })

  test('give one version whole while it is replaced, a part of it too', async () => {
    const { storage, at } = await serving()
    const versions = Array.from({ length: 6 }, (_, i) => String(i).repeat(100_000 * (i + 1)))
    await storage.putObject('hot', versions[0]!)
    const url = await at(storage.getDownloadUrl('hot', 60))
    let isDone = false
    const writing = (async () => {
      for (let i = 0; !isDone; i++) await storage.putObject('hot', versions[i % versions.length]!)
    })()
    const read = async (headers: Record<string, string>) => {
      const res = await fetch(url, { headers })
      return [res.headers.get('content-range') ?? '', await res.text()] as const
    }
    try {
      for (let i = 0; i < 30; i++) {
        const [[, text], [range, part]] = await Promise.all([read({}), read({ range: 'bytes=50000-' })])
        expect(versions.includes(text)).toBe(true)
        const version = versions.find((one) => one.startsWith(part.slice(0, 1)))!
        expect(range).toBe(`bytes 50000-${version.length - 1}/${version.length}`)
        expect(part === version.slice(50_000)).toBe(true)
      }
    } finally {
      isDone = true
      await writing
    }
  })

  // Only there a time can be set to the nanosecond.
  test.runIf(process.platform === 'linux')('give a file, whenever it was written', async () => {
    const { root, storage, at } = await serving()
    await storage.putObject('a', 'content')
    const file = join(root, 'a')
    const url = await at(storage.getDownloadUrl('a', 60))
    // As a floating-point number the first is the next millisecond; the second is cut to another one than it is rounded to.
    for (const written of ['2026-01-01T00:00:00.526999999Z', '1969-12-31T23:59:58.9997Z']) {
      execFileSync('touch', ['-d', written, file])
      expect(Math.floor(statSync(file).mtimeMs)).not.toBe(Number(statSync(file, { bigint: true }).mtimeMs))
      const res = await fetch(url, { signal: AbortSignal.timeout(2000) })
      expect([res.status, await res.text()]).toEqual([200, 'content'])
    }
  })

  test('hold for one method, one key, one content type and a time', async () => {
    const { storage, at } = await serving()
    await storage.putObject('a', 'x')
    await storage.putObject('b', 'secret')
    const url = await at(storage.getDownloadUrl('a', 60))
    const later = String(Math.floor(Date.now() / 1000) + 9999)
    const forged = [
      url.replace('/storage/a', '/storage/b'),
      url.replace(/expires=\d+/, `expires=${later}`),
      url.replace(/signature=(.)/, (_all, first) => `signature=${first === 'A' ? 'B' : 'A'}`),
      `${url}=`,
      url.replace(/&signature=.*/, ''),
      url.replace(/expires=\d+&/, ''),
      `${url}&type=text/html`,
      `${url}&expires=${later}`,
      url.replace('/storage/a', '/storage/'),
      url.replace(/signature=[^&]*/, 'signature='),
    ]
    for (const one of forged) {
      const res = await fetch(one)
      expect(res.status, one).toBe(403)
      expect(await res.text()).not.toContain('secret')
    }
    expect((await fetch(url, { method: 'PUT', body: 'y' })).status).toBe(403)
    expect((await fetch(await at(storage.getUploadUrl('a', 60)))).status).toBe(403)
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(404)
    expect((await fetch(await at(storage.getDownloadUrl('missing', 60)))).status).toBe(404)
    const short = await at(storage.getDownloadUrl('a', 1))
    await expect.poll(async () => (await fetch(short)).status).toBe(403)
    expect(await storage.getObject('a', 'text')).toBe('x')
  })

  test('take an object, of the type that was named and no larger than they may', async () => {
    const { root, storage, at } = await serving({ maxUploadSize: 1000 })
    const put = async (key: string, body: BodyInit, headers: Record<string, string>, type?: string) =>
      (await fetch(await at(storage.getUploadUrl(key, 60, type)), { method: 'PUT', body, headers })).status
    expect(await put('a.json', '{"a":1}', { 'content-type': 'application/json' }, 'application/json')).toBe(204)
    expect(await storage.getObject('a.json', 'text')).toBe('{"a":1}')
    expect((await storage.metadata('a.json')).contentType).toBe('application/json')
    expect(await put('b.png', 'x', { 'content-type': 'text/html' }, 'image/png')).toBe(403)
    expect(await put('c', '<p>', { 'content-type': 'text/html' })).toBe(204)
    expect((await storage.metadata('c')).contentType).toBe('application/octet-stream')
    expect(await put('d', 'x'.repeat(1001), {})).toBe(413)
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
    })
    const init = { method: 'PUT', body: endless, duplex: 'half' } as RequestInit
    const url = await at(storage.getUploadUrl('e', 60))
    const outcome = await fetch(url, init).then(
      (res) => res.status,
      () => 413,
    )
    expect(outcome).toBe(413)
    expect(await keysOf(storage)).toEqual(['a.json', 'c'])
    await expect.poll(() => readdirSync(join(root, '.storage/tmp'))).toEqual([])
  })

  test('take an object only under the conditions of the request, and whole', async () => {
    const { storage, at } = await serving()
    const put = async (key: string, headers: Record<string, string>) =>
      (await fetch(await at(storage.getUploadUrl(key, 60)), { method: 'PUT', body: 'second', headers })).status
    await storage.putObject('a', 'first')
    const [past, future] = [new Date(0).toUTCString(), new Date(Date.now() + 60_000).toUTCString()]
    const { etag } = await storage.metadata('a')
    const refused: [Record<string, string>, number][] = [
      [{ 'if-none-match': '*' }, 412],
      [{ 'if-none-match': `"x", W/${etag}` }, 412],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-match': `W/${etag}` }, 412],
      [{ 'if-match': '*', 'if-none-match': '*' }, 412],
      [{ 'if-unmodified-since': past }, 412],
      [{ 'content-range': 'bytes 0-5/9' }, 400],
      [{ 'content-range': 'bytes 0-5/9', 'if-match': '"x"' }, 400],
    ]
    for (const [headers, status] of refused) expect(await put('a', headers), JSON.stringify(headers)).toBe(status)
    for (const match of ['*', etag]) expect(await put('new', { 'if-match': match })).toBe(412)
    expect([await storage.getObject('a', 'text'), await storage.exists('new')]).toEqual(['first', false])

    const met: Record<string, string>[] = [{ 'if-none-match': '*' }, { 'if-unmodified-since': past }]
    for (const headers of met) {
      expect(await put('new', headers)).toBe(204)
      await storage.deleteObject('new')
    }
    const shown = (await fetch(await at(storage.getDownloadUrl('a', 60)))).headers.get('etag')!
    expect(shown).toBe(etag)
    // With If-Match, the date does not count.
    expect(await put('a', { 'if-match': `"x", ${shown}`, 'if-unmodified-since': past })).toBe(204)
    expect(await put('a', { 'if-match': '*' })).toBe(204)
    expect(await put('a', { 'if-none-match': '"x"', 'if-unmodified-since': future })).toBe(204)
    expect(await put('a', { 'if-unmodified-since': 'no date' })).toBe(204)
    expect(await storage.getObject('a', 'text')).toBe('second')
  })

  test('have an origin and a path of their own, and secrets that can be replaced', async () => {
    const old = new LocalStorageProvider({ root: folder(), signedUrls: { secret, path: '/files/private' } })
    const signed = { secret: ['the newer secret, which signs', secret], path: '/files/private' }
    const { storage, at } = await serving(signed)
    await storage.putObject('a', 'x')
    expect(await storage.getDownloadUrl('a')).toMatch(/^\/files\/private\/a\?expires=\d+&signature=[\w-]+$/)
    expect((await fetch(await at(storage.getDownloadUrl('a')))).status).toBe(200)
    expect((await fetch(await at(old.downloadUrl!('a', 60, {})))).status).toBe(200)
    const elsewhere = { secret, origin: 'https://files.example.org' }
    const away = new LocalStorageProvider({ root: folder(), signedUrls: elsewhere })
    expect(await new Storage({ away }).getUploadUrl('a')).toMatch(/^https:\/\/files\.example\.org\/storage\/a\?/)
    await expect(storage.getPublicUrl('a')).rejects.toMatchObject({ code: 'StorageUrlError' })
  })

  describe('with auth', () => {
    const files = () => new LocalStorageProvider({ root: folder(), signedUrls: { secret } })
    const schemes = { token: bearer((token) => (token === 'ada' ? { id: 'ada' } : undefined)) }
    const bare = { ...quiet, logger: silent }
    const addressed = (path: string) => path.replace(/signature=.*/, 'signature=forged')

    test('need no other credential, and a request without a valid one is refused as any other', async () => {
      const plugins = {
        cors: { origin: 'https://app.example' },
        session: { secret },
        csrf: true,
        auth: { schemes },
        tenant: { resolve: () => undefined },
        storage: { providers: { files: files() } },
      }
      const server = started(new Server({ ...bare, router: new RouteCollection(), plugins }))
      const shown: unknown[] = []
      server.get('/*', { tenant: false }, (req) => shown.push(req.path))
      const storage = server.services.get('storage')
      await storage.putObject('a', 'one')
      const [get, put] = [await storage.getDownloadUrl('a'), await storage.getUploadUrl('a')]
      const origin = { origin: 'https://app.example' }
      for (const headers of [origin, { ...origin, authorization: 'Bearer eve' }]) {
        const res = await server.inject.get(get, { headers })
        res.assertStatus(200).assertHeader('access-control-allow-origin', 'https://app.example')
        expect([res.text(), res.headers()['www-authenticate']]).toEqual(['one', undefined])
      }
      ;(await server.inject.head(get)).assertStatus(200).assertHeader('content-length', '3')
      const preflight = { ...origin, 'access-control-request-method': 'PUT' }
      ;(await server.inject.options(put, { headers: preflight })).assertStatus(204)
      ;(await server.inject.put(put, { body: 'two' })).assertStatus(204)
      expect(await storage.getObject('a', 'text')).toBe('two')

      const other = get.replace('/storage/a', '/storage/b')
      for (const path of [
        addressed(get),
        other,
        put,
        '/storage/a',
        get.replace('/storage', ''),
        `${get}${'&a'.repeat(1001)}`,
      ]) {
        const res = await server.inject.get(path)
        res.assertStatus(401).assertHeader('www-authenticate', 'Bearer')
        res.assertHeader('vary', /authorization/i)
      }
      ;(await server.inject.put(get, { body: 'three' })).assertStatus(401)
      ;(await server.inject.delete(get)).assertStatus(401)
      ;(await server.inject.get(addressed(get), { headers: { authorization: 'Bearer ada' } })).assertStatus(403)
      expect([await storage.getObject('a', 'text'), shown]).toEqual(['two', []])
    })

    test.each(['before', 'after'])('registered %s auth', async (place) => {
      const both = [auth({ schemes }), storagePlugin({ providers: { files: files() } })]
      const server = started(new Server({ ...bare, plugins: place === 'after' ? both : both.reverse() }))
      const storage = server.services.get('storage')
      await storage.putObject('a', 'one')
      const path = await storage.getDownloadUrl('a')
      expect((await server.inject.get(path)).text()).toBe('one')
      ;(await server.inject.get(addressed(path))).assertStatus(place === 'after' ? 401 : 403)
    })

    test('let no one in where another scope serves them, or a scope below has auth', async () => {
      const own = files()
      const inner = definePlugin({
        name: 'inner',
        scoped: true,
        async setup(ctx) {
          await ctx.register(storagePlugin({ providers: { own } }))
          ctx.get('/storage/:key', () => 'a route')
        },
      })
      const server = started(new Server({ ...bare, plugins: [auth({ schemes }), inner()] }))
      server.get('/storage/other/*', () => 'a route of the server')
      for (const key of ['a', 'other/a', 'nothing/a'])
        (await server.inject.get(await own.downloadUrl!(key, 60, {}))).assertStatus(401)

      const outer = files()
      const guarded = definePlugin({
        name: 'guarded',
        prefix: '/storage',
        async setup(ctx) {
          await ctx.register(auth({ schemes }))
          ctx.get('/*', () => 'a route')
        },
      })
      const open = started(new Server({ ...bare, plugins: [storagePlugin({ providers: { outer } }), guarded()] }))
      await open.services.get('storage').putObject('a', 'one')
      expect((await open.inject.get(await outer.downloadUrl!('a', 60, {}))).text()).toBe('one')
      ;(await open.inject.get('/storage/a')).assertStatus(403)
    })
  })

  test('after a plugin that reads bodies they refuse a body that it has read', async () => {
    const files = new LocalStorageProvider({ root: folder(), signedUrls: { secret } })
    const plugins = [json(), storagePlugin({ providers: { files } })]
    const server = started(new Server({ ...quiet, router: new RouteCollection(), logger: silent, plugins }))
    const { port } = await server.listen()
    const storage = server.services.get('storage')
    const headers = { 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}${await storage.getUploadUrl('a.json', 60)}`
    expect((await fetch(url, { method: 'PUT', body: '{"a":1}', headers })).status).toBe(500)
    expect(await storage.exists('a.json')).toBe(false)
  })

  test('of one disk are invalid for another with the same secret', async () => {
    const disk = (path: string) => new LocalStorageProvider({ root: folder(), signedUrls: { secret, path } })
    const providers = { open: disk('/open'), closed: disk('/closed') }
    const plugins = { storage: { providers, defaultProvider: 'open' } }
    const server = started(new Server({ ...quiet, router: new RouteCollection(), logger: silent, plugins }))
    const { port } = await server.listen()
    const storage = server.services.get('storage')
    for (const name of ['open', 'closed'] as const) await storage.use(name).putObject('a', name)
    const swapped = async (url: string) => `http://127.0.0.1:${port}${url.replace('/open/', '/closed/')}`
    expect((await fetch(await swapped(await storage.getDownloadUrl('a')))).status).toBe(403)
    const upload = await swapped(await storage.getUploadUrl('a'))
    expect((await fetch(upload, { method: 'PUT', body: 'forged' })).status).toBe(403)
    expect(await storage.use('closed').getObject('a', 'text')).toBe('closed')
  })

  test('two disks cannot share a path', () => {
    const disk = () => new LocalStorageProvider({ root: folder(), signedUrls: { secret } })
    const make =
      (b: LocalStorageProvider, a = b) =>
      () =>
        new Server({ ...quiet, plugins: { storage: { providers: { a, b }, defaultProvider: 'a' } } })
    expect(make(disk(), disk())).toThrow(
      '"plugins.storage.providers.b.signedUrls.path" is "/storage"; it takes a path of its own for each disk',
    )
    expect(make(disk())).not.toThrow()
  })
})
