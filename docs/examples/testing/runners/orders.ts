import { definePlugin, option, RouteCollection, Server } from 'framework'

declare module 'framework' {
  interface Services {
    orders: Orders
  }
}

class Orders {
  count = 0
  readonly max: number

  constructor(max: number) {
    this.max = max
  }
}

/** Takes orders until there are enough. */
export const orders = definePlugin({
  name: 'orders',
  version: '1.0.0',
  options: option.shape({ max: option.int({ min: 1 }).default(100) }),
  provide: ({ max }) => ({ orders: new Orders(max) }),
  setup(ctx) {
    const all = ctx.services.get('orders')
    ctx.post('/orders', (_req, res) => (all.count < all.max ? res.created({ n: ++all.count }) : res.conflict()))
  },
})

/** A shop of which each test has its own. */
export const makeShop = () =>
  new Server({ router: new RouteCollection(), plugins: { orders: orders({ max: 2 }), rateLimit: { limit: 3 } } })
