import { RouteCollection } from 'framework'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

// The types that the first page shows for docs/examples/first.ts.
const Order = z.object({ book: z.string(), copies: z.number().int().min(1).default(1) })

new RouteCollection().post('/shops/:shop/orders', { body: Order }, (req) => {
  const { shop } = req.params
  const { book, copies } = req.body
  type _Types = [
    Expect<Equal<typeof shop, string>>,
    Expect<Equal<typeof book, string>>,
    Expect<Equal<typeof copies, number>>,
  ]
  return { shop, book, copies }
})
