import { describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { testQueueTransaction } from '../../contracts/queue-transaction.ts'
import { pgboss, serverOf, transactionsOf } from '../../support/queue-engines.ts'

describe.skipIf(!pgboss.isThere)(pgboss.title, () => {
  const { url, config } = serverOf(pgboss)
  const transactions = transactionsOf(url)
  testQueueEngine(config, { ...pgboss, test: test.concurrent })
  testQueueTransaction(config, { ...transactions, test: test.concurrent })
})
