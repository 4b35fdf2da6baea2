import { tracingChannel } from 'node:diagnostics_channel'
import { get } from 'node:http'
import { Readable } from 'node:stream'
import { definePlugin, RouteCollection, Server } from 'framework'
import parse from 'parse-prometheus-text-format'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { overload } from '../../../plugins/overload/index.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { moveSystemClock } from '../../support/system-clock.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(metrics: object | true = true, more: object = {}) {
  const logger = memoryLogger()
  const plugins = { metrics, ...more } as { metrics: { maxLabelValues?: number } }
  const server = new Server({ plugins, router: new RouteCollection(), logger, port: 0, host: '127.0.0.1' })
  servers.push(server)
  return { server, log: logger.entries }
}

const textOf = async (server: Server<{}>) => (await server.inject.get('/metrics')).assertStatus(200).text()
/** The lines of one name. */
const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name))

describe('requests', () => {
  test('are counted by route pattern, method and class of status, never by path', async () => {
    const { server } = makeServer()
    server.get('/books/:id', (req, res) => (req.params.id === '0' ? res.notFound() : 'a book'))
    server.post('/books', { json: false }, () => 'made')
    for (const id of ['1', '2', '0']) await server.inject.get(`/books/${id}`)
    await server.inject.post('/books', { body: 'four', headers: { 'content-length': '4' } })
    await server.inject.get('/secret-path')
    const text = await textOf(server)
    expect(linesOf(text, 'http_request_duration_seconds_count').sort()).toEqual([
      'http_request_duration_seconds_count{method="GET",route="",status="4xx"} 1',
      'http_request_duration_seconds_count{method="GET",route="/books/:id",status="2xx"} 2',
      'http_request_duration_seconds_count{method="GET",route="/books/:id",status="4xx"} 1',
      'http_request_duration_seconds_count{method="POST",route="/books",status="2xx"} 1',
    ])
    expect(linesOf(text, 'http_request_body_size_bytes_sum')).toEqual([
      'http_request_body_size_bytes_sum{method="POST",route="/books"} 4',
    ])
    expect(linesOf(text, 'http_requests_in_flight')).toEqual(['http_requests_in_flight 1'])
    expect(text).not.toContain('secret-path')
  })

  test('have the sizes of their responses, in bytes', async () => {
    const { server } = makeServer()
    server.get('/stream', (_req, res) => res.stream(Readable.from(['unknown length'])))
    server.get('/euros', () => ({ price: '5 €' }))
    for (const path of ['/stream', '/euros', '/euros']) await server.inject.get(path)
    await server.inject.head('/euros')
    const text = await textOf(server)
    // Bytes, not characters; nothing for HEAD, nor for a stream without a declared length.
    expect(linesOf(text, 'http_response_body_size_bytes').filter((line) => /euros|stream/.test(line))).toEqual([
      'http_response_body_size_bytes_count{method="GET",route="/euros"} 3',
      'http_response_body_size_bytes_sum{method="GET",route="/euros"} 34',
    ])
  })
})

test('the text is OpenMetrics, and a parser reads it', async () => {
  const { server } = makeServer()
  server.get('/', () => 'home')
  const odd = server.services.metrics.gauge({ name: 'odd', help: 'a "quoted" \\ help\nin two lines', labels: ['what'] })
  odd.set(1.5, { what: 'a "b" \\ c\nd' })
  await server.inject.get('/')
  const res = await server.inject.get('/metrics')
  res.assertHeader('content-type', 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  const text = res.text()
  expect(text.endsWith('\n# EOF\n')).toBe(true)
  expect(text).toContain('odd{what="a \\"b\\" \\\\ c\\nd"} 1.5\n')
  expect(text).toContain('# UNIT http_request_duration_seconds seconds\n')
  expect(text).toContain('le="1.0"')
  const families = parse(text)
  const ofName = (name: string) => families.find((one) => one.name === name)
  expect(ofName('odd')?.metrics).toEqual([{ value: '1.5', labels: { what: 'a "b" \\ c\nd' } }])
  expect(ofName('http_request_duration_seconds')).toMatchObject({
    type: 'HISTOGRAM',
    metrics: [{ buckets: { '1.0': '1', '+Inf': '1' } }],
  })
  for (const name of ['process_resident_memory_bytes', 'process_heap_used_bytes', 'process_start_time_seconds'])
    expect(Number((ofName(name)?.metrics[0] as { value?: string }).value), name).toBeGreaterThan(0)
  expect(text).toMatch(/^process_cpu_seconds_total\{mode="user"\} /m)
  expect(text).toMatch(/^process_event_loop_delay_seconds_count /m)
  if (process.platform === 'linux') expect(text).toMatch(/^process_open_fds [1-9]/m)
})

describe('metrics of the application', () => {
  test('count, with typed labels', async () => {
    const { server } = makeServer()
    const { metrics } = server.services
    const orders = metrics.counter({ name: 'orders', help: 'Orders', labels: ['kind'] })
    orders.increment({ kind: 'book' })
    orders.add(2, { kind: 'book' })
    // @ts-expect-error: there is no such label
    expect(() => orders.increment({ sort: 'book' })).toThrow('the metric "orders": unknown label "sort"')
    // @ts-expect-error: the label is missing
    expect(() => orders.increment({})).toThrow('the metric "orders": the label "kind" is missing')
    expect(() => orders.add(-1, { kind: 'book' })).toThrow(/0 or more/)
    metrics.gauge({ name: 'shelf', help: 'Books on the shelf' }).set(7)
    const sizes = metrics.histogram({ name: 'pages', help: 'Pages', buckets: [10, 100] })
    for (const pages of [5, 10, 50, 500]) sizes.observe(pages)
    const text = await textOf(server)
    expect(linesOf(text, 'orders')).toEqual(['orders_total{kind="book"} 3'])
    expect(linesOf(text, 'shelf')).toEqual(['shelf 7'])
    expect(linesOf(text, 'pages')).toEqual([
      'pages_bucket{le="10.0"} 2',
      'pages_bucket{le="100.0"} 3',
      'pages_bucket{le="+Inf"} 4',
      'pages_count 4',
      'pages_sum 565',
    ])
  })

  test('have at most so many values of a label: further ones count as other, with one warning', async () => {
    const { server, log } = makeServer({ maxLabelValues: 2 })
    const seen = server.services.metrics.counter({ name: 'seen', help: 'Seen', labels: ['who'] })
    for (const who of ['a', 'b', 'c', 'd', 'a']) seen.increment({ who })
    await server.ready()
    seen.increment({ who: 'e' })
    seen.increment({ who: 'f' })
    expect(linesOf(await textOf(server), 'seen')).toEqual([
      'seen_total{who="a"} 2',
      'seen_total{who="b"} 1',
      'seen_total{who="other"} 4',
    ])
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the metric "seen": the label "who" has too many values; such values count as "other"',
    ])
  })

  test('have no value of a label that is longer than 200 characters', async () => {
    const { server, log } = makeServer()
    const seen = server.services.metrics.counter({ name: 'seen', help: 'Seen', labels: ['who'] })
    seen.increment({ who: 'a'.repeat(200) })
    for (const who of ['b', 'c']) seen.increment({ who: who.repeat(201) })
    await server.ready()
    expect(linesOf(await textOf(server), 'seen')).toEqual([
      `seen_total{who="${'a'.repeat(200)}"} 1`,
      'seen_total{who="other"} 2',
    ])
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the metric "seen": a value of the label "who" is longer than 200 characters; such values count as "other"',
    ])
  })

  test('have no name of the framework, also before the boot', () => {
    const { metrics } = makeServer().server.services
    for (const name of ['http_requests_in_flight', 'process_open_fds'])
      expect(() => metrics.gauge({ name, help: 'Mine' })).toThrow(`the metric "${name}": the name is taken`)
  })

  test('have at most so many combinations', async () => {
    const { server } = makeServer({ maxSeries: 3 })
    const seen = server.services.metrics.counter({ name: 'seen', help: 'Seen', labels: ['a', 'b'] })
    for (let i = 0; i < 9; i++) seen.increment({ a: i % 3, b: Math.floor(i / 3) })
    expect(linesOf(await textOf(server), 'seen')).toEqual([
      'seen_total{a="0",b="0"} 1',
      'seen_total{a="1",b="0"} 1',
      'seen_total{a="2",b="0"} 1',
      'seen_total{a="other",b="other"} 6',
    ])
  })

  test.each([
    [{ name: 'a-b', help: 'x' }, /letters, digits/],
    [{ name: 'a_total', help: 'x' }, /leave it out/],
    [{ name: 'a', help: '' }, /help/],
    [{ name: 'a', help: 'x', unit: 'seconds' }, /"_seconds"/],
    [{ name: 'a', help: 'x', labels: ['b', 'b'] }, /the label "b" is in its labels twice/],
    [{ name: 'a', help: 'x', labels: ['__b'] }, /"__b"/],
    [{ name: 'a', help: 'x', lables: ['b'] }, /unknown option "lables". Known options: name, help, unit, labels/],
    [{ name: 'a', help: 'x', buckets: [1] }, /unknown option "buckets"/],
    [undefined as never, /a metric is made with options/],
  ])('%o is refused', (options, why) => {
    expect(() => makeServer().server.services.metrics.counter(options)).toThrow(why)
  })

  test('take the values of their labels, and no other names', () => {
    const { metrics } = makeServer().server.services
    const orders = metrics.counter({ name: 'orders', help: 'x', labels: ['kind'] })
    const increment = orders.increment as (labels: object) => void
    increment({ kind: 'book' })
    expect(() => increment({ kind: 'book', chanel: 'web' })).toThrow('unknown label "chanel". Known labels: kind')
    expect(() => increment({ kind: undefined })).toThrow('the label "kind" is missing')
  })

  test('have each name once', () => {
    const { metrics } = makeServer().server.services
    metrics.counter({ name: 'a', help: 'x' })
    expect(() => metrics.gauge({ name: 'a', help: 'x' })).toThrow(/taken/)
  })
})

test.each([
  [{ host: '0.0.0.0' }, /plugins.metrics.host" is given; it takes a port together with it/],
  [{ port: 0, buckets: [3, 1] }, /plugins.metrics.buckets" is \[3, 1\]; it takes a list of seconds in ascending order/],
  [{ port: 0, buckets: [] }, /plugins.metrics.buckets/],
])('the options %o are refused', (options, why) => {
  expect(() => new Server({ plugins: { metrics: options } })).toThrow(why)
})

describe('clients that may read them', () => {
  const boots = async (metrics: object | true, more: object = {}) => {
    vi.stubEnv('NODE_ENV', 'production')
    await makeServer(metrics, more).server.ready()
  }

  test('must be said outside of development', async () => {
    await expect(boots(true)).rejects.toThrow('everyone could read the metrics')
    await expect(boots({ addresses: [] })).rejects.toThrow('everyone could read the metrics')
    await expect(boots({ policy: [] })).rejects.toThrow()
    vi.stubEnv('NODE_ENV', undefined)
    await expect(makeServer().server.ready()).rejects.toThrow('everyone could read the metrics')
  })

  test('a separate port checks no policy, so both together are refused', async () => {
    await expect(boots({ port: 0, addresses: ['10.0.0.0/8'] })).rejects.toThrow('checks neither policy')
  })

  test('addresses and ranges, and no one else', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { server } = makeServer({ addresses: ['10.0.0.0/8', '::1'] }, { trustProxy: { trustedProxies: true } })
    const from = async (address: string) =>
      (await server.inject.get('/metrics', { headers: { 'x-forwarded-for': address } })).statusCode()
    expect(await from('10.1.2.3')).toBe(200)
    expect(await from('::ffff:10.1.2.3')).toBe(200)
    expect(await from('::1')).toBe(200)
    expect(await from('11.1.2.3')).toBe(403)
    expect(await from('2001:db8::1')).toBe(403)
  })

  test('a client in a range of IPv4 that is written as IPv6', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { server } = makeServer(
      { addresses: ['::ffff:10.1.2.3', '::ffff:11.0.0.0/104'] },
      { trustProxy: { trustedProxies: true } },
    )
    const from = async (address: string) =>
      (await server.inject.get('/metrics', { headers: { 'x-forwarded-for': address } })).statusCode()
    expect(await from('10.1.2.3')).toBe(200)
    expect(await from('::ffff:11.9.9.9')).toBe(200)
    expect(await from('10.1.2.4')).toBe(403)
    expect(await from('12.1.2.3')).toBe(403)
  })

  test('not a client of a proxy that the server does not know', async () => {
    const { server } = makeServer({ addresses: ['127.0.0.1'] })
    const { port } = await server.listen()
    const url = `http://127.0.0.1:${port}/metrics`
    const status = async (headers: Record<string, string>) => {
      const res = await fetch(url, { headers })
      await res.text()
      return res.status
    }
    expect(await status({})).toBe(200)
    expect(await status({ 'x-forwarded-for': '1.2.3.4' })).toBe(403)
    expect(await status({ forwarded: 'for=1.2.3.4' })).toBe(403)
    for (const name of ['x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'via', 'cf-connecting-ip'])
      expect(await status({ [name]: '1.2.3.4' }), name).toBe(403)
  })
})

test('a port of their own on loopback responds only to requests to names of this machine (DNS rebinding)', async () => {
  const { server } = makeServer({ port: 0 })
  await server.listen()
  const { port } = server.services.metrics
  const statusFor = (host: string) =>
    new Promise((resolve, reject) => {
      get({ port, path: '/metrics', headers: { host } }, (res) => resolve(res.resume().statusCode)).on('error', reject)
    })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '[::1]:80', 'localhost'])
    expect([host, await statusFor(host)]).toEqual([host, 200])
  for (const host of [`evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1'])
    expect([host, await statusFor(host)]).toEqual([host, 403])
})

test('a port of their own listens on loopback beside the public one, and closes with the server', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  const { server } = makeServer({ port: 0 })
  await server.listen()
  ;(await server.inject.get('/metrics')).assertStatus(404)
  const url = `http://127.0.0.1:${server.services.metrics.port}`
  const res = await fetch(`${url}/metrics`)
  expect([res.status, res.headers.get('content-type')]).toEqual([
    200,
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  ])
  expect((await res.text()).endsWith('# EOF\n')).toBe(true)
  const other = await fetch(`${url}/`)
  expect([other.status, await other.text()]).toEqual([404, ''])
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  await server.close()
  await expect(fetch(`${url}/metrics`)).rejects.toThrow()
})

describe('services', () => {
  test('are followed by their tracing channels: durations, failures, lateness, last success', async () => {
    const { server } = makeServer()
    await server.ready()
    const runs = tracingChannel<unknown, { job: string; scheduledAt: Date; error?: unknown }>('framework:cron.run')
    for (const error of [undefined, new Error('no')]) {
      const event = { job: 'cleaning', scheduledAt: new Date(), ...(error && { error }) }
      runs.start.publish(event)
      if (error) runs.error.publish(event as never)
      runs.asyncEnd.publish(event as never)
    }
    const text = await textOf(server)
    expect(linesOf(text, 'cron_run_duration_seconds_count')).toEqual([
      'cron_run_duration_seconds_count{job="cleaning"} 2',
    ])
    expect(linesOf(text, 'cron_run_failures')).toEqual(['cron_run_failures_total{job="cleaning"} 1'])
    expect(linesOf(text, 'cron_lateness_seconds_count')).toEqual(['cron_lateness_seconds_count{job="cleaning"} 2'])
    expect(text).toMatch(/^cron_last_success_timestamp_seconds\{job="cleaning"\} \d+/m)
    await server.close()
    expect(runs.start.hasSubscribers).toBe(false)
  })

  test('of the framework bring their figures: cache, websockets, overload, queues, jobs', async () => {
    const { server } = makeServer(true, { cache: true, websocket: true, overload: true, queues: true, cron: true })
    server.get('/kept', { cache: { ttl: 60 } }, () => 'kept')
    for (let i = 0; i < 3; i++) await server.inject.get('/kept')
    const text = await textOf(server)
    expect(linesOf(text, 'cache_requests')).toEqual([
      'cache_requests_total{outcome="miss"} 1',
      'cache_requests_total{outcome="hit"} 2',
    ])
    expect(linesOf(text, 'websocket_open ')).toEqual(['websocket_open 0'])
    expect(linesOf(text, 'overload_')).toEqual(['overload_refused_total 0', 'overload_share 1'])
    expect(text).toContain('# TYPE queue_messages gauge\n')
    expect(text).toContain('# TYPE cron_ticks counter\n')
  })

  test('of others as well, as metrics of their definition; one that fails leaves the others', async () => {
    const shelf = definePlugin({
      name: 'shelf',
      metrics: () => [{ name: 'shelf_books', type: 'gauge', help: 'Books', samples: [{ value: 3 }] }],
      setup() {},
    })
    const broken = definePlugin({
      name: 'broken',
      metrics: () => {
        throw new Error('not now')
      },
      setup() {},
    })
    const { server, log } = makeServer(true, { shelf: shelf(), broken: broken() })
    await textOf(server)
    expect(linesOf(await textOf(server), 'shelf_books')).toEqual(['shelf_books 3'])
    expect(log.filter(({ message }) => message?.includes('"broken"'))).toHaveLength(1)
  })
})

test('the share of overload in two scopes is the lesser one, not the sum', async () => {
  const scope = (name: string) =>
    definePlugin({ name, scoped: true, setup: (ctx) => void ctx.register(overload({})) })()
  const { server } = makeServer(true, { a: scope('a'), b: scope('b') })
  expect(linesOf(await textOf(server), 'overload_')).toEqual(['overload_refused_total 0', 'overload_share 1'])
})

test('figures that the format cannot say are left out, and leave the others', async () => {
  const gauge = { name: 'n', type: 'gauge', help: 'h', samples: [{ value: 1 }] }
  const wrong: readonly unknown[] = [
    undefined,
    [null],
    [{ ...gauge, name: undefined }],
    [{ ...gauge, name: 'n 1\n# EOF' }],
    [{ ...gauge, type: 'gauge\n# EOF' }],
    [{ ...gauge, help: undefined }],
    [{ ...gauge, samples: undefined }],
    [{ ...gauge, samples: [{ value: '1\n# EOF' }] }],
    [{ ...gauge, samples: [{ value: 1, labels: { 'a b': 'x' } }] }],
    [{ ...gauge, samples: [{ value: 1, labels: { a: 3 } }] }],
    [{ ...gauge, type: 'counter', samples: [{ value: -1 }] }],
  ]
  const plugins = wrong.map((figures, i) => [
    `wrong${i}`,
    definePlugin({ name: `wrong${i}`, metrics: () => figures as never, setup() {} })(),
  ])
  const { server, log } = makeServer(true, Object.fromEntries(plugins))
  const text = await textOf(server)
  expect(text.split('\n').filter((line) => /^(# \w+ )?(n|undefined)\b|EOF/.test(line))).toEqual(['# EOF'])
  expect(text).toContain('http_requests_in_flight 1\n')
  expect(log.filter(({ message }) => /the figures of the plugin "wrong/.test(message ?? ''))).toHaveLength(wrong.length)
})

test('a histogram of values below 0 has no sum, as the format asks', async () => {
  const { server } = makeServer()
  const frost = server.services.get('metrics')!.histogram({ name: 'frost', help: 'h', buckets: [-1, 0, 1] })
  frost.observe(-5)
  expect(linesOf(await textOf(server), 'frost')).toEqual([
    'frost_bucket{le="-1.0"} 1',
    'frost_bucket{le="0.0"} 1',
    'frost_bucket{le="1.0"} 1',
    'frost_bucket{le="+Inf"} 1',
  ])
})

test('a source of figures that never responds keeps no scrape, and is not asked twice', async () => {
  const time = moveSystemClock()
  try {
    let asked = 0
    const silent = definePlugin({
      name: 'silent',
      metrics: () => {
        asked++
        return new Promise<never>(() => {})
      },
      setup() {},
    })
    const { server, log } = makeServer(true, { silent })
    await server.ready()
    const { metrics } = server.services
    for (let scrape = 0; scrape < 2; scrape++) {
      const texts = Promise.all([metrics.text(), metrics.text()])
      await time.advance(5_000)
      for (const text of await texts) expect(text).toContain('http_requests_in_flight 0')
    }
    expect(asked).toBe(1)
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the figures of the plugin "silent" cannot be read',
    ])
  } finally {
    time.restore()
  }
})

test('a name that two use differently is left out where it comes second, with one warning', async () => {
  const plugin = (name: string, type: 'counter' | 'gauge') =>
    definePlugin({ name, metrics: () => [{ name: 'shelf', type, help: name, samples: [{ value: 1 }] }], setup() {} })
  const { server, log } = makeServer(true, { one: plugin('one', 'counter'), two: plugin('two', 'gauge') })
  await server.ready()
  for (let i = 0; i < 2; i++) expect(linesOf(await textOf(server), 'shelf')).toEqual(['shelf_total 1'])
  expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'the metric "shelf": two plugins, or a plugin and the application, use this name differently: the later is left out',
  ])
})

test('values of labels that look alike once joined are apart, and a refused value leaves no trace', async () => {
  const { server } = makeServer()
  const { metrics } = server.services
  const pairs = metrics.counter({ name: 'pairs', help: 'Pairs', labels: ['a', 'b'] })
  pairs.increment({ a: 'x\u0000y', b: 'z' })
  pairs.increment({ a: 'x', b: 'y\u0000z' })
  const level = metrics.gauge({ name: 'level', help: 'Level', labels: ['of'] })
  expect(() => level.set(Number.NaN, { of: 'refused' })).toThrow('it takes a number')
  const wide = metrics.histogram({ name: 'wide', help: 'Wide', buckets: [1, 1e21] })
  wide.observe(2)
  const text = await metrics.text()
  expect(text.match(/^pairs_total\{.*\} 1$/gm)).toHaveLength(2)
  expect(text).not.toContain('refused')
  expect(text).toContain('wide_bucket{le="1e+21"} 1')
})
