import { channel } from 'node:diagnostics_channel'
import { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RawRequest } from '../../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits } from '../../../../kernel/runtime/adapter.ts'
import { readBody } from '../../../../kernel/runtime/node/body.ts'
import { type BodyReader, collectBody } from '../../../../kernel/runtime/node/message.ts'
import { NodeAdapter } from '../../../../kernel/runtime/node/node.ts'
import { findCollecting, readsAlike } from '../../../../kernel/runtime/node/probe.ts'
import { FormattedFailures } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { sendRaw } from '../../../conformance/raw-client.ts'

const text = (raw: RawRequest, body: string) =>
  raw.respond({ status: 200, headers: ['content-length', String(body.length)], body })

/** Answers with the body, or with the reason why there is none. */
function echo(raw: RawRequest): void {
  raw.bytes(1000).then(
    (bytes) => text(raw, `read:${Buffer.from(bytes)}`),
    (error: Error) => text(raw, error.message),
  )
}

const adapters: Adapter[] = []

async function serve(handler: (raw: RawRequest) => void, ordinary = false): Promise<number> {
  const adapter = new NodeAdapter({ ordinary })
  adapters.push(adapter)
  const options = {
    host: '127.0.0.1',
    failures: new FormattedFailures(),
    upgrades: [],
    limits: defaultLimits,
    onWarning() {},
  }
  return (await adapter.listen({ ...options, port: 0 }, handler)).port
}

let onStart: ((message: IncomingMessage) => void) | undefined
let messages: IncomingMessage[] = []
const started = channel('http.server.request.start')
const watch = (event: unknown) => {
  const { request } = event as { request: IncomingMessage }
  messages.push(request)
  onStart?.(request)
}
beforeAll(() => started.subscribe(watch))
afterAll(() => started.unsubscribe(watch))
afterEach(async () => {
  onStart = undefined
  messages = []
  for (const adapter of adapters.splice(0)) {
    const stopped = adapter.stop()
    adapter.cut()
    await stopped
  }
})

const post = (body: string, length = body.length) =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`
const bodyOf = (answer: { text: string }) => answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4)

/** What is left of a message when its request was answered. */
const remains = ({ complete, destroyed, readableEnded, readableLength, aborted }: IncomingMessage) => ({
  complete,
  destroyed,
  readableEnded,
  readableLength,
  aborted,
})

describe('a body', () => {
  test('is taken from the parser, past the stream of its message', async () => {
    const port = await serve(echo)
    expect(bodyOf(await sendRaw(port, post('some text'), { answers: 1 }))).toBe('read:some text')
    const [message] = messages
    // No one has resumed it, and nevertheless it has ended.
    expect(message!.readableFlowing).toBe(null)
    expect(remains(message!)).toMatchObject({ complete: true, destroyed: true, readableEnded: true })
  })

  test.each<[string, string[]]>([
    ['in one piece', [post('some text')]],
    ['in pieces', [post('some', 9), ' te', 'xt']],
    // Its rest never comes: the response comes first, and whether the parser would still see the rest is up to the machine.
    ['that declares too much', [post('x', 5000)]],
  ])('%s leaves a message as its events do', async (_name, data) => {
    const ports = [await serve(echo), await serve(echo, true)]
    const seen = []
    for (const port of ports) {
      const answer = await sendRaw(port, data, { answers: 1, dripMs: 10 })
      seen.push([bodyOf(answer), answer.statuses, remains(messages.pop()!)])
    }
    expect(seen[0]).toEqual(seen[1])
  })

  test('that was there before anyone asked is read from the stream', async () => {
    const port = await serve((raw) => void turn().then(() => echo(raw)))
    expect(bodyOf(await sendRaw(port, post('some text'), { answers: 1 }))).toBe('read:some text')
    expect(messages[0]!.readableFlowing).toBe(true)
  })

  test('of which the client sends a part and leaves is refused', async () => {
    const reason = new Promise<string>((resolve) => {
      void serve((raw) => void raw.bytes(100).catch(({ message }: Error) => resolve(message))).then((port) => {
        const client = connect(port, '127.0.0.1', () => client.write(post('some', 9), () => client.destroy()))
      })
    })
    expect(await reason).toContain('the connection ended before the body was complete')
  })
})

describe('a tool that watches requests', () => {
  test('gets the events of the body that it listens for', async () => {
    const seen: string[] = []
    onStart = (message) => {
      message.on('data', (chunk) => seen.push(String(chunk))).on('end', () => seen.push('end'))
    }
    const port = await serve(echo)
    expect(bodyOf(await sendRaw(port, post('some text'), { answers: 1 }))).toBe('read:some text')
    expect(seen).toEqual(['some text', 'end'])
  })

  test('by an `on` of the one request is asked', async () => {
    const seen: string[] = []
    onStart = (message) => {
      const { on } = message
      Object.assign(message, {
        on(event: string, listener: () => void) {
          seen.push(event)
          return (on as (...given: unknown[]) => unknown).call(message, event, listener)
        },
      })
    }
    const port = await serve(echo)
    expect(bodyOf(await sendRaw(port, post('some text'), { answers: 1 }))).toBe('read:some text')
    expect(seen).toContain('data')
  })

  test('and comes in the middle of the body learns of its end', async () => {
    const port = await serve(echo)
    let answer = ''
    const client = connect(port, '127.0.0.1').setEncoding('utf8')
    client.on('data', (text: string) => {
      answer += text
    })
    client.write(post('some', 9))
    await vi.waitFor(() => expect(messages).toHaveLength(1), { interval: 1, timeout: 20_000 })
    const ended = new Promise((resolve) => messages[0]!.on('end', () => resolve('ended')))
    client.write(' text')
    expect(await ended).toBe('ended')
    await vi.waitFor(() => expect(answer).toMatch(/\r\n\r\nread:some text$/), 20_000)
    client.destroy()
  })

  test('and was there first is noticed', async () => {
    vi.resetModules()
    const original = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'push')
    IncomingMessage.prototype.push = () => true
    try {
      const fresh = await import('../../../../kernel/runtime/node/probe.ts')
      expect(await fresh.findCollecting()).toBe(false)
    } finally {
      Reflect.deleteProperty(IncomingMessage.prototype, 'push')
      if (original) Object.defineProperty(IncomingMessage.prototype, 'push', original)
    }
  })
})

describe('a request that declares no body', () => {
  test.each([true, false])('has an empty one, however it is read (ordinary: %s)', async (ordinary) => {
    const port = await serve(async (raw) => {
      if (raw.target === '/bytes') return echo(raw)
      let read = ''
      for await (const chunk of raw.stream()) read += String(chunk)
      text(raw, `read:${read}`)
    }, ordinary)
    for (const path of ['/bytes', '/stream']) {
      const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, { answers: 1 })
      expect(bodyOf(answer)).toBe('read:')
    }
  })
})

describe('the probe', () => {
  test('knows a faithful way, and this process has it', async () => {
    expect(await readsAlike(collectBody)).toBe(true)
    expect(await findCollecting()).toBe(true)
  })

  const ways: Record<string, BodyReader> = {
    'that throws': () => {
      throw new Error('on purpose')
    },
    'with another byte': async (...given) => Buffer.concat([await collectBody(...given), Buffer.from(' ')]),
    'without a limit': (message, _limit, onLeft) => collectBody(message, 1000, onLeft),
    'that does not say what it leaves': (message, limit) => collectBody(message, limit, () => {}),
    'that does not end the message': async (message, limit, onLeft) => {
      const body = await readBody(message, limit, onLeft)
      Object.defineProperty(message, 'readableEnded', { value: false })
      return body
    },
  }
  test.each(Object.entries(ways))('notices a way %s', async (_name, way) => {
    expect(await readsAlike(way)).toBe(false)
  })
})
