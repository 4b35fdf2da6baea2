import { HttpError, RouteCollection, Server } from 'framework'

/** The document that both sides have agreed on. It may be a JSON file as well, whose types are then less exact. */
export const api = {
  openapi: '3.1.1',
  info: { title: 'Orders', version: '1.2.0' },
  paths: {
    '/orders': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/NewOrder' } } } },
        responses: {
          '201': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } },
        },
      },
    },
    '/orders/{id}': {
      get: {
        responses: {
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } },
        },
      },
    },
  },
  components: {
    schemas: {
      NewOrder: {
        type: 'object',
        properties: { book: { type: 'string', minLength: 1 }, copies: { type: 'integer', minimum: 1 } },
        required: ['book', 'copies'],
        additionalProperties: false,
      },
      Order: {
        type: 'object',
        properties: { id: { type: 'string' }, book: { type: 'string' }, copies: { type: 'integer' } },
        required: ['id', 'book', 'copies'],
      },
    },
  },
} as const

export function makeServer() {
  const { NewOrder, Order } = api.components.schemas
  const orders = new Map<string, { id: string; book: string; copies: number }>()
  const routes = new RouteCollection()

  // The schemas of the document are those that the server checks with, and they type the handler.
  routes.post('/orders', { body: NewOrder, responses: { 201: Order } }, (req, res) => {
    const order = { id: String(orders.size + 1), ...req.body }
    orders.set(order.id, order)
    return res.created(order)
  })
  routes.get('/orders/:id', { responses: { 200: Order } }, (req) => {
    const order = orders.get(req.params.id)
    if (order === undefined) throw new HttpError(404)
    return order
  })
  routes.get('/openapi.json', { apidoc: false }, () => api)

  return new Server({ router: routes })
}
