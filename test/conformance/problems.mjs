import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpError, LocalStorageProvider, PolicyManager, RouteCollection, Server } from 'framework'

/** The cache is that of the process. */
export const isAlone = true

/**
 * Failures of every kind on whichever runtime runs this, on one server with Problem Details. Returns what it saw.
 *
 * @param {string} [adapter]
 * @param {string} [isNodeHttp] Whether the server beneath is node:http.
 */
export async function run(adapter, isNodeHttp) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const folder = mkdtempSync(join(tmpdir(), 'framework-problems-'))
  writeFileSync(join(folder, 'a.txt'), 'hello')
  writeFileSync(join(folder, '.env'), 'SECRET=1')

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    errorFormat: 'problem',
    limits: { maxHeaderCount: 50 },
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    plugins: {
      log: true,
      json: { sizeLimit: 100 },
      urlencoded: true,
      upload: { maxFileSize: 10 },
      rateLimit: { limit: 1_000 },
      timeout: { ms: 60_000 },
      cache: { lockBehavior: 'fail' },
      session: { secret: 'a secret of this test, and of no other one', store: brokenStore() },
      static: { root: folder, prefix: '/files', dotfiles: 'deny' },
      storage: {
        providers: {
          disk: new LocalStorageProvider({ root: folder, signedUrls: { secret: 'a secret of this test alone' } }),
        },
        defaultProvider: 'disk',
      },
      openapi: true,
    },
  })

  /** A store that is down. */
  function brokenStore() {
    const fail = () => Promise.reject(new Error('the store is down'))
    return { get: fail, set: fail, update: fail, touch: fail, destroy: fail, close: () => Promise.resolve() }
  }

  const policies = new PolicyManager(
    { site: { admin: () => false } },
    { user: (req) => req.headers['x-user'], status: 'byUser' },
  )
  const policy = { manager: policies, scope: /** @type {const} */ ('site'), handler: /** @type {const} */ ('admin') }
  const Name = /** @type {const} */ ({
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
    additionalProperties: false,
  })

  server.get('/books/:id', { responses: { 404: HttpError } }, () => {
    throw new HttpError(404, { code: 'BOOK_NOT_FOUND', message: 'no such book', details: { shelf: 3 } })
  })
  server.get('/taken', () => {
    throw Object.assign(new Error('taken'), { status: 409, expose: true })
  })
  server.get('/boom', () => {
    throw new Error('a secret')
  })
  server.get('/wrong', { responses: { 200: Name } }, () => /** @type {any} */ ({ name: 1n }))
  server.get('/late', { timeout: 20 }, () => new Promise(() => {}))
  server.get('/limited', { rateLimit: { limit: 1 } }, () => 'fine')
  server.get('/admin', { policy }, () => 'fine')
  server.post('/names', { body: Name }, () => 'fine')
  server.post('/files', { upload: {} }, () => 'fine')
  server.get('/cart', (req) => {
    /** @type {any} */
    req.session.cart = 1
    return 'fine'
  })
  let release = quiet
  server.get('/slow', { cache: { ttl: 1 } }, () => new Promise((resolve) => (release = () => resolve({ done: true }))))
  server.get('/gone', (_req, res) => res.file(join(folder, 'nothing')))
  const { port } = await server.listen()
  const origin = `http://127.0.0.1:${port}`

  /** @type {Record<string, unknown>} */
  const seen = {}
  /** @param {string} kind @param {string} path @param {RequestInit} [init] */
  async function ask(kind, path, init) {
    const res = await fetch(origin + path, init)
    const text = await res.text()
    const id = res.headers.get('x-request-id')
    seen[kind] = {
      status: res.status,
      type: res.headers.get('content-type'),
      id,
      body: text === '' ? null : JSON.parse(text),
    }
  }
  /** @param {string} body @param {string} [type] */
  const post = (body, type = 'application/json') => ({ method: 'POST', headers: { 'content-type': type }, body })

  /** Sends bytes as they are. @param {string} kind @param {string} request */
  async function sendRaw(kind, request) {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', quiet)
    socket.write(request)
    await once(socket, 'close')
    const [head = '', body = ''] = text.split('\r\n\r\n')
    const header = (/** @type {string} */ name) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? null
    const json = /\{.*\}/s.exec(body)?.[0]
    seen[kind] = {
      status: Number(head.slice(9, 12)),
      type: header('content-type'),
      id: header('x-request-id'),
      body: json === undefined ? null : JSON.parse(json),
    }
  }

  await ask('no route', '/nowhere')
  await ask('no method', '/boom', { method: 'DELETE' })
  await ask('no json', '/names', post('{'))
  await ask('too much json', '/names', post(JSON.stringify({ name: 'a'.repeat(200) })))
  await ask('another charset', '/names', post('{}', 'application/json; charset=latin1'))
  await ask('another type', '/names', post('<a/>', 'application/xml'))
  await ask('not valid', '/names', post('{"name":7}'))
  await ask('a form that is not valid', '/names', post('name=a&name=b&x=1', 'application/x-www-form-urlencoded'))
  const form = new FormData()
  form.set('file', new Blob(['more than ten bytes']), 'a.txt')
  await ask('too much file', '/files', { method: 'POST', body: form })
  await ask('no user', '/admin')
  await ask('a user', '/admin', { headers: { 'x-user': 'ada' } })
  await ask('an HttpError', '/books/7')
  await ask('an http-errors', '/taken')
  await ask('a mistake', '/boom')
  await ask('a response that does not fit', '/wrong')
  await ask('too late', '/late')
  await (await fetch(`${origin}/limited`)).text()
  await ask('too often', '/limited')
  await ask('a store that is down', '/cart')
  const first = fetch(`${origin}/slow`)
  while (release === quiet) await new Promise((resolve) => setTimeout(resolve, 5))
  await ask('being computed', '/slow')
  release()
  await (await first).text()
  await ask('no file', '/files/nothing.txt')
  await ask('no file of a handler', '/gone')
  await ask('a dotfile', '/files/.env')
  await ask('no such range', '/files/a.txt', { headers: { range: 'bytes=90-' } })
  await ask('another version', '/files/a.txt', { headers: { 'if-match': '"other"' } })
  await ask('an address that is not signed', '/storage/disk/a.txt')
  await ask('too many headers', '/boom', { headers: Array.from({ length: 60 }, (_, i) => [`x-${i}`, '1']) })
  await ask('a malformed path', '/%zz%')
  await sendRaw('two hosts in one', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
  await ask('a HEAD', '/nowhere', { method: 'HEAD' })
  if (isNodeHttp === 'true') {
    await sendRaw('no http', 'GARBAGE\r\n\r\n')
    await sendRaw('a tunnel', 'CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n')
    await sendRaw('an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: miracle\r\nConnection: close\r\n\r\n')
  }
  const injected = await server.inject({ url: '/boom' })
  seen['a mistake in process'] = {
    status: injected.status,
    type: injected.headers['content-type'],
    id: injected.headers['x-request-id'],
    body: JSON.parse(Buffer.from(injected.body).toString()),
  }
  const fetched = await server.fetch(new Request('http://a/nowhere'))
  seen['no route in process'] = {
    status: fetched.status,
    type: fetched.headers.get('content-type'),
    id: fetched.headers.get('x-request-id'),
    body: await fetched.json(),
  }
  server.setErrorHandler(() => {
    throw new Error('a handler that fails')
  })
  await ask('a mistake over a mistake', '/boom')
  const document = server.services.get('openapi').document()
  await server.close()
  rmSync(folder, { recursive: true })
  return { seen, document }
}
