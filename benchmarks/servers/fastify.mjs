import fastify from 'fastify'
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

const app = fastify()
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', hello),
  params: () => app.get('/users/:id', (request) => user(request.params.id)),
  post: () => app.post('/orders', (request) => receipt(request.body)),
  validated: () =>
    app.post('/orders', { schema: { body: orderSchema, response: { 200: receiptSchema } } }, (request) =>
      receipt(request.body),
    ),
  serialised: () =>
    app.get(
      '/users/:id',
      { schema: { params: userParams, querystring: userQuery, response: { 200: accountSchema } } },
      (request) => account(request.params.id, request.query),
    ),
}
scenarios[scenario]()
await app.listen({ port, host: '127.0.0.1' })
