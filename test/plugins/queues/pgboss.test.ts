import { describe, test } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'
import { testTransactions } from '../../contracts/queue-transaction.ts'
import { pgboss, serverOf } from '../../support/queue-engines.ts'

describe.skipIf(!pgboss.isThere)(pgboss.title, () => {
  const { url, config } = serverOf(pgboss)
  testEngine(config, { ...pgboss, test: test.concurrent })
  testTransactions(url)
})
