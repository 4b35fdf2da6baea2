import { type IdempotencyStore, Server } from 'framework'

const store: IdempotencyStore = { swap: (_key, expected) => expected }
const server: Server = new Server({ plugins: { idempotency: { store, ttl: 1_000, maxSize: '1mb', scope: () => 'a' } } })
server.post('/', { idempotency: true }, () => 'ok')
server.post('/', { idempotency: { required: true, ttl: 1_000, scope: async (req) => req.headers['x-user'] } }, () => 1)
server.post('/', { idempotency: false }, () => 'ok')
// @ts-expect-error: the store is that of the plugin
server.post('/', { idempotency: { store } }, () => 'ok')
// @ts-expect-error: whether a key is required is said by each route
new Server({ plugins: { idempotency: { required: true } } })
// @ts-expect-error: a caller is a string or a number
server.post('/', { idempotency: { scope: () => true } }, () => 'ok')
