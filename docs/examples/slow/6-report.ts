import { definePlugin, type Middleware } from 'framework'

const authorized =
  (key: string): Middleware =>
  (req, res, next) =>
    req.headers.authorization === `Bearer ${key}` ? next() : res.unauthorized()

/** Shows the slow requests to callers who have the key. */
export const slowReport = definePlugin({
  name: 'slow-report',
  dependencies: ['slow'],
  scoped: true,
  setup(ctx, { key }: { key: string }) {
    const log = ctx.services.get('slow')
    ctx.use(authorized(key))
    ctx.get('/', () => log.entries)
    ctx.get('/:rank', (req, res) => log.entries[Number(req.params.rank) - 1] ?? res.notFound())
  },
})
