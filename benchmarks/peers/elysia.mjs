// What else a scenario needs is loaded by that scenario, so the boot of `hello` is that of the framework alone.
import process from 'node:process'
import { Elysia, t } from 'elysia'
import { account, hello, items, logTarget, many, origin, port, receipt, scenario, user } from '../servers/routes.mjs'

const order = () =>
  t.Object({
    id: t.Integer(),
    customer: t.Object({
      name: t.String({ minLength: 1 }),
      email: t.String({ format: 'email' }),
      street: t.String(),
      city: t.String(),
    }),
    lines: t.Array(
      t.Object({ sku: t.String(), title: t.String(), price: t.Number(), quantity: t.Integer({ minimum: 1 }) }),
      { minItems: 1 },
    ),
  })
const shownReceipt = () => t.Object({ id: t.Integer(), lines: t.Integer(), total: t.Number() })
const userQuery = () =>
  t.Object({
    orders: t.Integer({ minimum: 0, maximum: 10, default: 3 }),
    locale: t.Optional(t.String()),
  })
const shownAccount = () =>
  t.Object({
    id: t.Integer(),
    name: t.String(),
    email: t.String(),
    locale: t.String(),
    roles: t.Array(t.String()),
    orders: t.Array(t.Object({ id: t.Integer(), total: t.Number(), at: t.String() })),
  })
const shownItems = () =>
  t.Array(
    t.Object({
      id: t.Integer(),
      title: t.String(),
      price: t.Number(),
      stock: t.Integer(),
      tags: t.Array(t.String()),
      at: t.String(),
    }),
  )

const app = new Elysia(process.versions.bun ? {} : { adapter: (await import('@elysia/node')).node() })
const validated = () =>
  app.post('/orders', ({ body }) => receipt(body), { body: order(), response: { 200: shownReceipt() } })
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', hello),
  params: () => app.get('/users/:id', ({ params }) => user(params.id)),
  // Without a schema it does not parse the body.
  post: () => app.post('/orders', ({ body }) => receipt(body), { parse: 'json' }),
  validated,
  async full() {
    const [{ cors }, { helmet }, { pino }] = await Promise.all([
      import('@elysia/cors'),
      import('elysia-helmet'),
      import('pino'),
    ])
    const log = pino(pino.destination(logTarget))
    app
      .derive(({ set }) => {
        const requestId = crypto.randomUUID()
        set.headers['x-request-id'] = requestId
        return { requestId, start: performance.now() }
      })
      // Turns off what the others do only on request.
      .use(cors({ origin, credentials: false, methods: false, allowedHeaders: false, exposeHeaders: false }))
      .use(helmet())
      .onAfterResponse(({ requestId, request, path, route, set, start }) => {
        const ms = performance.now() - start
        log.info({ reqId: requestId, method: request.method, path, route, status: set.status ?? 200, ms }, 'request')
      })
    validated()
  },
  serialised: () =>
    app.get('/users/:id', ({ params, query }) => account(params.id, query), {
      params: t.Object({ id: t.Integer() }),
      query: userQuery(),
      response: { 200: shownAccount() },
    }),
  list: () => app.get('/items', () => items, { response: { 200: shownItems() } }),
  many() {
    for (const { i, path } of many.pages) app.get(path, () => ({ route: i }))
    for (const { i, kind } of many.parts) {
      app.get(`${kind}/:a/parts/:b`, ({ params }) => ({ route: i, a: params.a, b: params.b }))
    }
    for (const { i, area } of many.files) app.get(`${area}/*`, ({ params }) => ({ route: i, rest: params['*'] }))
  },
}
await scenarios[scenario]()
app.listen({ port, hostname: '127.0.0.1' })
