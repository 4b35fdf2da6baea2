import { afterAll, beforeAll, describe, test } from 'vitest'
import { testCacheStore } from '../../contracts/cache-store.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

describe('in memory', () => testCacheStore(() => ({ provider: 'memory' }), { test, isShared: false }))

describe.skipIf(!hasRedis)('in Redis', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  testCacheStore(() => ({ provider: 'redis', redis: { url: redis.url, timeout: 20_000 } }), { test })
})
