import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { metrics as api } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { definePlugin, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { conventionOf, conventions } from '../../../plugins/metrics/open-telemetry.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { until } from '../../support/queues.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

const clean: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const one of clean.splice(0).reverse()) await one()
})

function sdk() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  api.setGlobalMeterProvider(provider)
  clean.push(async () => {
    api.disable()
    await provider.shutdown()
  })
  /** The last values of one name: attributes and value; of a histogram its number and sum. */
  const collect = async () => {
    const once = async () => {
      exporter.reset()
      await provider.forceFlush()
      const [last] = exporter.getMetrics()
      return last?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    }
    let found = await once()
    // What is counted elsewhere is known when it has been asked once, after the boot.
    await until(async () => {
      found = await once()
      return found.some(({ descriptor }) => descriptor.name === 'process.cpu.time')
    }, 'the figures')
    return {
      names: found.map(({ descriptor }) => descriptor.name),
      of: (name: string) => found.find(({ descriptor }) => descriptor.name === name),
      points: (name: string) =>
        (
          (found.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []) as DataPoint<
            number | Histogram
          >[]
        ).map(({ attributes, value }) => [attributes, typeof value === 'number' ? value : value.count]),
    }
  }
  return { provider, collect }
}

function make(more: object = {}, metrics: object = {}) {
  const logger = memoryLogger()
  const plugins = { ...more, metrics: { openTelemetry: true, ...metrics } }
  const router = new RouteCollection()
  const options = { plugins, router, logger, port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0 }
  const server = new Server(options as unknown as { plugins: { metrics: { openTelemetry: true } } })
  clean.push(() => server.close())
  return { server, log: logger.entries }
}

test('a boot that fails, as the package is missing, leaves nothing that follows the process', () => {
  const hook = `export const resolve = (name, context, next) => {
    if (name !== '@opentelemetry/api') return next(name, context)
    throw Object.assign(new Error("Cannot find package '" + name + "' imported from x"), { code: 'ERR_MODULE_NOT_FOUND' })
  }`
  const script = `import { channel } from 'node:diagnostics_channel'
    import { register } from 'node:module'
    register('data:text/javascript,${encodeURIComponent(hook).replaceAll("'", '%27')}')
    const { RouteCollection, Server } = await import('framework')
    const plugins = { log: { level: 'silent' }, metrics: { openTelemetry: true } }
    const server = new Server({ plugins, router: new RouteCollection() })
    const { cause } = await server.ready().catch((error) => error)
    await server.close()
    console.log(cause.code, channel('tracing:framework:queue.attempt:asyncEnd').hasSubscribers)`
  const args = [...withTypeScript, '--input-type=module', '-e', script]
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('PeerMissingError false\n')
})

test('requests are histograms by the names of the conventions', async () => {
  const { collect } = sdk()
  const { server } = make()
  server.get('/books/:id', (req, res) => (req.params.id === '0' ? res.status(503).text('later') : 'a book'))
  server.post('/books', { json: false }, () => 'made')
  for (const id of ['1', '2', '0']) await server.inject.get(`/books/${id}`)
  await server.inject.post('/books', { body: 'four', headers: { 'content-length': '4' } })
  await server.inject({ method: 'BREW' as never, url: '/secret-path' })
  const { points, of } = await collect()
  const get = { 'http.request.method': 'GET', 'http.route': '/books/:id', 'url.scheme': 'http' }
  const post = { 'http.request.method': 'POST', 'http.route': '/books', 'url.scheme': 'http' }
  expect(points('http.server.request.duration')).toEqual([
    [{ ...get, 'http.response.status_code': 200 }, 2],
    [{ ...get, 'http.response.status_code': 503, 'error.type': '503' }, 1],
    [{ ...post, 'http.response.status_code': 200 }, 1],
    [{ 'http.request.method': '_OTHER', 'http.response.status_code': 404, 'url.scheme': 'http' }, 1],
  ])
  expect(of('http.server.request.duration')!.descriptor.unit).toBe('s')
  const received = of('http.server.request.body.size')!.dataPoints.map(({ value }) => value as Histogram)
  expect(received.map(({ count, sum }) => [count, sum])).toEqual([[1, 4]])
  expect(of('http.server.request.body.size')!.descriptor.unit).toBe('By')
})

test('requests that are worked on have method and scheme, those of the inspector excepted', async () => {
  const { collect } = sdk()
  const { server } = make({ inspector: true })
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  server.get('/', () => released)
  server.post('/', () => 'made')
  await server.ready()
  const waiting = [server.inject.get('/'), server.inject.get('/')]
  await server.inject.post('/')
  await server.inject({ method: 'BREW' as never, url: 'https://a.example/' })
  await server.inject({ url: '/_inspector' })
  const get = { 'http.request.method': 'GET', 'url.scheme': 'http' }
  const others = [
    [{ 'http.request.method': 'POST', 'url.scheme': 'http' }, 0],
    [{ 'http.request.method': '_OTHER', 'url.scheme': 'https' }, 0],
  ]
  expect((await collect()).points('http.server.active_requests')).toEqual([[get, 2], ...others])
  release()
  await Promise.all(waiting)
  expect((await collect()).points('http.server.active_requests')).toEqual([[get, 0], ...others])
})

test('metrics of the application keep their names, also those that are made later, and their bounds', async () => {
  const { collect } = sdk()
  const { server, log } = make({}, { maxLabelValues: 2 })
  const orders = server.services.metrics.counter({ name: 'orders', help: 'Orders', labels: ['kind'] })
  await server.inject.get('/')
  const shelf = server.services.metrics.gauge({ name: 'shelf_bytes', help: 'Shelf', unit: 'bytes' })
  const render = server.services.metrics.histogram({
    name: 'render_seconds',
    help: 'Rendering',
    unit: 'seconds',
    labels: ['template'],
    buckets: [0.1, 1],
  })
  for (const kind of ['a', 'b', 'c', 'd']) orders.increment({ kind })
  shelf.set(-3)
  for (const value of [0.05, 0.5, 5, -1]) render.observe(value, { template: 'home' })
  const { points, of } = await collect()
  expect(points('orders')).toEqual([
    [{ kind: 'a' }, 1],
    [{ kind: 'b' }, 1],
    [{ kind: 'other' }, 2],
  ])
  expect(points('shelf_bytes')).toEqual([[{}, -3]])
  expect([of('shelf_bytes'), of('render_seconds')].map((one) => one!.descriptor.unit)).toEqual(['By', 's'])
  const { attributes, value } = of('render_seconds')!.dataPoints[0]!
  expect(attributes).toEqual({ template: 'home' })
  expect((value as Histogram).buckets).toEqual({ boundaries: [0.1, 1], counts: [1, 1, 1] })
  expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
})

test('the process, and figures of plugins; one that fails costs the others nothing', async () => {
  const { collect } = sdk()
  const shelf = definePlugin({
    name: 'shelf',
    metrics: () => [{ name: 'shelf_books', type: 'gauge' as const, help: 'Books', samples: [{ value: 3 }] }],
    setup() {},
  })
  const broken = definePlugin({
    name: 'broken',
    metrics: () => {
      throw new Error('no figures')
    },
    setup() {},
  })
  const { server } = make({ shelf: shelf(), broken: broken() })
  await server.inject.get('/')
  const { points, names } = await collect()
  expect(points('shelf_books')).toEqual([[{}, 3]])
  for (const name of [
    'process.cpu.time',
    'process.memory.usage',
    'nodejs.eventloop.delay.mean',
    'nodejs.eventloop.time',
  ])
    expect(names).toContain(name)
  expect(points('process.cpu.time').map(([attributes]) => attributes)).toEqual([
    { 'cpu.mode': 'user' },
    { 'cpu.mode': 'system' },
  ])
})

test('several servers in one process count work once, and each its own requests; a closed one is left out', async () => {
  const { tracingChannel } = await import('node:diagnostics_channel')
  const { collect, provider } = sdk()
  const servers = [make().server, make().server]
  for (const server of servers) {
    server.get('/', () => 'home')
    await server.inject.get('/')
  }
  const send = tracingChannel('framework:queue.attempt')
  const event = { queue: 'orders', kind: 'sqs' }
  const failing = Object.assign(new Error('no paper'), { code: 'E_PAPER' })
  await send.tracePromise(async () => {}, { ...event }).catch(() => {})
  await send.tracePromise(() => Promise.reject(failing), { ...event }).catch(() => {})
  const { points } = await collect()
  expect(points('http.server.request.duration').map(([, count]) => count)).toEqual([2])
  const attributes = {
    'messaging.destination.name': 'orders',
    'messaging.system': 'aws_sqs',
    'messaging.operation.name': 'process',
  }
  expect(points('messaging.process.duration')).toEqual([
    [attributes, 1],
    [{ ...attributes, 'error.type': 'E_PAPER' }, 1],
  ])
  expect(points('framework.queue.attempt.failures').map(([, value]) => value)).toEqual([1])
  for (const server of servers) await server.close()
  const { _sharedState } = provider as unknown as {
    _sharedState: { meterSharedStates: Map<string, { observableRegistry: { _batchCallbacks: unknown[] } }> }
  }
  for (const { observableRegistry } of _sharedState.meterSharedStates.values())
    expect(observableRegistry._batchCallbacks).toEqual([])
})

describe('the SDK', () => {
  test('may be registered after the boot, until the server listens', async () => {
    const { server } = make()
    server.get('/', () => 'home')
    await server.inject.get('/')
    const { collect } = sdk()
    await server.listen()
    await server.inject.get('/')
    expect((await collect()).points('http.server.request.duration').map(([, count]) => count)).toEqual([1])
  })

  test('that is missing fails a server that listens, with the remedy', async () => {
    const { server } = make()
    await expect(server.listen()).rejects.toThrow(/setGlobalMeterProvider/)
  })

  test('makes a way to read them over HTTP unnecessary; an open one is refused as ever', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    sdk()
    const { server } = make()
    ;(await server.inject.get('/metrics')).assertStatus(404)
    const shown = make({}, { addresses: ['127.0.0.1'] })
    ;(await shown.server.inject.get('/metrics')).assertStatus(200)
    await expect(make({}, { openTelemetry: false }).server.listen()).rejects.toThrow(/everyone could read the metrics/)
  })

  test('exports when the server closes, over OTLP', async () => {
    const bodies: string[] = []
    const collector = createServer(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      bodies.push(Buffer.concat(chunks).toString())
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/metrics`
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter({ url }),
      exportIntervalMillis: 3_600_000,
    })
    const provider = new MeterProvider({ readers: [reader] })
    api.setGlobalMeterProvider(provider)
    clean.push(async () => {
      api.disable()
      await provider.shutdown()
      collector.closeAllConnections()
      collector.close()
    })
    const { server } = make()
    server.get('/books/:id', () => 'a book')
    await server.listen()
    await server.inject.get('/books/5')
    await server.close()
    const { resourceMetrics } = JSON.parse(bodies[0]!) as Otlp
    const found = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    const duration = found.find(({ name }) => name === 'http.server.request.duration')!
    expect(duration.unit).toBe('s')
    expect(Number(duration.histogram!.dataPoints[0]!.count)).toBe(1)
  })
})

interface Otlp {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string
        readonly unit: string
        readonly histogram?: { readonly dataPoints: readonly { readonly count: number | string }[] }
      }[]
    }[]
  }[]
}

test('every metric of the framework has a name of its own there', async () => {
  sdk()
  const { server } = make({ rateLimit: true, queues: true, cron: true, websocket: true, overload: true })
  await server.inject.get('/')
  const families = await server.services.metrics.families()
  expect(families.length).toBeGreaterThan(40)
  expect(families.filter((family) => conventionOf(family).name === family.name)).toEqual([])
})

test('the page has the name of each', async () => {
  const page = await readFile(new URL('../../../docs/plugins/metrics.md', import.meta.url), 'utf8')
  const rows = Object.fromEntries(
    [...page.matchAll(/^\| `([a-z_]+)` \| `([a-z0-9._]+)` \| (?:`([^`]+)`)? \|/gm)].map(([, family, name, unit]) => [
      family,
      [name, unit],
    ]),
  )
  const { server } = make()
  await server.ready()
  const ofWork = (await server.services.metrics.families()).map(
    (family) => [family.name, conventionOf(family)] as const,
  )
  const expected = [...Object.entries(conventions), ...ofWork].map(([family, { name, unit }]) => [family, [name, unit]])
  expect(rows).toEqual(Object.fromEntries(expected))
})
