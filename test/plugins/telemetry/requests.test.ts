import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, ParentBasedSampler, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-node'
import { HttpError, RouteCollection, Server, type ServerOptions, type TelemetryOptions } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { defineError, type RequestTrace } from '../../../kernel/index.ts'
import { wrapWork } from '../../../plugins/shared/work/wrap-work.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { freePort } from '../../support/own-server.ts'
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
  telemetry: TelemetryOptions | true = true,
  plugins: ServerOptions['plugins'] & object = {},
) {
  const routes = new RouteCollection()
  add(routes)
  const logger = memoryLogger()
  const options = { router: routes, gracefulShutdown: false, port: 0, drainWindow: 0, logger }
  const server = new Server({ ...options, plugins: { ...(plugins as object), telemetry } } as ServerOptions)
  clean.push(() => server.close())
  return Object.assign(server, { log: logger.entries })
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`

const TeapotError = defineError('TeapotError', 418, () => 'a teapot')

test('a request is a span of the server under its route, with the handler in it', async () => {
  const spans = sdk()
  const server = make((routes) => void routes.get('/things/:id', (req) => req.params.id))
  await server.inject.get('/things/5?secret=1', { headers: { 'user-agent': 'tests', host: 'things.example:81' } })
  expect(treeOf(spans.all.map(placed))).toEqual(['GET /things/:id', '  handler /things/:id'])
  const { kind, attributes, status } = spans.named('GET /things/:id')
  expect(kind).toBe(SpanKind.SERVER)
  expect(status.code).toBe(SpanStatusCode.UNSET)
  expect(attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/things/:id',
    'http.response.status_code': 200,
    'url.path': '/things/5',
    'url.scheme': 'http',
    'server.address': 'things.example',
    'server.port': 81,
    'client.address': '127.0.0.1',
    'user_agent.original': 'tests',
  })
})

test('what no route handles is named by its method, and a method that a client makes up by none', async () => {
  const spans = sdk()
  const server = make(() => {})
  await server.inject.get('/nowhere/5')
  await server.inject({ method: 'BREW' as never, url: '/' })
  expect(spans.all.map(({ name, status }) => [name, status.code])).toEqual([
    ['GET', SpanStatusCode.UNSET],
    ['HTTP', SpanStatusCode.UNSET],
  ])
  expect(spans.named('HTTP').attributes).toMatchObject({ 'http.request.method': '_OTHER' })
})

test('errors are failures of the server alone', async () => {
  const spans = sdk()
  const server = make((routes) => {
    routes.get('/broken', () => {
      throw Object.assign(new TypeError('no database'), { code: 'E_DATABASE' })
    })
    routes.get('/wrong', () => {
      throw TeapotError()
    })
    routes.get('/says', (_req, res) => res.status(503).text('later'))
  })
  for (const path of ['/broken', '/wrong', '/says']) await server.inject.get(path)
  const broken = spans.named('GET /broken')
  expect(broken.status.code).toBe(SpanStatusCode.ERROR)
  expect(broken.attributes).toMatchObject({ 'http.response.status_code': 500, 'error.type': 'E_DATABASE' })
  expect(broken.events.map(({ name, attributes }) => [name, attributes?.['exception.message']])).toEqual([
    ['exception', 'no database'],
  ])
  expect(spans.named('handler /broken').status.code).toBe(SpanStatusCode.ERROR)
  for (const name of ['GET /wrong', 'handler /wrong']) expect(spans.named(name).status.code).toBe(SpanStatusCode.UNSET)
  expect(spans.named('GET /wrong').attributes).toMatchObject({ 'http.response.status_code': 418 })
  expect(spans.named('GET /says')).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': '503' },
  })
})

test("a client's mistake is not an error of any span, however it is thrown", async () => {
  const spans = sdk()
  const server = make(
    (routes) => {
      routes.get('/own', () => {
        throw new HttpError(404)
      })
      routes.get('/later', async () => {
        await null
        throw new HttpError(429)
      })
      routes.get('/package', () => {
        throw Object.assign(new Error('gone'), { status: 410, expose: true })
      })
      // The status of another service is not that of this response.
      routes.get('/upstream', () => {
        throw Object.assign(new Error('not there'), { status: 404 })
      })
      routes.get('/ours', () => {
        throw new HttpError(503)
      })
    },
    { steps: true },
  )
  for (const path of ['/own', '/later', '/package', '/upstream', '/ours']) await server.inject.get(path)
  const failed = spans.all.filter(({ status }) => status.code === SpanStatusCode.ERROR).map(({ name }) => name)
  expect(failed.sort()).toEqual(['GET /ours', 'GET /upstream', 'handler /ours', 'handler /upstream'])
  for (const name of ['GET /own', 'handler /own', 'handler /later', 'handler /package'])
    expect(spans.named(name)).toMatchObject({ events: [], status: { code: SpanStatusCode.UNSET } })
  expect(spans.named('handler /own').attributes).toEqual({})
})

const revoked = Proxy.revocable({}, {})
revoked.revoke()
const refuse = () => {
  throw new Error('not to be read')
}

test.each<[what: string, thrown: unknown, message: string]>([
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a string', 'oops', 'oops'],
  ['an empty string', '', ''],
  ['a number', 0, '0'],
  ['a symbol', Symbol('oops'), 'Symbol(oops)'],
  ['a frozen object', Object.freeze({ a: 1 }), '[object Object]'],
  ['a frozen error', Object.freeze(new Error('oops')), 'oops'],
  ['an object without a prototype', Object.create(null), 'the thrown value cannot be read'],
  ['a proxy', new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse }), 'the thrown value cannot be read'],
  ['a proxy that was revoked', revoked.proxy, 'the thrown value cannot be read'],
  ['getters that throw', Object.defineProperty({}, 'name', { get: refuse }), 'the thrown value cannot be read'],
  [
    'an error whose getters throw',
    Object.defineProperty(new Error('x'), 'message', { get: refuse }),
    'the thrown value cannot be read',
  ],
])('%s that is thrown is the exception of a 500 and of its handler', async (_what, thrown, message) => {
  const spans = sdk()
  const server = make((routes) => {
    routes.get('/now', () => {
      throw thrown
    })
    routes.get('/later', () => Promise.reject(thrown))
  })
  for (const path of ['/now', '/later']) {
    await server.inject.get(path)
    for (const span of [spans.named(`GET ${path}`), spans.named(`handler ${path}`)]) {
      expect(span.status).toMatchObject({ code: SpanStatusCode.ERROR, message })
      expect(span.attributes).toMatchObject({ 'error.type': expect.any(String) })
      expect(span.events.map(({ name, attributes }) => [name, attributes?.['exception.message'] ?? ''])).toEqual([
        ['exception', message],
      ])
    }
    expect(spans.named(`GET ${path}`).attributes['http.response.status_code']).toBe(500)
  }
  expect(server.log.filter(({ message }) => message?.includes('OpenTelemetry'))).toEqual([])
})

describe('a client that leaves before it is answered', () => {
  test('has no status, in the span, the log and the metrics', async () => {
    const spans = sdk()
    const lines: Record<string, unknown>[] = []
    const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
    let hasBegun = () => {}
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve
    })
    let release = (_text: string) => {}
    const released = new Promise<string>((resolve) => {
      release = resolve
    })
    const routes = new RouteCollection()
    routes.get('/slow', () => {
      hasBegun()
      return released
    })
    const server = new Server({
      router: routes,
      port: 0,
      gracefulShutdown: false,
      drainWindow: 0,
      plugins: { telemetry: true, log: { stream }, metrics: true },
    })
    clean.push(() => server.close())
    await server.listen()
    const gone = new AbortController()
    const asked = fetch(`http://127.0.0.1:${server.port}/slow`, { signal: gone.signal }).catch(() => 'left')
    await begun
    gone.abort()
    expect(await asked).toBe('left')
    await vi.waitFor(() => spans.named('GET /slow'), 20_000)
    release('too late')
    await expect.poll(() => lines.map(({ msg }) => msg)).toContain('request aborted')
    const { attributes, status } = spans.named('GET /slow')
    expect(attributes).toMatchObject({ 'error.type': 'aborted' })
    expect(attributes).not.toHaveProperty('http.response.status_code')
    expect(status.code).toBe(SpanStatusCode.UNSET)
    const line = lines.find(({ path }) => path === '/slow')!
    expect(line).toMatchObject({ level: 30, msg: 'request aborted', aborted: true, trace_id: expect.any(String) })
    expect(line).not.toHaveProperty('status')
    const text = (await server.inject.get('/metrics')).text()
    expect(text.split('\n').filter((one) => /_count.*"\/slow"/.test(one))).toEqual([
      'http_request_duration_seconds_count{method="GET",route="/slow",status="aborted"} 1',
    ])
  })

  test('while its response is streamed has the status that it received', async () => {
    const spans = sdk()
    const server = make((routes) => {
      routes.get('/', (_req, res) =>
        res.stream(
          (async function* () {
            yield 'one'
            await new Promise(() => {})
          })(),
        ),
      )
    })
    await server.listen()
    const gone = new AbortController()
    const answer = await fetch(`http://127.0.0.1:${server.port}/`, { signal: gone.signal })
    await answer.body!.getReader().read()
    gone.abort()
    await vi.waitFor(() => spans.named('GET /'), 20_000)
    expect(spans.named('GET /').attributes).toMatchObject({ 'http.response.status_code': 200 })
    expect(spans.named('GET /').attributes).not.toHaveProperty('error.type')
  })

  test('under inject is the same', async () => {
    const spans = sdk()
    const gone = new AbortController()
    const server = make((routes) => void routes.get('/', () => gone.abort()))
    await server.inject({ url: '/', signal: gone.signal }).catch(() => {})
    expect(spans.named('GET /').attributes).toMatchObject({ 'error.type': 'aborted' })
  })
})

describe('the context that a client sends', () => {
  test('is the parent, with its baggage', async () => {
    const spans = sdk()
    const server = make(
      (routes) => void routes.get('/', () => propagation.getBaggage(context.active())?.getEntry('user')?.value),
    )
    const answer = await server.inject.get('/', { headers: { traceparent: parent, baggage: 'user=ada' } })
    expect(spans.named('GET /').spanContext().traceId).toBe(traceId)
    expect(spans.named('GET /').parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(answer.text()).toBe('"ada"')
    expect(answer.headers()).not.toHaveProperty('traceresponse')
  })

  test('or a link, where clients are not to decide', async () => {
    const spans = sdk()
    const server = make((routes) => void routes.get('/', () => 'x'), { incoming: 'link' })
    await server.inject.get('/', { headers: { traceparent: parent } })
    const span = spans.named('GET /')
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.spanContext().traceId).not.toBe(traceId)
    expect(span.links.map((link) => link.context.traceId)).toEqual([traceId])
  })

  test('of which no one records anything adds nothing that is called at its end, and is still the context of the handler', async () => {
    const spans = sdk({ sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) })
    const heard: string[] = []
    const end = wrapWork<RequestTrace>('request', ({ request: { raw } }, work) => {
      const { onSettled } = raw
      raw.onSettled = (...given) => {
        heard.push('settled')
        onSettled.apply(raw, given)
      }
      work()
    })
    clean.push(end)
    const server = make((routes) => void routes.get('/', () => ({ ...trace.getActiveSpan()?.spanContext() })))
    const headers = { traceparent: parent.replace(/01$/, '00') }
    const unrecorded = await server.inject.get('/', { headers })
    unrecorded.assertBodySubset({ traceId, traceFlags: 0 })
    expect(heard).toEqual([])
    await server.inject.get('/', { headers: { traceparent: parent } })
    expect(heard).toEqual(['settled'])
    expect(spans.all).toHaveLength(2)
  })

  test('decides about the sampling, and what is not sampled reads nothing of the request', async () => {
    const spans = sdk({ sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) })
    const server = make((routes) => void routes.get('/', () => trace.getActiveSpan()?.spanContext().traceFlags))
    await server.inject.get('/', { headers: { traceparent: parent.replace(/01$/, '00') } })
    await server.inject.get('/')
    expect(spans.all).toEqual([])
    await server.inject.get('/', { headers: { traceparent: parent } })
    expect(spans.all).toHaveLength(2)
  })

  test('recorded without being sampled does not receive what belongs to an unrecorded span within it', async () => {
    const shouldSample: Sampler['shouldSample'] = (_context, _traceId, _name, kind) => ({
      decision: kind === SpanKind.SERVER ? SamplingDecision.RECORD : SamplingDecision.NOT_RECORD,
    })
    sdk({ sampler: { shouldSample, toString: () => 'requests' } })
    const server = make((routes) => void routes.get('/', () => ({ isRecording: trace.getActiveSpan()?.isRecording() })))
    const response = await server.inject.get('/')
    response.assertBodySubset({ isRecording: false })
  })

  test('is nonsense: a trace begins here', async () => {
    const spans = sdk()
    const server = make((routes) => void routes.get('/', () => 'x'))
    for (const traceparent of ['x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'a'.repeat(9000)])
      await server.inject.get('/', { headers: { traceparent } })
    const begun = spans.all.filter(({ name }) => name === 'GET /')
    expect(begun.map((span) => span.parentSpanContext)).toEqual([undefined, undefined, undefined])
  })
})

test('traceresponse names the trace where that is asked for, on failures, too', async () => {
  const spans = sdk()
  const server = make(
    (routes) => {
      routes.get('/', () => 'x')
      routes.get('/broken', () => {
        throw new Error('broken')
      })
    },
    { traceResponse: true },
  )
  for (const path of ['/', '/broken', '/nowhere']) {
    const answer = await server.inject.get(path, { headers: { traceparent: parent } })
    const { spanId } = spans.all
      .filter(({ kind }) => kind === SpanKind.SERVER)
      .at(-1)!
      .spanContext()
    answer.assertHeader('traceresponse', `00-${traceId}-${spanId}-01`)
  }
})

test('steps have spans where that is asked for', async () => {
  const spans = sdk()
  const server = make(
    (routes) => {
      routes.get(
        '/',
        {
          middlewares: [
            async function first(_req, _res, next) {
              return next()
            },
          ],
        },
        () => 'x',
      )
    },
    { steps: true },
  )
  await server.inject.get('/')
  const tree = treeOf(spans.all.map(placed))
  expect(tree[0]).toBe('GET /')
  expect(tree.slice(-2)).toEqual(['  step first', '  handler /'])
})

test('a step of one of several servers has one span, and none where steps have none', async () => {
  const spans = sdk()
  const named = (name: string, steps: boolean) => make((routes) => void routes.get(name, () => 'x'), { steps })
  const [one, other, without] = [named('/one', true), named('/other', true), named('/without', false)]
  for (const server of [one, other, without]) await server.ready()
  await one.inject.get('/one')
  expect(spans.all.map(({ name }) => name)).toEqual(['step json', 'handler /one', 'GET /one'])
  spans.reset()
  await without.inject.get('/without')
  expect(spans.all.map(({ name }) => name)).toEqual(['handler /without', 'GET /without'])
})

test('a route with telemetry: false has no spans, nor has what it does', async () => {
  const spans = sdk()
  const server = make((routes) => {
    routes.get('/', { telemetry: false }, () => {
      trace.getTracer('own').startSpan('own').end()
      return 'x'
    })
  })
  await server.inject.get('/')
  expect(spans.all).toEqual([])
})

test('a span that an instrumentation has made for the request gets the route, and is no second one', async () => {
  const spans = sdk()
  const server = make((routes) => void routes.get('/things/:id', () => 'x'))
  await server.ready()
  const own = trace.getTracer('instrumentation').startSpan('GET', { kind: SpanKind.SERVER })
  await context.with(trace.setSpan(context.active(), own), () => server.inject.get('/things/1'))
  expect(spans.all.map(({ name }) => name)).toEqual(['handler /things/:id'])
  own.end()
  expect(treeOf(spans.all.map(placed))).toEqual(['GET /things/:id', '  handler /things/:id'])
})

test('a request within another one is its own span', async () => {
  const spans = sdk()
  const server: Server = make((routes) => {
    routes.get('/inner', () => 'x')
    routes.get('/outer', async () => (await server.inject.get('/inner')).text())
  })
  await server.inject.get('/outer')
  expect(spans.all.filter(({ kind }) => kind === SpanKind.SERVER).map(({ name }) => name)).toEqual([
    'GET /inner',
    'GET /outer',
  ])
})

test('two servers make each span once', async () => {
  const spans = sdk()
  const [one, two] = ['/one', '/two'].map((path) => make((routes) => void routes.get(path, () => 'x')))
  await one!.ready()
  await two!.ready()
  await one!.inject.get('/one')
  await two!.inject.get('/two')
  expect(spans.all.map(({ name }) => name)).toEqual(['handler /one', 'GET /one', 'handler /two', 'GET /two'])
  await one!.close()
  await two!.inject.get('/two')
  expect(spans.all.map(({ name }) => name).slice(4)).toEqual(['handler /two', 'GET /two'])
})

test('without an SDK a server responds as ever, and says so once', async () => {
  const server = make((routes) => void routes.get('/', () => 'x'))
  const answer = await server.inject.get('/', { headers: { traceparent: parent } })
  answer.assertStatus(200)
  await server.inject.get('/')
  const said = server.log.filter((entry) => /no SDK of OpenTelemetry/.test(JSON.stringify(entry)))
  expect(said).toHaveLength(1)
})

describe('fetch within a request', () => {
  async function upstream(status = 200) {
    const seen: (string | undefined)[] = []
    const server = createServer((req, res) => {
      seen.push(req.headers.traceparent as string | undefined)
      res.writeHead(status).end('x')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    clean.push(() => server.close())
    clean.push(() => server.closeAllConnections())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }

  test.each([
    ['by itself', (_server: Server, url: string) => fetch(url)],
    ['by the service', (server: Server, url: string) => server.services.get('telemetry').fetch(url)],
  ])('carries the context %s, once', async (_how, ask) => {
    const spans = sdk()
    const { url, seen } = await upstream(404)
    const server: Server = make(
      (routes) => void routes.get('/', async () => (await ask(server, `${url}/a?token=1`)).status),
    )
    await server.inject.get('/', { headers: { traceparent: parent } })
    await fetch(url)
    expect(treeOf(spans.all.map(placed))).toEqual(['GET /', '  handler /', '    GET !'])
    const span = spans.named('GET')
    expect(seen).toEqual([`00-${traceId}-${span.spanContext().spanId}-01`, undefined])
    expect(span.kind).toBe(SpanKind.CLIENT)
    expect(span.attributes).toMatchObject({
      'http.request.method': 'GET',
      'url.full': `${url}/a`,
      'server.address': '127.0.0.1',
      'http.response.status_code': 404,
      'error.type': '404',
    })
  })

  test('that fails is a failed span', async () => {
    const port = await freePort()
    const spans = sdk()
    const server = make((routes) => void routes.get('/', () => fetch(`http://127.0.0.1:${port}/`).catch(() => 'x')))
    await server.inject.get('/')
    await expect.poll(() => spans.named('GET').status.code).toBe(SpanStatusCode.ERROR)
  })

  test('is left alone where that is asked for; headers can be had for other clients', async () => {
    const spans = sdk()
    const { url, seen } = await upstream()
    const server: Server = make(
      (routes) =>
        void routes.get('/', async () => {
          await fetch(url)
          return server.services.get('telemetry').inject({ accept: 'text/plain' })
        }),
      { fetch: false },
    )
    const answer = await server.inject.get('/', { headers: { traceparent: parent } })
    expect(seen).toEqual([undefined])
    const { spanId } = spans.named('handler /').spanContext()
    answer.assertBodySubset({ accept: 'text/plain', traceparent: `00-${traceId}-${spanId}-01` })
  })
})
