import { createServer } from 'node:http'
import process from 'node:process'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { memoryQueue, RouteCollection, Server } from 'framework'

// Spans on whichever runtime runs this: a request with a parent, a queue in memory, fetch. Prints them as JSON.
const exporter = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()

/** @type {(string | undefined)[]} */
const seen = []
const upstream = createServer((req, res) => {
  seen.push(/** @type {string | undefined} */ (req.headers.traceparent))
  res.end('x')
})
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', () => resolve(undefined)))
const { port } = /** @type {import('node:net').AddressInfo} */ (upstream.address())

/** @type {ReturnType<typeof memoryQueue<number>>} */
const prints = memoryQueue('telemetry')
let left = 2
await prints.subscribe(() => {
  if (--left === 1) throw new Error('no paper')
})

/** @type {string[]} */
const lines = []
const routes = new RouteCollection()
routes.get('/things/:id', async (req) => {
  req.log.info('here')
  await prints.publish(1, { attempts: 2 })
  const { status } = await req.server.services.get('telemetry').fetch(`http://127.0.0.1:${port}/`)
  return status
})
let hasBegun = () => {}
/** @type {Promise<void>} */
const begun = new Promise((resolve) => {
  hasBegun = resolve
})
let release = () => {}
/** @type {Promise<void>} */
const released = new Promise((resolve) => {
  release = resolve
})
routes.get('/slow', () => {
  hasBegun()
  return released
})
const server = new Server({
  port: 0,
  host: '127.0.0.1',
  drainWindow: 0,
  gracefulShutdown: false,
  router: routes,
  plugins: {
    telemetry: true,
    log: { stream: { write: (/** @type {string} */ line) => void lines.push(line) } },
    queues: { config: { memory: {} }, run: true },
  },
})
await server.listen()
const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
const answer = await fetch(`${server.url}/things/5`, { headers: { traceparent } })
const body = await answer.json()
const giveUpAt = performance.now() + 60_000
while (exporter.getFinishedSpans().length < 6 && performance.now() < giveUpAt)
  await new Promise((resolve) => setTimeout(resolve, 10))

// A client that leaves before it is answered.
const leaving = new AbortController()
const asked = fetch(`${server.url}/slow`, { signal: leaving.signal }).catch(() => {})
await begun
leaving.abort()
await asked
const slow = () => exporter.getFinishedSpans().find(({ name }) => name === 'GET /slow')
while (slow() === undefined && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 10))
release()
const ofSlow = () => lines.map((line) => JSON.parse(line)).find(({ path }) => path === '/slow')
while (ofSlow() === undefined && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 10))
const aborted = [
  slow()?.attributes['error.type'],
  slow()?.attributes['http.response.status_code'] ?? null,
  ofSlow()?.aborted,
]
await server.close()
upstream.closeAllConnections?.()
upstream.close()

const others = exporter.getFinishedSpans().filter(({ name }) => !name.endsWith('/slow'))
const spans = others.map((span) => ({
  name: span.name,
  traceId: span.spanContext().traceId,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId,
  start: span.startTime[0] * 1e9 + span.startTime[1],
  failed: span.status.code === 2,
}))
const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'here' || msg === 'request')
console.log(JSON.stringify({ body, spans, seen, aborted, said: said.map(({ msg, trace_id }) => [msg, trace_id]) }))
process.exit(0)
