import { queue, router, Server } from 'framework'
import { z } from 'zod'

const Order = z.object({ book: z.string(), copies: z.number().int().min(1).default(1) })
const parcels = queue<{ shop: string; book: string }>('parcels', { attempts: 5, backoff: 1000 })

router.post('/shops/:shop/orders', { body: Order }, async (req, res) => {
  const { shop } = req.params // string, from the path
  const { book, copies } = req.body // string and number, from the schema, which has checked them
  await parcels.publish({ shop, book })
  return res.accepted({ shop, book, copies })
})

await parcels.subscribe(async ({ shop, book }) => console.log(`${shop} packs ${book}`))

const server = new Server({ plugins: { helmet: true, openapi: true, queues: { run: true } } })
await server.listen(() => console.log(server.url))
