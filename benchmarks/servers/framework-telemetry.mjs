import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node'
import { Server } from 'framework'
import { hello, port, scenario } from './routes.mjs'

/** Receives the spans that have ended, and sends them nowhere. */
const exporter = {
  /** @param {unknown} _spans @param {(result: { code: number }) => void} done */
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
}
const sampler = scenario === 'all-sampled' ? new AlwaysOnSampler() : new AlwaysOffSampler()
if (scenario !== 'no-SDK')
  new NodeTracerProvider({ sampler, spanProcessors: [new BatchSpanProcessor(exporter)] }).register()

const server = new Server({ port, host: '127.0.0.1', plugins: { telemetry: true } })
server.get('/', hello)
await server.listen()
