import { pgbossQueue } from 'framework'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { testPortableQueue } from '../../contracts/portable-queue.ts'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { testQueueTransaction } from '../../contracts/queue-transaction.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// What an application has installed that still runs on Node.js 20 by the word of the package.
vi.mock('pg-boss', async () => ({ PgBoss: undefined, default: (await import('pg-boss-10')).default }))

describe.skipIf(!hasPostgres)('pg-boss 10', () => {
  let postgres: OwnServer
  let pool: Pool
  beforeAll(async () => {
    postgres = await startPostgres()
    pool = new Pool({ connectionString: postgres.url })
  })
  afterAll(async () => {
    await pool.end()
    await postgres.stop()
  })
  const make = () => ({ pgboss: { connectionString: postgres.url, pollInterval: 100 } })
  testQueueEngine(make, {
    ...{ test, kind: 'pgboss', shortest: 1000 },
    queue: (name, options) => pgbossQueue<unknown>(name, options),
    attempts: (count, ms) => ({ retryLimit: count - 1, retryDelay: ms / 1000 }),
    delay: (ms) => ({ startAfter: Math.ceil(ms / 1000) }),
  })
  testQueueTransaction(make, { test, kind: 'pgboss', queue: (name) => pgbossQueue(name), pool: () => pool })
  testPortableQueue(make, { test, kind: 'pgboss' })
})
