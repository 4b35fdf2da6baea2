import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { hello, keepAliveTimeout, manyRoutes, port, scenario } from '../servers/routes.mjs'

const app = new Hono()
const [what, count] = scenario.split(' ')
if (what === 'routes') {
  for (const { i, path } of manyRoutes(Number(count)))
    app.get(path, (c) => {
      const { a, b } = c.req.param()
      return c.json({ route: i, a, b })
    })
} else {
  for (let i = 0; i < Number(count); i++) {
    if (what === 'middlewares') app.use((_c, next) => next())
    app.get(`/plugin-${i}`, (c) => c.json(hello()))
  }
}
app.get('/', (c) => c.json(hello()))
serve({ port, hostname: '127.0.0.1', fetch: app.fetch, serverOptions: { keepAliveTimeout } })
