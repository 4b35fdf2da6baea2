import { randomBytes } from 'node:crypto'
import { LocalStorageProvider, MemoryStorageProvider, MustacheAdapter, memoryTransport, Server } from 'framework'
import { env } from './env.ts'
import { answerError, answerInvalid } from './errors.ts'
import { graphql } from './graphql/index.ts'
import { tables } from './library/tables.ts'
import { librariansOnly } from './middlewares/librarians-only.ts'
import { freshness } from './plugins/freshness.ts'
import { library } from './plugins/library.ts'
import { receipts } from './plugins/receipts.ts'
import { reminders } from './plugins/reminders.ts'
import { returnsBox } from './plugins/returns-box.ts'
import { answerDenial } from './policies.ts'
import './routes/index.ts'

declare module 'framework' {
  interface RequestContext {
    /** The id of the request, for the library's own log lines. */
    request: string
  }
}

export interface DemoOptions {
  /** Turned off by the tests. */
  log?: boolean
  /** The address of the database. Default: what the environment names, otherwise SQLite in memory. */
  database?: string
}

/** Makes the whole application, not yet listening: `main.ts` makes it listen, tests use it as it is. */
export function makeServer({ log = true, database = env.get('DATABASE_URL') ?? 'sqlite::memory:' }: DemoOptions = {}) {
  // What the environment names; everything else is in memory.
  const redis = env.get('REDIS_URL')
  const folder = env.get('COVERS')
  const server = new Server({
    graphql,
    plugins: {
      // Trusts the addresses that a proxy on this machine reports, and accepts the methods that an HTML form cannot send.
      trustProxy: { trustedProxies: ['loopback'] },
      methodOverride: true,
      log,
      requestContext: { request: (req) => req.id },
      helmet: true,
      health: true,
      cors: { origin: '*' },
      timeout: { ms: 10_000 },
      rateLimit: { limit: 1000, store: redis === undefined ? 'memory' : { redis } },
      csrf: true,
      // Without a secret of its own, the server forgets its visitors' lists at every start.
      session: {
        secret: env.get('SESSION_SECRET') ?? randomBytes(32).toString('base64url'),
        store: redis === undefined ? 'memory' : { redis },
      },
      storage: {
        providers: {
          covers: folder === undefined ? new MemoryStorageProvider() : new LocalStorageProvider({ root: folder }),
        },
      },
      json: { sizeLimit: '10kb' },
      urlencoded: true,
      upload: true,
      websocket: true,
      database: { url: database, migrations: tables },
      cache: { defaultTtl: 60, ...(redis !== undefined && { provider: 'redis', redis }) },
      static: { root: new URL('public', import.meta.url), prefix: '/app' },
      compression: true,
      openapi: {
        info: {
          title: 'Library',
          version: '1.0.0',
          description: 'Books, who has borrowed them, and what to read next.',
        },
        tags: [
          { name: 'books', description: 'What there is' },
          { name: 'loans', description: 'What members have at home' },
        ],
      },
      cron: {
        crons: [],
        timezone: 'Europe/Rome',
        ui: { path: '/crons', middlewares: [librariansOnly] },
        ...(database.startsWith('postgres') && { lock: { postgres: database } }),
      },
      queues: { run: true, ui: { path: '/queues', middlewares: [librariansOnly] } },
      mqtt: { connect: env.get('MQTT_HOST') === undefined ? { provider: 'memory' } : {}, subscribe: [] },
      mailer: {
        providers: {
          desk: {
            transporter: env.get('SMTP_URL') ?? memoryTransport(),
            templateAdapter: new MustacheAdapter(),
            from: 'Library <library@example.org>',
          },
        },
        defaultProvider: 'desk',
      },
      library: library(),
      freshness: freshness(),
      receipts: receipts(),
      returnsBox: returnsBox(),
      reminders: reminders(),
    },
  })
  server.setErrorHandler(answerError)
  server.setValidationErrorHandler(answerInvalid)
  server.setPolicyErrorHandler(answerDenial)
  return server
}
