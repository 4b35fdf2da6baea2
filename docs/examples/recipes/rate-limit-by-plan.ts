import { type Request, RouteCollection, Server } from 'framework'
import { bearer, userOf } from 'framework/plugins/auth'

/** Requests in an hour. */
export const plans = { free: 100, pro: 10_000 }

export interface Customer {
  readonly id: string
  readonly plan: keyof typeof plans
}

const limitOf = (req: Request) => plans[(userOf(req) as Customer).plan]

export function makeServer(customers: ReadonlyMap<string, Customer>) {
  const routes = new RouteCollection()
  routes.get('/prices', () => [{ book: 'Kindred', price: 1500 }])
  // It reads everything, so it counts as fifty requests.
  routes.get('/export', { rateLimit: { subject: { cost: 50 } } }, () => 'all prices')

  return new Server({
    router: routes,
    plugins: {
      auth: { schemes: { key: bearer((token) => customers.get(token)) } },
      rateLimit: {
        // For an address, before the key is checked: a key cannot be guessed.
        limit: 600,
        windowMs: 60_000,
        // For the customer, from all addresses.
        subject: { limit: limitOf, windowMs: 3_600_000 },
      },
    },
  })
}
