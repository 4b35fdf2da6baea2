import { definePlugin, Server } from 'framework'
import { hello, port } from './routes.mjs'

const plugins = Array.from({ length: 100 }, (_, i) =>
  definePlugin({
    name: `plugin-${i}`,
    setup(ctx) {
      ctx.get(`/plugin-${i}`, hello)
      ctx.onClose(() => {})
    },
  })(),
)
const server = new Server({ port, host: '127.0.0.1', plugins })
server.get('/', hello)
await server.listen()
