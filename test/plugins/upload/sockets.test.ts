import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { RouteCollection, Server } from 'framework'
import { upload } from 'framework/plugins/upload'
import { afterEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../../conformance/raw-client.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { gate } from '../../support/queues.ts'
import { withTypeScript } from '../../support/typescript-process.ts'
import { type Form, file, makeUploads, multipart, pause } from '../../support/uploads.ts'

const { makeServer, makeFolder } = makeUploads(afterEach)

const head = ({ body, type }: Form, more = '', path = '/upload') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n${more}\r\n`
const openFiles = () => readdirSync('/proc/self/fd').length
const leftIn = (folder: string) => readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('/'))

/** Sends the beginning of a request and goes away. */
function abort(port: number, bytes: Buffer, after: number | Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', () => {}).on('close', () => resolve())
    void Promise.resolve(typeof after === 'number' ? pause(after) : after).then(() => socket.destroy())
  })
}

describe('over a socket', () => {
  // BO-09. @fastify/multipart CVE-2025-24033 and multer CVE-2026-3304 (files stay after an abort), multer CVE-2025-47935
  // (streams stay open).
  test('200 uploads that are aborted half way leave no file and no open descriptor', async () => {
    const folder = makeFolder()
    const { server, seen } = makeServer({ storage: 'disk', folder, maxFileSize: '2mb' })
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', 'x'.repeat(1000)), file('b', 'b', 'y'.repeat(500_000)))
    const half = Buffer.concat([Buffer.from(head(form)), form.body.subarray(0, 250_000)])
    await abort(port, half, 30)
    const before = openFiles()
    for (let round = 0; round < 8; round++) {
      await Promise.all(Array.from({ length: 25 }, (_, i) => abort(port, half, 5 + i)))
    }
    await expect.poll(() => leftIn(folder)).toEqual([])
    await expect.poll(() => openFiles()).toBeLessThanOrEqual(before)
    expect(seen.runs).toBe(0)
    const { statuses } = await sendRaw(port, head(form) + form.body.toString('latin1'), { answers: 1 })
    expect(statuses).toEqual([200])
  })

  test('a file that is too large is 413 before it has arrived, and the connection ends', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder, maxFileSize: 1000 })
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', 'x'.repeat(900_000)))
    const answer = await sendRaw(port, head(form) + form.body.subarray(0, 5000).toString('latin1'), { waitMs: 20_000 })
    expect(answer.statuses).toEqual([413])
    expect(answer.text).toContain('FileTooLargeError')
    expect(answer.closed).toBe(true)
    expect(leftIn(folder)).toEqual([])
  })

  test('forms that are read to their end keep the connection', async () => {
    const { server } = makeServer({ maxFileSize: '1mb' })
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', 'x'.repeat(500_000)))
    const request = head(form) + form.body.toString('latin1')
    const { statuses, text } = await sendRaw(port, request.repeat(3), { answers: 3 })
    expect(statuses).toEqual([200, 200, 200])
    expect(text.toLowerCase()).not.toContain('connection: close')
  })

  test('a form that declares too much is refused unread', async () => {
    const { server } = makeServer({ maxTotalSize: 1000 })
    const { port } = await server.listen()
    const request = `POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000000\r\n\r\n`
    const answer = await sendRaw(port, request, { waitMs: 20_000 })
    expect(answer.statuses).toEqual([413])
    expect(answer.text).toContain('FileTooLargeError')
    expect(answer.closed).toBe(true)
  })

  test('a client that waits for 100 Continue gets it only where its form will be read', async () => {
    const { server } = makeServer({ maxTotalSize: 1000 })
    const { port } = await server.listen()
    const small = multipart({ name: 'a', body: '1' })
    const good = await sendRaw(port, [head(small, 'Expect: 100-continue\r\n'), small.body.toString('latin1')], {
      dripMs: 50,
      answers: 1,
    })
    expect(good.text).toMatch(/^HTTP\/1.1 100 Continue/)
    expect(good.statuses).toEqual([200])
    const large = multipart({ name: 'a', body: 'x'.repeat(2000) })
    const bad = await sendRaw(port, head(large, 'Expect: 100-continue\r\n'), { answers: 1 })
    expect(bad.text).toMatch(/^HTTP\/1.1 413/)
  })

  test('the connection is kept after a form, also one with an epilogue', async () => {
    const { server } = makeServer()
    const { port } = await server.listen()
    const { body, type } = multipart({ name: 'a', body: '1' })
    const form = { body: Buffer.concat([body, Buffer.from('epilogue'.repeat(100))]), type }
    const request = head(form) + form.body.toString('latin1')
    const { statuses } = await sendRaw(port, [request + request, request], { dripMs: 50, answers: 3 })
    expect(statuses).toEqual([200, 200, 200])
  })

  test('files are removed when the client leaves while the handler is at work, but only after it has ended', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder })
    const during: number[] = []
    const begun = gate()
    server.post('/slow', async ({ signal }) => {
      begun.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await pause(50)
      during.push(leftIn(folder).length)
      return 'done'
    })
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', 'x'))
    await abort(port, Buffer.concat([Buffer.from(head(form, '', '/slow')), form.body]), begun.opened)
    await expect.poll(() => during).toEqual([1])
    await expect.poll(() => leftIn(folder)).toEqual([])
  })

  test('files are removed when the time of their request is over, also when its handler never ends', async () => {
    const folder = makeFolder()
    const plugins = [upload({ storage: 'disk', folder })]
    const router = new RouteCollection()
    const logger = memoryLogger()
    const more = { port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, requestTimeout: 2000 }
    await using server = new Server({ plugins, router, logger, ...more })
    let began = 0
    const both = gate()
    server.post('/never', () => {
      if (++began === 2) both.open()
      return new Promise(() => {})
    })
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', 'x'))
    const whole = head(form, '', '/never') + form.body.toString('latin1')
    const [answer] = await Promise.all([
      sendRaw(port, whole, { answers: 1, waitMs: 20_000 }),
      abort(port, Buffer.from(whole), both.opened),
    ])
    expect(answer.statuses).toEqual([503])
    await expect.poll(() => leftIn(folder)).toEqual([])
    expect(began).toBe(2)
  })

  test('files are removed when a client stops reading a response that is one of them', async () => {
    const folder = makeFolder()
    const { server } = makeServer({ storage: 'disk', folder, maxFileSize: '9mb' })
    server.post('/back', (req, res) => res.stream(req.file('a')!.stream()))
    const { port } = await server.listen()
    const form = multipart(file('a', 'a', Buffer.alloc(8 * 1024 ** 2)))
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head(form, '', '/back'))
      socket.write(form.body)
    })
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    await pause(50)
    expect(leftIn(folder)).toHaveLength(1)
    socket.destroy()
    await expect.poll(() => leftIn(folder)).toEqual([])
  })
})

test('200 MB go to disk with less than 64 MB of memory', async () => {
  const script = join(import.meta.dirname, '../../fixtures/upload-memory.ts')
  const child = spawn(process.execPath, [...withTypeScript, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
  const { size, growth } = JSON.parse(output) as { size: number; growth: number }
  expect(size).toBe(200 * 1024 ** 2)
  expect(growth).toBeLessThan(64 * 1024 ** 2)
})
