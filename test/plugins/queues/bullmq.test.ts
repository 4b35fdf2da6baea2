import { bullmqQueue } from 'framework'
import { describe } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

describe.skipIf(!hasRedis)('BullMQ', () => {
  let redis: RedisServer
  testEngine({
    kind: 'bullmq',
    async start() {
      redis = await startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction')
      return { bullmq: { connection: redis.url } }
    },
    stop: () => redis.stop(),
    queue: (name, options) => bullmqQueue<unknown>(name, options),
    attempts: (attempts, delay) => ({ attempts, backoff: { type: 'fixed', delay } }),
    delay: (delay) => ({ delay }),
    once: (id) => ({ id }),
    priority: (priority) => ({ priority }),
    isOrdered: true,
    shortest: 300,
  })
})
