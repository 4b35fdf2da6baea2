import { testServer } from 'framework/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { makeServer } from './redis.ts'

describe.skipIf(!hasRedis)('with Redis', () => {
  let store: RedisServer
  beforeAll(async () => {
    store = await startRedis()
  })
  afterAll(() => store?.stop())

  test('the player with most points leads', async () => {
    await using server = await testServer(() => makeServer(store.url), { services: 'real' })
    ;(await server.inject.get('/games/chess/leader')).assertStatus(404)
    for (const player of ['ada', 'bob', 'ada']) await server.inject.post(`/games/chess/points/${player}`)
    ;(await server.inject.get('/games/chess/leader')).assertBodyDeepEqual({ player: 'ada' })
  })

  test('requests and the probe fail while Redis is away', async () => {
    const server = makeServer(store.url)
    await server.ready()
    ;(await server.inject.get('/health/ready')).assertStatus(200)
    await store.stop()
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    ;(await server.inject.get('/games/chess/leader')).assertStatus(500)
    await server.close()
  })

  test('the boot fails without Redis', async () => {
    const server = makeServer('redis://127.0.0.1:1')
    await expect(server.ready()).rejects.toThrow('the plugin "redis" failed in setup')
    await server.close().catch(() => {})
  })
})
