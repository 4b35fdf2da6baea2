import { router, Server } from 'framework'
import { z } from 'zod'

const Order = z.object({ book: z.string(), copies: z.number().int().min(1).default(1) })

router.post('/shops/:shop/orders', { body: Order }, (req) => {
  const { shop } = req.params // string, from the path
  const { book, copies } = req.body // string and number, from the schema, which has checked them
  return { shop, book, copies }
})

const server = new Server({ plugins: { helmet: true, rateLimit: { limit: 100 }, openapi: true } })
await server.listen(() => console.log(server.url))
