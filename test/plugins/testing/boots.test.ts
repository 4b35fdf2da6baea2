import { trackLeaks } from 'framework/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootOnce } from '../../support/boots.ts'
import { startRedis } from '../../support/redis.ts'

let redis: Awaited<ReturnType<typeof startRedis>>
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())

// `boots.long.test.ts` boots it 200 times and weighs the heap.
test('an application with all plugins leaves nothing, however often it boots and closes', async () => {
  await bootOnce(redis.url)
  const leaks = trackLeaks()
  const before = process.getActiveResourcesInfo().length
  for (let i = 0; i < 3; i++) await bootOnce(redis.url)
  await leaks.assertNone()
  leaks.stop()
  expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before)
})
