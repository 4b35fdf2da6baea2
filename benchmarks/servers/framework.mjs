import { Server } from 'framework'
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
} from './routes.mjs'

const plugins = {
  cached: async () => ({ cache: true }),
  file: async () => ({ static: { root: filesFolder } }),
  post: async () => ({ json: { sizeLimit: '2mb' } }),
  upload: async () => ({ upload: { maxFileSize: '2mb' } }),
  full: async () => {
    const { destination } = await import('pino')
    return { cors: { origin: [origin] }, helmet: true, log: { stream: destination(logTarget) } }
  },
}
const server = new Server({ port, host: '127.0.0.1', plugins: await plugins[scenario]?.() })
const validated = () =>
  server.post('/orders', { body: orderSchema, responses: { 200: receiptSchema } }, (req) => receipt(req.body))
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => server.get('/', hello),
  cached: () => server.get('/', { cache: { ttl: 3600 } }, hello),
  file() {},
  params: () => server.get('/users/:id', (req) => user(req.params.id)),
  post: () => server.post('/orders', (req) => receipt(req.body)),
  upload: () => server.post('/form', (req) => ({ size: req.files[0].bytes().length })),
  validated,
  full: validated,
  serialised: () =>
    server.get('/users/:id', { params: userParams, query: userQuery, responses: { 200: accountSchema } }, (req) =>
      account(req.params.id, req.query),
    ),
  list: () => server.get('/items', { responses: { 200: itemsSchema } }, () => items),
  many() {
    for (const { i, path } of many.pages) server.get(path, () => ({ route: i }))
    for (const { i, kind } of many.parts) {
      server.get(`${kind}/:a/parts/:b`, ({ params }) => ({ route: i, a: params.a, b: params.b }))
    }
    for (const { i, area } of many.files) server.get(`${area}/*`, ({ params }) => ({ route: i, rest: params['*'] }))
  },
}
scenarios[scenario]()
await server.listen()
