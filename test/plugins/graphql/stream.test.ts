import { setTimeout as pause } from 'node:timers/promises'
import { GraphQLError } from 'graphql'
import { describe, expect, test } from 'vitest'
import { openSource } from '../../../kernel/http/streams.ts'
import { type EventStreamParts, eventStream } from '../../../plugins/graphql/http/subscribe.ts'
import { graphqlApp } from '../../support/graphql.ts'

/** A source that the test feeds, as a topic of a broker is. */
function topic() {
  const waiting: ((result: IteratorResult<unknown>) => void)[] = []
  const seen = { asked: 0, returned: 0 }
  const source: AsyncIterableIterator<unknown> = {
    next: () => {
      seen.asked++
      return new Promise((resolve) => waiting.push(resolve))
    },
    return: async () => {
      seen.returned++
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
  return {
    source,
    seen,
    emit: (value: unknown) => waiting.shift()!({ done: false, value }),
    end: () => waiting.shift()!({ done: true, value: undefined }),
  }
}

const typeDefs = `
  type Query { a: Int }
  type Subscription { tick: Int breaks: Int refuses: Int throws: Int wrong: Int strict: Int! }
`
const resolvers = {
  Query: { a: () => 1 },
  Subscription: {
    tick: {
      async *subscribe() {
        yield { tick: 1 }
        yield { tick: 2 }
      },
    },
    breaks: {
      async *subscribe() {
        yield { breaks: 1 }
        throw new Error('a secret')
      },
    },
    refuses: {
      subscribe: () => {
        throw new GraphQLError('not you', { extensions: { code: 'NO' } })
      },
    },
    throws: { subscribe: () => Promise.reject(new Error('a secret')) },
    wrong: { subscribe: () => 'no iterable' },
    strict: {
      async *subscribe() {
        yield { strict: null }
      },
    },
  },
}

describe('responses as events', () => {
  const { server, post, log } = graphqlApp({ schema: { typeDefs, resolvers } })

  async function events(query: string, headers: Record<string, string> = {}) {
    const res = await server.inject.post('/graphql', {
      body: { query },
      headers: { accept: 'text/event-stream', ...headers },
    })
    res
      .assertStatus(200)
      .assertHeader('content-type', 'text/event-stream; charset=utf-8')
      .assertHeader('cache-control', 'no-cache, no-store')
    return res
      .text()
      .split('\n\n')
      .filter((one) => one.startsWith('event: '))
      .map((one) => {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(one)!
        return data === '' ? name : JSON.parse(data!)
      })
  }

  test('a subscription: each result, then the end', async () => {
    expect(await events('subscription { tick }')).toEqual([{ data: { tick: 1 } }, { data: { tick: 2 } }, 'complete'])
  })

  test('a query as well', async () => {
    expect(await events('{ a }')).toEqual([{ data: { a: 1 } }, 'complete'])
  })

  test('a source that fails: earlier events, a masked error, the end', async () => {
    const masked = { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }
    expect(await events('subscription { breaks }')).toEqual([{ data: { breaks: 1 } }, { errors: [masked] }, 'complete'])
    const [first, last] = await events('subscription { throws }')
    expect([first.errors[0].message, last]).toEqual(['Internal server error', 'complete'])
    expect((await events('subscription { wrong }')).at(-1)).toBe('complete')
    expect((await events('subscription { strict }'))[0]).toMatchObject({
      data: null,
      errors: [{ message: 'Internal server error' }],
    })
    expect(log.filter(({ level }) => level === 'error').length).toBeGreaterThanOrEqual(3)
  })

  test('a refusal: the reason, the end', async () => {
    const [first, last] = await events('subscription { refuses }')
    expect(first.errors[0]).toMatchObject({ message: 'not you', extensions: { code: 'NO' } })
    expect(last).toBe('complete')
    expect((await events('subscription { nope }'))[0].errors[0].message).toMatch(/Cannot query field/)
  })

  test('a subscription cannot be answered otherwise', async () => {
    expect(await post({ query: 'subscription { tick }' })).toMatchObject({ status: 406 })
  })

  test('requests that are wrong in themselves, and of foreign pages, get no stream', async () => {
    const headers = { accept: 'text/event-stream' }
    expect((await post({ query: 1 }, headers)).status).toBe(400)
    const res = await server.inject.get('/graphql', { query: { query: 'subscription { tick }' }, headers })
    expect(res.statusCode()).toBe(400)
  })

  test('a HEAD of a stream leaves nothing open', async () => {
    const feed = topic()
    const app = graphqlApp({
      schema: { typeDefs, resolvers: { Subscription: { tick: { subscribe: () => feed.source } } } },
    })
    const head = await app.server.inject.request('HEAD', '/graphql', {
      query: { query: 'subscription { tick }' },
      headers: { accept: 'text/event-stream', 'graphql-require-preflight': '1' },
    })
    expect(head.statusCode()).toBe(200)
    expect(feed.seen.returned).toBe(1)
    await app.server.close()
  })
})

describe('the stream itself', () => {
  const open = (source: AsyncIterator<unknown>, parts: Partial<EventStreamParts> = {}) => {
    let ended = 0
    const stream = eventStream({ events: source, failed: String, keepAlive: 60_000, onEnd: () => ended++, ...parts })
    const reader = openSource(stream.body)
    return {
      stream,
      reader,
      ends: () => ended,
      read: async () => {
        const { value } = await reader.next()
        return value && Buffer.from(value as Uint8Array).toString()
      },
    }
  }

  test('asks for an event when the reader has taken the last one, and not before', async () => {
    const feed = topic()
    const { read } = open(feed.source)
    expect(await read()).toBe(':\n\n')
    await pause(5)
    expect(feed.seen.asked).toBe(0)
    const first = read()
    feed.emit({ n: 1 })
    expect(await first).toBe('event: next\ndata: {"n":1}\n\n')
    await pause(5)
    expect(feed.seen.asked).toBe(1)
  })

  test('shows that it is alive, without losing an event', async () => {
    const feed = topic()
    const { read } = open(feed.source, { keepAlive: 5 })
    expect([await read(), await read(), await read()]).toEqual([':\n\n', ':\n\n', ':\n\n'])
    feed.emit('late')
    expect(await read()).toBe('event: next\ndata: "late"\n\n')
    expect(feed.seen.asked).toBe(1)
  })

  test('ends at once for a reader that leaves, while the source waits', async () => {
    const feed = topic()
    const { reader, read, ends } = open(feed.source)
    await read()
    const waiting = read()
    reader.cancel()
    expect(await waiting).toBeUndefined()
    expect([feed.seen.returned, ends()]).toEqual([1, 1])
    reader.cancel()
    expect([feed.seen.returned, ends()]).toEqual([1, 1])
  })

  test('ends without complete when it is stopped, also before it was read', async () => {
    const feed = topic()
    const { stream, read, ends } = open(feed.source)
    stream.end()
    expect([await read(), await read()]).not.toContain('event: complete\ndata: \n\n')
    expect([feed.seen.returned, ends(), feed.seen.asked]).toEqual([1, 1, 0])
  })

  test('ends with the source', async () => {
    const feed = topic()
    const { read, ends } = open(feed.source)
    await read()
    const last = read()
    feed.end()
    expect(await last).toBe('event: complete\ndata: \n\n')
    expect([await read(), ends(), feed.seen.returned]).toEqual([undefined, 1, 0])
  })

  test('a value without a form in JSON is the last event, and the source is ended', async () => {
    const feed = topic()
    const { read, ends } = open(feed.source, { failed: () => ({ errors: ['masked'] }) })
    await read()
    const event = read()
    feed.emit({ big: 10n })
    expect(await event).toBe('event: next\ndata: {"errors":["masked"]}\n\nevent: complete\ndata: \n\n')
    expect([await read(), ends(), feed.seen.returned]).toEqual([undefined, 1, 1])
  })

  test('a source whose return fails or is missing does no harm', async () => {
    const source = { next: () => new Promise<never>(() => {}) }
    open(source).stream.end()
    const fails = { ...source, return: () => Promise.reject(new Error('no')) }
    open(fails).stream.end()
    const throws = {
      ...source,
      return: () => {
        throw new Error('no')
      },
    }
    expect(() => open(throws).stream.end()).not.toThrow()
    await pause(5)
  })
})

test('many streams: no warning, and all end when the server closes', async () => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.message)
  process.on('warning', note)
  const feeds = Array.from({ length: 15 }, topic)
  let next = 0
  const { server } = graphqlApp({
    schema: { typeDefs, resolvers: { Subscription: { tick: { subscribe: () => feeds[next++]!.source } } } },
  })
  const { port } = await server.listen()
  const answers = await Promise.all(
    feeds.map(() =>
      fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: '{"query":"subscription { tick }"}',
      }),
    ),
  )
  const texts = Promise.all(answers.map((res) => res.text()))
  await server.close()
  expect(new Set(await texts)).toEqual(new Set([':\n\n']))
  expect(feeds.map(({ seen }) => seen.returned)).toEqual(feeds.map(() => 1))
  process.off('warning', note)
  expect(warnings).toEqual([])
})

test('over a socket a slow reader holds the source up', async () => {
  let made = 0
  const text = 'x'.repeat(100_000)
  const { server } = graphqlApp({
    schema: {
      typeDefs: 'type Query { a: Int } type Subscription { big: String }',
      resolvers: {
        Subscription: {
          big: {
            async *subscribe() {
              for (;;) {
                made++
                yield { big: text }
              }
            },
          },
        },
      },
    },
  })
  const { port } = await server.listen()
  const leaving = new AbortController()
  const res = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: '{"query":"subscription { big }"}',
    signal: leaving.signal,
  })
  const reader = res.body!.getReader()
  await reader.read()
  // Without a reader the buffers fill up, and then no more events are made.
  let before = -1
  while (made !== before) {
    before = made
    await pause(150)
  }
  expect(made).toBeLessThan(500)
  leaving.abort()
  await reader.read().catch(() => {})
  await server.close()
})
