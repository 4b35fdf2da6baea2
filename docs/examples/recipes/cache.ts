import { RouteCollection, Server } from 'framework'
import { z } from 'zod'

export interface Shop {
  /** A slow query. */
  book(id: string): Promise<{ id: string; title: string } | undefined>
  rename(id: string, title: string): Promise<void>
  /** A slow and unreliable service of someone else. */
  rates(signal: AbortSignal): Promise<Record<string, number>>
}

export function makeServer(shop: Shop, redis?: string) {
  const routes = new RouteCollection()

  // A response: the same for all clients. Requests with cookies or credentials bypass it by themselves.
  routes.get('/books/:id', { cache: { ttl: 60, tags: ['book::id'] } }, async (req, res) => {
    return (await shop.book(req.params.id)) ?? res.notFound()
  })

  // Whatever changes a book drops what was kept of it, after the change.
  routes.put('/books/:id', { body: z.object({ title: z.string() }) }, async (req, res) => {
    await shop.rename(req.params.id, req.body.title)
    await req.server.services.get('cache').invalidate([`book:${req.params.id}`])
    return res.noContent()
  })

  // Data: for ten minutes after its time, the old rates are better than none, and one caller fetches new ones.
  routes.get('/rates', (req) =>
    req.server.services.get('cache').getOrSet('rates', { ttl: 60, stale: 600 }, ({ signal }) => shop.rates(signal)),
  )

  return new Server({ router: routes, plugins: { cache: redis === undefined ? true : { provider: 'redis', redis } } })
}
