import { pgbossQueue } from 'framework'
import { describe, vi } from 'vitest'
import { testPortable } from '../../contracts/portable-queue.ts'
import { testEngine } from '../../contracts/queue-engine.ts'
import { testTransactions } from '../../contracts/queue-transaction.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// What an application has installed that still runs on Node.js 20 by the word of the package.
vi.mock('pg-boss', async () => ({ PgBoss: undefined, default: (await import('pg-boss-10')).default }))

describe.skipIf(!hasPostgres)('pg-boss 10', () => {
  let postgres: OwnServer
  testEngine({
    kind: 'pgboss',
    async start() {
      postgres = await startPostgres()
      return { pgboss: { connectionString: postgres.url, pollInterval: 100 } }
    },
    stop: () => postgres.stop(),
    queue: (name, options) => pgbossQueue<unknown>(name, options),
    attempts: (count, ms) => ({ retryLimit: count - 1, retryDelay: ms / 1000 }),
    delay: (ms) => ({ startAfter: Math.ceil(ms / 1000) }),
    once: (id) => ({ id }),
    priority: (rank) => ({ priority: rank }),
    isOrdered: true,
    shortest: 1000,
  })
  testTransactions(() => postgres.url)
})

describe.skipIf(!hasPostgres)('pg-boss 10', () => {
  let postgres: OwnServer
  testPortable({
    kind: 'pgboss',
    async start() {
      postgres = await startPostgres()
      return { pgboss: { connectionString: postgres.url, pollInterval: 100 } }
    },
    stop: () => postgres.stop(),
  })
})
