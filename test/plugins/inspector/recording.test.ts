import { channel } from 'node:diagnostics_channel'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { MustacheAdapter, memoryQueue, memoryTransport, QueueService, RouteCollection, Server } from 'framework'
import { definePlugin } from 'framework/kernel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { gate } from '../../support/queues.ts'
import { moveSystemClock } from '../../support/system-clock.ts'
import { eventIn, lookAt, makeServer, servers } from './support.ts'

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

describe('requests', () => {
  test('are kept with steps, handler, answer, failure and log lines', async () => {
    const { server } = makeServer()
    server.post('/orders/:id', function place(req) {
      req.log.info({ order: req.params.id, apiKey: 'hidden-k' }, 'placing')
      throw new Error('no stock')
    })
    const look = await lookAt(server)
    await server.inject.post('/orders/7?token=hidden-t&page=2', {
      body: { book: 1, password: 'hidden-p', deep: { sessionToken: 'hidden-s' } },
      headers: { authorization: 'Bearer hidden-a', cookie: 'sid=hidden-c', 'x-api-key': 'hidden-x' },
    })
    const shown = await look.newest('request')
    expect(shown).toMatchObject({ title: 'POST /orders/7?token=[redacted]&page=2', note: '500', outcome: 'failed' })
    expect(shown.error?.message).toBe('no stock')
    expect(shown.error?.stack).toContain('recording.test.ts')
    const [own, line, failure] = shown.related
    expect(own!.marks.map(({ name }) => name)).toEqual(['json', 'handler'])
    expect(line).toMatchObject({ kind: 'log', title: 'placing', note: 'info', parent: shown.id })
    expect(line!.data).toMatchObject({ order: '7', apiKey: '[redacted]' })
    expect(failure).toMatchObject({ kind: 'log', note: 'error' })
    expect(JSON.parse(shown.http.request.body!.text!)).toEqual({
      book: 1,
      password: '[redacted]',
      deep: { sessionToken: '[redacted]' },
    })
    expect(shown.http.response.status).toBe(500)
    expect(shown.http.explained.map(({ name }) => name)).toEqual(['json', 'place'])
    expect(JSON.stringify(shown)).not.toContain('hidden')
  })

  test('have the names and paths redacted that the application names, here and for its log', async () => {
    const stream = { write: () => {} }
    const plugins = { inspector: { redact: ['iban'] }, log: { redact: ['user.email'], stream } }
    const server = new Server({ plugins, router: new RouteCollection() })
    servers.push(server as unknown as Server)
    server.post('/', (req) => req.body)
    const look = await lookAt(server)
    await server.inject.post('/', { body: { iban: 'DE-1', user: { email: 'ada@example.org', name: 'Ada' } } })
    const { http } = await look.newest('request')
    const expected = { iban: '[redacted]', user: { email: '[redacted]', name: 'Ada' } }
    expect(JSON.parse(http.request.body!.text!)).toEqual(expected)
    expect(JSON.parse(http.response.body!.text!)).toEqual(expected)
  })

  test('secrets are found in long lists, forms, tags and JSON that is broken, and large objects are cut', async () => {
    const { Redactor } = await import('../../../plugins/inspector/redact.ts')
    const redactor = new Redactor([], [])
    const body = (text: string, type: string) => redactor.body(Buffer.from(text), type)
    const list = Array.from({ length: 300 }, (_, n) => ({ n, token: 'hidden' }))
    expect(body(JSON.stringify(list), 'application/json')).not.toContain('hidden')
    expect(body(JSON.stringify(list), 'application/json')).toContain('"n": 299')
    expect(body('user[password]=hidden&user[name]=ada', 'application/x-www-form-urlencoded')).toBe(
      'user[password]=[redacted]&user[name]=ada',
    )
    expect(body('{"name":"ada","password": "hid\\"den", "tok', 'application/json')).toBe(
      '{"name":"ada","password": [redacted]',
    )
    expect(body('<user><password type="x">hidden</password></user>', 'application/xml')).not.toContain('hidden')
    expect(redactor.target('/a?b=1&access_token=hidden&c')).toBe('/a?b=1&access_token=[redacted]&c')
    expect(redactor.header('location', '/back?token=hidden')).toBe('/back?token=[redacted]')
    const wide: Record<string, unknown> = {}
    for (let i = 0; i < 200; i++) wide[`m${i}`] = wide
    expect(JSON.stringify(redactor.value(wide)).length).toBeLessThan(50_000)
  })

  test.each(['inject', 'socket'])('a stream that fails after its headers has failed: %s', async (way) => {
    const { server } = makeServer()
    server.get('/report', (_req, res) =>
      res.type('txt').stream(
        (async function* () {
          yield 'half of '
          throw new Error('the disk is gone')
        })(),
      ),
    )
    const look = await lookAt(server)
    if (way === 'inject') await expect(server.inject({ url: '/report' })).rejects.toThrow()
    else {
      const { port } = await server.listen()
      await expect(fetch(`http://127.0.0.1:${port}/report`).then((res) => res.text())).rejects.toThrow()
    }
    await vi.waitUntil(async () => (await look.newest('request')).outcome !== 'running')
    const seen = await look.newest('request')
    expect(seen).toMatchObject({ outcome: 'failed', note: '200, broke off', error: { message: 'the disk is gone' } })
    expect(seen.http.response.body!.text).toBe('half of ')
  })

  test('a body of bytes is a size, a long one is cut, and a coded answer is text', async () => {
    const { server } = makeServer({ bodyLimit: 2_000 }, { compression: { threshold: 10 } })
    server.get('/bytes', (_req, res) => res.bytes(Buffer.from([0, 1, 2, 3])))
    server.get('/long', (_req, res) => res.text('x'.repeat(5_000)))
    server.get('/coded', () => ({ words: 'all work and no play '.repeat(50) }))
    const look = await lookAt(server)
    await server.inject.get('/bytes')
    expect((await look.newest('request')).http.response.body).toEqual({ size: 4, why: 'application/octet-stream' })
    await server.inject.get('/long')
    expect((await look.newest('request')).http.response.body).toMatchObject({ size: 5_000, why: 'cut' })
    await server.inject.get('/coded', { headers: { 'accept-encoding': 'gzip' } })
    const { body, headers } = (await look.newest('request')).http.response
    expect(headers).toContainEqual(['content-encoding', 'gzip'])
    expect(body!.text).toContain('all work and no play')
  })

  test('the last ones of each kind are kept, and no more bytes than fit', async () => {
    const { server } = makeServer({ keep: 3 })
    server.get('/:n', (req) => req.params.n)
    const look = await lookAt(server)
    for (let n = 0; n < 6; n++) await server.inject.get(`/${n}`)
    expect((await look.list('request')).map(({ title }) => title)).toEqual(['GET /5', 'GET /4', 'GET /3'])
  })
})

test('what comes of a request is linked to it: messages, their attempts, emails and log lines', async () => {
  const orders = memoryQueue<{ book: number; secret: string }>('inspected-orders')
  const transporter = memoryTransport()
  const templateAdapter = new MustacheAdapter()
  const { server } = makeServer(true, {
    queues: { run: true },
    mailer: {
      providers: { main: { transporter, templateAdapter, from: 'shop@example.org' } },
      defaultProvider: 'main',
    },
  })
  let attempts = 0
  let done = () => {}
  const isDone = new Promise<void>((resolve) => {
    done = resolve
  })
  const handle = await orders.subscribe(async ({ book }) => {
    attempts++
    if (attempts === 1) throw new Error('out of paper')
    const mailer = server.services.get('mailer')
    await mailer.send((mail) => mail.to('ada@example.org').subject('Your book').html(`<p>Book ${book}</p>`))
    done()
  })
  server.post('/orders', async () => {
    await orders.publish({ book: 1, secret: 's-1' }, { attempts: 2, backoff: { type: 'fixed', delay: 1 } })
    return 'placed'
  })
  try {
    await server.listen()
    const look = await lookAt(server)
    await server.inject.post('/orders')
    await isDone
    await pause(1)
    const { related } = await look.newest('request')
    const of = (kind: string) => related.filter((one) => one.kind === kind)
    expect(of('publish')).toMatchObject([{ title: 'inspected-orders', outcome: 'ok' }])
    const [publish] = of('publish')
    expect(of('attempt')).toMatchObject([
      { note: 'attempt 1 of 2', outcome: 'failed', error: 'out of paper', parent: publish!.id },
      { note: 'attempt 2 of 2', outcome: 'ok', parent: publish!.id },
    ])
    expect(of('mail')).toMatchObject([{ title: 'Your book', note: 'ada@example.org', parent: of('attempt')[1]!.id }])
    expect((await look.newest('publish')).data.payloads).toEqual([{ book: 1, secret: '[redacted]' }])
    const mail = await look.newest('mail')
    const shown = await look.send({ url: `/_inspector/api/email?id=${mail.id}` })
    expect(Buffer.from(shown.body).toString()).toContain('<p>Book 1</p>')
    expect(shown.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'; style-src 'unsafe-inline'/)
  } finally {
    await handle.unsubscribe()
    await QueueService.stop()
  }
})

test('messages that are published at the same time are linked each to its own request', async () => {
  const orders = memoryQueue<{ n: number }>('inspected-crowd')
  const handle = await orders.subscribe(() => new Promise((resolve) => setImmediate(resolve)), { concurrency: 2 })
  const { server } = makeServer(true, { queues: { run: true } })
  server.post('/orders/:n', async (req) => orders.publish({ n: Number(req.params.n) }))
  try {
    await server.listen()
    const look = await lookAt(server)
    await Promise.all([1, 2, 3, 4, 5].map((n) => server.inject.post(`/orders/${n}`)))
    await orders.drained()
    await orders.publish({ n: 6 })
    await orders.drained()
    const attempts = await look.list('attempt')
    const links = await Promise.all(
      attempts.map(async ({ id, trace }) => {
        const { data } = await look.details(id)
        const [first] = (await look.details(id)).related
        return [(data.payload as { n: number }).n, first!.title, first!.trace === trace]
      }),
    )
    expect(links.sort()).toEqual([
      ...[1, 2, 3, 4, 5].map((n) => [n, `POST /orders/${n}`, true]),
      [6, 'inspected-crowd', true],
    ])
  } finally {
    await handle.unsubscribe()
    await QueueService.stop()
  }
})

describe('replay', () => {
  test('sends the request again with what is redacted, and links the two', async () => {
    const seen: unknown[] = []
    const { server } = makeServer()
    server.put('/login', (req) => {
      seen.push([req.url, req.body, req.headers, req.ip])
      throw new Error('wrong password')
    })
    const look = await lookAt(server)
    await server.inject.put('/login?token=t-1', {
      body: { password: 'p-1' },
      headers: { authorization: 'Bearer a-1', cookie: 'sid=c-1', host: 'shop.example' },
    })
    const before = await look.newest('request')
    const { id } = await look.json<{ id: number }>('replay', { id: before.id })
    const after = await look.details(id)
    expect(after).toMatchObject({ outcome: 'failed', note: '500', data: { repeats: before.id } })
    expect(after.error!.message).toBe('wrong password')
    expect((await look.details(before.id)).replays).toMatchObject([{ id }])
    expect(seen[1]).toEqual(seen[0])
    expect(JSON.stringify(after)).not.toContain('p-1')
  })

  /** A server whose response has no end, the way to replay a request for it, and what became of the sources, in order. */
  async function endless(kind: 'sse' | 'generator' | 'web' | 'node', isSilent: boolean) {
    const sources: { chunks: number; isOver: boolean }[] = []
    const { server } = makeServer({ bodyLimit: 100 })
    server.get('/ticks', (_req, res) => {
      const source = { chunks: 0, isOver: false }
      sources.push(source)
      const chunk = async () => {
        if (isSilent && source.chunks > 0) await new Promise(() => {})
        await new Promise(setImmediate)
        source.chunks++
        return '0123456789'
      }
      async function* chunks() {
        try {
          for (;;) yield await chunk()
        } finally {
          source.isOver = true
        }
      }
      const over = () => {
        source.isOver = true
      }
      if (kind === 'sse') return res.sse(chunks())
      res.type('txt')
      if (kind === 'generator') return res.stream(chunks())
      if (kind === 'web')
        return res.stream(
          new ReadableStream<Uint8Array>({ pull: async (to) => to.enqueue(Buffer.from(await chunk())), cancel: over }),
        )
      return res.stream(
        new Readable({
          read() {
            void chunk().then((one) => this.push(one))
          },
          destroy(_error, done) {
            over()
            done(null)
          },
        }),
      )
    })
    const look = await lookAt(server)
    const leaver = new AbortController()
    const first = server.inject({ url: '/ticks', signal: leaver.signal }).catch(() => {})
    await vi.waitUntil(async () => (await look.list('request'))[0]?.note === '200', 20_000)
    leaver.abort()
    await first
    const { id } = await look.newest('request')
    return { look, sources, replayed: look.json<{ id: number; cut: string }>('replay', { id }) }
  }

  test.each([
    'sse',
    'generator',
    'web',
    'node',
  ] as const)('of a response without an end is cut at the limit of bytes, and its source ends: %s', async (kind) => {
    const { look, sources, replayed } = await endless(kind, false)
    const { id, cut } = await replayed
    expect(cut).toMatch(/^the response has \d+ bytes or more, which is more than is kept \(the option bodyLimit\)$/)
    await vi.waitUntil(() => sources[1]!.isOver, 20_000)
    const { chunks } = sources[1]!
    for (let i = 0; i < 50; i++) await new Promise(setImmediate)
    // A stream may have been making one.
    expect(sources[1]!.chunks).toBeLessThanOrEqual(chunks + 1)
    const after = await look.details(id)
    expect(after).toMatchObject({ note: '200, cut', outcome: 'ok', data: { cut } })
    expect(after.http.response.body).toMatchObject({ text: expect.stringContaining('0123456789'), why: 'cut' })
    expect(after.http.response.body!.text).toHaveLength(100)
  })

  test.each(['web', 'node'] as const)('of a response that falls silent is cut after a time: %s', async (kind) => {
    const time = moveSystemClock()
    try {
      const { look, sources, replayed } = await endless(kind, true)
      await vi.waitUntil(
        async () => (await look.list('request'))[0]?.note === '200' && sources[1]?.chunks === 1,
        20_000,
      )
      await time.advance(2_000)
      const { id, cut } = await replayed
      expect(cut).toBe('the response did not end within 2 seconds')
      const { note, http } = await look.details(id)
      expect([note, http.response.body!.text]).toEqual(['200, cut', '0123456789'])
      expect(sources.map(({ isOver }) => isOver)).toEqual([true, true])
    } finally {
      time.restore()
    }
  })

  test('of a request without a response is given up', async () => {
    const time = moveSystemClock()
    const ends = gate()
    try {
      const { server } = makeServer()
      let isSlow = false
      server.get('/', () => (isSlow ? ends.opened : 'fine'))
      const look = await lookAt(server)
      await server.inject({ url: '/' })
      isSlow = true
      const replayed = look.json<{ id: number; cut: string }>('replay', { id: (await look.newest('request')).id })
      await vi.waitUntil(async () => (await look.list('request')).length === 2, 20_000)
      await time.advance(10_000)
      expect((await replayed).cut).toBe('there was no response after 10 seconds')
    } finally {
      // The server would wait for it.
      ends.open()
      time.restore()
    }
  })

  test('of a large body that is not a stream is complete', async () => {
    const { server } = makeServer({ bodyLimit: 10 })
    server.get('/', () => 'x'.repeat(50))
    const look = await lookAt(server)
    await server.inject({ url: '/' })
    const { id, cut } = await look.json<{ id: number; cut?: string }>('replay', {
      id: (await look.newest('request')).id,
    })
    expect([cut, (await look.details(id)).note]).toEqual([undefined, '200'])
  })

  test.each<[why: RegExp, bodyLimit: number, body: string]>([
    [/its body has 50 bytes or more/, 10, JSON.stringify('x'.repeat(48))],
    [/no one has read its body/, 100, 'unread'],
  ])('says why it cannot be: %s', async (why, bodyLimit, body) => {
    const { server } = makeServer({ bodyLimit })
    server.post('/', () => 'fine')
    const look = await lookAt(server)
    const type = body === 'unread' ? 'text/x-strange' : 'application/json'
    await server.inject({ method: 'POST', url: '/', body, headers: { 'content-type': type } })
    const { id, http } = await look.newest('request')
    expect(http.replay).toMatch(why)
    const res = await look.json<{ message: string }>('replay', { id })
    expect(res.message).toMatch(why)
  })
})

test('panels of plugins are shown as data, with actions', async () => {
  const lamps = new Map([['hall', true]])
  const lights = definePlugin({
    name: 'lights',
    provide: () => ({ lamps }),
    inspector: () => [
      {
        title: 'Lamps',
        columns: ['Lamp', 'On', 'Since', 'Settings'],
        rows: (services, limit) =>
          [...(services as unknown as { lamps: typeof lamps }).lamps].slice(0, limit).map(([id, on]) => ({
            id,
            cells: [id, on, new Date(0), { pin: 5, token: 'x' }, 'too much'],
          })),
        actions: [
          {
            name: 'Switch off',
            confirm: 'Off?',
            run: (_services, id) => (lamps.set(id, false) ? `${id} is off, password=x` : undefined),
          },
        ],
      },
    ],
  })
  const { server } = makeServer(true, { lights: lights() })
  const look = await lookAt(server)
  const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
  const { key } = panels.find(({ title }) => title === 'Lamps')!
  expect(await look.json(`panel?key=${key}`)).toMatchObject({
    columns: ['Lamp', 'On', 'Since', 'Settings'],
    rows: [{ id: 'hall', cells: ['hall', true, { time: 0 }, { json: { pin: 5, token: '[redacted]' } }] }],
    actions: [{ name: 'Switch off', confirm: 'Off?' }],
  })
  expect(await look.json('action', { panel: key, action: 'Switch off', id: 'hall' })).toEqual({
    message: 'hall is off, password=[redacted]',
  })
  expect(lamps.get('hall')).toBe(false)
})

test('a panel that cannot be used is an error in its place, and the others are shown', async () => {
  const broken = definePlugin({ name: 'broken', inspector: () => [{ title: 'Broken', columns: [] } as never] })
  const failing = definePlugin({ name: 'failing', inspector: () => Promise.reject(new Error('not today')) })
  const charts = { title: 'Figures', columns: ['Name', 'Value'], rows: () => [], charts: 'bytes' }
  const wrong = definePlugin({ name: 'wrong', inspector: () => [charts as never] })
  const given = { broken: broken(), failing: failing(), wrong: wrong(), mailer: false, queues: true }
  const { server } = makeServer(true, given)
  const look = await lookAt(server)
  const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
  expect(panels.map(({ title }) => title)).toEqual([
    'Policies of routes',
    'Queues',
    'Dead letters',
    'broken',
    'failing',
    'wrong',
  ])
  const messageOf = (title: string) =>
    look.json<{ message: string }>(`panel?key=${panels.find((one) => one.title === title)!.key}`)
  expect((await messageOf('broken')).message).toMatch(
    /the plugin "broken".*columns of "Broken" must be a list of strings/,
  )
  expect((await messageOf('failing')).message).toBe('not today')
  expect((await messageOf('wrong')).message).toMatch(/charts of "Figures" must be true or false/)
})

test('a page receives what changes, and one that does not read is dropped', async () => {
  const { LivePages } = await import('../../../plugins/inspector/live.ts')
  const { Activities } = await import('../../../plugins/inspector/activities.ts')
  const pages = new LivePages()
  const activities = new Activities(500, 1e6)
  activities.onChange = (one) => pages.push(one)
  const reading = pages.open().body.getReader()
  expect(eventIn(await reading.read())).toMatchObject({ event: 'hello' })
  pages.open()
  expect(pages.size).toBe(2)
  for (let i = 0; i < 600; i++) activities.begin({ kind: 'log', title: String(i) }, undefined)
  expect(eventIn(await reading.read()).data).toHaveLength(600)
  for (let i = 0; i < 600; i++) activities.begin({ kind: 'log', title: String(i) }, undefined)
  expect(pages.size).toBe(1)
  pages.endAll()
  expect(await reading.read()).toEqual({ done: true, value: undefined })
})

test('after the server has closed no one follows any more', async () => {
  // The first mark of a schema in this process follows requests as well, and never ends.
  const before = channel('tracing:framework:request:start').hasSubscribers
  const { server } = makeServer()
  await server.ready()
  for (const name of ['tracing:framework:request:start', 'framework:step'])
    expect(channel(name).hasSubscribers).toBe(true)
  await server.close()
  expect(channel('tracing:framework:request:start').hasSubscribers).toBe(before)
  for (const name of ['framework:step', 'tracing:framework:queue.attempt:asyncEnd'])
    expect(channel(name).hasSubscribers).toBe(false)
})
