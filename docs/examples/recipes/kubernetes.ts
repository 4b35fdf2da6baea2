import { RouteCollection, Server } from 'framework'

export const makeServer = () =>
  new Server({
    router: new RouteCollection(),
    // Longer than the probe takes to notice: periodSeconds × failureThreshold = 4 s.
    drainWindow: 10_000,
    closeTimeout: 30_000,
    // Longer than an ingress keeps an idle connection.
    limits: { keepAliveTimeout: 75_000 },
    plugins: {
      log: true,
      health: true,
      overload: true,
      // The addresses of the ingress: the range of the pods.
      trustProxy: { trustedProxies: ['10.0.0.0/8'] },
    },
  })
