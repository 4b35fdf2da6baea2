import fastify from 'fastify'
import { hello, port } from '../servers/routes.mjs'

const app = fastify()
for (let i = 0; i < 100; i++) {
  app.register(async (scope) => {
    scope.get(`/plugin-${i}`, hello)
    scope.addHook('onClose', async () => {})
  })
}
app.get('/', hello)
await app.listen({ port, host: '127.0.0.1' })
