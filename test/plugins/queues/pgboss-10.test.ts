import { register } from 'node:module'
import { Client } from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { testPortable } from '../../contracts/portable-queue.ts'
import { testEngine } from '../../contracts/queue-engine.ts'
import { testTransactions } from '../../contracts/queue-transaction.ts'
import { pgboss, serverOf } from '../../support/queue-engines.ts'

// What an application has installed that still runs on Node.js 20 by the word of the package. Not by `vi.mock`: of imports at the same time
// only the first would get it.
const hook = `export const resolve = (name, context, next) => next(name === 'pg-boss' ? 'pg-boss-10' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
vi.setConfig({ maxConcurrency: 8 })

// The first of the two: the subscribers of the other one are those of the process, and each server would run them.
describe.skipIf(!pgboss.isThere)('pg-boss 10', () => {
  const { config } = serverOf(pgboss)
  testPortable(config, { ...pgboss, test: test.concurrent })
})

describe.skipIf(!pgboss.isThere)('pg-boss 10', () => {
  const { url, config } = serverOf(pgboss)
  testEngine(config, { ...pgboss, test: test.concurrent })
  testTransactions(url)

  test('is what has made the tables', async () => {
    const client = new Client(url())
    await client.connect()
    expect((await client.query('select version from pgboss.version')).rows).toEqual([{ version: 24 }])
    await client.end()
  })
})
