import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { RawRequest } from '../../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits, type Limits } from '../../../../kernel/runtime/adapter.ts'
import { NodeAdapter } from '../../../../kernel/runtime/node/node.ts'
import { FormattedFailures } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { sendRaw } from '../../../conformance/raw-client.ts'

const failures = new FormattedFailures()

let adapter: Adapter
/** The targets of the requests that began, in this order, and the requests that wait for their responses. */
let begun: string[] = []
let open = new Map<string, RawRequest>()
let warnings: string[] = []

async function serve(handler: (raw: RawRequest) => void, limits: Partial<Limits> = {}): Promise<number> {
  adapter = new NodeAdapter()
  const options = {
    port: 0,
    host: '127.0.0.1',
    failures,
    upgrades: [],
    limits: { ...defaultLimits, ...limits },
    onWarning: (message: string) => warnings.push(message),
  }
  const { port } = await adapter.listen(options, (raw) => {
    begun.push(raw.target)
    open.set(raw.target, raw)
    handler(raw)
  })
  return port
}

function answer(raw: RawRequest | undefined, headers: string[] = [], body = raw!.target): void {
  raw!.respond({ status: 200, headers: ['content-length', String(body.length), ...headers], body })
}

const get = (...targets: string[]) => targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')
const close = ['connection', 'close']
/** The bodies of all responses and where the end of the connection was said. */
const reported = (text: string) =>
  [...text.matchAll(/^(?:connection: (close)\r\n|\r\n(\/(?:much|\d)))/gim)].map((m) => m[1] ?? m[2])
const started = (count: number) => expect.poll(() => begun.length).toBe(count)

afterEach(async () => {
  const stopped = adapter.stop()
  adapter.cut()
  await stopped
  begun = []
  open = new Map()
  warnings = []
})

describe('a response that ends its connection', () => {
  test('waits with that for the last one that is in work', async () => {
    const port = await serve(() => {})
    const client = sendRaw(port, get('/1', '/2', '/3'))
    await started(3)
    answer(open.get('/2'))
    answer(open.get('/1'), close)
    answer(open.get('/3'))
    const { text, closed } = await client
    expect([reported(text), closed]).toEqual([['/1', '/2', 'close', '/3'], true])
  })

  test('ends it after earlier answers', async () => {
    const port = await serve(() => {})
    const client = sendRaw(port, get('/1', '/2', '/3'))
    await started(3)
    answer(open.get('/3'))
    answer(open.get('/2'))
    answer(open.get('/1'), close)
    const { text, closed } = await client
    expect([reported(text), closed]).toEqual([['/1', '/2', '/3'], true])
  })

  test('lets nothing begin that comes after it', async () => {
    const port = await serve((raw) => {
      if (raw.target === '/2') answer(raw, close)
    })
    const parts = [get('/1', '/2', '/3'), get('/4')]
    const client = sendRaw(port, parts, { dripMs: 50 })
    await started(2)
    // In which the fourth request comes. Were it later, the test would show less.
    setTimeout(() => answer(open.get('/1')), 120)
    const { text, closed } = await client
    expect([reported(text), closed, begun]).toEqual([['/1', 'close', '/2'], true, ['/1', '/2']])
  })

  test('lets nothing begin that comes after it, when those before are answered at once', async () => {
    const port = await serve((raw) => {
      if (raw.target !== '/2') return
      answer(raw, close)
      answer(open.get('/1'))
    })
    const { text, closed } = await sendRaw(port, get('/1', '/2', '/3'))
    expect([reported(text), closed, begun]).toEqual([['/1', 'close', '/2'], true, ['/1', '/2']])
  })

  test('lets nothing begin after a stream in progress', async () => {
    let end: (() => void) | undefined
    async function* slowly() {
      yield '/1'
      await new Promise<void>((resolve) => {
        end = resolve
      })
    }
    const port = await serve((raw) => raw.respond({ status: 200, headers: close, body: slowly() }))
    const client = sendRaw(port, [get('/1'), get('/2')], { dripMs: 50 })
    await expect.poll(() => end).toBeDefined()
    // In which the second request comes. Were it later, the test would show less.
    setTimeout(end!, 150)
    const { statuses, closed } = await client
    expect([statuses, closed, begun]).toEqual([[200], true, ['/1']])
  })
})

describe('a body that is too large', () => {
  const post = (path: string, body: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`
  const readFive = (raw: RawRequest) =>
    raw.bytes(5).then(
      () => answer(raw),
      () => answer(raw, [], '/much'),
    )

  test('keeps the connection when it has arrived in full: requests that came with it begin, and are answered', async () => {
    const port = await serve((raw) => void setTimeout(() => void readFive(raw), 30))
    const { text } = await sendRaw(port, post('/1', 'x'.repeat(10)) + get('/2') + post('/3', 'few'), { answers: 3 })
    expect(reported(text)).toEqual(['/much', '/2', '/3'])
  })

  test('does not hold up the connection when it has come whole', async () => {
    const port = await serve((raw) => void setTimeout(() => void readFive(raw), 30))
    // More than is read ahead of a handler, and less than comes in one piece.
    const chunked = `Transfer-Encoding: chunked\r\n\r\n9c40\r\n${'x'.repeat(40_000)}\r\n0\r\n\r\n`
    const data = [`POST /1 HTTP/1.1\r\nHost: x\r\n${chunked}`, get('/2')]
    const { text } = await sendRaw(port, data, { dripMs: 100, answers: 2 })
    expect(reported(text)).toEqual(['/much', '/2'])
  })

  test('lets nothing begin after it when the rest of it comes after the response', async () => {
    const port = await serve((raw) => void readFive(raw))
    const last = `${'x'.repeat(8)}${get('/2')}`
    const { text, closed } = await sendRaw(port, post('/1', 'xx', 10), { answers: 1, last })
    expect([reported(text), closed, begun]).toEqual([['close', '/much'], true, ['/1']])
  })
})

describe('bytes after requests in progress', () => {
  test('CONNECT is refused after their responses', async () => {
    const port = await serve(() => {})
    const client = sendRaw(port, `${get('/1', '/2')}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
    await started(2)
    answer(open.get('/2'))
    answer(open.get('/1'))
    const { statuses, text, closed } = await client
    expect([statuses, closed]).toEqual([[200, 200, 405], true])
    expect(text).toMatch(/^HTTP[\s\S]*\/1HTTP[\s\S]*\/2HTTP\/1.1 405 [\s\S]*MethodNotAllowedError/)
  })

  test('CONNECT of a client that resets its connection affects no other client', async () => {
    const port = await serve(() => {})
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.write(`${get('/1')}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
    await started(1)
    client.resetAndDestroy()
    await expect.poll(() => adapter.connections()).toBe(0)
    answer(open.get('/1'))
  })

  test('rubbish takes none of their responses', async () => {
    const port = await serve(() => {})
    const client = sendRaw(port, `${get('/1', '/2')}\x00rubbish\r\n\r\n${get('/3')}`)
    await started(2)
    answer(open.get('/1'))
    answer(open.get('/2'))
    const { text, statuses, closed } = await client
    expect([reported(text), statuses, closed]).toEqual([['/1', 'close', '/2'], [200, 200], true])
  })

  test('rubbish does not cut a stream that is on its way', async () => {
    const port = await serve((raw) => {
      const body = (async function* () {
        yield '/1'
        client.write('\x00rubbish\r\n\r\n')
        await expect.poll(() => warnings).toHaveLength(1)
        yield ' whole'
      })()
      raw.respond({ status: 200, headers: ['content-length', '8'], body })
    })
    let text = ''
    const client = connect(port, '127.0.0.1', () => client.write(get('/1')))
    client.setEncoding('latin1').on('data', (piece) => {
      text += piece
    })
    const closed = await once(client, 'end').then(() => true)
    expect([text.endsWith('/1 whole'), closed]).toEqual([true, true])
  })

  test.each([
    ['a body that is not HTTP', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n', {}, 400],
    ['a body that does not come', 'Content-Length: 9\r\n\r\nhalf', { receiveTimeout: 200, headersTimeout: 200 }, 408],
  ])('%s is refused after their responses', async (_what, rest, limits, status) => {
    const port = await serve((raw) => void (raw.target === '/2' && raw.bytes(10).catch(() => {})), limits)
    const client = sendRaw(port, `${get('/1')}POST /2 HTTP/1.1\r\nHost: x\r\n${rest}`)
    await started(2)
    // In which the body is given up. Were that later, the refusal would only come by itself.
    setTimeout(() => answer(open.get('/1')), status === 408 ? 1500 : 50)
    const { statuses, closed } = await client
    expect([statuses, closed]).toEqual([[200, status], true])
  })

  test('a stream that breaks off takes none of their responses', async () => {
    const port = await serve((raw) => {
      if (raw.target === '/1') return
      const body = (async function* () {
        yield 'half'
        throw new Error('broken on purpose')
      })()
      raw.respond({ status: 200, headers: [], body })
    })
    const client = sendRaw(port, get('/1', '/2'))
    await started(2)
    // In which it breaks off. Were that later, the test would show less.
    setTimeout(() => answer(open.get('/1')), 50)
    const { text, statuses, closed } = await client
    expect([statuses, closed]).toEqual([[200, 200], true])
    expect(text).toMatch(/\r\n\/1HTTP[\s\S]*\r\nhalf\r\n$/)
  })

  test('every one of them learns that its client has left', async () => {
    const left: string[] = []
    const port = await serve((raw) => raw.onAbort(() => left.push(raw.target)))
    const client = connect(port, '127.0.0.1')
    client.write(get('/1', '/2', '/3'))
    await started(3)
    client.destroy()
    await expect.poll(() => left.sort()).toEqual(['/1', '/2', '/3'])
  })
})

describe('a client that asks for much and does not read', () => {
  const large = 'x'.repeat(300_000)
  const total = 2000

  /** Sends all requests at once, and reads no response before `read` is called, which resolves with the number of bytes. */
  function ask(port: number) {
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.pause().write(get('/1').repeat(total))
    const read = (enough: number) =>
      new Promise<number>((resolve) => {
        let bytes = 0
        client.on('data', (chunk) => {
          bytes += chunk.length
          if (bytes >= enough) resolve(bytes)
        })
        client.once('close', () => resolve(bytes)).resume()
      })
    return { client, read }
  }

  /** Resolves when at least so many requests have begun, and no further one for a while: if that is too short, it shows less. */
  async function quiet(least = 1): Promise<number> {
    let before = -1
    while (begun.length < least || begun.length !== before) {
      before = begun.length
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    return before
  }

  const ways: Record<string, (raw: RawRequest) => void> = {
    'at once': (raw) => answer(raw, [], large),
    'after a while': (raw) => void setTimeout(() => answer(raw, [], large), 5),
    'as a stream': (raw) => {
      const body = (async function* () {
        for (let i = 0; i < 6; i++) yield large.slice(0, 50_000)
      })()
      raw.respond({ status: 200, headers: ['content-length', '300000'], body })
    },
  }
  test.each(Object.keys(ways))('has few of its requests begun, and more as it reads: answered %s', async (way) => {
    const port = await serve(ways[way]!)
    const { client, read } = ask(port)
    // The system takes some megabytes for a connection.
    expect(await quiet()).toBeLessThan(80)
    await read(30_000_000)
    expect(begun.length).toBeGreaterThan(99)
    expect(begun.length).toBeLessThan(200)
    client.destroy()
  })

  test('has no further one begun when its connection is cut', async () => {
    const { client } = ask(await serve(ways['at once']!))
    const before = await quiet()
    adapter.cut()
    await once(client.resume(), 'close')
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun.length).toBe(before)
  })

  test('has at most 17 requests in work, and all in the end', async () => {
    const waiting: RawRequest[] = []
    const port = await serve((raw) => void waiting.push(raw))
    const { client, read } = ask(port)
    const done = read(total * 60)
    await quiet(17)
    expect(begun.length).toBe(17)
    answer(waiting.pop(), [], 'x')
    expect(begun.length).toBe(18)
    while (waiting.length > 0 || begun.length < total) {
      for (const raw of waiting.splice(0)) answer(raw, [], 'x')
      await new Promise((resolve) => setTimeout(resolve))
    }
    expect(await done).toBeGreaterThan(total * 60)
    client.destroy()
  })
})

describe('half a head that waits while the server does not read', () => {
  const large = 'x'.repeat(200_000)
  /** Sends 100 requests and the beginning of another one, and reads a byte every 100 ms; `read` reads all. */
  async function slowly(rest: string) {
    const port = await serve((raw) => answer(raw, [], large), { headersTimeout: 500, receiveTimeout: 1500 })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    const ignore = () => {}
    client.on('readable', ignore).write(`${get('/1').repeat(100)}GET /last`)
    const reading = setInterval(() => client.read(1), 100)
    onTestFinished(() => void client.destroy())
    await expect.poll(() => begun.length).toBeGreaterThan(10)
    client.write(rest)
    // Two rounds of the check of the limit, which runs once a second.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    clearInterval(reading)
    let bytes = 0
    client.off('readable', ignore).on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    return { client: client.resume(), bytes: () => bytes }
  }

  test('gets its response, however slowly the client reads', async () => {
    const { bytes } = await slowly(' HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(bytes, { timeout: 20_000 }).toBeGreaterThan(101 * large.length)
    expect(begun.slice(-2)).toEqual(['/1', '/last'])
  })

  test.each([
    '',
    '/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n',
  ])('ends the connection after the responses if the rest is late from then on, byte by byte: %j', async (more) => {
    const { client, bytes } = await slowly(' HTTP')
    client.write(more)
    // Once everything has come: a byte that finds the connection closed takes along what the client has not read.
    const writing = setInterval(() => bytes() > 100 * large.length && client.write('a'), 100)
    onTestFinished(() => clearInterval(writing))
    // Not `once` of node:events, which rejects for a byte that was written when the connection had ended.
    await new Promise((resolve) => void client.once('close', resolve))
    expect(bytes()).toBeGreaterThan(100 * large.length)
    expect(begun.filter((target) => target === '/1')).toHaveLength(100)
  })
})

describe('an upload that waits while the server does not read', () => {
  /** Sends 17 requests that take their time and half an upload, which none of the server reads for `ms`. */
  async function upload(ms: number) {
    const waiting: RawRequest[] = []
    const handler = async (raw: RawRequest) => {
      if (raw.target === '/1') waiting.push(raw)
      else if ((await raw.bytes(100).catch(() => '')).length === 10) answer(raw, [], '/2')
    }
    const port = await serve((raw) => void handler(raw), { headersTimeout: 1000, receiveTimeout: 2000 })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void client.destroy())
    let text = ''
    client.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    client.write(`${get('/1').repeat(17)}POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345`)
    await started(17)
    await new Promise((resolve) => setTimeout(resolve, ms))
    const ended = once(client, 'close')
    for (const raw of waiting) answer(raw)
    return { client, text: () => text, ended }
  }

  test.each([3500, 1500])('arrives in full, although that was %i ms', async (ms) => {
    const { client, text } = await upload(ms)
    await started(18)
    await new Promise((resolve) => setTimeout(resolve, 1200))
    client.write('67890')
    await expect.poll(() => reported(text())).toEqual([...Array(17).fill('/1'), '/2'])
  })

  test('is refused if the rest of it is late from then on', async () => {
    const { ended, text } = await upload(3500)
    await ended
    expect(reported(text())).toEqual([...Array(17).fill('/1'), 'close'])
    expect(text()).toContain('HTTP/1.1 408')
  })
})

test.each([
  ['its head', ''],
  ['its body', 'st: x\r\nContent-Length: 9999\r\n\r\n'],
])('a request whose head came in part with others that have their responses is refused if %s is late', async (_, rest) => {
  const waiting: RawRequest[] = []
  const take = (raw: RawRequest) => (raw.target === '/1' ? waiting.push(raw) : raw.bytes(9999).catch(() => {}))
  const port = await serve((raw) => void take(raw), { headersTimeout: 1000, receiveTimeout: 2000 })
  const client = connect(port, '127.0.0.1').on('error', () => {})
  client.resume().write(`${get('/1').repeat(18)}POST /upload HTTP/1.1\r\nHo`)
  const ended = once(client, 'close')
  await started(17)
  await new Promise((resolve) => setTimeout(resolve, 700))
  while (begun.length < 18 || waiting.length > 0) {
    for (const raw of waiting.splice(0)) answer(raw)
    await new Promise((resolve) => setTimeout(resolve))
  }
  // The check of the limit, which runs once a second, finds the head late, and no request in progress.
  const writing = setInterval(() => client.write(rest === '' ? 'a' : rest.replace(/.*\n/gs, 'a')), 100)
  onTestFinished(() => clearInterval(writing))
  setTimeout(() => client.write(rest), 1500)
  await ended
})

test('a client that is still reading its response has all of it when the server stops', async () => {
  const size = 16_000_000
  const port = await serve((raw) => {
    const body = new Uint8Array(size)
    raw.respond({ status: 200, headers: ['content-length', String(size)], body })
  })
  let bytes = 0
  const client = connect(port, '127.0.0.1')
  const ended = new Promise((resolve) => client.once('close', resolve))
  client.on('data', (chunk) => {
    bytes += chunk.length
    client.pause()
    setTimeout(() => client.resume(), bytes < 4_000_000 ? 5 : 0)
  })
  client.write(get('/1'))
  await expect.poll(() => bytes).toBeGreaterThan(0)
  await adapter.stop()
  await ended
  expect(bytes).toBeGreaterThan(size)
})

test('a request that waits for others begins outside of their contexts', async () => {
  const storage = new AsyncLocalStorage<string>()
  onTestFinished(() => storage.disable())
  const seen: unknown[] = []
  const port = await serve((raw) => {
    seen.push(storage.getStore())
    storage.run(raw.target, () => setImmediate(() => answer(raw)))
  })
  const targets = Array.from({ length: 60 }, (_, i) => `/${i}`)
  const { statuses } = await sendRaw(port, get(...targets), { answers: 60 })
  expect(statuses).toHaveLength(60)
  expect(seen).toEqual(Array(60).fill(undefined))
})
