import { readFileSync } from 'node:fs'
import type { RuntimeKind } from '../support/runtime.ts'
import { connectionsServers, middlewaresServers, pluginsServers, routesServers } from './growth.ts'
import type { Exchange, Target } from './probe.ts'
import {
  bootServers,
  cacheServers,
  fileServers,
  graphqlServers,
  httpServers,
  memoryServers,
  type ServerFiles,
  socketServers,
  telemetryServers,
  uploadServers,
  workersServers,
} from './servers.ts'

/** Servers that do the same work, and the requests with which they are loaded. */
export interface ServerSuite {
  readonly title: string
  readonly kind: 'load' | 'boot' | 'memory' | 'workers' | 'sockets'
  readonly exchange: Exchange
  /** The names of the servers with which the others are compared, if they run on the runtime. */
  readonly references: readonly string[]
  /** The servers of the suite; empty for a runtime on which it is not measured. */
  servers(kind: RuntimeKind): ServerFiles
}

const plain = { headers: {}, body: '', connections: 100, pipelining: 1, answerHeaders: [], logged: [] }

const get = (path: string, answer: unknown): Exchange => ({ ...plain, method: 'GET', targets: [{ path, answer }] })

const post = (path: string, body: unknown, answer: unknown): Exchange => ({
  ...plain,
  method: 'POST',
  targets: [{ path, answer }],
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const orderOf = (lines: number) => ({
  id: 4711,
  customer: { name: 'Ada Lovelace', email: 'ada@example.com', street: '12 St James Square', city: 'London' },
  lines: Array.from({ length: lines }, (_, i) => ({
    sku: `SKU-${1000 + i}`,
    title: `Analytical engine, part ${i}`,
    price: 5 + i,
    quantity: 1 + (i % 3),
  })),
})
type Order = ReturnType<typeof orderOf>

const receiptOf = ({ id, lines }: Order) => ({
  id,
  lines: lines.length,
  total: lines.reduce((sum, line) => sum + line.price * line.quantity, 0),
})

/** About 1 KB, like a shop's order. */
export const order = orderOf(12)
export const receipt = receiptOf(order)

const postOrder = post('/orders', order, receipt)

/** A larger order, like an import: `lines` of about 80 bytes. It is sent over fewer connections, so that memory is not what is measured. */
const postLarge = (lines: number, connections: number): Exchange => ({
  ...post('/orders', orderOf(lines), receiptOf(orderOf(lines))),
  connections,
})

const boundary = 'x'.repeat(30)
const upload: Exchange = {
  ...plain,
  method: 'POST',
  targets: [{ path: '/form', answer: { size: 1_000_000 } }],
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  body: [
    `--${boundary}`,
    'content-disposition: form-data; name="file"; filename="a.bin"',
    'content-type: application/octet-stream',
    '',
    'abcdefgh\n'.repeat(111_112).slice(0, 1_000_000),
    `--${boundary}--`,
    '',
  ].join('\r\n'),
  connections: 4,
}

/** The account, without the members that the servers must leave out. */
export const account = {
  id: 42,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  locale: 'de',
  roles: ['admin', 'editor'],
  orders: Array.from({ length: 5 }, (_, i) => ({ id: i, total: 9.5 * (i + 1), at: '2026-01-01T12:00:00.000Z' })),
}

/** The response of `servers/graphql-shop.mjs` to the query below. */
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

const graphql = (query: string, data: unknown): Exchange => post('/graphql', { query }, { data })

/** 115 KB, without the members that the servers must leave out. */
const items = Array.from({ length: 1000 }, (_, i) => ({
  id: i,
  title: `Analytical engine, part ${i}`,
  price: 5.5 + (i % 90),
  stock: i % 7,
  tags: ['brass', 'steam'],
  at: '2026-01-01T12:00:00.000Z',
}))

/** 50 static routes, 40 with two parameters and 10 wildcards, requested in turn. */
const [firstOfMany, ...otherOfMany]: Target[] = [
  ...Array.from({ length: 50 }, (_, i) => ({ path: `/pages/section-${i}/index`, answer: { route: i } })),
  ...Array.from({ length: 40 }, (_, i) => ({
    path: `/api/kind-${i}/a${i}/parts/b${i}`,
    answer: { route: i, a: `a${i}`, b: `b${i}` },
  })),
  ...Array.from({ length: 10 }, (_, i) => ({
    path: `/files/area-${i}/x/y.txt`,
    answer: { route: i, rest: 'x/y.txt' },
  })),
]

/** 6 KB, as a file. */
const parts = JSON.parse(readFileSync(new URL('../servers/files/parts.json', import.meta.url), 'utf8')) as unknown

const all = (scenario: string) => (kind: RuntimeKind) => httpServers(kind, scenario)

const references = ['framework', 'raw', 'native', 'fastify', 'elysia', 'hono']
const graphqlReferences = ['framework', 'framework, jit', 'mercurius', 'mercurius, jit']
const hello = get('/', { hello: 'world' })

export const serverSuites = {
  hello: { title: 'Hello JSON', kind: 'load', exchange: hello, references, servers: all('hello') },
  'get-params': {
    title: 'GET /users/:id',
    kind: 'load',
    exchange: get('/users/42', { id: '42', name: 'Ada Lovelace', admin: false }),
    references,
    servers: all('params'),
  },
  'serialised-get': {
    title: 'GET /users/:id, parameters and query validated, with a response schema',
    kind: 'load',
    exchange: get('/users/42?orders=5&locale=de', account),
    references,
    servers: all('serialised'),
  },
  'post-json': {
    title: 'POST 1 KB of JSON, not validated',
    kind: 'load',
    exchange: postOrder,
    references,
    servers: all('post'),
  },
  'post-16k': {
    title: 'POST 16 KB of JSON, not validated',
    kind: 'load',
    exchange: postLarge(200, 20),
    references,
    servers: all('post'),
  },
  'post-1m': {
    title: 'POST 1 MB of JSON, not validated',
    kind: 'load',
    exchange: postLarge(11_800, 4),
    references,
    servers: all('post'),
  },
  upload: {
    title: 'Upload of 1 MB in a form, kept in memory',
    kind: 'load',
    exchange: upload,
    references: ['raw'],
    servers: uploadServers,
  },
  'validated-post': {
    title: 'POST 1 KB of JSON, validated, with a response schema',
    kind: 'load',
    exchange: postOrder,
    references,
    servers: all('validated'),
  },
  'full-stack': {
    title: 'Full stack: POST 1 KB with cors, helmet, request id, log line, validation and a response schema',
    kind: 'load',
    exchange: {
      ...postOrder,
      headers: { ...postOrder.headers, origin: 'https://app.example' },
      answerHeaders: [
        'access-control-allow-origin',
        'x-request-id',
        'content-security-policy',
        'strict-transport-security',
        'x-content-type-options',
        'x-frame-options',
        'referrer-policy',
      ],
      logged: ['level', 'time', 'pid', 'hostname', 'reqId', 'method', 'path', 'route', 'status', 'ms', 'msg'],
    },
    references,
    servers: all('full'),
  },
  'list-1000': {
    title: '1000 items, 115 KB, with a response schema',
    kind: 'load',
    exchange: get('/items', items),
    references,
    servers: all('list'),
  },
  '100-routes': {
    title: '100 routes in turn: 50 static, 40 with two parameters, 10 wildcards',
    kind: 'load',
    exchange: { ...plain, method: 'GET', targets: [firstOfMany!, ...otherOfMany] },
    references,
    servers: all('many'),
  },
  'pipelined-10': {
    title: 'Hello JSON, 10 pipelined requests per connection',
    kind: 'load',
    exchange: { ...hello, pipelining: 10 },
    references,
    servers: all('hello'),
  },
  'cached-get': {
    title: 'GET of a cached response',
    kind: 'load',
    exchange: hello,
    references: ['framework, no cache'],
    servers: cacheServers,
  },
  telemetry: {
    title: 'Hello JSON with telemetry',
    kind: 'load',
    exchange: hello,
    references: ['framework', 'fastify, telemetry, all sampled'],
    servers: telemetryServers,
  },
  'static-file': {
    title: 'A file of 6 KB',
    kind: 'load',
    exchange: { ...get('/parts.json', parts), answerHeaders: ['etag', 'last-modified'] },
    references,
    servers: fileServers,
  },
  'graphql-hello': {
    title: 'GraphQL: one field',
    kind: 'load',
    exchange: graphql('{ hello }', { hello: 'world' }),
    references: graphqlReferences,
    servers: graphqlServers,
  },
  'graphql-100': {
    title: 'GraphQL: 10 shops, 100 items with their owners',
    kind: 'load',
    // A hundred of these at a time would take the slowest server longer than a slice.
    exchange: {
      ...graphql('{ shops { id name items { id title price owner { id name email } } } }', { shops }),
      connections: 20,
    },
    references: graphqlReferences,
    servers: graphqlServers,
  },
  'growing-routes': {
    title: 'Growth: 10, 1000 and 10 000 routes, up to 1000 of them in turn',
    kind: 'load',
    exchange: hello,
    references: ['framework, 10 routes'],
    servers: routesServers,
  },
  'growing-plugins': {
    title: 'Growth: 1, 10 and 100 plugins with a route each',
    kind: 'load',
    exchange: hello,
    references: ['framework, 1 plugin'],
    servers: pluginsServers,
  },
  'growing-middlewares': {
    title: 'Growth: 1, 10 and 100 plugins with a middleware for every request',
    kind: 'load',
    exchange: hello,
    references: ['framework, 1 middleware'],
    servers: middlewaresServers,
  },
  'growing-connections': {
    title: 'Growth: 10, 1000 and 10 000 connections, of which 10 are busy',
    kind: 'load',
    exchange: { ...hello, connections: 10 },
    references: ['framework, 10 connections'],
    servers: connectionsServers,
  },
  boot: {
    title: 'Boot to the first response',
    kind: 'boot',
    exchange: hello,
    references: [...references, 'framework, 100 plugins'],
    servers: bootServers,
  },
  memory: {
    title: 'Memory after a million requests',
    kind: 'memory',
    exchange: hello,
    references,
    servers: memoryServers,
  },
  sockets: {
    title: '5000 websockets, a message to each once a second',
    kind: 'sockets',
    exchange: hello,
    references: ['framework', 'ws', 'native'],
    servers: socketServers,
  },
  'workers-hello': {
    title: 'Several processes: hello JSON',
    kind: 'workers',
    exchange: hello,
    references: ['one process'],
    servers: workersServers('hello'),
  },
  'workers-work': {
    title: 'Several processes: 1 ms of processor time a request',
    kind: 'workers',
    exchange: get('/', { done: true }),
    references: ['one process'],
    servers: workersServers('work'),
  },
} as const satisfies Record<string, ServerSuite>
