// Sends spans to the collector at OTEL_EXPORTER_OTLP_ENDPOINT, http://localhost:4318 without.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { RouteCollection, Server } from 'framework'

new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] }).register()

const routes = new RouteCollection()
routes.get('/orders/:id', (req) => ({ id: req.params.id }))

const server = new Server({ router: routes, plugins: { telemetry: true, log: true } })
await server.listen(() => console.log(`${server.url}/orders/5`))
