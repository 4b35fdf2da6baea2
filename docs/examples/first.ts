import { queue, router, Server } from 'framework'
import { z } from 'zod'

const Order = z.object({ book: z.string(), copies: z.number().int().min(1).default(1) })
const parcels = queue<{ shop: string; book: string }>('parcels', { attempts: 5 })

router.post('/shops/:shop/orders', { body: Order }, async (req, res) => {
  const { shop } = req.params // from the path
  const { book, copies } = req.body // from the schema, which has checked them
  await parcels.publish({ shop, book })
  return res.accepted({ shop, book, copies })
})

await parcels.subscribe(async ({ shop, book }) => console.log(`${shop} packs ${book}`))

const server = new Server({ plugins: { openapi: true, queues: { run: true } } })
await server.listen(() => console.log(server.url))
