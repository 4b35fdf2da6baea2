// One of two processes of an application: `web` takes requests and publishes, `work` does the rest. Sends its spans to a collector, and
// prints them at the end.
import { tracingChannel } from 'node:diagnostics_channel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { bullmqQueue, cron, Mailer, memoryTransport, mqtt, RouteCollection, Server } from 'framework'

const { ROLE, REDIS, MQTT, COLLECTOR } = process.env
const memory = new InMemorySpanExporter()
const exporters = [memory, new OTLPTraceExporter({ url: COLLECTOR })]
const provider = new NodeTracerProvider({ spanProcessors: exporters.map((one) => new SimpleSpanProcessor(one)) })
provider.register()

const orders = bullmqQueue('orders')
const mailer = new Mailer(
  { main: { transporter: memoryTransport(), from: 'a@example.com' } },
  { defaultProvider: 'main' },
)
// One line for the test.
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`)
const lines = []
const stream = { write: (line) => lines.push(JSON.parse(line)) }

let end
const ended = new Promise((resolve) => {
  end = resolve
})
const tidying = cron('* * * * * *', { name: 'tidying' })
if (ROLE === 'work') {
  let failures = 0
  await orders.subscribe(async ({ book }) => {
    server.logger.info('printing')
    if (failures++ === 0) throw new Error('out of paper')
    await mqtt.publish('printed/orders', { book }, { qos: 1 })
  })
  await tidying.start(async ({ logger }) => {
    logger.info('tidying')
    tidying.stop()
    await mailer.send((mail) => mail.to('b@example.com').subject('Tidied').text('All is well'))
  })
} else
  mqtt.subscribe(
    'printed/+',
    async () => {
      server.logger.info('printed')
      await mailer.send((mail) => mail.to('b@example.com').subject('Printed').text('Here it is'))
    },
    { qos: 1 },
  )

const routes = new RouteCollection()
routes.post('/orders/:book', async (req, res) => {
  req.log.info('ordered')
  await orders.publish({ book: req.params.book }, { attempts: 3, backoff: 20 })
  return res.status(202).json({})
})

const server = new Server({
  router: routes,
  port: 0,
  host: '127.0.0.1',
  gracefulShutdown: false,
  drainWindow: 0,
  plugins: {
    telemetry: true,
    log: { stream },
    queues: { config: { bullmq: { connection: REDIS } }, run: ROLE === 'work' },
    mqtt: { connect: { url: MQTT } },
    ...(ROLE === 'work' && { cron: { crons: [tidying] } }),
  },
})
await server.listen()
say({ port: server.port })

// The last thing that each of them does; its span ends before that of the work around it.
tracingChannel(ROLE === 'work' ? 'framework:cron.run' : 'framework:mqtt.message').asyncEnd.subscribe(() => end())
await ended
if (ROLE === 'work') await new Promise((resolve) => process.stdin.once('data', resolve))
await server.close()
await provider.forceFlush()
const spans = memory.getFinishedSpans().map((span) => ({
  name: span.name,
  traceId: span.spanContext().traceId,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId,
  links: span.links.map((link) => link.context.spanId),
  start: span.startTime[0] * 1e9 + span.startTime[1],
  failed: span.status.code === 2,
}))
say({ spans, lines })
process.exit(0)
