import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeFailures } from './failures.ts'
import { describeJson } from './json.ts'
import { sendRaw } from './raw-client.ts'
import { type RunningApp, startApp, type Target, usesNodeHttp } from './targets.ts'
import { describeWebBodies } from './web-bodies.ts'

/** What a client of the suite got. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly bytes: Buffer
  readonly text: string
  readonly json: unknown
}

/** What applications rely on, over a socket. */
export function httpConformance(target: Target): void {
  describe(`http: ${target.name}`, () => {
    let app: RunningApp
    const agent = new Agent({ keepAlive: true })
    beforeAll(async () => {
      // A request on a connection that the server is ending is lost, and on a busy machine any may be late.
      app = await startApp(target, { validates: true, limits: { keepAliveTimeout: 120_000 } })
    })
    afterAll(async () => {
      agent.destroy()
      await app.stop()
    })

    const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      exchange(agent, app.port, method, path, headers, body)
    const events = async () => (await send('GET', '/events')).json as string[]
    const eventually = (event: string) => expect.poll(events, { timeout: 30_000 }).toContain(event)

    test('a port that is taken is reported, and not shared', async () => {
      expect((await send('GET', '/listen-again')).json).toBe('PortInUseError')
    })

    test('QUERY has a body, and is one of the methods of its path', async () => {
      const json = { 'content-type': 'application/json' }
      const found = await send('QUERY', '/json', json, '{"year":1972}')
      expect([found.status, found.json]).toEqual([200, { asked: { year: 1972 } }])
      expect((await send('QUERY', '/json', {}, 'year=1972')).status).toBe(415)
      expect((await send('PATCH', '/json')).headers.allow).toBe('POST, DELETE, QUERY')
    })

    test('answers a returned object as JSON with length and charset', async () => {
      const { status, headers, text } = await send('GET', '/hello')
      expect([status, text]).toEqual([200, '{"hello":"world"}'])
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(headers['content-length']).toBe('17')
    })

    test.each([
      ['zero', '0'],
      ['empty', '""'],
      ['no', 'false'],
      ['nothing', 'null'],
      ['text', '"hi"'],
      ['object', '{"a":1}'],
    ])('answers the returned value %s', async (kind, text) => {
      const answer = await send('GET', `/values/${kind}`)
      expect([answer.status, answer.text]).toEqual([200, text])
    })

    test('prefers static over parameter, and takes optional parameters and wildcards', async () => {
      const found = async (path: string) => {
        const { route, params } = (await send('GET', path)).json as { route: string; params?: unknown }
        return [route, params]
      }
      expect(await found('/users/me')).toEqual(['static', undefined])
      expect(await found('/users/7')).toEqual(['param', { id: '7' }])
      expect(await found('/users/a%20b')).toEqual(['param', { id: 'a b' }])
      expect((await found('/posts'))[0]).toBe('optional')
      expect(await found('/posts/5')).toEqual(['optional', { id: '5' }])
      expect(await found('/files/a/b.txt')).toEqual(['wildcard', { '*': 'a/b.txt' }])
    })

    test('parses the query', async () => {
      const { query } = (await send('GET', '/x?a=1&a=2&b=%C3%A9&__proto__=1')).json as { query: unknown }
      expect(query).toEqual({ a: ['1', '2'], b: 'é' })
    })

    test('answers 404 and 405 with the body of two fields', async () => {
      const missing = await send('GET', '/nowhere?q=1')
      expect(missing.status).toBe(404)
      expect(missing.json).toEqual({ code: 'RouteNotFoundError', message: 'ROUTE_NOT_FOUND: Cannot GET /nowhere' })
      const wrong = await send('PUT', '/users/1')
      expect(wrong.status).toBe(405)
      expect(wrong.headers.allow).toBe('GET, POST')
      expect(wrong.json).toEqual({ code: 'MethodNotAllowedError', message: 'METHOD_NOT_ALLOWED: Cannot PUT /users/1' })
    })

    test('serves HEAD by the GET route, without body and with its length', async () => {
      const { status, headers, bytes } = await send('HEAD', '/hello')
      expect([status, bytes.length, headers['content-length']]).toEqual([200, 0, '17'])
    })

    test('HEAD of a stream declares no length that GET does not have, and its connection is kept', async () => {
      const head = (path: string, last = '') => `HEAD ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`
      const requests = [head('/stream'), head('/hello', 'Connection: close\r\n')]
      const { text, statuses } = await sendRaw(app.port, requests, { dripMs: 50 })
      expect(statuses).toEqual([200, 200])
      expect(text.match(/content-length: .*/gi)).toEqual([expect.stringMatching(/: 17$/)])
      expect(text).not.toMatch(/\r\n0\r\n/)
    })

    test('a 205 ends without the end of its connection; Deno could not, and says 204', async () => {
      const { status, bytes } = await send('GET', '/reset')
      expect([status, bytes.length]).toEqual([target.name === 'deno' ? 204 : 205, 0])
    })

    test('parses JSON and refuses anything else', async () => {
      const json = { 'content-type': 'application/json' }
      expect((await send('POST', '/json', json, '{"a":[1,"é"]}')).json).toEqual({ body: { a: [1, 'é'] } })
      expect((await send('DELETE', '/json', json, '{"a":1}')).json).toEqual({ body: { a: 1 } })
      const broken = await send('POST', '/json', json, '{"a":')
      expect(broken.status).toBe(400)
      expect(broken.json).toMatchObject({ code: 'JsonNotValidError' })
      const large = await send('POST', '/json', json, `"${'x'.repeat(102_400)}"`)
      expect(large.status).toBe(413)
      expect(large.json).toMatchObject({ code: 'PayloadTooLargeError' })
    })

    test('BO-03 two equal lengths do not lift the limit', async () => {
      for (const size of [7, 200_000]) {
        const line = `Content-Length: ${size}\r\n`
        const body = `"${'x'.repeat(size - 2)}"`
        const request = `POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${line}${line}\r\n${body}`
        const { statuses } = await sendRaw(app.port, request, { answers: 1 })
        expect([400, 413], `${size} bytes`).toContain(statuses[0])
      }
    })

    test('sends bytes, empty responses, statuses and repeated cookies', async () => {
      expect((await send('GET', '/bytes')).bytes).toEqual(Buffer.from([0, 1, 2, 255]))
      const none = await send('GET', '/none')
      expect([none.status, none.bytes.length]).toEqual([204, 0])
      expect((await send('GET', '/created')).status).toBe(201)
      expect((await send('GET', '/cookies')).headers['set-cookie']).toEqual(['a=1', 'b=2'])
    })

    test('joins repeated request headers, cookies by semicolon', async () => {
      const { text } = await sendRaw(
        app.port,
        'GET /headers HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a: 2\r\nCookie: a=1\r\nCookie: b=2\r\nConnection: close\r\n\r\n',
      )
      expect(text).toContain('"x-a":"1, 2"')
      expect(text).toContain('"cookie":"a=1; b=2"')
    })

    test('reports the address of the client', async () => {
      expect(((await send('GET', '/headers')).json as { ip: string }).ip).toMatch(/127\.0\.0\.1$/)
    })

    test('streams text and bytes', async () => {
      expect((await send('GET', '/stream')).text).toBe('one two')
    })

    test('sends server-sent events that no data can forge', async () => {
      const { headers, text } = await send('GET', '/sse')
      expect(headers['content-type']).toMatch(/^text\/event-stream/)
      expect(text).toContain('event: tick\nid: 7\ndata: {"n":1}\n\n')
      expect(text).toContain('data: two\ndata: lines\n\n')
    })

    test('sends a file with its length', async () => {
      const file = await readFile(join(import.meta.dirname, 'app.mjs'))
      const { headers, bytes } = await send('GET', '/file')
      expect(bytes).toEqual(file)
      expect(headers['content-length']).toBe(String(file.length))
    })

    test('HT-09 pauses a stream that no one reads, and ends it when the client leaves', async () => {
      await new Promise<void>((resolve) => {
        const socket = connect(app.port, '127.0.0.1', () => socket.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n'))
        socket.once('data', async () => {
          socket.pause()
          // In which more would be made. Were it shorter, the test would show less.
          await pause(300)
          socket.destroy()
          resolve()
        })
      })
      await eventually('endless ended')
      // 64 MiB would be 1000 pieces; the buffers of the system take far less.
      expect((await events()).filter((event) => /^endless \d+$/.test(event)).length).toBeLessThan(10)
    })

    test('breaks the connection when a stream fails, so that half a response is not taken for a whole', async () => {
      const { text, closed } = await sendRaw(app.port, 'GET /broken-stream HTTP/1.1\r\nHost: x\r\n\r\n')
      expect(closed).toBe(true)
      expect(text).not.toMatch(/0\r\n\r\n$/)
    })

    test('breaks it as well for a stream of Node.js that has failed while a middleware waited', async () => {
      const { closed } = await sendRaw(app.port, 'GET /missing-stream HTTP/1.1\r\nHost: x\r\n\r\n')
      expect(closed).toBe(true)
      expect((await send('GET', '/hello')).status).toBe(200)
    })

    test('HT-10 aborts req.signal when the client leaves', async () => {
      const socket = connect(app.port, '127.0.0.1', () => socket.write('GET /abort HTTP/1.1\r\nHost: x\r\n\r\n'))
      await eventually('abort begins')
      socket.destroy()
      await eventually('abort seen')
    })

    test('req.signal and req.ip, first read after the response, neither abort nor throw', async () => {
      await send('GET', '/later')
      await eventually('later false string')
    })

    test.each([
      'bytes before',
      'bytes after',
      'stream before',
      'stream after',
    ])('a body that is still read after the response ends with its connection: %s', async (kind) => {
      const head = `POST /read-on/${kind.replace(' ', '/')} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n`
      const socket = connect(app.port, '127.0.0.1', () => socket.write(`${head}half`))
      await once(socket, 'data')
      await pause(40)
      socket.destroy()
      await eventually(`${kind} the response has ended`)
    })

    describeJson(agent, () => app.port)
    describeFailures({ port: () => app.port, send, events })
    describeWebBodies({ target, port: () => app.port, send, eventually })

    test.each(['crlf', 'nul'])('HT-14 refuses a header value that would split the response (%s)', async (kind) => {
      const { status, headers } = await send('GET', `/bad-header?kind=${kind}`)
      expect(status).toBe(500)
      expect(headers['x-forged']).toBeUndefined()
    })

    test('HT-14 never sends a header value that does not fit into bytes', async () => {
      expect((await send('GET', '/bad-header?kind=wide')).status).toBe(500)
    })

    test('keeps the connection for the next request', async () => {
      const data = 'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n'
      const { statuses } = await sendRaw(app.port, data, { answers: 1, last: data })
      expect(statuses).toEqual([200, 200])
    })

    test('closes the connection when the client asks', async () => {
      const { statuses, closed } = await sendRaw(
        app.port,
        'GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      )
      expect([statuses, closed]).toEqual([[200], true])
    })

    test('serves 200 concurrent requests of one client', async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, id) => send('GET', `/users/${id}`)))
      expect(answers.map(({ json }) => (json as { params: { id: string } }).params.id)).toEqual(
        Array.from({ length: 200 }, (_, id) => String(id)),
      )
    })

    test('is alive at the end, without an unhandled error', async () => {
      expect((await events()).filter((event) => event.startsWith('un'))).toEqual([])
      if (usesNodeHttp(target)) expect(app.stderr()).toBe('')
    })
  })
}

function exchange(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = httpRequest({ agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString()
        const answer = { status: response.statusCode!, headers: response.headers, bytes, text }
        resolve(Object.defineProperty(answer, 'json', { get: () => JSON.parse(text) }) as Answer)
      })
    })
    request.end(body)
  })
}
