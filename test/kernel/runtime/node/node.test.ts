import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { RawRequest, StreamBody } from '../../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits } from '../../../../kernel/runtime/adapter.ts'
import { NodeAdapter } from '../../../../kernel/runtime/node/node.ts'
import { FormattedFailures } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { sendRaw } from '../../../conformance/raw-client.ts'
import { pause } from '../../../support/kernel.ts'

const failures = new FormattedFailures()

let adapter: Adapter
const warnings: unknown[] = []

async function serve(handler: (raw: RawRequest) => void): Promise<number> {
  adapter = new NodeAdapter()
  const onWarning = (_message: string, error?: unknown) => warnings.push(error)
  const { port } = await adapter.listen(
    { port: 0, host: '127.0.0.1', failures, upgrades: [], limits: defaultLimits, onWarning },
    handler,
  )
  return port
}

function answer(raw: RawRequest, body: string | StreamBody, headers: string[] = []): void {
  const length = typeof body === 'string' ? ['content-length', String(body.length)] : []
  raw.respond({ status: 200, headers: [...length, ...headers], body })
}

const get = (headers = '') => `GET /a?b HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const close = 'Connection: close\r\n'

afterEach(async () => {
  warnings.length = 0
  const stopped = adapter.stop()
  adapter.cut()
  await stopped
})

describe('the adapter on node:http', () => {
  test('ends a connection that its client wants closed, whatever else the header of the response says', async () => {
    const port = await serve((raw) => answer(raw, 'a', ['connection', 'upgrade', 'upgrade', 'websocket']))
    for (const request of [get(close), 'GET / HTTP/1.0\r\n\r\n'])
      expect(await sendRaw(port, request)).toMatchObject({ closed: true })
  })

  test('reports at once that the client has left, if it left before', async () => {
    let gone = () => {}
    const left = new Promise<boolean>((resolve) => {
      gone = () => resolve(true)
    })
    const late: boolean[] = []
    const port = await serve((raw) => {
      raw.onSettled(() => {
        let isGone = false
        raw.onAbort(() => {
          isGone = true
        })
        late.push(isGone)
        gone()
      })
    })
    const socket = connect(port, '127.0.0.1', () => socket.write(get(), () => socket.destroy()))
    await left
    expect(late).toEqual([true])
  })

  test('joins repeated headers the same way in header() and headers()', async () => {
    const seen: unknown[] = []
    const port = await serve((raw) => {
      const names = ['x-a', 'cookie', 'host', 'content-type', 'none']
      seen.push(
        names.map((name) => raw.header(name)),
        names.map((name) => raw.headers()[name]),
      )
      seen.push(Object.getPrototypeOf(raw.headers()))
      answer(raw, 'ok')
    })
    await sendRaw(
      port,
      get(`Host: y\r\nX-A: 1\r\nx-a: 2\r\nCookie: a\r\ncookie: b\r\nContent-Type: c\r\ncontent-type: d\r\n${close}`),
    )
    const joined = ['1, 2', 'a; b', 'x, y', 'c, d', undefined]
    expect(seen).toEqual([joined, joined, null])
  })

  test('takes a header named __proto__ as a name like any other', async () => {
    let headers: Record<string, string> = {}
    const port = await serve((raw) => {
      headers = raw.headers()
      answer(raw, 'ok')
    })
    await sendRaw(port, get(`__proto__: polluted\r\n${close}`))
    expect(Object.keys(headers)).toContain('__proto__')
    expect(headers.toString).toBeUndefined()
  })

  test('answers 500 when a header cannot be written, and says so', async () => {
    const port = await serve((raw) => answer(raw, 'ok', ['x-a', 'a\r\nb: c']))
    const { statuses, text } = await sendRaw(port, get(), { answers: 1 })
    expect(statuses).toEqual([500])
    expect(text).toMatch(/^HTTP\/1.1 500 Internal Server Error\r\n/)
    expect(text).not.toContain('b: c')
    expect(warnings).toHaveLength(1)
  })

  test('cuts the connection rather than send more or less than content-length says', async () => {
    for (const [declared, pieces] of [
      ['3', ['abcd']],
      ['9', ['abc']],
    ] as const) {
      const stream = () => Readable.from(pieces)
      const port = await serve((raw) => answer(raw, stream(), ['content-length', declared]))
      const { text, closed } = await sendRaw(port, get())
      expect(closed).toBe(true)
      expect(text).not.toContain('abcd')
      expect(String(warnings.pop())).toContain('content-length')
      await adapter.stop()
    }
  })

  test('refuses pieces that are neither text nor bytes without hurting the process', async () => {
    const port = await serve((raw) => answer(raw, Readable.from([{ not: 'bytes' }])))
    expect((await sendRaw(port, get())).closed).toBe(true)
    expect(String(warnings[0])).toContain('strings or Uint8Arrays, got object')
  })

  test('leaves a body stream half way and still answers', async () => {
    const port = await serve(async (raw) => {
      for await (const _ of raw.stream()) break
      answer(raw, 'enough')
    })
    const data = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n${'x'.repeat(100_000)}`
    const { statuses, closed, text } = await sendRaw(port, data)
    expect(statuses).toEqual([200])
    expect(text).toContain('connection: close')
    expect(closed).toBe(true)
  })

  test('rejects a body whose client leaves', async () => {
    let failure: Promise<unknown> | undefined
    const port = await serve((raw) => {
      failure = raw.bytes(1000).catch((error: unknown) => error)
      client.destroy()
    })
    const client = connect(port, '127.0.0.1')
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc')
    await expect.poll(() => failure).toBeDefined()
    expect(await failure).toMatchObject({ code: 'BadRequestError' })
  })

  test('answers the whole request before rubbish, and nothing after it', async () => {
    // Not before the parser has come upon the rubbish.
    const port = await serve((raw) => setImmediate(() => answer(raw, 'first')))
    const { statuses, text, closed } = await sendRaw(port, `${get()}\x00rubbish\r\n\r\n${get()}`)
    expect([statuses, closed]).toEqual([[200], true])
    expect(text).toMatch(/first$/)
  })

  test('reports bytes that are not HTTP in one line, without a stack', async () => {
    const lines: unknown[][] = []
    adapter = new NodeAdapter()
    const options = {
      port: 0,
      host: '127.0.0.1',
      failures,
      upgrades: [],
      limits: defaultLimits,
      onWarning: (...line: unknown[]) => lines.push(line),
    }
    const { port } = await adapter.listen(options, () => {})
    expect((await sendRaw(port, 'G\x01T / HTTP/1.1\r\n\r\n')).statuses).toEqual([400])
    expect(lines).toEqual([[expect.stringMatching(/^a malformed request was refused: [\w ]+ \(HPE_INVALID_METHOD\)$/)]])
  })

  test('stop ends silent and idle connections and waits for the busy ones', async () => {
    let slow: RawRequest | undefined
    const port = await serve((raw) => {
      if (raw.header('x-slow')) slow = raw
      else answer(raw, 'fast')
    })
    const silent = sendRaw(port, '')
    const idle = connect(port, '127.0.0.1', () => idle.write(get()))
    await once(idle, 'data')
    const idleEnded = once(idle.resume(), 'close')
    const busy = sendRaw(port, get('X-Slow: 1\r\n'))
    await expect.poll(() => [adapter.connections(), slow !== undefined]).toEqual([3, true])
    const stopped = adapter.stop()
    expect((await silent).closed).toBe(true)
    await idleEnded
    await expect.poll(() => adapter.connections()).toBe(1)
    answer(slow!, 'slow')
    await stopped
    expect((await busy).statuses).toEqual([200])
    expect(adapter.connections()).toBe(0)
  })

  test('cut destroys and counts the remaining connections', async () => {
    let begun = 0
    const port = await serve(() => begun++)
    const hanging = sendRaw(port, get())
    await expect.poll(() => begun).toBe(1)
    const stopped = adapter.stop()
    expect(adapter.cut()).toBe(1)
    await stopped
    expect((await hanging).statuses).toEqual([])
  })
})

test.each([
  'before',
  'after',
])('a body that is read on after the response leaves no listener: begun %s it', async (begun) => {
  const told: string[] = []
  const note = ({ message }: Error) => void told.push(message)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  let read = 0
  const port = await serve(async (raw) => {
    const reading = begun === 'before' ? raw.bytes(10) : pause(5).then(() => raw.bytes(10))
    answer(raw, 'early')
    await reading
    read++
  })
  const client = connect(port, '127.0.0.1')
  // Node.js warns of the eleventh listener.
  for (let i = 0; i < 12; i++) {
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
    await once(client, 'data')
    await pause(10)
    client.write('def')
    await expect.poll(() => read, { interval: 5 }).toBe(i + 1)
  }
  client.destroy()
  await pause(10)
  expect(told).toEqual([])
})
