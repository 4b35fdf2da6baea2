import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { losesStreamLength } from './gaps.ts'
import type { Answer } from './http.ts'
import type { Target } from './targets.ts'

/** The application as the cases see it. */
interface Tested {
  readonly target: Target
  port(): number
  send(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Answer>
  eventually(event: string): Promise<void>
}

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  'gzip, br': (bytes) => gunzipSync(brotliDecompressSync(bytes)),
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
}

/** A body type of the web is sent as such, and not as the `{}` of its JSON. */
export function describeWebBodies({ target, port, send, eventually }: Tested): void {
  test('sends a web Response: status, headers beside existing ones, and body', async () => {
    const { status, headers, text } = await send('GET', '/web/response')
    expect([status, text]).toEqual([202, 'grüße'])
    expect(headers).toMatchObject({ 'x-before': '1', 'x-both': 'web', vary: 'Origin, Accept' })
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2; Path=/', 'c=3'])
    const plain = await send('GET', '/web/plain')
    expect([plain.text, String(plain.headers['content-type']).toLowerCase().replace(' ', '')]).toEqual([
      'hello',
      'text/plain;charset=utf-8',
    ])
    const json = await send('GET', '/web/json')
    expect([json.status, json.headers['content-type'], json.json]).toEqual([
      200,
      expect.stringMatching(/^application\/json/),
      { a: 1 },
    ])
  })

  test('sends a web Response without a body, and HEAD without one', async () => {
    const empty = await send('GET', '/web/empty')
    expect([empty.status, empty.bytes.length, empty.headers['content-length']]).toEqual([204, 0, undefined])
    const { status, headers } = await send('GET', '/web/redirect')
    expect([status, headers.location]).toEqual([307, 'http://127.0.0.1/there'])
    const head = await send('HEAD', '/web/response')
    expect([head.status, head.headers['x-both'], head.bytes.length]).toEqual([202, 'web', 0])
  })

  test.each(['error', 'used'])('answers 500 to a web Response that cannot be sent (%s)', async (kind) => {
    const { status, text } = await send('GET', `/web/${kind}`)
    expect([status, text]).toEqual([500, ''])
  })

  test.each([
    ['blob', 200, 'text/csv', 'a,b\n', '4'],
    ['params', 201, 'application/x-www-form-urlencoded', 'q=a+b', '5'],
    ['buffer', 200, 'application/octet-stream', 'hi', '2'],
    ['view', 200, 'application/octet-stream', 'hi', '2'],
    ['shared', 200, 'application/octet-stream', 'hi', '2'],
    ['shared-buffer', 200, 'application/octet-stream', 'hi', '2'],
    ['shared-pieces', 200, 'application/octet-stream', 'hi', undefined],
  ])('sends a %s with its type and its length', async (kind, status, type, text, length) => {
    const answer = await send('GET', `/web/${kind}`)
    expect([answer.status, answer.text]).toEqual([status, text])
    // A blob is a stream.
    const isLost = kind === 'blob' && losesStreamLength(target) && answer.headers['content-length'] === undefined
    if (!isLost && length !== undefined) expect(answer.headers['content-length']).toBe(length)
    expect(String(answer.headers['content-type']).split(';')[0]).toBe(type)
  })

  test.each(['response', 'json', 'stream'])('a header of latin1 leaves as it is: %s', async (kind) => {
    const { headers, bytes } = await send('GET', `/web/latin1/${kind}`)
    expect(headers['x-name']).toBe('Jürgen')
    const sent = { response: 'ü', json: '"ü"', stream: 'üü' }[kind]!
    expect(bytes.toString()).toBe(sent)
  })

  test('believes no length that is not a number', async () => {
    const { status, text, headers } = await send('GET', '/web/odd-length')
    expect([status, text, headers['content-length'] ?? '5']).toEqual([200, 'hello', '5'])
  })

  test('releases a body that is returned after a response, or cannot be sent', async () => {
    expect((await send('GET', '/web/after')).json).toBe('first')
    await eventually('web second let go')
    const { status, headers } = await send('GET', '/web/wrong-header')
    expect([status, headers['x-good']]).toEqual([500, undefined])
    await eventually('web wrong let go')
  })

  test('sends a form as its parts', async () => {
    const { headers, text } = await send('GET', '/web/form')
    const boundary = /^multipart\/form-data; ?boundary=(.+)$/.exec(String(headers['content-type']))?.[1]
    expect(text).toMatch(new RegExp(`^--${boundary}\r\n[^]*name="name"\r\n\r\nAda\r\n--${boundary}--`))
  })

  test('lets go of the body of a web Response when the client leaves', async () => {
    const socket = connect(port(), '127.0.0.1')
    socket.write('GET /web/endless HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.once('data', () => socket.destroy())
    await eventually('web endless cancelled')
  })

  test('passes a web Request to a handler that expects one', async () => {
    const type = { 'content-type': 'application/json', 'x-own': '1' }
    const get = await send('GET', '/web/handler/a%20b?c=1', { 'x-own': '2' })
    expect(get.json).toMatchObject({ method: 'GET', path: '/web/handler/a%20b', headers: { 'x-own': '2' }, body: 0 })
    for (const size of [2, 300_000]) {
      const { status, json } = await send('POST', '/web/handler/x', type, '1'.repeat(size))
      expect([status, json]).toMatchObject([200, { method: 'POST', headers: type, body: size }])
      expect((json as { headers: object }).headers).not.toHaveProperty('connection')
    }
    expect((await send('POST', '/web/handler/x')).json).toMatchObject({ method: 'POST', body: 0 })
  })

  test('and the handler need not read it, may pass it on, and learns that the client leaves', async () => {
    const type = { 'content-type': 'application/json' }
    const refused = await send('POST', '/web/refuses', type, '1'.repeat(90_000))
    expect([refused.status, refused.text]).toEqual([401, 'POST'])
    const forwarded = await send('POST', '/web/forwarded', { ...type, expect: '100-continue' }, '1'.repeat(100_000))
    expect([forwarded.status, forwarded.json]).toMatchObject([200, { path: '/web/handler/x', body: 100_000 }])
    const socket = connect(port(), '127.0.0.1')
    socket.write('GET /web/handler/x?leave HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually('web signal awaited')
    socket.destroy()
    await eventually('web signal aborted')
  })

  test('reads a body once, and says so the second time', async () => {
    const type = { 'content-type': 'application/json' }
    expect((await send('POST', '/web/twice', type, '[1]')).json).toEqual({
      hasHeaders: true,
      text: '[1]',
      codes: ['BodyReadError', 'BodyReadError', 'BodyReadError'],
    })
  })

  test('continues when a body was read in part', async () => {
    const type = { 'content-type': 'application/json' }
    expect((await send('POST', '/web/part', type, '1'.repeat(1_000_000))).json).toEqual({ some: true })
    // The connection of a body that no one reads on is given up after a second. Were that later, the test would show less.
    await pause(1_200)
    expect((await send('GET', '/web/plain')).text).toBe('hello')
  })

  test('but not one whose body was parsed already', async () => {
    expect((await send('POST', '/web/parsed', { 'content-type': 'application/json' }, '{}')).status).toBe(500)
    expect((await send('POST', '/web/parsed', { 'content-type': 'text/plain' }, 'abc')).json).toMatchObject({ body: 3 })
  })

  test.each([
    'gzip',
    'br',
    'deflate',
    'zstd',
    'gzip, br',
  ])('passes on what fetch gave, decoded or not: %s', async (coding) => {
    const { status, headers, bytes } = await send('GET', `/web/proxy/${encodeURIComponent(coding)}`)
    if (status === 501) return
    expect([status, headers['x-upstream']]).toEqual([200, 'yes'])
    // A server may say its own.
    expect(headers['keep-alive']).not.toBe('timeout=3')
    const encoding = headers['content-encoding'] as string | undefined
    // What the test itself cannot decode was not decoded by the runtime's fetch either, and starts as zstd does.
    if (encoding === 'zstd') expect(bytes.subarray(0, 4).toString('hex')).toBe('28b52ffd')
    else expect((encoding === undefined ? bytes : decoders[encoding]!(bytes)).toString()).toBe('hello '.repeat(100))
    if (coding === 'gzip') expect(encoding).toBeUndefined()
  })
}
