import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectModern } from 'node:http2'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { speaksHttp2 } from './gaps.ts'
import { startApp, targets } from './targets.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'framework-tls-'))
let https: { key: string; cert: string }

beforeAll(() => {
  if (!hasOpenssl) return
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-nodes', '-days', '2', '-keyout', key, '-out', cert, '-subj', '/CN=localhost'],
    { stdio: 'ignore' },
  )
  https = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One request over TLS; the certificate is its own authority. */
function ask(port: number, path: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', servername: 'localhost', port, path, ca: https.cert, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
    })
      .on('error', reject)
      .end()
  })
}

/** The same over HTTP/2, as browsers do where the server offers it; `undefined` where it does not. */
async function askModern(
  port: number,
  path: string,
  json?: string,
): Promise<{ status: number; body: unknown } | undefined> {
  const options = {
    host: '127.0.0.1',
    servername: 'localhost',
    port,
    ca: https.cert,
    ALPNProtocols: ['h2', 'http/1.1'],
  }
  const socket = connectSecurely(options)
  await once(socket, 'secureConnect')
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy()
    return undefined
  }
  const session = connectModern(`https://localhost:${port}`, { createConnection: () => socket })
  try {
    const post = { ':method': 'POST', 'content-type': 'application/json' }
    const stream = session.request({ ':path': path, ...(json !== undefined && post) })
    stream.end(json)
    const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }]
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return { status: headers[':status'] ?? 0, body: JSON.parse(text) }
  } finally {
    session.destroy()
  }
}

/** Begins a request over HTTP/2 whose body does not begin, and breaks the connection off. */
async function leave(port: number, path: string): Promise<void> {
  const session = connectModern(`https://localhost:${port}`, { ca: https.cert, servername: 'localhost' })
  session.on('error', () => {})
  const stream = session.request({ ':method': 'POST', ':path': path }, { endStream: false }).on('error', () => {})
  // By the response to a later one, the server has this request.
  await once(session.request({ ':path': '/hello' }).resume(), 'end')
  stream.destroy()
  session.destroy()
}

/** Sends bytes to the port and waits for the end of the connection, at most a second. */
function throwAt(port: number, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve()
    }
    socket.on('error', done).on('close', done).setTimeout(1_000, done).resume()
  })
}

describe.each(targets)('https on $name', (target) => {
  test.skipIf(!hasOpenssl)('HT-12 answers, survives bytes that are not TLS, and closes', async () => {
    const app = await startApp(target, { validates: true, https, closeTimeout: 3_000 })
    try {
      const { status, body } = await ask(app.port, '/users/5')
      expect(status).toBe(200)
      expect(body).toMatchObject({ params: { id: '5' }, url: expect.stringMatching(/^https:\/\//) })
      const modern = await askModern(app.port, '/users/5')
      expect(modern !== undefined).toBe(speaksHttp2(target))
      if (modern !== undefined) {
        const url = `https://localhost:${app.port}/users/5`
        expect(modern).toMatchObject({ status: 200, body: { params: { id: '5' }, url } })
        // Node.js sends no length with them.
        for (const [path, json, body] of [
          ['/json', '{"a":1}', { a: 1 }],
          ['/json/checked', '{"a":1}', { a: 1 }],
          ['/json', '', null],
        ] as const)
          expect([json, await askModern(app.port, path, json)]).toEqual([json, { status: 200, body: { body } }])
        await leave(app.port, '/abort')
        await expect.poll(async () => (await ask(app.port, '/events')).body).toEqual(['post aborted'])
      }
      const rubbish = ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\x16\x03\x01', Buffer.alloc(4_096, 0xff), '\r\n\r\n']
      await Promise.all(Array.from({ length: 40 }, (_, i) => throwAt(app.port, rubbish[i % rubbish.length]!)))
      // Names without a certificate, and invalid ones; the responses to them do not matter.
      for (const servername of ['elsewhere.test', 'a'.repeat(250)]) {
        await new Promise<void>((resolve) => {
          const socket = connectSecurely({ host: '127.0.0.1', port: app.port, servername, rejectUnauthorized: false })
          socket.on('error', () => {}).on('close', () => resolve())
          socket.once('secureConnect', () => socket.end())
          socket.setTimeout(2_000, () => socket.destroy()).resume()
        })
      }
      const silent = connect(app.port, '127.0.0.1').on('error', () => {})
      await pause(100)
      expect(await ask(app.port, '/hello')).toEqual({ status: 200, body: { hello: 'world' } })
      expect((await ask(app.port, '/events')).body).toEqual(modern ? ['post aborted'] : [])
      app.signal('SIGTERM')
      expect(await app.exited).toBe(0)
      silent.destroy()
    } finally {
      await app.stop()
    }
  })
})
