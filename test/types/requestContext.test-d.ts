import { type currentContext, type Request, type RequestContext, Server } from 'framework'
import { type currentContext as ofDoor, requestContext } from 'framework/plugins/requestContext'
import type { Equal, Expect } from './expect.ts'

declare module 'framework' {
  interface RequestContext {
    shop: { name: string }
    basket?: number
  }
}

const server = new Server({
  plugins: {
    requestContext: {
      shop: (req) => {
        type _req = Expect<Equal<typeof req, Request>>
        return { name: req.headers['x-shop'] ?? 'main' }
      },
    },
  },
})
server.get('/', (req) => {
  type _shop = Expect<Equal<typeof req.context.shop, { name: string }>>
  type _basket = Expect<Equal<typeof req.context.basket, number | undefined>>
  req.context.basket = 5
  // @ts-expect-error a basket is a number
  req.context.basket = 'full'
  // @ts-expect-error that key was not merged
  return req.context.trolley
})
type _current = Expect<Equal<ReturnType<typeof currentContext>, RequestContext | undefined>>
type _same = Expect<Equal<typeof ofDoor, typeof currentContext>>
requestContext({ shop: () => ({ name: 'main' }), unmerged: () => 1 })
// @ts-expect-error the value has another type than the merged one
requestContext({ shop: () => 'main' })
// @ts-expect-error a value is made by a function
requestContext({ basket: 5 })
