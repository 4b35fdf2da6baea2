import { afterAll, beforeAll, describe, test } from 'vitest'
import { testLockStore } from '../../contracts/lock-store.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

describe('in memory', () => testLockStore(() => 'memory', { test: test.concurrent, isShared: false }))

describe.skipIf(!hasRedis)('in Redis', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  testLockStore(() => ({ redis: redis.url }), { test: test.concurrent })
})

describe.skipIf(!hasPostgres)('in Postgres', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  testLockStore(() => ({ postgres: { url: postgres.url, max: 4 } }), { test: test.concurrent })
})
