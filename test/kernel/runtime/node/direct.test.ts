import { channel } from 'node:diagnostics_channel'
import { OutgoingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RawRequest, Reply } from '../../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits, type ListenOptions } from '../../../../kernel/runtime/adapter.ts'
import { type Sending, writeOnce } from '../../../../kernel/runtime/node/direct.ts'
import { NodeAdapter } from '../../../../kernel/runtime/node/node.ts'
import { findDirectWriter, isFaithful } from '../../../../kernel/runtime/node/probe.ts'
import { FormattedFailures } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { sendRaw } from '../../../conformance/raw-client.ts'
import { certificate } from '../certificate.ts'

const failures = new FormattedFailures()

/** Before Node 24 a response of which a part was sent counts as finished when its client leaves. */
const hearsOfParts = Number(process.versions.node.split('.')[0]) >= 24
const big = 'x'.repeat(300_000)

const answers: Record<string, Reply> = {}
const add = (path: string, body: Reply['body'], headers: string[] = [], status = 200) => {
  const length = typeof body === 'string' ? ['content-length', String(Buffer.byteLength(body))] : []
  answers[path] = { status, headers: [...headers, ...length], body }
}
add('/hello', '{"hello":"world"}', ['content-type', 'application/json; charset=utf-8'])
add('/utf8', 'grüße €')
add('/latin1', 'plain', ['x-name', 'café'])
add('/latin1-utf8', 'grüße', ['x-name', 'café'])
add('/tab', 'plain', ['x-name', 'a\tb'])
add('/cookies', 'two', ['set-cookie', 'a=1', 'set-cookie', 'b=2'], 201)
add('/close', 'last', ['connection', 'close'])
add('/kept', 'kept', ['keep-alive', 'timeout=9'])
add('/date', 'then', ['date', 'Mon, 01 Jan 2024 00:00:00 GMT'])
add('/capital', 'odd', ['X-Capital', 'a'])
add('/none', null, [], 204)
add('/none-with-text', 'no one reads this', [], 204)
add('/not-modified', null, ['etag', '"1"'], 304)
add('/not-modified-with-text', 'no one reads this', [], 304)
add('/reset', null, [], 205)
add('/empty', null, ['content-length', '0'])
add('/empty-text', '')
add('/bytes', new Uint8Array([0, 255]), ['content-length', '2'])
add('/odd-status', 'odd', [], 599)
add('/big', big)
add('/page', 'x'.repeat(30_000))
add('/page-utf8', 'grüße €'.repeat(3_000))
answers['/chunked'] = { status: 200, headers: [], body: 'without a length' }

function handle(raw: RawRequest): void {
  const [path, ms] = raw.target.split('?')
  if (path === '/slow') setTimeout(() => raw.respond(answers['/hello']!), Number(ms))
  else if (path === '/body') {
    const reply = (bytes: Uint8Array) => ({ status: 200, headers: ['content-length', String(bytes.length)], bytes })
    raw.bytes(1000).then(
      (bytes) => raw.respond({ ...reply(bytes), body: Buffer.from(bytes).toString() }),
      () => raw.respond({ status: 413, headers: ['content-length', '4'], body: 'much' }),
    )
  } else raw.respond(raw.method === 'HEAD' ? { ...answers[path!]!, body: null } : answers[path!]!)
}

const adapters: Adapter[] = []
const warnings: unknown[] = []

async function serve(
  direct: boolean,
  handler: (raw: RawRequest) => void = handle,
  more: Partial<ListenOptions> = {},
): Promise<number> {
  const adapter = new NodeAdapter({ ordinary: !direct })
  adapters.push(adapter)
  const onWarning = (_message: string, error?: unknown) => warnings.push(error)
  const options = { port: 0, host: '127.0.0.1', failures, upgrades: [], limits: defaultLimits, onWarning, ...more }
  return (await adapter.listen(options, handler)).port
}

async function stopAll(): Promise<void> {
  for (const adapter of adapters.splice(0)) {
    const stopped = adapter.stop()
    adapter.cut()
    await stopped
  }
}

/** What happens to each response of this process, in order. */
interface Watched {
  readonly response: ServerResponse
  readonly events: string[]
  /** Whether it has passed node's own way of making a head. */
  readonly direct: () => boolean
}

let watched: Watched[] = []
let onStart: ((response: ServerResponse) => void) | undefined
const watch = (message: unknown) => {
  const { response } = message as { response: ServerResponse }
  const events: string[] = []
  for (const event of ['prefinish', 'finish', 'close', 'error']) response.on(event, () => events.push(event))
  const direct = () => response.headersSent && (response as { _contentLength?: number | null })._contentLength === null
  watched.push({ response, events, direct })
  onStart?.(response)
}
const started = channel('http.server.request.start')

beforeAll(() => started.subscribe(watch))
afterAll(() => started.unsubscribe(watch))
beforeEach(() => {
  watched = []
  warnings.length = 0
})
afterEach(async () => {
  onStart = undefined
  await stopAll()
})

const get = (path: string, headers = '', version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: x\r\n${headers}\r\n`
const post = (path: string, body: string, length = body.length, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`
const masked = (text: string) => text.replaceAll(/^Date: \w{3}, \d\d \w{3} 20[2-9]\d \d\d:\d\d:\d\d GMT$/gm, 'Date')

const exchanges: Record<string, string | string[]> = {
  ...Object.fromEntries(Object.keys(answers).map((path) => [`GET ${path}, then another`, get(path) + get('/hello')])),
  ...Object.fromEntries(
    ['/hello', '/utf8', '/big', '/cookies', '/empty'].map((path) => [
      `HEAD ${path}`,
      get(path).replace('GET', 'HEAD') + get('/utf8'),
    ]),
  ),
  'a kept connection': [get('/hello'), get('/utf8'), get('/big'), get('/hello')],
  'twenty at once': get('/hello').repeat(20),
  'answers out of order': get('/slow?60') + get('/hello') + get('/slow?20') + get('/utf8'),
  'one byte after the other': [...get('/hello')],
  'HTTP/1.0': get('/hello', '', '1.0'),
  'HTTP/1.0 that keeps': get('/hello', 'Connection: keep-alive\r\n', '1.0') + get('/utf8', '', '1.0'),
  'Connection: close': get('/hello', 'Connection: close\r\n') + get('/utf8'),
  'close in the middle': get('/hello') + get('/close') + get('/hello'),
  'POST, then GET': post('/body', 'some text') + get('/hello'),
  'a body in pieces': [post('/body', 'some', 9), ' text', get('/hello')],
  'an unread body': [post('/hello', 'some', 9), ' text', get('/hello')],
  'a body that is too large': post('/body', 'x', 5000) + 'x'.repeat(4999) + get('/hello'),
  'a chunked body': `POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n${get('/hello')}`,
  'Expect: 100-continue, read': [post('/body', '', 4, 'Expect: 100-continue\r\n'), 'text', get('/hello')],
  'Expect: 100-continue, unread': [post('/hello', '', 4, 'Expect: 100-continue\r\n'), 'text'],
  'Upgrade without a listener': get('/hello', 'Connection: upgrade\r\nUpgrade: h2c\r\n'),
  'all kinds at once':
    get('/hello') + get('/utf8') + get('/big') + get('/hello') + get('/slow?5') + get('/hello') + get('/empty'),
  'HEAD among others': get('/hello') + get('/utf8').replace('GET', 'HEAD') + get('/hello'),
  'POST among others':
    get('/hello') + post('/body', 'some text') + get('/hello') + post('/hello', 'unread') + get('/utf8'),
  'HTTP/1.0 after others': get('/hello') + get('/utf8') + get('/hello', '', '1.0'),
  'Connection: close after others':
    get('/hello') + get('/utf8') + get('/hello', 'Connection: close\r\n') + get('/hello'),
  'rubbish after answers': `${get('/hello') + get('/utf8')}\x00rubbish\r\n\r\n`,
  'CONNECT after answers': `${get('/hello') + get('/utf8')}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
  'rubbish after a request': `${get('/slow?20')}\x00rubbish\r\n\r\n`,
  'no request at all': 'rubbish\r\n\r\n',
}
/** Its answer shows that the connection was kept. */
const last = get('/latin1', 'Connection: close\r\n')

/** The pieces of each write that sends several at once. */
async function collected(run: () => Promise<void>): Promise<{ chunk: string }[][]> {
  const sockets = Socket.prototype as unknown as { _writev(chunks: { chunk: string }[]): void }
  const writes = vi.spyOn(sockets, '_writev')
  await run()
  const pieces = writes.mock.calls.map(([chunks]) => chunks)
  writes.mockRestore()
  return pieces
}

describe('a directly written answer', () => {
  const seen = new Map<string, string[]>()
  beforeAll(async () => {
    const https = { https: certificate }
    const plain = [await serve(true), await serve(false)]
    const secured = [await serve(true, handle, https), await serve(false, handle, https)]
    const talk = (data: string | string[]): Promise<string[]> => {
      const answers = [data]
        .flat()
        .join('')
        .match(/(GET|HEAD|POST|CONNECT) \S+ HTTP/g)?.length
      return Promise.all(
        [...plain, ...secured].map(async (port) => {
          const secure = secured.includes(port)
          return masked((await sendRaw(port, data, { answers, last, dripMs: 10, secure })).text)
        }),
      )
    }
    const all = Object.entries(exchanges)
    while (all.length > 0)
      await Promise.all(all.splice(0, 12).map(async ([name, data]) => seen.set(name, await talk(data))))
    await stopAll()
  })

  test.each(Object.keys(exchanges))('has the bytes of the ordinary path, encrypted or not: %s', (name) => {
    const [direct, ordinary, securedDirect, secured] = seen.get(name)!
    expect(direct!.length).toBeGreaterThan(10)
    expect(direct).toBe(ordinary)
    expect(securedDirect).toBe(secured)
  })

  test('is used for small responses on kept connections', async () => {
    const port = await serve(true)
    const turns = [get('/hello'), get('/utf8'), get('/latin1'), get('/slow?1') + get('/hello'), get('/close')]
    const client = connect(port, '127.0.0.1')
    for (const [turn, answered] of turns.map((turn, i) => [turn, [1, 2, 3, 5, 6][i]!] as const)) {
      client.write(turn)
      await expect.poll(() => watched.filter(({ events }) => events.includes('close')).length).toBe(answered)
    }
    client.destroy()
    // The fifth waits for the fourth, so it is written by node.
    expect(watched.map((one) => one.direct())).toEqual([true, true, false, true, false, false])
    expect(await findDirectWriter()).toBeDefined()
  })

  test.each([true, false])('ends once: prefinish, finish, close (direct: %s)', async (direct) => {
    const port = await serve(direct)
    await sendRaw(port, get('/hello') + get('/big') + get('/slow?5') + get('/hello'), { answers: 4 })
    await expect.poll(() => watched.filter(({ events }) => events.includes('close')).length).toBe(4)
    expect(watched.map((one) => one.events)).toEqual(Array(4).fill(['prefinish', 'finish', 'close']))
    expect(watched.map(({ response }) => [response.writableFinished, response.writableEnded])).toEqual(
      Array(4).fill([true, true]),
    )
  })

  test('to requests that came in one piece leaves with the others in one write, after the first', async () => {
    const port = await serve(true)
    const writes = await collected(async () => {
      expect((await sendRaw(port, get('/hello').repeat(10), { answers: 10 })).statuses).toHaveLength(10)
    })
    expect(writes.map(({ length }) => length)).toEqual([9])
    expect(watched.map((one) => one.events)).toEqual(Array(10).fill(['prefinish', 'finish', 'close']))
  })

  test('is not collected beyond the limit for a client that does not read', async () => {
    answers['/part'] = { status: 200, headers: ['content-length', '20000'], body: 'x'.repeat(20_000) }
    const port = await serve(true)
    const writes = await collected(async () => {
      expect((await sendRaw(port, get('/part').repeat(30), { answers: 30 })).statuses).toHaveLength(30)
    })
    const sizes = writes.map((chunks) => chunks.reduce((sum, { chunk }) => sum + chunk.length, 0))
    expect(Math.max(...sizes)).toBeLessThan(65_536 + 20_500)
  })

  test('that is large has its own bytes while one before it is still being sent', async () => {
    const letters = [...'abcdefgh']
    for (const letter of letters) add(`/of-${letter}`, letter.repeat(900_000))
    const port = await serve(true)
    const clients = letters.map((letter) => sendRaw(port, get(`/of-${letter}`).repeat(3), { answers: 3 }))
    for (const [i, { text }] of (await Promise.all(clients)).entries()) {
      const bodies = text.split(/HTTP[\s\S]*?\r\n\r\n/).slice(1)
      expect(bodies.map((body) => body === letters[i]!.repeat(900_000))).toEqual([true, true, true])
    }
  })

  test('is seen by performance observers like any other', async () => {
    const statuses: unknown[] = []
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries() as unknown as { detail: { res: { statusCode: number } } }[])
        statuses.push(detail.res.statusCode)
    })
    observer.observe({ entryTypes: ['http'] })
    await sendRaw(await serve(true), get('/cookies') + get('/hello'), { answers: 2 })
    await expect.poll(() => statuses.length).toBe(2)
    observer.disconnect()
    expect(statuses).toEqual([201, 200])
  })
})

describe('a client that does not read', () => {
  // A head of which a part has come waits while the server does not read: on a busy machine for longer than 10 s.
  const patient = { ...defaultLimits, headersTimeout: 100_000, receiveTimeout: 100_000 }
  test.each([true, false])('is not read from either, and gets everything in the end (direct: %s)', async (direct) => {
    const port = await serve(direct, handle, { limits: patient })
    const total = 4000
    const client = connect(port, '127.0.0.1')
    client.pause()
    client.write(get('/page').repeat(total))
    await expect.poll(() => watched.length).toBeGreaterThan(0)
    // In which no more begin. Were it shorter, the test would show less.
    await pause(300)
    // Requests in one piece of 64 KB are parsed at once; all later ones must wait in the system.
    expect(watched.length).toBeLessThan(3000)
    const { socket } = watched.find(({ events }) => !events.includes('finish'))!.response.req
    expect(socket.writableLength).toBeLessThan(10 * 30_000)
    let bytes = 0
    await new Promise<void>((resolve, reject) => {
      client.on('close', () => reject(new Error(`the connection ended after ${bytes} bytes`)))
      client.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes > total * 30_100) resolve()
      })
      client.resume()
    })
    await expect.poll(() => watched.filter(({ events }) => events.includes('close')).length).toBe(total)
    client.destroy()
    expect(watched.map((one) => one.events)).toEqual(Array(total).fill(['prefinish', 'finish', 'close']))
  })
})

describe('a client that leaves', () => {
  const aborts: string[] = []
  let late: RawRequest | undefined
  const listening = (raw: RawRequest) => {
    raw.onAbort(() => aborts.push(raw.target))
    if (raw.target === '/late') late = raw
    else handle(raw)
  }
  /** Leaves when the response is so far, and waits for its end. What is answered later is answered then. */
  const leave = async (port: number, path: string, when: (one: Watched) => boolean) => {
    aborts.length = 0
    watched = []
    const client: Socket = connect(port, '127.0.0.1').on('error', () => {})
    client.pause()
    client.write(get(path))
    await expect.poll(() => watched.some(when)).toBe(true)
    client.destroy()
    await expect.poll(() => watched[0]!.events).toContain('close')
    late?.respond(answers['/hello']!)
    late = undefined
    await new Promise((resolve) => setImmediate(resolve))
    return { aborts: [...aborts], events: watched[0]!.events }
  }

  test('has the same events on both paths', async () => {
    answers['/huge'] = { status: 200, headers: ['content-length', '30000000'], body: 'x'.repeat(30_000_000) }
    const [direct, ordinary] = [await serve(true, listening), await serve(false, listening)]
    const seen = async (port: number) => [
      await leave(port, '/hello', ({ events }) => events.includes('close')),
      await leave(port, '/late', () => true),
      await leave(port, '/huge', ({ response }) => response.headersSent),
    ]
    const ends = await seen(direct)
    expect(ends).toEqual(await seen(ordinary))
    expect(ends.map((end) => end.aborts)).toEqual([[], ['/late'], hearsOfParts ? ['/huge'] : []])
    for (const { events } of ends) expect(events.filter((event) => event === 'close')).toHaveLength(1)
  })
})

describe('a tool that watches responses', () => {
  const body = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

  test.each(['writeHead', 'write', 'end'] as const)('by a %s of the one response is asked', async (method) => {
    const port = await serve(true)
    let calls = 0
    onStart = (response) => {
      const original = response[method] as (...args: unknown[]) => unknown
      Object.assign(response, {
        [method](...args: unknown[]) {
          calls++
          return original.apply(response, args)
        },
      })
    }
    const { text } = await sendRaw(port, get('/hello'), { answers: 1 })
    expect(body(text)).toBe('{"hello":"world"}')
    expect(watched[0]!.direct()).toBe(false)
    expect(calls).toBe(method === 'write' ? 0 : 1)
  })

  test.each(['writeHead', 'end'] as const)('by a %s of the prototype is asked', async (method) => {
    const port = await serve(true)
    const spy = vi.spyOn(ServerResponse.prototype, method)
    try {
      await sendRaw(port, get('/hello'), { answers: 1 })
      expect(spy).toHaveBeenCalledOnce()
    } finally {
      spy.mockRestore()
    }
    expect(watched[0]!.direct()).toBe(false)
  })

  test('may set a header, a reason or leave the date out', async () => {
    const port = await serve(true)
    onStart = (response) => {
      response.setHeader('x-trace', '7')
    }
    expect((await sendRaw(port, get('/hello'), { answers: 1 })).text).toContain('x-trace: 7\r\n')
    onStart = (response) => {
      response.statusMessage = 'Fine'
    }
    expect((await sendRaw(port, get('/hello'), { answers: 1 })).text).toContain('HTTP/1.1 200 Fine\r\n')
    onStart = (response) => {
      response.sendDate = false
    }
    expect((await sendRaw(port, get('/hello'), { answers: 1 })).text).not.toContain('Date')
  })

  test.each([ServerResponse, OutgoingMessage])('and was there first is noticed (%o)', async (target) => {
    vi.resetModules()
    const method = target === ServerResponse ? 'writeHead' : 'end'
    const prototype = target.prototype as unknown as Record<string, (...args: unknown[]) => unknown>
    const original = prototype[method]!
    prototype[method] = function (this: unknown, ...args) {
      return original.apply(this, args)
    }
    try {
      const fresh = await import('../../../../kernel/runtime/node/probe.ts')
      expect(await fresh.findDirectWriter()).toBeUndefined()
    } finally {
      prototype[method] = original
    }
  })
})

describe('the probe', () => {
  test('knows a faithful way', async () => {
    expect(await isFaithful(writeOnce)).toBe(true)
  })

  const ways: Record<string, Sending> = {
    'that throws': () => {
      throw new Error('on purpose')
    },
    'that does nothing': () => {},
    'with another byte': (response, socket, head, body, encoding) =>
      writeOnce(response, socket, `${head} `, body, encoding),
    'in the wrong encoding': (response, socket, head, body) => writeOnce(response, socket, head, body, 'latin1'),
    'that ends twice': (response, socket, head, body, encoding) => {
      writeOnce(response, socket, head, body, encoding)
      response.emit('finish')
    },
    'that does not report its end': (response, socket, head, body, encoding) => {
      writeOnce(response, socket, head, body, encoding)
      response.finished = false
    },
    'that never finishes': (response, socket, head, body, encoding) => {
      response._header = head
      response._headerSent = response.finished = true
      socket.write(head + body, encoding)
      response._finish()
    },
  }
  test.each(Object.entries(ways))('notices a way %s', async (_name, way) => {
    expect(await isFaithful(way)).toBe(false)
  })

  test('is not needed for a header that would split the response', async () => {
    const port = await serve(true, (raw) =>
      raw.respond({ status: 200, headers: ['content-length', '2', 'x-a', 'a\r\nb: c'], body: 'ok' }),
    )
    const { statuses, text } = await sendRaw(port, get('/'), { answers: 1 })
    expect(statuses).toEqual([500])
    expect(text).not.toContain('b: c')
    expect(warnings).toHaveLength(1)
  })
})

describe('an encrypted connection', () => {
  test('is answered directly, too', async () => {
    const port = await serve(true, handle, { https: certificate })
    const { text } = await sendRaw(port, get('/utf8') + get('/hello').repeat(3), { answers: 4, secure: true })
    expect(Buffer.from(text, 'latin1').toString()).toContain('grüße €')
    expect(watched[0]!.direct()).toBe(true)
    expect(watched.map((one) => one.events)).toEqual(Array(4).fill(['prefinish', 'finish', 'close']))
  })
})
