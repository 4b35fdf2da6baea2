import { memoryQueue, QueueService, RouteCollection, Server } from 'framework'
import { definePlugin } from 'framework/kernel'
import { inspector, queues } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { moveSystemClock } from '../../support/system-clock.ts'
import { lookAt, makeServer, type Shown, servers } from './support.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
  for (const one of stop.splice(0).reverse()) await one()
})

interface Group {
  type: string
  place: string
  message: string
  count: number
  first: number
  last: number
  seen: Shown[]
}

describe('exceptions', () => {
  test('are grouped by type and place, with the work that failed', async () => {
    const { server } = makeServer()
    class StockError extends Error {
      override name = 'StockError'
    }
    const fail = (what: string) => {
      throw new StockError(`no stock of ${what}, token=hidden`)
    }
    server.get('/a/:what', ({ params }) => fail(params.what!))
    server.get('/b', () => {
      throw new TypeError('b')
    })
    server.get('/text', () => {
      throw 'a string'
    })
    const look = await lookAt(server)
    for (const path of ['/a/ink', '/b', '/a/paper', '/text', '/nowhere']) await server.inject.get(path)
    const groups = await look.json<Group[]>('exceptions')
    expect(groups.map(({ type, count, message }) => [type, count, message])).toEqual([
      [expect.any(String), 1, expect.stringContaining('a string')],
      ['StockError', 2, 'no stock of paper, token=[redacted]'],
      ['TypeError', 1, 'b'],
    ])
    expect(groups[1]!.place).toMatch(/^test\/plugins\/inspector\/kept\.test\.ts:\d+:\d+$/)
    expect(groups[1]!.seen.map(({ title }) => title)).toEqual(['GET /a/paper', 'GET /a/ink'])
    const { error } = (await look.details(groups[1]!.seen[0]!.id)) as unknown as {
      error: { source: { kind: string; text: string }[] }
    }
    expect(error.source.find(({ kind }) => kind === 'place')!.text).toContain('throw new StockError(')
    await look.json('clear', {})
    expect(await look.json('exceptions')).toEqual([])
  })

  test('count one error once, whatever work it passes through, and not the mistakes of clients', async () => {
    const orders = memoryQueue('kept-once')
    const handle = await orders.subscribe(() => {
      throw new Error('out of paper')
    })
    stop.push(
      () => QueueService.stop(),
      () => handle.unsubscribe(),
    )
    const { server } = makeServer(true, { queues: { run: true } })
    server.post('/', (req) => req.body)
    await server.listen()
    const look = await lookAt(server)
    await server.inject({ method: 'POST', url: '/', body: '{', headers: { 'content-type': 'application/json' } })
    expect((await look.newest('request')).note).toBe('400')
    await orders.publish({})
    await orders.drained()
    expect((await look.json<Group[]>('exceptions')).map(({ message, count }) => [message, count])).toEqual([
      ['out of paper', 1],
    ])
  })

  test('are counted beyond what is kept, in a bounded number of groups', async () => {
    const { server } = makeServer({ keep: 2 })
    server.get('/same', () => {
      throw new Error('same')
    })
    server.get('/:name', ({ params }) => {
      throw Object.assign(new Error(params.name), { stack: '' })
    })
    const look = await lookAt(server)
    for (let i = 0; i < 120; i++) await server.inject.get(`/e${i}`)
    for (let i = 0; i < 30; i++) await server.inject.get('/same')
    const groups = await look.json<Group[]>('exceptions')
    expect(groups).toHaveLength(100)
    expect(groups[0]).toMatchObject({ count: 30, message: 'same' })
    expect(groups[0]!.seen).toHaveLength(2)
  })
})

test('a job that was given up is sent again from its row', async () => {
  const orders = memoryQueue<{ book: number }>('kept-again')
  let isBroken = true
  const handle = await orders.subscribe(() => {
    if (isBroken) throw new Error('out of paper')
  })
  stop.push(
    () => QueueService.stop(),
    () => handle.unsubscribe(),
  )
  // Another plugin's panel with the same title, which comes first.
  const foreign = definePlugin({
    name: 'foreign',
    inspector: () => [
      {
        title: 'Dead letters',
        columns: ['Id'],
        rows: () => [],
        actions: [{ name: 'Send again', run: () => 'foreign' }],
      },
    ],
  })
  const server = new Server({
    router: new RouteCollection(),
    logger: memoryLogger(),
    port: 0,
    host: '127.0.0.1',
    plugins: [inspector(), foreign(), queues({ run: true })],
  })
  servers.push(server as never)
  await server.listen()
  const look = await lookAt(server)
  await orders.publish({ book: 1 })
  await orders.drained()
  const { again } = (await look.newest('attempt')) as unknown as {
    again: { key: string; action: string; id: string; confirm: string }
  }
  expect(again).toMatchObject({ action: 'Send again', confirm: 'Give this message all its attempts again?' })
  isBroken = false
  const send = () => look.json<{ message: string }>('action', { panel: again.key, action: again.action, id: again.id })
  expect((await send()).message).toMatch(/^Sent again: /)
  await orders.drained()
  const attempts = await look.list('attempt')
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'failed'])
  expect(await look.details(attempts[0]!.id)).not.toHaveProperty('again')
  expect((await send()).message).toMatch(/not a dead letter/)
})

test('figures have a history while a page is open, and none are read while no page is', async () => {
  const time = moveSystemClock()
  let reads = 0
  try {
    const figures = definePlugin({
      name: 'figures',
      inspector: () => [
        {
          title: 'Figures',
          columns: ['Name', 'Value'],
          charts: true,
          rows: () => [
            ['heap_bytes', ++reads],
            ['text', 'x'],
          ],
        },
      ],
    })
    const { server } = makeServer()
    server.register(figures())
    const look = await lookAt(server)
    await time.advance(60_000)
    expect(reads).toBe(0)
    const leaver = new AbortController()
    const events = look.send({ url: '/_inspector/events', signal: leaver.signal }).catch(() => {})
    await vi.waitUntil(async () => {
      await time.advance(5_000)
      return reads >= 3
    })
    const { rows } = await look.json<{ rows: { id: string; history: [number, number][] }[] }>('panel?key=figures.0')
    expect(rows[0]!.history.slice(0, 3).map(([, value]) => value)).toEqual([1, 2, 3])
    expect(rows[0]!.history[1]![0] - rows[0]!.history[0]![0]).toBe(5_000)
    expect(rows[1]!.history).toEqual([])
    leaver.abort()
    await events
  } finally {
    time.restore()
  }
})

describe('the next version of the application', () => {
  const mark = Symbol.for('framework.handover')
  /** The memory of the development server. */
  function development() {
    const texts = new Map<string, string>()
    const place = globalThis as { [mark]?: unknown }
    place[mark] = {
      open(store: string, restore: (entries: [string, string, number][]) => void) {
        // The state of processes is not about what they have done.
        if (store === 'processes') return { set() {}, delete() {} }
        expect(store).toBe('inspector')
        restore([...texts].map(([id, text]) => [id, text, Number.POSITIVE_INFINITY]))
        return { set: (id: string, text: string) => void texts.set(id, text), delete: (id: string) => texts.delete(id) }
      },
    }
    stop.push(() => {
      delete place[mark]
    })
    return texts
  }

  test('shows what the previous one has recorded, redacted, and says why it cannot be replayed', async () => {
    const texts = development()
    const first = makeServer().server
    first.post('/login', (req) => {
      req.log.info('trying')
      throw new Error('wrong token=hidden-t')
    })
    const before = await lookAt(first)
    await first.inject.post('/login', { body: { name: 'ada', password: 'hidden-p' } })
    const { id, ...shown } = await before.newest('request')
    await first.close()
    expect([...texts.values()].join()).not.toContain('hidden')

    const second = makeServer().server
    second.get('/', () => 'new')
    const look = await lookAt(second)
    await second.inject.get('/')
    expect((await look.list('request')).map(({ title }) => title)).toEqual(['GET /', 'POST /login'])
    const after = await look.details(id)
    expect(after).toMatchObject({ title: shown.title, note: '500', error: { message: shown.error!.message } })
    expect(after.http.request).toEqual(shown.http.request)
    expect(after.related.map(({ title }) => title)).toContain('trying')
    expect(after.http.replay).toBe('the previous version of the application received it')
    expect((await look.json<Group[]>('exceptions')).map(({ message }) => message)).toEqual(['wrong token=[redacted]'])
    expect(await look.json('replay', { id })).toEqual({ message: 'cannot be replayed because it is no longer kept' })
  })

  test('has a bounded number of them, and none that were cleared', async () => {
    const texts = development()
    const { server } = makeServer()
    server.get('/:n', ({ params }) => params.n)
    const look = await lookAt(server)
    for (let n = 0; n < 60; n++) await server.inject.get(`/${n}`)
    await vi.waitUntil(() => texts.size > 0, 20_000)
    for (let n = 60; n < 70; n++) await server.inject.get(`/${n}`)
    await look.json('clear', {})
    expect(texts.size).toBe(0)
    for (let n = 0; n < 60; n++) await server.inject.get(`/${n}`)
    await server.close()
    const kept = [...texts.values()].map((text) => (JSON.parse(text) as Shown).kind)
    expect(kept.filter((kind) => kind === 'request')).toHaveLength(50)
  })

  test('has no more of them after many restarts', async () => {
    const texts = development()
    for (let version = 0; version < 3; version++) {
      const { server } = makeServer()
      server.get('/:n', ({ params }) => params.n)
      await server.ready()
      for (let n = 0; n < 40; n++) await server.inject.get(`/${version}-${n}`)
      await server.close()
    }
    const kept = [...texts.values()].map((text) => JSON.parse(text) as Shown).filter(({ kind }) => kind === 'request')
    expect(kept).toHaveLength(50)
    const look = await lookAt(makeServer().server)
    const [newest] = await look.list('request')
    expect(newest!.title).toBe('GET /2-39')
  })

  test('gives a new entry no number of an earlier one, and counts no mistake of a client as an exception', async () => {
    const texts = development()
    const first = makeServer().server
    first.post('/', (req) => req.body)
    await first.ready()
    await first.inject({ method: 'POST', url: '/', body: '{', headers: { 'content-type': 'application/json' } })
    await first.close()
    const [one] = [...texts.values()].map((text) => JSON.parse(text) as Shown).filter(({ kind }) => kind === 'request')
    texts.clear()
    texts.set('1', JSON.stringify({ ...one, id: 0x8000_0000 }))
    const second = makeServer().server
    second.get('/', () => 'new')
    const look = await lookAt(second)
    expect(await look.details(0x8000_0000)).toMatchObject({ note: '400', error: expect.anything() })
    expect(await look.json('exceptions')).toEqual([])
    await second.inject.get('/')
    expect((await look.list('request')).map(({ title }) => title)).toEqual(['GET /', 'POST /'])
    expect((await look.newest('request')).id).toBeGreaterThan(0x8000_0000)
  })

  test('calls work failed that had no end, and ignores what it cannot read', async () => {
    const texts = development()
    const first = makeServer().server
    let arrived = () => {}
    const isThere = new Promise<void>((resolve) => {
      arrived = resolve
    })
    let end = () => {}
    const isOver = new Promise<void>((resolve) => {
      end = resolve
    })
    first.get('/', () => {
      arrived()
      return isOver
    })
    await first.ready()
    const sent = first.inject({ url: '/' })
    await isThere
    await vi.waitUntil(() => texts.size > 0, 20_000)
    for (const [i, text] of ['{', 'null', '7', '[]', '{"id":1,"kind":"request"}', '{"id":"x"}'].entries())
      texts.set(`${i}`, text)
    const next = makeServer().server
    const look = await lookAt(next)
    expect(await look.list('request')).toMatchObject([{ title: 'GET /', outcome: 'failed', note: 'not finished' }])
    end()
    await sent
  })
})
