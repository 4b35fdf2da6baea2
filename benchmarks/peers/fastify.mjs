// What else a scenario needs is loaded by that scenario, so the boot of `hello` is that of the framework alone.
import fastify, { LogController } from 'fastify'
import {
  account,
  accountSchema,
  filesFolder,
  hello,
  items,
  itemsSchema,
  logTarget,
  many,
  orderSchema,
  origin,
  port,
  receipt,
  receiptSchema,
  scenario,
  user,
  userParams,
  userQuery,
} from '../servers/routes.mjs'

async function logging() {
  const { destination } = await import('pino')
  // A line of our own instead of the two that fastify writes.
  const logController = new LogController({ disableRequestLogging: true })
  return { logger: { stream: destination(logTarget) }, logController }
}

const app = fastify(scenario === 'full' ? await logging() : {})
const validated = () =>
  app.post('/orders', { schema: { body: orderSchema, response: { 200: receiptSchema } } }, (request) =>
    receipt(request.body),
  )
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', hello),
  async file() {
    const { default: files } = await import('@fastify/static')
    app.register(files, { root: filesFolder })
  },
  params: () => app.get('/users/:id', (request) => user(request.params.id)),
  post: () => app.post('/orders', (request) => receipt(request.body)),
  validated,
  async full() {
    const { default: cors } = await import('@fastify/cors')
    const { default: helmet } = await import('@fastify/helmet')
    app.register(cors, { origin: [origin] })
    app.register(helmet)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      done()
    })
    app.addHook('onResponse', (request, reply, done) => {
      const path = request.url
      const { url: route } = request.routeOptions
      const ms = reply.elapsedTime
      request.log.info({ method: request.method, path, route, status: reply.statusCode, ms }, 'request')
      done()
    })
    app.after(validated)
  },
  serialised: () =>
    app.get(
      '/users/:id',
      { schema: { params: userParams, querystring: userQuery, response: { 200: accountSchema } } },
      (request) => account(request.params.id, request.query),
    ),
  list: () => app.get('/items', { schema: { response: { 200: itemsSchema } } }, () => items),
  many() {
    for (const { i, path } of many.pages) app.get(path, () => ({ route: i }))
    for (const { i, kind } of many.parts) {
      app.get(`${kind}/:a/parts/:b`, ({ params }) => ({ route: i, a: params.a, b: params.b }))
    }
    for (const { i, area } of many.files) app.get(`${area}/*`, ({ params }) => ({ route: i, rest: params['*'] }))
  },
}
await scenarios[scenario]()
await app.listen({ port, host: '127.0.0.1' })
