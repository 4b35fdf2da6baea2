import { definePlugin, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { readOpenMetrics } from '../../support/openmetrics.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(more: object = {}) {
  const options = { router: new RouteCollection(), logger: memoryLogger(), port: 0, host: '127.0.0.1' }
  const metrics: { maxSeries?: number } = {}
  const plugins = { metrics, ...more }
  const server = new Server({ plugins, ...options })
  servers.push(server)
  return server
}

async function read(server: ReturnType<typeof makeServer>) {
  await server.ready()
  return readOpenMetrics(await server.services.metrics.text())
}

test('the figures of every plugin are valid', async () => {
  const more = { cache: true, websocket: true, overload: true, queues: true, cron: true, rateLimit: true, upload: true }
  const server = makeServer(more)
  server.get('/kept', { cache: { ttl: 60 } }, () => 'kept')
  for (let i = 0; i < 3; i++) await server.inject.get('/kept')
  await server.inject.get('/nowhere')
  const families = await read(server)
  expect([...families.values()].filter(({ help }) => !help)).toEqual([])
  expect(families.get('http_request_duration_seconds')!.samples.length).toBeGreaterThan(20)
})

test('it is answered the same beside compression, cors, cache, timeout and helmet, whatever is asked', async () => {
  const server = makeServer({ compression: true, cors: { origin: '*' }, cache: true, timeout: true, helmet: true })
  const { port } = await server.listen()
  const at = `http://127.0.0.1:${port}/metrics`
  for (const [name, value] of [
    ['accept', 'text/plain;version=0.0.4'],
    ['accept', 'image/png'],
    ['if-none-match', '*'],
    ['if-modified-since', new Date().toUTCString()],
    ['range', 'bytes=0-10'],
    ['accept-encoding', 'gzip'],
  ] as const) {
    const res = await fetch(at, { headers: { [name]: value } })
    expect([res.status, res.headers.get('content-type')]).toEqual([
      200,
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    ])
    if (name === 'accept-encoding') expect(res.headers.get('content-encoding')).toBe('gzip')
    readOpenMetrics(await res.text())
    expect(await (await fetch(at, { method: 'HEAD', headers: { [name]: value } })).text()).toBe('')
  }
})

const odd = [
  '"',
  '\\',
  '\n',
  '\\n',
  '\r\n',
  '\0',
  '\u001b[2J',
  '💥',
  '\ud800',
  '\udfff',
  ' ',
  '',
  '}',
  ',a="b',
  '\u2028',
]

describe('hostile values have no effect on others:', () => {
  test('names and values of labels, help', async () => {
    const server = makeServer()
    const labels = ['constructor', 'toString', 'e', 'quantile'] as const
    const hostile = server.services.metrics.counter({ name: 'hostile', help: odd.join('x'), labels })
    for (const one of odd) hostile.increment({ constructor: one, toString: one, e: true, quantile: one })
    const { samples } = (await read(server)).get('hostile')!
    // The halves of characters are one series: both leave as U+FFFD.
    expect(samples).toHaveLength(odd.length - 1)
    expect(samples.filter(({ value }) => value === 2).map(({ labels }) => labels.constructor)).toEqual(['\ufffd'])
  })

  test('patterns of routes', async () => {
    const server = makeServer()
    for (const path of ['/a"b', '/back\\slash', '/ü💥', '/:id', '/%7Bcurly%7D', '/le="1"']) server.get(path, () => 'x')
    for (const path of ['/a%22b', '/back%5Cslash', '/%C3%BC', '/5', '/%7Bcurly%7D']) await server.inject.get(path)
    await read(server)
  })

  test('numbers', async () => {
    const server = makeServer()
    const { metrics } = server.services
    const gauge = metrics.gauge({ name: 'g', help: 'h', labels: ['of'] })
    gauge.set(Infinity, { of: 'neither' })
    gauge.add(-Infinity, { of: 'neither' })
    gauge.set(1e-320, { of: 'tiny' })
    const counter = metrics.counter({ name: 'c', help: 'h' })
    for (let i = 0; i < 3; i++) counter.add(1e308)
    const wide = metrics.histogram({ name: 'w', help: 'h', buckets: [-1e-7, 1e-7, 1, 1e21, Number.MAX_VALUE] })
    for (const value of [Infinity, -Infinity, -0, 1e-320]) wide.observe(value)
    const positive = metrics.histogram({ name: 'p', help: 'h', buckets: [1e-7, 1] })
    for (const value of [Infinity, -0]) positive.observe(value)
    const families = await read(server)
    expect(families.get('g')!.samples.map(({ value }) => value)).toEqual([Number.NaN, 1e-320])
  })

  test('invalid lengths of bodies: an infinite one would stay for ever', async () => {
    const server = makeServer()
    server.post('/', { json: false }, () => 'x')
    for (const length of ['Infinity', '-5', '1e3', '0x10', '9'.repeat(400), '+7', '4'])
      await server.inject.post('/', { body: 'four', headers: { 'content-length': length } })
    const { samples } = (await read(server)).get('http_request_body_size_bytes')!
    expect(samples.map(({ value }) => value)).toEqual([7, 4])
  })

  test('figures of plugins, with their labels in any order', async () => {
    const labels = [{ a: '1', b: '2' }, { b: '2', a: '1' }, { a: '\ud800' }, { a: '\ud801' }]
    const samples = labels.map((one) => ({ value: 1, labels: one as { readonly [name: string]: string } }))
    const shelf = definePlugin({
      name: 'shelf',
      metrics: () => [{ name: 'shelf', type: 'gauge', help: 'h', samples }],
      setup() {},
    })
    const families = await read(makeServer({ shelf: shelf() }))
    expect(families.get('shelf')!.samples.map(({ value }) => value)).toEqual([2, 2])
  })

  test('invalid options of metrics', () => {
    const { metrics } = makeServer().services
    const wrong = { name: 'a', help: 'h', labels: 'kind' } as never
    expect(() => metrics.counter(wrong)).toThrow('the metric "a": labels is a list of names')
    expect(() => metrics.histogram({ name: 'a', help: 'h', buckets: 5 as never })).toThrow('buckets is a list')
    expect(() => metrics.gauge({ name: 'a_', help: 'h', unit: '' })).toThrow('its unit')
  })
})

test('a scrape of thousands of routes leaves the event loop its turns', async () => {
  const server = makeServer()
  for (let i = 0; i < 2_000; i++) server.get(`/r${i}/:id`, () => 'x')
  for (let i = 0; i < 2_000; i++) await server.inject.get(`/r${i}/1`)
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const text = await server.services.metrics.text()
  isDone = true
  // 14 lines a route, of which a turn has a thousand.
  expect(turns).toBeGreaterThan(20)
  expect(readOpenMetrics(text).get('http_request_duration_seconds')!.samples).toHaveLength(28_000)
})
