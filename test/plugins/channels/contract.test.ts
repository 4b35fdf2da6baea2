import { afterAll, beforeAll, describe, test } from 'vitest'
import { testChannelBus } from '../../contracts/channel-bus.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

describe('in memory', () => testChannelBus(() => 'memory', { test, isShared: false }))

describe.skipIf(!hasRedis)('in Redis', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  testChannelBus(() => ({ redis: redis.url }), { test })
})
