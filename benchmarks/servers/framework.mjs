import { Server } from 'framework'
import {
  account,
  accountSchema,
  hello,
  orderSchema,
  port,
  receipt,
  receiptSchema,
  scenario,
  user,
  userParams,
  userQuery,
} from './routes.mjs'

const server = new Server({ port, host: '127.0.0.1', plugins: { cache: scenario === 'cached' } })
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => server.get('/', hello),
  cached: () => server.get('/', { cache: { ttl: 3600 } }, hello),
  params: () => server.get('/users/:id', (req) => user(req.params.id)),
  post: () => server.post('/orders', (req) => receipt(req.body)),
  validated: () =>
    server.post('/orders', { body: orderSchema, responses: { 200: receiptSchema } }, (req) => receipt(req.body)),
  serialised: () =>
    server.get('/users/:id', { params: userParams, query: userQuery, responses: { 200: accountSchema } }, (req) =>
      account(req.params.id, req.query),
    ),
}
scenarios[scenario]()
await server.listen()
