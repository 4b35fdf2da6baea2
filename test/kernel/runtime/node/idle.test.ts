import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RawRequest } from '../../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits, type ListenOptions } from '../../../../kernel/runtime/adapter.ts'
import { NodeAdapter } from '../../../../kernel/runtime/node/node.ts'
import { showsOwners } from '../../../../kernel/runtime/node/probe.ts'
import { FormattedFailures } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { type RawAnswer, type RawOptions, sendRaw } from '../../../conformance/raw-client.ts'
import { certificate } from '../certificate.ts'

const failures = new FormattedFailures()

const ok = { status: 200, headers: ['content-length', '2'], body: 'ok' }
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

async function* slowly() {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1200))
    yield `${i}`
  }
}

async function handle(raw: RawRequest): Promise<void> {
  if (raw.target === '/slow') setTimeout(() => raw.respond(ok), 3600)
  else if (raw.target === '/stream') raw.respond({ status: 200, headers: ['content-length', '3'], body: slowly() })
  else {
    if (raw.method === 'POST') await raw.bytes(100)
    raw.respond(ok)
  }
}

async function serve(
  ordinary: boolean,
  keepAliveTimeout: number,
  https?: ListenOptions['https'],
): Promise<{ adapter: Adapter; port: number }> {
  const adapter = new NodeAdapter({ ordinary })
  const limits = { ...defaultLimits, keepAliveTimeout }
  const options = {
    port: 0,
    host: '127.0.0.1',
    failures,
    upgrades: [],
    limits,
    onWarning: () => {},
    ...(https && { https }),
  }
  const { port } = await adapter.listen(options, handle)
  return { adapter, port }
}

/** Several in the time that a connection is kept, so that a busy machine does not look like a silent client. */
const nowAndThen = Array.from({ length: 20 }, () => get('/'))
/** What a client does, and how many answers it gets before the connection ends or the client leaves. */
const clients: Record<string, { data: string | string[]; options?: RawOptions; statuses: number[]; closed: boolean }> =
  {
    'falls silent': { data: get('/'), statuses: [200], closed: true },
    'falls silent in the middle of the next head': { data: [get('/'), 'GET / HT'], statuses: [200], closed: true },
    'falls silent after a large turn': { data: get('/').repeat(50), statuses: Array(50).fill(200), closed: true },
    'asks now and then': {
      data: nowAndThen,
      options: { answers: 20, dripMs: 200 },
      statuses: Array(20).fill(200),
      closed: false,
    },
    'waits for a response': { data: get('/slow'), options: { answers: 1 }, statuses: [200], closed: false },
    'waits for a slow stream': { data: get('/stream'), options: { answers: 1 }, statuses: [200], closed: false },
    'sends a body slowly': {
      data: ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n', 'a', 'b', 'c'],
      options: { answers: 1, dripMs: 1400 },
      statuses: [200],
      closed: false,
    },
    'has not said anything yet': { data: '', options: { answers: 0, quietMs: 3000 }, statuses: [], closed: false },
    'has said half a head': { data: 'GET / HT', options: { answers: 0, quietMs: 3000 }, statuses: [], closed: false },
  }

describe.each([false, true])('a connection with a time between requests (left to node: %s)', (ordinary) => {
  const answers = new Map<string, RawAnswer>()
  let adapter: Adapter
  beforeAll(async () => {
    const server = await serve(ordinary, 1000)
    adapter = server.adapter
    const talk = async (name: string) => {
      const { data, options } = clients[name]!
      answers.set(name, await sendRaw(server.port, data, options))
    }
    await Promise.all(Object.keys(clients).map(talk))
  })
  afterAll(() => adapter.stop())

  test.each(Object.keys(clients))('whose client %s', (name) => {
    const { statuses, closed, ms } = answers.get(name)!
    expect({ statuses, closed }).toEqual({ statuses: clients[name]!.statuses, closed: clients[name]!.closed })
    if (closed) expect(ms).toBeGreaterThan(1400)
  })

  test('announces the time', () => {
    expect(answers.get('falls silent')!.text).toContain('Keep-Alive: timeout=1\r\n')
  })
})

test('a connection without such a time is kept and announces none', async () => {
  const { adapter, port } = await serve(false, 0)
  const { closed, text } = await sendRaw(port, get('/'), { quietMs: 2500 })
  expect(closed).toBe(false)
  expect(text).toContain('Connection: keep-alive\r\n')
  expect(text).not.toContain('Keep-Alive:')
  await adapter.stop()
})

test('an encrypted connection that falls silent ends, and one that asks now and then is kept', async () => {
  const { adapter, port } = await serve(false, 1000, certificate)
  const [silent, busy] = await Promise.all([
    sendRaw(port, get('/'), { secure: true }),
    sendRaw(port, nowAndThen, { answers: 20, dripMs: 200, secure: true }),
  ])
  expect([silent.statuses, silent.closed]).toEqual([[200], true])
  expect(silent.ms).toBeGreaterThan(1400)
  expect([busy.statuses, busy.closed]).toEqual([Array(20).fill(200), false])
  await adapter.stop()
})

test('sockets show on every Node whether they are busy', () => {
  expect(showsOwners()).toBe(true)
})
