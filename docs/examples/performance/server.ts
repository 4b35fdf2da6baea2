import { RouteCollection, Server } from 'framework'

/** Rows as a database returns them: with more than anyone should see. */
const rows = Array.from({ length: 100 }, (_, i) => ({
  id: i,
  title: `Book ${i}`,
  price: 10 + i / 100,
  bought: new Date(1_700_000_000_000 + i),
  supplier: { name: 'Ada & Sons', discount: 0.4 },
}))

const Listed = {
  type: 'array',
  items: {
    type: 'object',
    properties: { id: { type: 'integer' }, title: { type: 'string' }, price: { type: 'number' } },
    required: ['id', 'title', 'price'],
  },
} as const

/** The same list in several ways; a measurement runs each of them in a process of its own. */
export const variants = {
  plain: (routes: RouteCollection) => void routes.get('/books', () => rows),
  schema: (routes: RouteCollection) => void routes.get('/books', { responses: { 200: Listed } }, () => rows),
  cached: (routes: RouteCollection) => void routes.get('/books', { cache: { ttl: 60 } }, () => rows),
  awaits: (routes: RouteCollection) => {
    const step = async (_req: unknown, _res: unknown, next: () => Promise<void>) => {
      await next()
    }
    routes.get('/books', { middlewares: [step, step, step, step] }, () => rows)
  },
}

export type Variant = keyof typeof variants

export function makeServer(variant: Variant) {
  const routes = new RouteCollection()
  variants[variant](routes)
  return new Server({
    port: 0,
    host: '127.0.0.1',
    router: routes,
    plugins: { cache: variant === 'cached' },
  })
}
