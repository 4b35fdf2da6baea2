import { channel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { NodeTracerProvider, type TracerConfig } from '@opentelemetry/sdk-trace-node'
import { RouteCollection, Server, type ServerOptions, type TelemetryOptions } from 'framework'
import { log, telemetry } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { keepSpans, placed, treeOf } from '../../support/spans.ts'

const clean: (() => unknown)[] = []
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one()
})

function sdk(config: Parameters<typeof keepSpans>[0] = {}) {
  const kept = keepSpans(config)
  clean.push(() => kept.end())
  return kept
}

function make(
  add: (routes: RouteCollection) => void,
  options: TelemetryOptions | true = true,
  plugins: ServerOptions['plugins'] & object = {},
) {
  const routes = new RouteCollection()
  add(routes)
  const logger = memoryLogger()
  const given = { router: routes, gracefulShutdown: false, port: 0, host: '127.0.0.1', drainWindow: 0, logger }
  const server = new Server({ ...given, plugins: { ...(plugins as object), telemetry: options } } as ServerOptions)
  clean.push(() => server.close())
  return Object.assign(server, { log: logger.entries })
}

async function upstream(answer: Parameters<typeof createServer>[1] = (_req, res) => res.end('x')) {
  const server = createServer(answer as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  clean.push(() => server.close())
  clean.push(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** What a server sends for these bytes until it has responded so often, or the connection ends. */
function wire(port: number, bytes: string, answers = 1) {
  return new Promise<string>((resolve, reject) => {
    let all = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (data) => {
      all += data
      if (all.split('HTTP/1.1 ').length > answers) socket.destroy()
    })
    socket.on('close', () => resolve(all))
    socket.on('error', reject)
  })
}

describe('an SDK that throws', () => {
  const failing = (what: string) => () => {
    throw new Error(`broken ${what}`)
  }
  const processor = (members: object) => ({
    onStart() {},
    onEnd() {},
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    ...members,
  })
  const sdks: readonly [what: string, config: TracerConfig, propagator?: object][] = [
    ['sampler', { sampler: { shouldSample: failing('sampler'), toString: () => 'failing' } }],
    ['start of a span', { spanProcessors: [processor({ onStart: failing('start of a span') })] }],
    ['end of a span', { spanProcessors: [processor({ onEnd: failing('end of a span') })] }],
    ['flush', { spanProcessors: [processor({ forceFlush: failing('flush') })] }],
    ['propagator', {}, { extract: failing('propagator'), inject: failing('propagator'), fields: () => [] }],
  ]
  // Thrown by a subscriber of a channel it would be an uncaught exception, with which vitest fails.
  test.each(sdks)('fails no request, and the log says it once: %s', async (what, config, propagator) => {
    const provider = new NodeTracerProvider(config)
    provider.register(propagator === undefined ? {} : { propagator: propagator as never })
    clean.push(() => {
      for (const one of [trace, context, propagation]) one.disable()
    })
    const url = await upstream()
    const server: Server = make(
      (routes) => {
        routes.get('/', () => 'x')
        routes.get('/fetch', async () => (await fetch(url)).text())
        routes.get('/service', async () => (await server.services.get('telemetry').fetch(url)).text())
        routes.get('/headers', () => server.services.get('telemetry').inject({ accept: 'x' }))
        routes.get('/broken', () => {
          throw new Error('own')
        })
      },
      { steps: true, plugins: true, traceResponse: true },
      { cache: true },
    )
    const { log: entries } = server as unknown as { log: { message: string }[] }
    for (const [path, status] of [
      ['/', 200],
      ['/fetch', 200],
      ['/service', 200],
      ['/headers', 200],
      ['/broken', 500],
      ['/nowhere', 404],
    ] as const)
      expect([path, (await server.inject({ url: path })).status]).toEqual([path, status])
    await pause(20)
    await server.close()
    const said = entries.filter((entry) => JSON.stringify(entry).includes('telemetry: '))
    expect(said).toHaveLength(1)
    expect(said[0]!.message).toMatch(what === 'flush' ? /were not exported/ : /has thrown, so spans are missing/)
  })
})

describe('what a client sends', () => {
  const sent = '1'.repeat(32)
  test('makes its trace, or none, and never fails', async () => {
    const spans = sdk()
    const server = make((routes) => void routes.get('/', () => 'x'))
    const valid = `00-${sent}-${'2'.repeat(16)}-01`
    const traces: readonly [headers: Record<string, string>, isItsTrace: boolean][] = [
      [{ traceparent: valid, baggage: 'a=%zz,%=1,=,;' }, true],
      [{ traceparent: valid, baggage: 'a=b,'.repeat(20_000) }, true],
      [{ traceparent: valid, tracestate: `é=1,${'x=y,'.repeat(5_000)}` }, true],
      [{ traceparent: valid.replace('00-', 'ff-') }, false],
      [{ traceparent: valid.replace(sent, '0'.repeat(32)) }, false],
      [{ traceparent: valid.replace('2'.repeat(16), '0'.repeat(16)) }, false],
      [{ traceparent: `${valid}, ${valid}` }, false],
      [{ traceparent: valid.toUpperCase().replaceAll('1', 'A') }, false],
    ]
    for (const [headers, isItsTrace] of traces) {
      spans.reset()
      expect((await server.inject({ url: '/', headers })).status).toBe(200)
      expect(spans.named('GET /').spanContext().traceId === sent).toBe(isItsTrace)
    }
    expect(server.log).toEqual([])
  })

  test('as baggage reaches no one where clients are not to decide', async () => {
    sdk()
    const ask = () => propagation.getBaggage(context.active())?.getEntry('role')?.value ?? 'none'
    const server = make((routes) => void routes.get('/', ask), { incoming: 'link' })
    const headers = { traceparent: `00-${sent}-${'2'.repeat(16)}-01`, baggage: 'role=admin' }
    expect((await server.inject.get('/', { headers })).text()).toBe('"none"')
  })

  test('as path and method makes no name of a span', async () => {
    const spans = sdk()
    const server = make((routes) => void routes.get('/things/:id', () => 'x'))
    for (let i = 0; i < 20; i++) {
      await server.inject({ url: `/nowhere/${i}` })
      await server.inject({ url: `/things/${i}`, method: 'DELETE' })
      await server.inject({ url: `/things/${i}`, method: `M${i}` })
    }
    expect([...new Set(spans.all.map(({ name }) => name))].sort()).toEqual(['DELETE', 'GET', 'HTTP'])
  })

  test('as the name of an operation, or as what an error repeats of it, is cut', async () => {
    const spans = sdk()
    const graphql = { schema: { typeDefs: 'type Query { a: Int }' } }
    const server = make(
      (routes) =>
        void routes.get('/', () => {
          throw new Error('x'.repeat(1_000_000))
        }),
      true,
      { graphql },
    )
    await server.inject.post('/graphql', { body: { query: `query ${'N'.repeat(5_000)} { a }` } })
    await server.inject.get('/')
    expect(String(spans.named('query').attributes['graphql.operation.name'])).toHaveLength(256)
    const { status, events } = spans.named('GET /')
    expect(JSON.stringify([status, events.map(({ attributes }) => attributes)]).length).toBeLessThan(60_000)
  })

  test('as a secret in the path is in no attribute; nor is the login in an address that an error names', async () => {
    const spans = sdk()
    const server = make(
      (routes) =>
        void routes.get('/reset/:token', () => {
          throw new Error('cannot reach postgres://shop:hidden@db.example/shop, password=hidden')
        }),
    )
    await server.inject.get('/reset/hidden%2F1?code=hidden')
    const span = spans.named('GET /reset/:token')
    expect(span.attributes['url.path']).toBe('/reset/[redacted]')
    expect(span.status.message).toBe('cannot reach postgres://[redacted]@db.example/shop, password=[redacted]')
    expect(span.events[0]!.attributes!['exception.type']).toBe('Error')
    expect(String(span.events[0]!.attributes!['exception.stacktrace'])).toContain('hostile.test.ts')
    const all = spans.all.map(({ attributes, events, status }) => [attributes, events, status])
    expect(JSON.stringify(all)).not.toContain('hidden')
  })

  test('are not in the message of an error that has headers in it, whose lines stay', async () => {
    const spans = sdk()
    const server = make((routes) => {
      routes.get('/', () => {
        throw new Error('refused\nx-api-key: hidden\ncookie: hidden; a=hidden\nhost: shop.example')
      })
    })
    await server.inject.get('/')
    expect(spans.named('GET /').status.message).toBe(
      'refused\nx-api-key: [redacted]\ncookie: [redacted]\nhost: shop.example',
    )
    const [event] = spans.named('GET /').events
    expect(String(event!.attributes!['exception.stacktrace'])).toMatch(/host: shop\.example\n +at .*hostile\.test\.ts/)
    expect(JSON.stringify(spans.all.map(({ events }) => events))).not.toContain('hidden')
  })
})

describe('over a connection', () => {
  test('the version of HTTP is an attribute, and IPv6 has no brackets', async () => {
    const spans = sdk()
    const server = make((routes) => void routes.get('/', () => 'x'))
    await server.listen()
    await wire(server.port!, 'GET / HTTP/1.0\r\nHost: [::1]:81\r\n\r\n')
    expect(spans.named('GET /').attributes).toMatchObject({
      'network.protocol.version': '1.0',
      'server.address': '::1',
      'server.port': 81,
    })
    spans.reset()
    await wire(server.port!, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(spans.named('GET /').attributes).toMatchObject({ 'network.protocol.version': '1.1' })
  })

  test('requests that wait for each other have their own contexts', async () => {
    const spans = sdk()
    const server = make(
      (routes) =>
        void routes.get('/:n', async (req) => {
          await pause(20 - 4 * Number(req.params.n))
          const { traceId } = trace.getActiveSpan()!.spanContext()
          return `${req.params.n} in ${traceId.slice(0, 1)}`
        }),
    )
    await server.listen()
    const one = (n: number) =>
      `GET /${n} HTTP/1.1\r\nHost: a\r\ntraceparent: 00-${`${n}`.repeat(32)}-${'2'.repeat(16)}-01\r\n\r\n`
    const all = await wire(server.port!, [1, 2, 3, 4].map(one).join(''), 4)
    for (const n of [1, 2, 3, 4]) expect(all).toContain(`${n} in ${n}`)
    for (const { attributes, parentSpanContext } of spans.all.filter(({ kind }) => kind === SpanKind.SERVER))
      expect(parentSpanContext!.traceId).toBe(String(attributes['url.path']).slice(1).repeat(32))
  })

  test('a span ends when its client leaves, and when a stream breaks off', async () => {
    const spans = sdk()
    let hasBegun = () => {}
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve
    })
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = make(
      (routes) => {
        routes.get('/never', () => {
          hasBegun()
          return released
        })
        routes.get('/events', (_req, res) =>
          res.sse(
            (async function* () {
              yield 'one'
              throw new Error('broken off')
            })(),
          ),
        )
        routes.get('/late', { timeout: 20 }, () => released)
      },
      true,
      { timeout: true },
    )
    clean.push(() => release())
    await server.listen()
    const left = connect(server.port!, '127.0.0.1', () => left.write('GET /never HTTP/1.1\r\nHost: a\r\n\r\n'))
    await begun
    left.destroy()
    await vi.waitFor(() => spans.named('GET /never'), 20_000)
    await wire(server.port!, 'GET /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 9).catch(() => {})
    await vi.waitFor(() => spans.named('GET /events'), 20_000)
    await wire(server.port!, 'GET /late HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => spans.named('GET /late'), 20_000)
    expect(spans.named('GET /late').status.code).toBe(SpanStatusCode.ERROR)
  })
})

describe('fetch', () => {
  test('of a response that early hints precede is that response', async () => {
    const spans = sdk()
    const url = await upstream((_req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' })
      res.writeHead(404).end('x')
    })
    const server = make((routes) => void routes.get('/', async () => (await fetch(url)).status))
    await server.inject.get('/')
    expect(spans.named('GET').attributes['http.response.status_code']).toBe(404)
  })

  test('with a method that a program makes up has none for its name', async () => {
    const spans = sdk()
    const url = await upstream((_req, res) => res.end('x'))
    const ask = async () => (await fetch(url, { method: 'PURGE' }).catch(() => undefined))?.status
    const server = make((routes) => void routes.get('/', ask))
    await server.inject.get('/')
    expect(spans.named('HTTP').attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PURGE',
    })
  })

  test('of the service hands over all that a runtime takes', async () => {
    const spans = sdk()
    const asked: [input: unknown, init: RequestInit & { proxy?: string }][] = []
    // As on Bun and Deno, which have no channels.
    vi.stubGlobal('fetch', (input: unknown, init: RequestInit) => {
      asked.push([input, init])
      return Promise.resolve(new Response('x'))
    })
    clean.push(() => vi.unstubAllGlobals())
    const server: Server = make(
      (routes) =>
        void routes.get('/', async () => {
          const ask: typeof fetch = (input, init) => server.services.get('telemetry').fetch(input as string, init)
          await ask('https://a.example/?token=1', {
            method: 'post',
            headers: { accept: 'x' },
            proxy: 'http://p',
          } as RequestInit)
          await ask(new Request('https://a.example/', { headers: { accept: 'y' } }))
          await ask('not an address').catch(() => {})
        }),
      { fetch: false },
    )
    await server.inject.get('/')
    expect(asked.map(([, init]) => init?.proxy)).toEqual(['http://p', undefined, undefined])
    const headers = asked.slice(0, 2).map(([, init]) => new Headers(init.headers))
    expect(headers.map((one) => [one.get('accept'), one.has('traceparent')])).toEqual([
      ['x', true],
      ['y', true],
    ])
    expect(spans.all.filter(({ kind }) => kind === SpanKind.CLIENT).map(({ name }) => name)).toEqual(['POST', 'GET'])
  })

  test('for a websocket carries the context, and has no span: nothing would end it', async () => {
    const spans = sdk()
    const added: [name: string, value: string][] = []
    const server = make(
      (routes) =>
        void routes.get('/', () => {
          const addHeader = (name: string, value: string) => added.push([name, value])
          const request = {
            origin: 'http://a.example',
            path: '/',
            method: 'GET',
            headers: [],
            upgrade: 'websocket',
            addHeader,
          }
          channel('undici:request:create').publish({ request })
        }),
    )
    await server.inject.get('/')
    const { traceId, spanId } = spans.named('handler /').spanContext()
    expect(added).toEqual([['traceparent', `00-${traceId}-${spanId}-01`]])
    expect(treeOf(spans.all.map(placed))).toEqual(['GET /', '  handler /'])
  })
})

test('the page of the inspector has no spans, and what it starts has', async () => {
  const spans = sdk()
  const server = make((routes) => void routes.get('/', () => 'x'), { steps: true }, { inspector: true })
  for (const url of ['/_inspector', '/_inspector/events', '/_inspector/api/list?kind=request'])
    expect((await server.inject({ url })).status).toBe(401)
  expect(spans.all).toEqual([])
  await server.inject.get('/')
  expect(spans.named('GET /').status.code).toBe(SpanStatusCode.UNSET)
})

test.each([
  ['before', [telemetry(), 'log']],
  ['after', ['log', telemetry()]],
])('in a list it stands %s the log, whose lines have the ids', async (_where, order) => {
  const spans = sdk()
  const lines: { msg: string; trace_id?: string; span_id?: string }[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as never) }
  const routes = new RouteCollection()
  routes.get('/', (req) => void req.log.info('looking'))
  const plugins = order.map((one) => (one === 'log' ? log({ stream }) : one)) as never
  const server = new Server({ router: routes, gracefulShutdown: false, plugins })
  clean.push(() => server.close())
  await server.inject.get('/')
  const idsOf = (name: string) => {
    const { traceId, spanId } = spans.named(name).spanContext()
    return { trace_id: traceId, span_id: spanId }
  }
  expect(lines.find(({ msg }) => msg === 'looking')).toMatchObject(idsOf('handler /'))
  expect(lines.find(({ msg }) => msg === 'request')).toMatchObject(idsOf('GET /'))
})

test('a form with files is a span, and what a rate limit refuses is an event', async () => {
  const spans = sdk()
  const server = make((routes) => void routes.post('/', (req) => req.files.length), true, {
    upload: true,
    rateLimit: { limit: 1 },
  })
  const form = '--b\r\ncontent-disposition: form-data; name="a"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n'
  const request = {
    method: 'POST',
    url: '/',
    body: form,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  }
  expect((await server.inject(request)).status).toBe(200)
  expect(treeOf(spans.all.map(placed))).toEqual(['POST /', '  upload', '  handler /'])
  expect(spans.named('upload').attributes).toEqual({ 'framework.upload.files': 1, 'framework.upload.size': 5 })
  expect(spans.named('POST /').events).toEqual([])
  spans.reset()
  expect((await server.inject(request)).status).toBe(429)
  expect(spans.named('POST /').events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['rate limit', { 'framework.rate_limit.limit': 'server', 'framework.rate_limit.outcome': 'refused' }],
  ])
})
