import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

test.each([
  ['OK'],
  [true],
  [{}],
])('a Redis that responds with %j in place of a fence lets no one in', async (response) => {
  const none = async () => null
  const client = { get: none, setex: none, defineCommand() {}, eval: async () => response }
  const plugins = { locks: { store: { redis: { client } } } }
  await using server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins } as never) as Server
  await server.ready()
  let isIn = false
  const work = server.services.get('locks').withLock('a', {}, () => {
    isIn = true
  })
  await expect(work).rejects.toMatchObject({ code: 'LockStoreError' })
  expect(isIn).toBe(false)
})
