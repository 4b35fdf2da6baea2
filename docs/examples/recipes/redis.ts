import { definePlugin, option, RouteCollection, Server } from 'framework'
import { Redis } from 'ioredis'

declare module 'framework' {
  interface Services {
    redis: Redis
  }
}

/** The application's own client of Redis. */
export const redis = definePlugin({
  name: 'redis',
  options: option.shape({ url: option.text().secret().required() }),
  provide({ url }) {
    // Without these limits, a command waits until Redis is back.
    const client = new Redis(url, { lazyConnect: true, commandTimeout: 1000, maxRetriesPerRequest: 1 })
    // It connects again by itself. Without a listener, each failed attempt is a line on standard error.
    client.on('error', () => {})
    return { redis: client }
  },
  setup: (_ctx, _settings, { redis }) => redis.connect(),
  close: ({ redis }) => redis.disconnect(),
  health: { redis: (services) => services.get('redis').ping() },
  reaches: ({ url }) => [`Redis at redis://${new URL(url).host}`],
})

const routes = new RouteCollection()

routes.post('/games/:game/points/:player', async (req) => {
  const { game, player } = req.params
  const points = await req.server.services.get('redis').zincrby(`points:${game}`, 1, player)
  return { player, points: Number(points) }
})

routes.get('/games/:game/leader', async (req, res) => {
  const [player] = await req.server.services.get('redis').zrevrange(`points:${req.params.game}`, 0, 0)
  return player === undefined ? res.notFound() : { player }
})

export const makeServer = (url: string) =>
  new Server({ router: routes, plugins: { health: true, redis: redis({ url }) } })
