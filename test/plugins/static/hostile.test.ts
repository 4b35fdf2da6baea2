import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PolicyManager, type Response } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { isOtherSpelling, segmentsOf } from '../../../plugins/static/path.ts'
import { sendRaw } from '../../conformance/raw-client.ts'
import { pause } from '../../support/kernel.ts'
import { makeStatic, secret } from '../../support/static-files.ts'
import { traversals } from '../../support/traversals.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const { makeServer } = makeStatic(afterEach)
const refuse = (ran: () => false, res: Response) => {
  ran()
  res.unauthorized()
}
const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`

// ST-01.
describe('no spelling gets out of the root', () => {
  test.each(['/', '/assets'])('under %s: no byte of a secret, no 5xx', async (prefix) => {
    expect(traversals.length).toBeGreaterThan(200)
    const { server } = makeServer({ prefix })
    const { port } = await server.listen()
    const before = readdirSync('/proc/self/fd').length
    const paths = traversals.flatMap((spelling) => (prefix === '/' ? spelling : [prefix + spelling, spelling]))
    const faults: unknown[] = []
    for (const path of paths) {
      const { text, statuses } = await sendRaw(port, Buffer.from(request(path)).toString('latin1'))
      const out = [secret, 'root:', process.cwd()].filter((part) => text.includes(part))
      if (out.length > 0 || statuses.some((status) => status >= 500)) faults.push([path, statuses, out])
    }
    expect(faults).toEqual([])
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before)
    const { statuses } = await sendRaw(port, request(`${prefix === '/' ? '' : prefix}/a.txt`))
    expect(statuses).toEqual([200])
  })

  test('links may be let out, and dotfiles in, where that is wanted', async () => {
    const { get } = makeServer({ followSymlinks: true })
    expect((await get('/link-out.txt')).text()).toBe(secret)
    ;(await get('/.env')).assertStatus(404)
    const open = makeServer({ dotfiles: 'allow' })
    expect((await open.get('/.git/config')).text()).toBe(secret)
    ;(await open.get('/link-out.txt')).assertStatus(404)
    const denied = makeServer({ dotfiles: 'deny' })
    ;(await denied.get('/.env')).assertBodySubset({ code: 'FileForbiddenError' })
    ;(await denied.get('/.nothing')).assertStatus(403)
  })

  test.each<[kind: string, link: string, target: string, path: string]>([
    ['a dotfile of the root', 'settings', '.env', '/settings'],
    ['a folder with a dot in the root', 'repo', '.git', '/repo/config'],
    ['a dotfile outside of the root', 'out', '../.env', '/out'],
    ['a folder with a dot outside of the root', 'out', '../project/.git', '/out/config'],
    ['a folder that begins with two dots', 'out', '..old', '/out/config'],
    ['a dotfile in a folder of Kubernetes', 'out', '..2026_11_29_00_10_12.42/.env', '/out'],
  ])('no link leads to %s, unless dotfiles are allowed', async (_kind, link, target, path) => {
    for (const dotfiles of ['ignore', 'deny', 'allow']) {
      const { get, root } = makeServer({ followSymlinks: true, dotfiles })
      for (const folder of ['../project/.git', '..old', '..2026_11_29_00_10_12.42']) {
        mkdirSync(join(root, folder), { recursive: true })
        for (const name of ['config', '.env']) writeFileSync(join(root, folder, name), secret)
      }
      writeFileSync(join(root, '../.env'), secret)
      symlinkSync(target, join(root, link))
      const res = await get(path)
      expect([dotfiles, res.statusCode()]).toEqual([dotfiles, dotfiles === 'allow' ? 200 : 404])
    }
  })

  test.each([
    true,
    false,
  ])('the files of a ConfigMap of Kubernetes are served, with followSymlinks: %s', async (followSymlinks) => {
    const { get, root } = makeServer({ followSymlinks })
    const version = '..2026_11_29_00_10_12.1234567890'
    mkdirSync(join(root, version))
    writeFileSync(join(root, version, 'config.json'), '{}')
    symlinkSync(version, join(root, '..data'))
    symlinkSync('..data/config.json', join(root, 'config.json'))
    expect((await get('/config.json')).text()).toBe('{}')
    for (const folder of ['..data', version]) (await get(`/${folder}/config.json`)).assertStatus(404)
  })

  test('a folder above the root may begin with a dot, also where a link leads', async () => {
    const { root } = makeServer()
    const [inner, shared] = [join(root, '.app/public'), join(root, '.app/shared')]
    for (const folder of [inner, shared]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(shared, 'app.js'), 'shared')
    symlinkSync('../shared', join(inner, 'shared'))
    const { get } = makeServer({ root: inner, followSymlinks: true })
    expect((await get('/shared/app.js')).text()).toBe('shared')
  })

  test('a pipe, a device and a socket are not files, and no one waits for them', async () => {
    const { get, root } = makeServer()
    execFileSync('mkfifo', [join(root, 'pipe')])
    ;(await get('/pipe')).assertStatus(404)
  })
})

// Router and file server read one path in two ways: hono CVE-2026-29087 (%2F), CVE-2026-39406 and CVE-2026-39407 (//),
// @fastify/static CVE-2026-6414 (%2F), @fastify/middie CVE-2026-2880 (// and ;) and CVE-2026-14198 (%2F in a parameter).
describe('no spelling gets past a guard', () => {
  const spellings = [
    '/admin/report.txt',
    '//admin/report.txt',
    '/admin//report.txt',
    '///admin///report.txt',
    '/admin/report.txt/',
    '/admin%2Freport.txt',
    '/admin%2freport.txt',
    '/%2Fadmin/report.txt',
    '/admin/%2e/report.txt',
    '/./admin/./report.txt',
    '/docs/../admin/report.txt',
    '/docs/%2e%2e/admin/report.txt',
    '/docs/..%2fadmin/report.txt',
    '/docs%2f..%2fadmin%2freport.txt',
    '/%61dmin/report.txt',
    '/%61%64min/%72eport.txt',
    '/%2561dmin/report.txt',
    '/ADMIN/report.txt',
    '/Admin/Report.TXT',
    '/admin;/report.txt',
    '/admin;x=1/report.txt',
    '/;/admin/report.txt',
    '/admin/..;/admin/report.txt',
    '\\admin\\report.txt',
    '/\\admin/report.txt',
    '/admin\\report.txt',
    '/admin%5creport.txt',
    '/admin/report.txt%00',
    '/admin%00/report.txt',
    '/admin/report.txt%20',
    '/admin/report.txt.',
    '/admin./report.txt',
    '/admin/report.txt::$DATA',
    '/ａdmin/report.txt',
    '/admin/report.txt?x',
    '/admin/report.txt#x',
    'http://x/admin/report.txt',
    'http://x//admin/report.txt',
    'HTTP://x/%61dmin/report.txt',
  ]

  test.each([
    [
      'a policy',
      (server: ReturnType<typeof makeServer>['server'], ran: () => false) => {
        const manager = new PolicyManager({ area: { enter: () => ran() } })
        server.get('/admin/*', { policy: { manager, scope: 'area', handler: 'enter' } }, () => 'never')
      },
    ],
    [
      'a middleware of a group',
      (server: ReturnType<typeof makeServer>['server'], ran: () => false) => {
        server.router.group('/admin', [(_req, res) => refuse(ran, res)], (group) => {
          group.get('/*', () => 'never')
        })
      },
    ],
    [
      'a middleware that looks at the path',
      (server: ReturnType<typeof makeServer>['server'], ran: () => false) => {
        server.use((req, res, next) => (req.path.startsWith('/admin/') ? refuse(ran, res) : next()))
        server.get('/admin/*', (_req, res) => refuse(ran, res))
      },
    ],
  ])('by %s', async (_kind, protect) => {
    const { server } = makeServer()
    let asked = 0
    protect(server, () => {
      asked++
      return false
    })
    const { port } = await server.listen()
    for (const method of ['GET', 'HEAD']) {
      for (const path of spellings) {
        const raw = Buffer.from(request(path).replace('GET', method)).toString('latin1')
        const { statuses, text } = await sendRaw(port, raw)
        expect(statuses[0], `${method} ${path}`).not.toBe(200)
        expect(text, path).not.toContain('report.txt\r\n\r\nreport')
        expect(statuses[0], path).toBeLessThan(500)
      }
    }
    expect(asked).toBeGreaterThan(10)
  })

  test('on a disk that ignores case, or composes characters, another spelling of a name is refused', () => {
    expect(isOtherSpelling('/r/ADMIN/x', '/r/admin/x')).toBe(true)
    expect(isOtherSpelling('/r/e\u0301', '/r/\u00e9')).toBe(true)
    expect(isOtherSpelling('/r/admin/x', '/r/admin/x')).toBe(false)
    expect(isOtherSpelling('/r/link', '/r/admin/x')).toBe(false)
  })

  test('segments are decoded once, each by itself', () => {
    expect(segmentsOf('/a%20b/%2525')).toEqual(['a b', '%25'])
    expect(segmentsOf('/a/')).toEqual(['a', ''])
    for (const path of ['//a', '/a//b', '/a%2fb', '/a%5cb', '/a%00', '/%2e%2e/a', '/%', 'a'])
      expect(segmentsOf(path), path).toBeUndefined()
  })
})

// serve-static GHSA-cm22-4g7w-348p: a redirect to another host.
test('a folder is never redirected to another host', async () => {
  const { server, root } = makeServer()
  for (const name of ['evil.test', '@evil.test', 'a:b']) {
    mkdirSync(join(root, name))
    writeFileSync(join(root, name, 'index.html'), 'x')
  }
  const { port } = await server.listen()
  const paths = [
    '//evil.test',
    '///evil.test',
    '/\\evil.test',
    '/%2fevil.test',
    '/%5cevil.test',
    '/./evil.test',
    '/.//evil.test',
    '/evil.test/..//evil.test',
    '/@evil.test',
    '/a:b',
    'http://evil.test/evil.test',
    '/evil.test?x=//evil.test',
    '/docs%0d%0aX-Forged:%201',
  ]
  for (const path of paths) {
    const { text } = await sendRaw(port, request(path))
    const location = /^location: (.*)$/im.exec(text)?.[1]?.trim()
    if (location !== undefined) expect(new URL(location, 'http://here').host, path).toBe('here')
    expect(text).not.toMatch(/^x-forged/im)
  }
})

// HT-09 and ST-09 for files: nothing stays open.
describe('descriptors', () => {
  const open = () => readdirSync('/proc/self/fd').length

  test('are closed after responses of every kind, and when clients leave', async () => {
    const { server, root } = makeServer({ precompressed: true })
    writeFileSync(join(root, 'large.bin'), Buffer.alloc(8 * 1024 ** 2))
    server.get('/health', () => 'ok')
    const { port } = await server.listen()
    await sendRaw(port, request('/a.txt'))
    const before = open()
    const more = [
      '',
      'Range: bytes=0-0\r\n',
      'Range: bytes=99-\r\n',
      'If-None-Match: *\r\n',
      'If-Match: "x"\r\n',
      'Accept-Encoding: br\r\n',
    ]
    for (const header of more)
      for (const path of ['/a.txt', '/docs', '/docs/', '/bare', '/none']) await sendRaw(port, request(path, header))
    for (let i = 0; i < 100; i++) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(request('/large.bin')))
        socket.once('data', () => socket.destroy()).on('close', () => resolve())
      })
    }
    await expect.poll(open).toBeLessThanOrEqual(before)
  })

  test('are closed when setHeaders throws, and when a response is replaced', async () => {
    const { get, server } = makeServer({
      setHeaders() {
        throw new Error('on purpose')
      },
    })
    await server.ready()
    const before = open()
    for (let i = 0; i < 20; i++) (await get('/a.txt')).assertStatus(500)
    await expect.poll(open).toBeLessThanOrEqual(before)
  })
})

// ST-02.
test('500 requests for a thousand ranges each take no memory', async () => {
  const { server, root } = makeServer()
  writeFileSync(join(root, 'large.bin'), Buffer.alloc(100_000))
  const { port } = await server.listen()
  const ranges = `Range: bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-`).join(',')}\r\n`
  const ask = async () => {
    const { statuses, text } = await sendRaw(port, request('/large.bin', ranges))
    expect(statuses).toEqual([200])
    expect(text.length).toBeLessThan(101_000)
  }
  const held = async () => {
    await pause(10)
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  for (let i = 0; i < 100; i++) await ask()
  const before = await held()
  for (let i = 0; i < 400; i++) await ask()
  // What ends late is garbage later; what is kept stays.
  await expect.poll(async () => (await held()) - before).toBeLessThan(8 * 1024 ** 2)
})
