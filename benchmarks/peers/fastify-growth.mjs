import fastify from 'fastify'
import { hello, keepAliveTimeout, manyRoutes, port, scenario } from '../servers/routes.mjs'

const app = fastify({ keepAliveTimeout })
const [what, count] = scenario.split(' ')
if (what === 'routes') {
  for (const { i, path } of manyRoutes(Number(count))) app.get(path, ({ params: { a, b } }) => ({ route: i, a, b }))
} else {
  for (let i = 0; i < Number(count); i++) {
    const plugin = async (scope) => {
      scope.get(`/plugin-${i}`, hello)
      scope.addHook('onClose', async () => {})
      if (what === 'middlewares') scope.addHook('onRequest', (_req, _reply, done) => done())
    }
    // As fastify-plugin does: its hook reaches the whole server.
    plugin[Symbol.for('skip-override')] = what === 'middlewares'
    app.register(plugin)
  }
}
app.get('/', hello)
await app.listen({ port, host: '127.0.0.1' })
