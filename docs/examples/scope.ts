import { definePlugin, type Middleware, Server } from 'framework'

const key: Middleware = function key(req, res, next) {
  return req.headers['x-key'] === 'secret' ? next() : res.unauthorized()
}

const admin = definePlugin({
  name: 'admin',
  setup(ctx) {
    // The plugin has a scope of its own, so this runs before the routes below and before no others.
    ctx.use(key)
    ctx.get('/stats', () => ({ uptime: process.uptime() }))
  },
})

const server = new Server()
// A prefix gives the plugin that scope.
server.register(admin(), { prefix: '/admin' })
server.get('/', () => 'open to all')

await server.listen(() => {
  console.log(server.url)
  console.log(server.printPlugins())
  console.log(server.printRoutes())
})
