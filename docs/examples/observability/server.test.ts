import { readFileSync } from 'node:fs'
import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeServer, orders } from './server.ts'

const exporter = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()

const lines: string[] = []
const server = makeServer({ metricsPort: 0, log: { stream: { write: (line) => void lines.push(line) } } })
let scrape: string
beforeAll(async () => {
  await orders.subscribe(() => {})
  await server.listen()
  await fetch(`${server.url}/books/7/orders`, { method: 'POST' })
  await fetch(`${server.url}/broken`)
  await orders.drained()
  scrape = await (await fetch(`http://127.0.0.1:${server.services.metrics.port}/metrics`)).text()
})
afterAll(async () => {
  await server.close()
  // Other files share the process.
  for (const registered of [trace, context, propagation]) registered.disable()
})

test('one trace leads from the request to the work of the queue, and to the log', () => {
  const spans = exporter.getFinishedSpans()
  const [request] = spans.filter(({ name }) => name === 'POST /books/:id/orders')
  const { traceId } = request!.spanContext()
  const names = spans.filter((span) => span.spanContext().traceId === traceId).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['publish observed-orders', 'process observed-orders']))
  const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'an order was placed')
  expect(line).toMatchObject({ trace_id: traceId, book: '7' })
})

test('the figures are there, and the metrics are not at the public port', async () => {
  expect(scrape).toContain('orders_total{channel="web"} 1')
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
})

test('the alerts ask for figures that exist', () => {
  const { groups } = parse(read('alerts.yml')) as { groups: { rules: { expr: string }[] }[] }
  const asked = groups.flatMap(({ rules }) =>
    rules.flatMap(({ expr }) => expr.match(/\b(?:http|queue|cron|process)_[a-z_]+/g) ?? []),
  )
  expect(asked.length).toBeGreaterThan(6)
  const families = [...scrape.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)
  const missing = asked.filter((name) => !families.includes(name.replace(/_(?:count|sum|bucket)$/, '')))
  expect(missing).toEqual([])
})

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
test.each([
  'compose.yaml',
  'collector.yaml',
  'prometheus.yml',
  'alerts.yml',
])('%s is YAML, and the guide shows it', (file) => {
  expect(() => parse(read(file))).not.toThrow()
  expect(read('../../guides/observability.md')).toContain(`\n${read(file)}\`\`\`\n`)
})
