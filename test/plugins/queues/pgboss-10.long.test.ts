import { register } from 'node:module'
import { describe, expect, test, vi } from 'vitest'
import { testPortableQueue } from '../../contracts/portable-queue.ts'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { testQueueTransaction } from '../../contracts/queue-transaction.ts'
import { pgboss, serverOf, transactionsOf } from '../../support/queue-engines.ts'

// What an application has installed that still runs on Node.js 20 by the word of the package. Not by `vi.mock`: of imports at the same time
// only the first would get it.
const hook = `export const resolve = (name, context, next) => next(name === 'pg-boss' ? 'pg-boss-10' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
vi.setConfig({ maxConcurrency: 8 })

describe.skipIf(!pgboss.isThere)('pg-boss 10', () => {
  const { url, config } = serverOf(pgboss)
  const transactions = transactionsOf(url)
  testPortableQueue(config, { ...pgboss, test: test.concurrent })
  testQueueEngine(config, { ...pgboss, test: test.concurrent })
  testQueueTransaction(config, { ...transactions, test: test.concurrent })

  test('is what has made the tables', async () => {
    expect((await transactions.pool().query('select version from pgboss.version')).rows).toEqual([{ version: 24 }])
  })
})
