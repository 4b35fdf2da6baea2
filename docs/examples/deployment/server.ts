import { RouteCollection, Server } from 'framework'

const routes = new RouteCollection()
routes.get('/', (req) => ({ client: req.ip, address: req.url, worker: req.server.worker?.number }))
routes.get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 500))
  return 'whole'
})

export interface AppOptions {
  /** How long a closing server goes on, so that load balancers hear of it: longer than two of their questions. */
  readonly drainWindow?: number
  readonly redis?: string
  readonly log?: boolean
}

export function makeServer({ drainWindow = 10_000, redis, log = true }: AppOptions = {}) {
  return new Server({
    router: routes,
    drainWindow,
    closeTimeout: 30_000,
    errorFormat: 'problem',
    // Longer than the proxy keeps an idle connection: else it sends a request into one that is being closed, and answers 502.
    limits: { keepAliveTimeout: 75_000 },
    plugins: {
      trustProxy: { trustedProxies: ['loopback'] },
      log,
      helmet: true,
      health: true,
      overload: true,
      rateLimit: redis === undefined ? { limit: 300 } : { limit: 300, store: { url: redis } },
    },
  })
}
