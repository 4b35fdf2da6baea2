import { inspect } from 'node:util'
import { RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectRedis } from '../../plugins/shared/redis.ts'
import { memoryLogger } from '../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'

const secret = 'hunter2-and-more'

describe.skipIf(!hasRedis)('a connection to Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('that is refused tells so without the password', async () => {
    const states: unknown[] = []
    const client = await connectRedis<{ config(...args: string[]): Promise<unknown> }>(
      { url: redis.url },
      { feature: 'a test', commandTimeout: 2_000 },
    )
    await client.config('SET', 'requirepass', 'another password')
    const url = redis.url.replace('//', `//:${secret}@`)
    const refused = await connectRedis<object>(
      { url },
      { feature: 'a test', commandTimeout: 2_000, onState: (error) => states.push(error) },
    )
    expect(states.length).toBeGreaterThan(0)
    expect(inspect(states, { depth: 9 })).not.toContain(secret)
    refused.disconnect()
    client.disconnect()
  })
})

describe('an address that is none', () => {
  const wrong = `redis://user:${secret}/x@127.0.0.1:6379`
  test.each([
    ['session', { session: { secret: 'the first secret of these tests', store: { redis: wrong } } }],
    ['cache', { cache: { provider: 'redis', redis: { url: wrong } } }],
    ['rateLimit', { rateLimit: { store: { url: wrong } } }],
  ])('is told by %s without the password', async (_name, plugins) => {
    const error = await (async () => {
      const server = new Server({ plugins: plugins as {}, router: new RouteCollection(), logger: memoryLogger() })
      try {
        await server.ready()
      } finally {
        await server.close()
      }
    })().catch((reason: unknown) => reason)
    expect((error as Error).message).toContain('an address such as "redis://')
    expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })
})
