// Sends spans to the collector at OTEL_EXPORTER_OTLP_ENDPOINT, default http://localhost:4318, as the service OTEL_SERVICE_NAME.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { RouteCollection, Server } from 'framework'

new NodeTracerProvider({
  // Without this, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are not read.
  resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
}).register()

const routes = new RouteCollection()
routes.get('/orders/:id', (req) => ({ id: req.params.id }))

const server = new Server({ router: routes, plugins: { telemetry: true, log: true } })
await server.listen(() => console.log(`${server.url}/orders/5`))
