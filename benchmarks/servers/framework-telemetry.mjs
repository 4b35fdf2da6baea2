import { trace } from '@opentelemetry/api'
import { Server } from 'framework'
import { hello, port, scenario } from './routes.mjs'
import { registerSdk } from './sdk.mjs'

const [how, ...sampled] = scenario.split(' ')
registerSdk(sampled.join(' '))
// The inspector refuses to start in production.
if (how === 'inspector') process.env.NODE_ENV = 'development'

const plugins = how === 'by-hand' ? {} : { [how]: true }
const server = new Server({ port, host: '127.0.0.1', plugins })
if (how === 'by-hand') {
  const tracer = trace.getTracer('by hand')
  server.use((_req, _res, next) =>
    tracer.startActiveSpan('GET /', { attributes: { 'http.request.method': 'GET', 'http.route': '/' } }, (span) => {
      next()
      span.setAttribute('http.response.status_code', 200)
      span.end()
    }),
  )
}
server.get('/', hello)
await server.listen()
