import type { SessionStore } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'
import { MemoryStore } from '../../plugins/session/memory-store.ts'
import { RedisStore } from '../../plugins/session/redis-store.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { describeStore } from './session-store.ts'

describeStore('memory', () => new MemoryStore(1_000))

// The example of the documentation, as somebody would write it.
describeStore('a Map', () => {
  const rows = new Map<string, { text: string; until: number }>()
  const store: SessionStore = {
    async get(id) {
      const row = rows.get(id)
      return row !== undefined && row.until > Date.now() ? (JSON.parse(row.text) as object) : null
    },
    async set(id, data, ttlSeconds) {
      rows.set(id, { text: JSON.stringify(data), until: Date.now() + ttlSeconds * 1_000 })
    },
    async destroy(id) {
      rows.delete(id)
    },
  }
  return store
})

describe.skipIf(!hasRedis)('with a Redis server', () => {
  let redis: RedisServer
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })
  describeStore('redis', () => new RedisStore(client))
})
