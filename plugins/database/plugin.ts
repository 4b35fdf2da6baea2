import { definePlugin, type Middleware } from '../../kernel/index.ts'
import { machine } from '../shared/development/connections.ts'
import { figure } from '../shared/development/metrics.ts'
import { testDatabaseFolder } from '../shared/stores/address.ts'
import { transactionOption } from '../shared/work/transaction-options.ts'
import { transactionRunners } from '../shared/work/transactions.ts'
import { type DatabaseSettings, type DatabasesSettings, databaseOptions } from './options.ts'
import { work } from './queries.ts'
import { Databases } from './service.ts'
import type { Transaction } from './transaction.ts'

const inMemory = (settings: DatabaseSettings): DatabaseSettings =>
  settings.system === 'sqlite' && !settings.url.includes(testDatabaseFolder)
    ? { ...settings, url: 'sqlite::memory:' }
    : settings

const systems = { postgresql: 'Postgres', mysql: 'MySQL', sqlite: 'SQLite' }

/**
 * Provides a database as `services.database` and `req.database`, connected at boot and closed with the server. Its queries are seen by `telemetry`,
 * `inspector` and `metrics`, and the route option `transaction` runs a handler in a transaction.
 *
 * @example
 * const server = new Server({ plugins: { database: { url: 'sqlite::memory:' } } })
 * server.post('/books', { transaction: true }, async (req, res) => {
 *   await req.database.query('insert into books (title) values (?)', ['Emma'])
 *   res.created()
 * })
 */
export const database = definePlugin({
  name: 'database',
  access: false,
  options: databaseOptions,
  routeOptions: { transaction: transactionOption },
  work,
  async metrics(services) {
    const databases = services.get('databases')
    const outboxes = await databases.outboxes()
    const seconds = { unit: 'seconds' }
    const waiting = (of: 'messages' | 'oldest') =>
      outboxes.map(({ database, sender, ...counts }) => ({ value: counts[of], labels: { database, sender } }))
    const all = (of: 'size' | 'idle' | 'waiting') =>
      databases.names.map((database) => ({ value: databases.client(database).counts[of], labels: { database } }))
    return [
      figure('gauge', 'database_connections', 'Open connections of the pool', all('size')),
      figure('gauge', 'database_connections_idle', 'Open connections that no caller has taken', all('idle')),
      figure('gauge', 'database_connections_waiting', 'Callers that wait for a connection', all('waiting')),
      figure('gauge', 'database_outbox_messages', 'Messages of the outbox that are not delivered', waiting('messages')),
      figure('gauge', 'database_outbox_oldest_seconds', 'Age of the oldest of them', waiting('oldest'), seconds),
    ]
  },
  openWork(services) {
    const databases = services.get('databases')
    const running = databases.names.map((name) => databases.client(name).outbox?.running ?? 0)
    return running.filter(Boolean).map((count) => ({ what: `${count} messages of the outbox` }))
  },
  health: {
    database: {
      check: (services) => services.get('databases').each((client) => client.query('select 1')),
      remedy: 'Start the database, or correct database.url (DATABASE_URL)',
    },
  },
  reaches: ({ main, named }: DatabasesSettings) =>
    Object.values({ main, ...named }).map(({ system, url }) => machine(systems[system], url)),
  // What a test is about are the constraints and transactions of the real one, so Postgres has no twin.
  memory: ({ main, named }) => ({
    main: inMemory(main),
    named: Object.fromEntries(Object.entries(named).map(([name, one]) => [name, inMemory(one)])),
  }),
  doctor: async () => (await import('./doctor.ts')).checks,
  notes: ({ main, named }: DatabasesSettings) =>
    Object.entries({ main, ...named }).flatMap(([name, { outbox, system }]) => {
      if (!outbox) return []
      const woken = system === 'postgresql' && outbox.listen !== false ? 'woken by LISTEN, ' : ''
      return [`outbox of ${name}: ${outbox.table} in ${system} (${woken}looks every ${outbox.pollInterval} ms)`]
    }),
  openapi: { failures: ({ options }) => (options.transaction ? { 503: 'ServiceUnavailable' } : {}) },
  provide: (settings) => ({ databases: new Databases(settings) }),
  async setup(ctx, _settings, { databases }) {
    ctx.decorate('request', { database: { get: () => databases.get() } })
    ctx.onRoute((route) => {
      const { transaction: settings } = route.settings
      if (!settings) return
      const scope = `${route.method} ${route.path}`
      const transaction: Middleware = async (req, res, next) => {
        const work = async (one: Transaction) => {
          await next()
          if (res.statusCode >= 400) await one.rollback()
        }
        await databases.client().begin(work, settings, req.signal, scope)
      }
      route.add('around', transaction, { repeats: settings.retry > 0 })
    })
    ctx.onListen(() => databases.checkPending((message) => ctx.log.warn(message)))
    ctx.onListen(() => databases.each(async (client) => client.outbox?.start()))
    // Before the queues and the others close, which are registered later.
    ctx.onDrain(() => databases.each(async (client) => client.outbox?.drain()))
    ctx.onClose((timeLeft) => databases.each((client) => client.close(timeLeft)))
    transactionRunners.set(ctx.server, databases.client())
    await databases.open(ctx.server, ctx.log)
    ctx.provide('database', databases.get())
  },
})
