import { RouteCollection, Server } from 'framework'

const routes = new RouteCollection()
routes.get('/', (req) => ({ client: req.ip, address: req.url, worker: req.server.worker?.number }))
routes.get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 500))
  return 'whole'
})

export interface AppOptions {
  /** Milliseconds for which a closing server goes on serving, until load balancers notice: longer than two of their checks. */
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
    // Longer than the proxy keeps an idle connection: otherwise it sends a request over one that is closing, and returns 502.
    limits: { keepAliveTimeout: 75_000 },
    plugins: {
      trustProxy: { trustedProxies: ['loopback'] },
      log,
      helmet: true,
      health: true,
      overload: true,
      rateLimit: redis === undefined ? { limit: 300 } : { limit: 300, store: { redis } },
    },
  })
}
