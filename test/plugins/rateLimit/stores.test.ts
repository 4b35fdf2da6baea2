import { afterAll, beforeAll, describe, test } from 'vitest'
import { rateLimitOptions } from '../../../plugins/rateLimit/options.ts'
import { MemoryStore } from '../../../plugins/rateLimit/stores/memory.ts'
import { openRedisStore } from '../../../plugins/rateLimit/stores/shared.ts'
import { testRateLimitStore } from '../../contracts/rate-limit-store.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

describe('in memory', () => testRateLimitStore(() => new MemoryStore(), { test: test.concurrent }))

describe.skipIf(!hasRedis)('in Redis', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  testRateLimitStore(
    async () => {
      const { store: settings } = rateLimitOptions.parse({ store: { redis: redis.url } }, 'rateLimit')
      return (await openRedisStore((settings as { redis: Parameters<typeof openRedisStore>[0] }).redis)).store
    },
    { test: test.concurrent },
  )
})
