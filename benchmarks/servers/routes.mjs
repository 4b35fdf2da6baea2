// What every server answers, so that all of them do the same work. Plain JavaScript: the servers run without a loader,
// because a loader would be most of what the boot suite measures.

import process from 'node:process'
import { fileURLToPath } from 'node:url'

export const port = Number(process.env.PORT)
export const scenario = process.argv[2] ?? 'hello'

/** The root folder of a file server. */
export const filesFolder = fileURLToPath(new URL('./files', import.meta.url))

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

// Every property is required: fast-json-stringify writes the required ones first, and all responses should be the same.
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
 * A row as it comes out of a database: the response schema keeps some of it back.
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

/**
 * The same for servers whose framework has no response schemas.
 *
 * @param {number} id
 * @param {{ orders: number, locale?: string }} query
 */
export const shownAccount = (id, query) => ({
  id,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  locale: query.locale ?? 'en',
  roles: ['admin', 'editor'],
  orders: shownOrders.slice(0, query.orders),
})
const shownOrders = orders.map(({ id, total, at }) => ({ id, total, at }))

/**
 * 1000 rows; the response schema keeps the cost of each back. They are parsed, like rows from a database: text built with a
 * template is kept in parts, which no driver returns and which keeps Node.js 26 from using its fast `JSON.stringify`.
 *
 * @type {{ id: number, title: string, price: number, cost: number, stock: number, tags: string[], at: string }[]}
 */
export const items = JSON.parse(
  JSON.stringify(
    Array.from({ length: 1000 }, (_, i) => ({
      id: i,
      title: `Analytical engine, part ${i}`,
      price: 5.5 + (i % 90),
      cost: 3.5 + (i % 90),
      stock: i % 7,
      tags: ['brass', 'steam'],
      at: '2026-01-01T12:00:00.000Z',
    })),
  ),
)
/** The same for servers whose framework has no response schemas. */
export const shownItems = items.map(({ id, title, price, stock, tags, at }) => ({ id, title, price, stock, tags, at }))

export const itemsSchema = /** @type {const} */ ({
  type: 'array',
  items: {
    type: 'object',
    properties: {
      id: integer,
      title: string,
      price: number,
      stock: integer,
      tags: { type: 'array', items: string },
      at: string,
    },
    required: ['id', 'title', 'price', 'stock', 'tags', 'at'],
  },
})

const upTo = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i)
/** 100 routes: the number in the response, and the path up to the part that each framework writes in its own way. */
export const many = {
  pages: upTo(50).map((i) => ({ i, path: `/pages/section-${i}/index` })),
  parts: upTo(40).map((i) => ({ i, kind: `/api/kind-${i}` })),
  files: upTo(10).map((i) => ({ i, area: `/files/area-${i}` })),
}

/** Connections that wait stay open for a whole series; by default, servers close them after 5 to 72 s. */
export const keepAliveTimeout = 600_000

/** @param {number} count */
export const manyRoutes = (count) =>
  upTo(count).map((i) => ({ i, path: i % 2 === 0 ? `/pages/section-${i}/index` : `/api/kind-${i}/:a/parts/:b` }))

/** The origin of the pages in the full-stack scenario. */
export const origin = 'https://app.example'
/** Where a server's log goes. Asynchronous, as pino documents it for speed. */
export const logTarget = { dest: process.env.LOG_FILE, sync: false }
/** The headers that helmet sends, for servers to which it has not been ported. */
export const securityHeaders = {
  'content-security-policy':
    "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}
