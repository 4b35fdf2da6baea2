import { definePlugin, Server } from 'framework'
import { hello, keepAliveTimeout, manyRoutes, port, scenario } from './routes.mjs'

// "routes 1000", "plugins 10" or "middlewares 10".
const [what, count] = /** @type {[string, string]} */ (scenario.split(' '))

const plugins = (what === 'routes' ? [] : Array.from({ length: Number(count) })).map((_, i) =>
  definePlugin({
    name: `plugin-${i}`,
    setup(ctx) {
      ctx.get(`/plugin-${i}`, hello)
      ctx.onClose(() => {})
      if (what === 'middlewares') ctx.use((_req, _res, next) => next())
    },
  })(),
)
const server = new Server({ port, host: '127.0.0.1', plugins, limits: { keepAliveTimeout } })
server.get('/', hello)
if (what === 'routes') {
  for (const { i, path } of manyRoutes(Number(count))) {
    server.get(path, ({ params: { a, b } }) => ({ route: i, a, b }))
  }
}
await server.listen()
