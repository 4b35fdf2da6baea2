import { bullmqQueue } from 'framework'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

describe.skipIf(!hasRedis)('BullMQ', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction')
  })
  afterAll(() => redis.stop())
  testQueueEngine(() => ({ bullmq: { connection: redis.url } }), {
    ...{ test, kind: 'bullmq' },
    queue: (name, options) => bullmqQueue<unknown>(name, options),
  })
})
