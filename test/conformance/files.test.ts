import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makePipe } from '../support/pipe.ts'
import { makeTree, secret } from '../support/static-files.ts'
import { traversals } from '../support/traversals.ts'
import { losesStreamLength } from './gaps.ts'
import { sendRaw } from './raw-client.ts'
import { type SharedApp, shareApp, type Target, targets } from './targets.ts'

const head = (path: string, more = '') =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`)
const posting = (length: number) =>
  `POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`
const part = '--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'

/** Files and uploads, over a socket. */
function filesConformance(target: Target): void {
  describe(`files: ${target.name}`, () => {
    const { base, root } = makeTree()
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    let app: SharedApp
    let port = 0
    beforeAll(async () => {
      app = await shareApp(target, { root, folder }, { file: 'files-app.mjs' })
      port = app.port
    })
    afterAll(async () => {
      await app?.stop()
      for (const path of [base, folder]) rmSync(path, { recursive: true, force: true })
    })

    const url = (path: string) => `http://127.0.0.1:${port}${path}`
    const form = (size: number) => {
      const data = new FormData()
      data.append('t', 'é')
      data.append('f', new File(['x'.repeat(size)], 'ü.txt', { type: 'text/plain' }))
      return { method: 'POST', body: data }
    }
    const leftIn = () => readdirSync(folder, { recursive: true }).filter((name) => /[\\/]/.test(String(name)))
    const openFiles = () =>
      readdirSync(`/proc/${app.pid}/fd`).filter((fd) => {
        try {
          const file = readlinkSync(`/proc/${app.pid}/fd/${fd}`)
          return file.startsWith(folder) || file.startsWith(base)
        } catch {
          return false
        }
      })

    test('ST-01 no spelling gets out of the root', async () => {
      const look = async (path: string) => {
        const { text, statuses } = await sendRaw(port, head(path).toString('latin1'))
        expect(text, path).not.toContain(secret)
        expect(text, path).not.toContain('root:')
        expect(
          statuses.every((status) => status < 500),
          `${path}: ${statuses}`,
        ).toBe(true)
      }
      const paths = traversals.flatMap((one) => [one, `/assets${one}`])
      for (let i = 0; i < paths.length; i += 20) await Promise.all(paths.slice(i, i + 20).map(look))
    })

    test('ST-04 sends files with validators, ranges, and 304', async () => {
      const whole = await fetch(url('/a.txt'))
      expect([whole.status, await whole.text()]).toEqual([200, 'hello world'])
      if (!losesStreamLength(target)) expect(whole.headers.get('content-length')).toBe('11')
      expect(whole.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      const part = await fetch(url('/a.txt'), { headers: { range: 'bytes=-5' } })
      expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
        206,
        'world',
        'bytes 6-10/11',
      ])
      const same = await fetch(url('/a.txt'), { headers: { 'if-none-match': whole.headers.get('etag')! } })
      expect(same.status).toBe(304)
      const bare = await fetch(url('/a.txt'), { method: 'HEAD' })
      expect([bare.status, bare.headers.get('content-length')]).toEqual([200, '11'])
      const folder = await fetch(url('/docs'), { redirect: 'manual' })
      expect([folder.status, folder.headers.get('location')]).toEqual([301, '/docs/'])
      expect(await (await fetch(url('/assets/none'))).json()).toMatchObject({ code: 'FileNotFoundError' })
      expect(await (await fetch(url('/%C3%BCn%C3%AF%20%E2%80%93%20%E6%97%A5%E6%9C%AC.txt'))).text()).toBe('unicode')
    })

    test('waits for no named pipe, and other files are sent meanwhile', async () => {
      makePipe(join(root, 'pipe'))
      const pipes = ['/sent/pipe', '/assets/pipe', '/pipe'].flatMap((path) => [path, path, path, path])
      const answers = pipes.map(async (path) => (await fetch(url(path))).status)
      expect(await (await fetch(url('/sent/a.txt'))).text()).toBe('hello world')
      expect(await Promise.all(answers)).toEqual(pipes.map(() => 404))
    })

    test('takes a form, and sends a file of it back', async () => {
      const files = [['f', 'ü.txt', 'text/plain', 100_000]]
      expect(await (await fetch(url('/upload'), form(100_000))).json()).toEqual({ body: { t: 'é' }, files })
      for (const path of ['/stream', '/file'])
        expect(await (await fetch(url(path), form(100_000))).text()).toBe('x'.repeat(100_000))
      for (const path of ['/memory', '/bytes'])
        expect(await (await fetch(url(path), form(100_000))).json()).toBe(100_000)
    })

    test('BO-08 BO-09 refuses files that are too large or malformed', async () => {
      const body = part + 'x'.repeat(2.2 * 1024 ** 2)
      const large = await sendRaw(port, posting(9_000_000) + body, { answers: 1 })
      expect(large.statuses).toEqual([413])
      expect(large.text).toContain('FileTooLargeError')
      const bad = await sendRaw(port, `${posting(20)}--c\r\nContent-Dispo..`, { answers: 1 })
      expect(bad.statuses).toEqual([400])
    })

    test('BO-09 50 uploads that are aborted half way leave no file and no open descriptor', async () => {
      const half = Buffer.from(posting(1_000_000) + part + 'x'.repeat(300_000))
      const abort = (after: number) =>
        new Promise<void>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => socket.write(half))
          socket.on('error', () => {}).on('close', () => resolve())
          setTimeout(() => socket.destroy(), after)
        })
      for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 25 }, (_, i) => abort(5 + i)))
      await expect.poll(leftIn, { timeout: 30_000 }).toEqual([])
      await expect.poll(openFiles, { timeout: 30_000 }).toEqual([])
    })

    test('is alive at the end, without an error', async () => {
      expect(await (await fetch(url('/events'))).json()).toEqual([])
    })
  })
}

for (const target of targets) filesConformance(target)
