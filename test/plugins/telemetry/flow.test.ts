import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { until } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { type PlacedSpan, treeOf } from '../../support/spans.ts'

type Line = { readonly msg: string; readonly trace_id?: string; readonly span_id?: string }
interface Report {
  readonly spans: readonly (PlacedSpan & { readonly links: readonly string[] })[]
  readonly lines: readonly Line[]
}

const tree = [
  'POST /orders/:book',
  '  handler /orders/:book',
  '    publish orders',
  '      process orders !',
  '      process orders',
  '        publish',
  '          process printed/+',
  '            mail main',
]

describe.skipIf(!hasRedis || !hasMosquitto)('one trace through two processes', () => {
  let redis: OwnServer
  let broker: Mosquitto
  /** Of one order, which both tests read: what the processes print, and what a collector receives. */
  let report: Report
  const received: PlacedSpan[] = []
  const collector = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Otlp
    for (const { spans } of body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      received.push(...spans.map(decoded))
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  beforeAll(async () => {
    ;[redis, broker] = await Promise.all([startRedis('--maxmemory-policy', 'noeviction'), startMosquitto()])
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    report = await order()
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    collector.closeAllConnections()
    collector.close()
    await Promise.all([redis?.stop(), broker?.stop()])
  })

  const children: ChildProcess[] = []
  async function start(role: 'web' | 'work') {
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`
    const env = { ...process.env, ROLE: role, REDIS: redis.url, MQTT: broker.url, COLLECTOR: url }
    const child = spawn(process.execPath, [`${import.meta.dirname}/app.mjs`], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value as string) as unknown
    const { port } = (await next()) as { port: number }
    return { port, report: next as () => Promise<Report>, end: () => child.stdin!.end('end\n') }
  }

  async function order(): Promise<Report> {
    const [work, web] = await Promise.all([start('work'), start('web')])
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    const answer = await fetch(`http://127.0.0.1:${web.port}/orders/5`, { method: 'POST', headers: { traceparent } })
    expect(answer.status).toBe(202)
    const ofWeb = await web.report()
    work.end()
    const ofWork = await work.report()
    return { spans: [...ofWeb.spans, ...ofWork.spans], lines: [...ofWeb.lines, ...ofWork.lines] }
  }

  test('request, queue, a failed attempt, mqtt and mail; a run of a job is a trace of its own', () => {
    const { spans, lines } = report
    const ofRequest = spans.filter(({ traceId }) => traceId === '1'.repeat(32))
    expect(treeOf(ofRequest)).toEqual(tree)
    expect(treeOf(spans.filter((span) => !ofRequest.includes(span)))).toEqual(['cron tidying', '  mail main'])
    const id = (name: string) => ofRequest.find((span) => span.name === name)!.id
    for (const span of ofRequest.filter(({ name }) => name === 'process orders'))
      expect(span.links).toEqual([id('publish orders')])
    expect(spans.find(({ name }) => name === 'process printed/+')!.links).toEqual([id('publish')])

    const idsOf = (msg: string) => lines.filter((line) => line.msg === msg).map((line) => [line.trace_id, line.span_id])
    const job = spans.find(({ name }) => name === 'cron tidying')!
    expect(idsOf('ordered')).toEqual([['1'.repeat(32), id('handler /orders/:book')]])
    expect(idsOf('request')).toEqual([['1'.repeat(32), id('POST /orders/:book')]])
    const attempts = ofRequest.filter(({ name }) => name === 'process orders').sort((a, b) => a.start - b.start)
    expect(idsOf('printing')).toEqual(attempts.map((span) => [span.traceId, span.id]))
    expect(idsOf('printed')).toEqual([['1'.repeat(32), id('process printed/+')]])
    expect(idsOf('tidying')).toEqual([[job.traceId, job.id]])
  })

  test('the same over OTLP, as a collector receives it', async () => {
    await until(() => received.length === tree.length + 2, 'all spans')
    expect(treeOf(received.filter(({ traceId }) => traceId === '1'.repeat(32)))).toEqual(tree)
  })
})

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly status: { readonly code?: number }
}
interface Otlp {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[]
}

const decoded = (span: OtlpSpan): PlacedSpan => ({
  name: span.name,
  traceId: span.traceId,
  id: span.spanId,
  parent: span.parentSpanId || undefined,
  start: Number(span.startTimeUnixNano),
  failed: span.status.code === 2,
})
