// What every server answers, so that all of them do the same work. Plain JavaScript: the servers run without a loader,
// because a loader would be most of what the boot suite measures.

export const port = Number(process.env.PORT)
export const scenario = process.argv[2] ?? 'hello'

export const hello = () => ({ hello: 'world' })
/** @param {string} id */
export const user = (id) => ({ id, name: 'Ada Lovelace', admin: false })
/** @param {{ id: number, lines: { price: number, quantity: number }[] }} order */
export const receipt = (order) => ({
  id: order.id,
  lines: order.lines.length,
  total: order.lines.reduce((sum, line) => sum + line.price * line.quantity, 0),
})

const string = /** @type {const} */ ({ type: 'string' })
const integer = /** @type {const} */ ({ type: 'integer' })
const number = /** @type {const} */ ({ type: 'number' })

// Every property is required: fast-json-stringify writes the required ones first, and all answers are to be the same.
export const orderSchema = /** @type {const} */ ({
  type: 'object',
  properties: {
    id: integer,
    customer: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1 },
        email: { type: 'string', format: 'email' },
        street: string,
        city: string,
      },
      required: ['name', 'email', 'street', 'city'],
    },
    lines: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { sku: string, title: string, price: number, quantity: { type: 'integer', minimum: 1 } },
        required: ['sku', 'title', 'price', 'quantity'],
      },
    },
  },
  required: ['id', 'customer', 'lines'],
})

export const receiptSchema = /** @type {const} */ ({
  type: 'object',
  properties: { id: integer, lines: integer, total: number },
  required: ['id', 'lines', 'total'],
})

export const userParams = /** @type {const} */ ({ type: 'object', properties: { id: integer }, required: ['id'] })
export const userQuery = /** @type {const} */ ({
  type: 'object',
  properties: { orders: { type: 'integer', minimum: 0, maximum: 10, default: 3 }, locale: string },
})

export const accountSchema = /** @type {const} */ ({
  type: 'object',
  properties: {
    id: integer,
    name: string,
    email: string,
    locale: string,
    roles: { type: 'array', items: string },
    orders: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: integer, total: number, at: string },
        required: ['id', 'total', 'at'],
      },
    },
  },
  required: ['id', 'name', 'email', 'locale', 'roles', 'orders'],
})

const orders = Array.from({ length: 10 }, (_, i) => ({
  id: i,
  total: 9.5 * (i + 1),
  at: '2026-01-01T12:00:00.000Z',
  margin: 0.3,
}))

/**
 * A row as it comes out of a database: the schema of the answer keeps some of it back.
 *
 * @param {number} id
 * @param {{ orders: number, locale?: string }} query
 */
export const account = (id, query) => ({
  id,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  passwordHash: '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b27ZQ',
  locale: query.locale ?? 'en',
  roles: ['admin', 'editor'],
  orders: orders.slice(0, query.orders),
})
