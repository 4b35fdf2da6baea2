import { bullmqQueue, MemoryStorageProvider, memoryTransport, RouteCollection, Server } from 'framework'
import { bearer } from 'framework/plugins/auth'
import { catalog } from '../../plugins/catalog.ts'
import { memoryLogger } from './kernel.ts'

const letters = bullmqQueue('letters')
letters.subscribe(() => {})

/** A server with every plugin of the catalog, whose stores are in a Redis. */
function serverWithAll(redis: string): Server {
  const store = { redis }
  const plugins = {
    ...Object.fromEntries(Object.keys(catalog).map((key) => [key, true])),
    env: false,
    database: { url: 'sqlite::memory:', outbox: true, inbox: true },
    auth: { schemes: { token: bearer(() => undefined) }, default: 'optional' },
    tenant: { resolve: () => 'acme' },
    idempotency: { store },
    trustProxy: { trustedProxies: ['127.0.0.1'] },
    rateLimit: { store, limit: 100_000 },
    // A busy machine is late, too.
    overload: { maxEventLoopDelay: 60_000 },
    session: { secret: 'a secret of thirty-two characters', store },
    locks: { store },
    storage: { providers: { main: new MemoryStorageProvider() } },
    mailer: { providers: { main: { transporter: memoryTransport(), from: 'a@example.org' } }, defaultProvider: 'main' },
    channels: { store },
    cache: { provider: 'redis', redis },
    static: [{ root: import.meta.dirname, prefix: '/files' }],
    openapi: { info: { title: 'All', version: '1.0.0' } },
    asyncapi: { info: { title: 'All', version: '1.0.0' } },
    graphql: { schema: { typeDefs: 'type Query { a: String }', resolvers: {} } },
    cron: { crons: [{ schedule: '* * * * * *', handler: () => {}, options: { name: 'tick' } }] },
    queues: { config: { bullmq: { connection: redis } }, run: true },
    mqtt: { connect: { provider: 'memory' } },
  }
  const logger = memoryLogger()
  const router = new RouteCollection()
  const server = new Server({ port: 0, host: '127.0.0.1', router, logger, plugins, gracefulShutdown: false } as never)
  server.get('/count', (req) => {
    const session = req.session as { count?: number }
    session.count = (session.count ?? 0) + 1
    return session.count
  })
  return server
}

/** Boots a server with all plugins, sends a request, and closes it. */
export async function bootOnce(redis: string): Promise<void> {
  const server = serverWithAll(redis)
  await server.listen()
  const res = await server.inject.get('/count')
  await server.close()
  res.assertStatus(200)
}
