import type { SessionStore } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../../plugins/session/stores/memory.ts'
import { readFirst } from '../../../plugins/session/stores/read-first.ts'
import { redisStore } from '../../../plugins/session/stores/redis.ts'
import { testSessionStore } from '../../contracts/session-store.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { objectsIn } from '../../support/sessions.ts'

type Subject = Parameters<typeof testSessionStore>[0]

const describeStore = (name: string, make: Subject) =>
  describe(name, () => testSessionStore(make, { test: test.concurrent }))

describeStore('memory', () => objectsIn(new MemoryStore(1_000)))

const rows = new Map<string, { text: string; until: number }>()
const has = (id: string) => (rows.get(id)?.until ?? 0) > Date.now()
const plain: SessionStore = {
  async get(id) {
    return has(id) ? (JSON.parse(rows.get(id)!.text) as object) : null
  },
  async set(id, data, ttlSeconds) {
    rows.set(id, { text: JSON.stringify(data), until: Date.now() + ttlSeconds * 1_000 })
  },
  async destroy(id) {
    rows.delete(id)
  },
}

// The example of the documentation, as a user would write it.
describeStore('a Map', () => ({
  ...plain,
  async update(id, data, ttlSeconds) {
    if (!has(id)) return false
    await plain.set(id, data, ttlSeconds)
    return true
  },
  async destroy(id) {
    return has(id) && rows.delete(id)
  },
}))

describeStore('a Map without update', () => readFirst(plain))

test('a store without update reports no session as gone while that may still fail', async () => {
  let fail = (_error: Error) => {}
  const store = readFirst({
    ...plain,
    destroy: () =>
      new Promise<void>((_resolve, reject) => {
        fail = reject
      }),
  })
  await store.set('an id', { user: 'ada' }, 60)
  const both = [store.destroy('an id'), store.destroy('an id')]
  await new Promise((resolve) => setImmediate(resolve))
  fail(new Error('down'))
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await store.update('an id', { user: 'bob' }, 60)).toBe(true)
})

test('a store without update ends a session after writes in progress, and does not report it before', async () => {
  const done: string[] = []
  let land = () => {}
  const store = readFirst({
    ...plain,
    async set(id, data, ttlSeconds) {
      await new Promise<void>((resolve) => {
        land = resolve
      })
      await plain.set(id, data, ttlSeconds)
    },
  })
  await plain.set('slow', { user: 'ada' }, 60)
  const written = store.update('slow', { user: 'ada', seen: true }, 60).then((is) => done.push(`written: ${is}`))
  await new Promise((resolve) => setImmediate(resolve))
  const ended = store.destroy('slow').then((was) => done.push(`ended: ${was}`))
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toEqual([])
  land()
  await Promise.all([written, ended])
  expect(done).toEqual(['written: false', 'ended: true'])
  expect(await plain.get('slow')).toBeNull()
})

// A slow one, so that overlapping calls finish in every order.
describeStore('a slow one without update, with touch', () => {
  const later = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 4))
  return readFirst({
    get: (id) => later().then(() => plain.get(id)),
    set: (id, data, ttl) => later().then(() => plain.set(id, data, ttl)),
    destroy: (id) => later().then(() => void rows.delete(id)),
    async touch(id, ttlSeconds) {
      await later()
      if (has(id)) rows.get(id)!.until = Date.now() + ttlSeconds * 1_000
    },
  })
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
  describeStore('redis', () => objectsIn(redisStore({ client, timeout: 2_000, close() {} }, '')))
})
