import { memoryQueue, RouteCollection, Server } from 'framework'

export const orders = memoryQueue<{ book: string }>('observed-orders')

export interface AppOptions {
  readonly metricsPort?: number
  readonly log?: boolean | { stream: { write(line: string): void } }
}

export function makeServer({ metricsPort = 9464, log = true }: AppOptions = {}) {
  const routes = new RouteCollection()
  const server = new Server({
    port: 0,
    router: routes,
    plugins: {
      telemetry: { incoming: 'link' },
      log,
      metrics: { port: metricsPort },
      health: true,
      queues: { run: true },
    },
  })
  const placed = server.services.metrics.counter({
    name: 'orders',
    help: 'Orders that were placed',
    labels: ['channel'],
  })

  routes.post('/books/:id/orders', async (req, res) => {
    await orders.publish({ book: req.params.id })
    placed.increment({ channel: 'web' })
    req.log.info({ book: req.params.id }, 'an order was placed')
    return res.accepted()
  })
  routes.get('/broken', () => {
    throw new Error('the shelf fell down')
  })
  return server
}
