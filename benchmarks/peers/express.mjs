// What else a scenario needs is loaded by that scenario, so the boot of `hello` is that of the framework alone.
import express from 'express'
import {
  hello,
  logTarget,
  many,
  orderSchema,
  origin,
  port,
  receipt,
  scenario,
  shownAccount,
  shownItems,
  user,
  userParams,
  userQuery,
} from '../servers/routes.mjs'

const app = express()
app.disable('x-powered-by')
// An ETag costs a hash of every response, and no client here asks for one.
app.disable('etag')

async function validation() {
  const [{ Ajv }, { default: formats }] = await Promise.all([import('ajv'), import('ajv-formats')])
  const ajv = new Ajv({ coerceTypes: 'array', useDefaults: true })
  formats.default(ajv)
  /** @param {object} schema @param {(request: express.Request) => unknown} read */
  const valid = (schema, read) => {
    const check = ajv.compile(schema)
    /** @type {express.RequestHandler} */
    return (request, response, next) => {
      if (check(read(request))) next()
      else response.status(422).json(check.errors)
    }
  }
  return { ajv, valid }
}

async function validated() {
  const { valid } = await validation()
  app.post(
    '/orders',
    express.json(),
    valid(orderSchema, ({ body }) => body),
    (request, response) => {
      response.json(receipt(request.body))
    },
  )
}
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', (_request, response) => response.json(hello())),
  params: () => app.get('/users/:id', (request, response) => response.json(user(request.params.id))),
  post: () =>
    app.post('/orders', express.json({ limit: '2mb' }), (request, response) => response.json(receipt(request.body))),
  validated,
  async full() {
    const [{ default: cors }, { default: helmet }, { pino }, { pinoHttp }] = await Promise.all([
      import('cors'),
      import('helmet'),
      import('pino'),
      import('pino-http'),
    ])
    app.use(
      pinoHttp({
        logger: pino(pino.destination(logTarget)),
        genReqId: (_request, response) => {
          const id = crypto.randomUUID()
          response.setHeader('x-request-id', id)
          return id
        },
        // The fields that all servers log, instead of all headers of both sides.
        serializers: { req: () => undefined, res: () => undefined },
        customAttributeKeys: { responseTime: 'ms' },
        customProps: (request, response) => ({
          reqId: request.id,
          method: request.method,
          path: request.url,
          route: request.route?.path,
          status: response.statusCode,
        }),
        customSuccessMessage: () => 'request',
      }),
    )
    app.use(cors({ origin: [origin] }))
    app.use(helmet())
    await validated()
  },
  async serialised() {
    const { ajv, valid } = await validation()
    const isParams = valid(userParams, ({ params }) => params)
    const checkQuery = ajv.compile(userQuery)
    app.get('/users/:id', isParams, (request, response) => {
      // Each access to request.query parses it again, so what Ajv has coerced has to be kept here.
      const { query } = request
      if (checkQuery(query)) response.json(shownAccount(request.params.id, query))
      else response.status(422).json(checkQuery.errors)
    })
  },
  list: () => app.get('/items', (_request, response) => response.json(shownItems)),
  many() {
    for (const { i, path } of many.pages) app.get(path, (_request, response) => response.json({ route: i }))
    for (const { i, kind } of many.parts) {
      app.get(`${kind}/:a/parts/:b`, ({ params }, response) => response.json({ route: i, a: params.a, b: params.b }))
    }
    for (const { i, area } of many.files) {
      app.get(`${area}/*rest`, ({ params }, response) => response.json({ route: i, rest: params.rest.join('/') }))
    }
  },
}
await scenarios[scenario]()
app.listen(port, '127.0.0.1')
