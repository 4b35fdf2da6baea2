import { SpanKind, trace } from '@opentelemetry/api'
import { Mailer, MemoryStorageProvider, memoryTransport, Storage, type TelemetryOptions } from 'framework'
import { afterEach, expect, test } from 'vitest'
import { channel, cron, memoryQueue, mqtt, RouteCollection, Server } from '../../../index.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { until } from '../../support/queues.ts'
import { keepSpans, placed, treeOf } from '../../support/spans.ts'

const clean: (() => unknown)[] = []
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one()
})

function sdk() {
  const kept = keepSpans()
  clean.push(() => kept.end())
  return kept
}

async function serve(routes: RouteCollection, telemetry: TelemetryOptions | true = true, plugins: object = {}) {
  const logger = memoryLogger()
  const options = { router: routes, port: 0, gracefulShutdown: false, drainWindow: 0, logger }
  const server = new Server({ ...options, plugins: { telemetry, ...plugins } })
  clean.push(() => server.close())
  await server.listen()
  return server
}

test('a request with what it stores, emails, publishes and finds in the cache', async () => {
  const spans = sdk()
  const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
  const providers = { main: { transporter: memoryTransport(), from: 'a@example.com' } }
  const mailer = new Mailer(providers, { defaultProvider: 'main' })
  const news = channel('news', { join: () => true })
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [news] }, {})
  routes.get('/', { cache: { ttl: 1000 } }, async () => {
    await storage.putObject('a.txt', 'x')
    await storage.getObject('b.txt').catch(() => {})
    await mailer.send((mail) => mail.to('secret@example.com').subject('secret').text('secret'))
    await news.publish('x')
    return 'x'
  })
  const server = await serve(routes, true, { cache: true, websocket: true, channels: true })
  await server.inject.get('/')
  expect(treeOf(spans.all.map(placed))).toEqual([
    'GET /',
    '  handler /',
    '    storage put',
    '    storage read',
    '    mail main',
    '    publish channel',
  ])
  expect(spans.named('GET /').events.map(({ attributes }) => attributes)).toEqual([
    { 'framework.cache.outcome': 'miss' },
  ])
  expect(spans.named('storage put').attributes).toEqual({
    'framework.storage.disk': 'files',
    'framework.storage.operation': 'put',
    'framework.storage.key': 'a.txt',
  })
  expect(JSON.stringify(spans.all.map(({ attributes, name }) => [name, attributes]))).not.toContain('secret')
})

test('attempts belong to their publisher, and are linked to it, each message of a batch as well', async () => {
  const spans = sdk()
  const prints = memoryQueue<number>('telemetry-prints')
  let left = 3
  const handle = await prints.subscribe(() => {
    if (--left === 2) throw new Error('no paper')
  })
  clean.push(() => handle.unsubscribe())
  const routes = new RouteCollection()
  routes.get('/', async () => void (await prints.publishMany([1, 2], { attempts: 2 })))
  const server = await serve(routes, true, { queues: { config: { memory: {} }, run: true } })
  await server.inject.get('/')
  await until(() => spans.all.filter(({ name }) => name.startsWith('process')).length === 3, 'the attempts')
  const process = '      process telemetry-prints'
  expect(treeOf(spans.all.map(placed))).toEqual([
    'GET /',
    '  handler /',
    '    publish telemetry-prints',
    ...[`${process} !`, process, process],
  ])
  const sent = spans.named('publish telemetry-prints')
  expect([sent.kind, sent.attributes]).toEqual([
    SpanKind.PRODUCER,
    {
      'messaging.system': 'memory',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'telemetry-prints',
      'messaging.batch.message_count': 2,
    },
  ])
  const attempt = spans.named('process telemetry-prints')
  expect(attempt.kind).toBe(SpanKind.CONSUMER)
  expect(attempt.links.map(({ context }) => context.spanId)).toEqual([sent.spanContext().spanId])
  expect(attempt.attributes).toMatchObject({
    'messaging.operation.type': 'process',
    'messaging.message.id': expect.any(String),
    'framework.queue.attempt': 1,
    'framework.queue.attempts': 2,
    'error.type': 'Error',
  })
})

test('messages can be traces of their own, with the link alone', async () => {
  const spans = sdk()
  const handle = mqtt.subscribe('telemetry/+' as string, () => {})
  clean.push(() => handle.unsubscribe())
  const server = await serve(new RouteCollection(), { messages: 'link' }, { mqtt: { connect: { provider: 'memory' } } })
  await server.services.get('mqtt').publish('telemetry/1' as never, 'x' as never)
  await until(() => spans.all.length === 2, 'both')
  const [sent, taken] = [spans.named('publish'), spans.named('process telemetry/+')]
  expect(taken.parentSpanContext).toBeUndefined()
  expect(taken.links.map(({ context }) => context.spanId)).toEqual([sent.spanContext().spanId])
  expect(taken.attributes).toMatchObject({
    'messaging.system': 'mqtt',
    'messaging.destination.name': 'telemetry/1',
    'messaging.destination.template': 'telemetry/+',
  })
})

test('messages of websockets are traces of their own, and operations of GraphQL have their resolvers by option', async () => {
  const spans = sdk()
  const routes = new RouteCollection()
  routes.ws('/live', {}, { message: (socket) => socket.send('got it') })
  const schema = { typeDefs: 'type Query { a: Int b: Int }', resolvers: { Query: { a: () => 1 } } }
  const server = await serve(routes, { resolvers: true }, { websocket: true, graphql: { schema } })
  const socket = await server.inject.ws('/live')
  socket.send('hello')
  await socket.assertNext('got it')
  await server.inject.post('/graphql', { body: { query: 'query Ask { a b }' } })
  await until(() => spans.all.some(({ name }) => name === 'POST /graphql'), 'the request')
  expect(spans.named('websocket /live').parentSpanContext).toBeUndefined()
  expect(spans.named('websocket /live').links.map(({ context }) => context.spanId)).toEqual([
    spans.named('GET /live').spanContext().spanId,
  ])
  expect(treeOf(spans.all.map(placed).filter(({ name }) => !name.includes('/live')))).toEqual([
    'POST /graphql',
    expect.stringMatching(/^ {2}handler/),
    '    query',
    '      resolve Query.a',
  ])
  expect(spans.named('query').attributes).toMatchObject({ 'graphql.operation.name': 'Ask' })
})

test('a websocket of a route with telemetry: false has no spans, nor has what it does', async () => {
  const spans = sdk()
  const news = channel('quiet-news', { join: () => true, publish: () => true })
  const routes = new RouteCollection()
  const handled: string[] = []
  const own = (name: string) => {
    handled.push(name)
    trace.getTracer('own').startSpan(name).end()
  }
  routes.ws(
    '/quiet',
    { telemetry: false, channels: [news] },
    { open: () => own('open'), message: () => own('message'), close: () => own('close') },
  )
  const resolvers = { Query: { a: () => 1 }, Subscription: { b: { subscribe: numbers } } }
  async function* numbers() {
    own('subscribe')
    yield { b: 1 }
  }
  const schema = { typeDefs: 'type Query { a: Int } type Subscription { b: Int }', resolvers }
  const graphql = { schema, route: { telemetry: false }, websocket: true }
  const server = await serve(routes, { resolvers: true }, { websocket: true, channels: true, graphql })
  const socket = await server.inject.ws('/quiet')
  socket.send({ type: 'channel:join', data: { channel: 'quiet-news' } })
  await socket.next()
  socket.send({ type: 'channel:publish', data: { channel: 'quiet-news', payload: 1 } })
  await socket.next()
  socket.send('hello')
  await until(() => handled.includes('message'), 'the message')
  await socket.close()
  const operations = await server.inject.ws('/graphql', { protocols: ['graphql-transport-ws'] })
  operations.send({ type: 'connection_init' })
  await operations.next()
  for (const [id, query] of [
    ['1', '{ a }'],
    ['2', 'subscription { b }'],
  ]) {
    operations.send({ type: 'subscribe', id, payload: { query } })
    await operations.assertNext({ id, type: 'next' })
    await operations.assertNext({ id, type: 'complete' })
  }
  await until(() => handled.includes('close'), 'the end')
  expect(handled).toEqual(['open', 'message', 'close', 'subscribe'])
  expect(spans.all.map(({ name }) => name)).toEqual([])
})

test('plugins have spans of their phases by option', async () => {
  const spans = sdk()
  const server = await serve(new RouteCollection(), { plugins: true }, { health: true, cors: true })
  await server.close()
  const names = spans.all.map(({ name }) => name)
  expect(names).toContain('plugin cors setup')
  expect(names.filter((name) => name === 'plugin health setup')).toHaveLength(1)
})

test('the log line of a failed attempt, message and run has the ids of its span; so has what the error handlers do', async () => {
  const spans = sdk()
  const parcels = memoryQueue<number>('telemetry-parcels')
  const complaints = mqtt.topic<number>('telemetry/lost')
  const lines: { plugin?: string; trace_id?: string; span_id?: string; msg?: string }[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const lost = await parcels.subscribe(
    () => {
      throw new Error('no van')
    },
    { onDead: () => complaints.publish(1) },
  )
  const heard = complaints.subscribe(() => {
    throw new Error('no one listens')
  })
  const job = cron('0 0 1 1 *', { name: 'telemetry-job' })
  await job.start(() => {
    throw new Error('no time')
  })
  clean.push(() => Promise.all([lost.unsubscribe(), heard.unsubscribe(), job.destroy()]))
  const plugins = {
    telemetry: true,
    log: { stream },
    queues: { config: { memory: {} }, run: true },
    mqtt: { connect: { provider: 'memory' } },
    cron: { crons: [job] },
  } as const
  const options = { router: new RouteCollection(), port: 0, gracefulShutdown: false, drainWindow: 0 }
  const server = new Server({ ...options, plugins })
  clean.push(() => server.close())
  await server.listen()
  await parcels.publish(1)
  await server.services.cron.trigger('telemetry-job')
  const failed = () => lines.filter(({ msg }) => msg?.includes('fail'))
  await until(() => failed().length === 3, 'the lines')
  const idsOf = (name: string) => {
    const { traceId, spanId } = spans.named(name).spanContext()
    return { trace_id: traceId, span_id: spanId }
  }
  const lineOf = (plugin: string) => failed().find((line) => line.plugin === plugin)
  expect(lineOf('queues')).toMatchObject(idsOf('process telemetry-parcels'))
  expect(lineOf('mqtt')).toMatchObject(idsOf('process telemetry/lost'))
  expect(lineOf('cron')).toMatchObject(idsOf('cron telemetry-job'))
  const complained = spans.named('publish').parentSpanContext
  expect(complained?.spanId).toBe(idsOf('process telemetry-parcels').span_id)
})
