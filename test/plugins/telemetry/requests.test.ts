import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace-node'
import { RouteCollection, Server, type ServerOptions, type TelemetryOptions } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { defineError } from '../../../kernel/index.ts'
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

test('what no route answers is named by its method, and a method that a client makes up by none', async () => {
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

  test('decides about the sampling, and what is not sampled reads nothing of the request', async () => {
    const spans = sdk({ sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) })
    const server = make((routes) => void routes.get('/', () => trace.getActiveSpan()?.spanContext().traceFlags))
    await server.inject.get('/', { headers: { traceparent: parent.replace(/01$/, '00') } })
    await server.inject.get('/')
    expect(spans.all).toEqual([])
    await server.inject.get('/', { headers: { traceparent: parent } })
    expect(spans.all).toHaveLength(2)
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

test('without an SDK a server answers as ever, and says so once', async () => {
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
    await vi.waitFor(() => expect(spans.named('GET').status.code).toBe(SpanStatusCode.ERROR))
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
