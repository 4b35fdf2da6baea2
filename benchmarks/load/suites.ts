import type { Stage } from '../support/stage.ts'
import type { Exchange } from './probe.ts'
import type { Subject } from './server-process.ts'

/** Servers that do the same work, and the request they are loaded with. */
export interface ServerSuite {
  readonly title: string
  readonly kind: 'load' | 'boot'
  readonly exchange: Exchange
  /** The names of the subjects that the others are divided by. */
  readonly references: readonly string[]
  subjects(stage: Stage): Subject[]
}

const get = (path: string, answer: unknown): Exchange => ({ method: 'GET', path, headers: {}, body: '', answer })

/** About 1 KB, as an order of a shop would be. */
export const order = {
  id: 4711,
  customer: { name: 'Ada Lovelace', email: 'ada@example.com', street: '12 St James Square', city: 'London' },
  lines: Array.from({ length: 12 }, (_, i) => ({
    sku: `SKU-${1000 + i}`,
    title: `Analytical engine, part ${i}`,
    price: 5 + i,
    quantity: 1 + (i % 3),
  })),
}
const total = order.lines.reduce((sum, line) => sum + line.price * line.quantity, 0)
export const receipt = { id: order.id, lines: order.lines.length, total }

const postOrder: Exchange = {
  method: 'POST',
  path: '/orders',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(order),
  answer: receipt,
}

/** What the servers keep back of the account is not here. */
export const account = {
  id: 42,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  locale: 'de',
  roles: ['admin', 'editor'],
  orders: Array.from({ length: 5 }, (_, i) => ({ id: i, total: 9.5 * (i + 1), at: '2026-01-01T12:00:00.000Z' })),
}

const peers = { framework: 'framework.mjs', fastify: 'fastify.mjs', raw: 'raw.mjs' }
const with100Plugins = {
  'framework, 100 plugins': 'framework-plugins.mjs',
  'fastify, 100 plugins': 'fastify-plugins.mjs',
}

/** What the shops of `servers/graphql-shop.mjs` answer to the query below. */
const shops = Array.from({ length: 10 }, (_, s) => ({
  id: `s${s}`,
  name: `Shop ${s}`,
  items: Array.from({ length: 10 }, (_, i) => ({
    id: `i${s}-${i}`,
    title: `Item ${i} of shop ${s}`,
    price: 9.5 + i,
    owner: { id: `o${(s + i) % 10}`, name: `Owner ${(s + i) % 10}`, email: `owner${(s + i) % 10}@example.com` },
  })),
}))

const graphql = (query: string, data: unknown): Exchange => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query }),
  answer: { data },
})

const graphqlSubjects = (stage: Stage): Subject[] => [
  { name: 'framework', stage, file: 'graphql.mjs', scenario: 'plain' },
  { name: 'framework, jit', stage, file: 'graphql.mjs', scenario: 'jit' },
  { name: 'mercurius', stage, file: 'graphql-mercurius.mjs', scenario: 'plain' },
  { name: 'mercurius, jit', stage, file: 'graphql-mercurius.mjs', scenario: 'jit' },
]

function servers(files: Record<string, string>, scenario: string) {
  return (stage: Stage) => Object.entries(files).map(([name, file]) => ({ name, stage, file, scenario }))
}

const references = ['raw', 'fastify']
const hello = get('/', { hello: 'world' })

export const serverSuites = {
  hello: { title: 'Hello JSON', kind: 'load', exchange: hello, references, subjects: servers(peers, 'hello') },
  'get-params': {
    title: 'GET /users/:id',
    kind: 'load',
    exchange: get('/users/42', { id: '42', name: 'Ada Lovelace', admin: false }),
    references,
    subjects: servers(peers, 'params'),
  },
  'post-json': {
    title: 'POST 1 KB of JSON, not validated',
    kind: 'load',
    exchange: postOrder,
    references,
    subjects: servers(peers, 'post'),
  },
  'validated-post': {
    title: 'POST 1 KB of JSON, validated, the answer by a schema',
    kind: 'load',
    exchange: postOrder,
    references,
    subjects: servers(peers, 'validated'),
  },
  'serialised-get': {
    title: 'GET /users/:id, parameters and query validated, the answer by a schema',
    kind: 'load',
    exchange: get('/users/42?orders=5&locale=de', account),
    references,
    subjects: servers(peers, 'serialised'),
  },
  'cached-get': {
    title: 'GET of an answer that the cache has',
    kind: 'load',
    exchange: hello,
    references: ['hello'],
    subjects: (stage) => [
      { name: 'hello', stage, file: 'framework.mjs', scenario: 'hello' },
      { name: 'cached', stage, file: 'framework.mjs', scenario: 'cached' },
    ],
  },
  'graphql-hello': {
    title: 'GraphQL: one field',
    kind: 'load',
    exchange: graphql('{ hello }', { hello: 'world' }),
    references: ['mercurius', 'mercurius, jit'],
    subjects: graphqlSubjects,
  },
  'graphql-100': {
    title: 'GraphQL: 10 shops, 100 items with their owners',
    kind: 'load',
    exchange: graphql('{ shops { id name items { id title price owner { id name email } } } }', { shops }),
    references: ['mercurius', 'mercurius, jit'],
    subjects: graphqlSubjects,
  },
  boot: {
    title: 'Boot to the first answer',
    kind: 'boot',
    exchange: hello,
    references: ['fastify'],
    subjects: servers({ ...peers, ...with100Plugins }, 'hello'),
  },
} as const satisfies Record<string, ServerSuite>
