import { SpanKind, trace } from '@opentelemetry/api'
import { Server } from 'framework'
import { hello, port, scenario } from './routes.mjs'
import { registerSdk } from './sdk.mjs'

const [how, ...sampled] = scenario.split(' ')
registerSdk(sampled.join(' '))
// The inspector refuses to start in production.
if (how === 'inspector') process.env.NODE_ENV = 'development'

const server = new Server({ port, host: '127.0.0.1', plugins: how === 'by-hand' ? {} : { [how]: true } })

/** The spans of the plugin, as someone would write them for this route alone. */
function byHand() {
  const tracer = trace.getTracer('by hand')
  const attributes = { 'http.request.method': 'GET', 'url.path': '/', 'url.scheme': 'http', 'http.route': '/' }
  server.use((req, _res, next) =>
    tracer.startActiveSpan('GET /', { kind: SpanKind.SERVER, attributes }, (span) => {
      if (span.isRecording())
        span.setAttributes({
          'server.address': '127.0.0.1',
          'server.port': port,
          'client.address': req.ip,
          'network.protocol.version': '1.1',
        })
      next()
      span.setAttribute('http.response.status_code', 200)
      span.end()
    }),
  )
  server.get('/', () =>
    tracer.startActiveSpan('handler /', (span) => {
      const result = hello()
      span.end()
      return result
    }),
  )
}

if (how === 'by-hand') byHand()
else server.get('/', hello)
await server.listen()
