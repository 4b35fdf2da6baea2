import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trackLeaks } from 'framework/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootOnce } from '../../support/boots.ts'
import { startRedis } from '../../support/redis.ts'

let redis: Awaited<ReturnType<typeof startRedis>>
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heap = async () => {
  for (let i = 0; i < 5; i++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage().heapUsed / 1024
}

test('200 boots of an application with all plugins leave neither handles nor heap', async () => {
  // The first ones load modules and fill caches. V8 compiles for longer: after 50 of them, that takes 20 KB for each of the next 200.
  for (let i = 0; i < 150; i++) await bootOnce(redis.url)
  const leaks = trackLeaks()
  const [handles, before] = [process.getActiveResourcesInfo().length, await heap()]
  for (let i = 0; i < 200; i++) await bootOnce(redis.url)
  await leaks.assertNone()
  leaks.stop()
  expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles)
  // A server with all plugins that stays takes more than 400 KB.
  expect(((await heap()) - before) / 200).toBeLessThan(20)
})
