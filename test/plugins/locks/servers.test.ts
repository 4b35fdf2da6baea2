import { RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { gate } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

// Side by side, as they wait most of the time: each lock has a name of its own, and the test that stops the store has its own.
describe.concurrent.each([
  ['redis', hasRedis, startRedis],
  ['postgres', hasPostgres, startPostgres],
] as const)('servers with one %s', (kind, isThere, start) => {
  describe.skipIf(!isThere)('', () => {
    let shared: OwnServer
    beforeAll(async () => {
      shared = await start()
    })
    afterAll(() => shared.stop())
    const serve = async ({ onTestFinished }: TestContext, store = shared, closeTimeout = 2_000) => {
      const logger = memoryLogger()
      const plugins = { locks: { store: { [kind]: store.url } as { redis: string } } }
      const server = new Server({ router: new RouteCollection(), logger, closeTimeout, plugins })
      onTestFinished(() => server.close())
      await server.ready()
      return { server, locks: server.services.get('locks'), logger }
    }

    test('a lock is held once, with fences that rise from server to server', async (t) => {
      const [{ locks: one }, { locks: other }] = [await serve(t), await serve(t)]
      const fences: number[] = []
      for (const locks of [one, other, one]) {
        fences.push(
          await locks.withLock('held', {}, async ({ fence }) => {
            for (const each of [one, other])
              await expect(each.withLock('held', {}, () => {})).rejects.toMatchObject({ code: 'LockHeldError' })
            return fence
          }),
        )
      }
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    })

    test('a server that takes a lock again and again does not shut out another one', async (t) => {
      const [{ locks: greedy }, { locks: other }] = [await serve(t), await serve(t)]
      let isOver = false
      let times = 0
      const again = async () => {
        while (!isOver) {
          await greedy.withLock('greedy', { wait: 60_000 }, () => pause(20))
          times++
        }
      }
      const all = Promise.all([again(), again(), again()])
      await t.expect.poll(() => times).toBeGreaterThan(3)
      for (let i = 0; i < 4; i++) await other.withLock('greedy', { wait: 60_000 }, () => {})
      isOver = true
      await all
    })

    test('while the store is silent, work that has a lock loses it, and no other begins', async (t) => {
      const store = await start()
      t.onTestFinished(() => store.stop())
      const { locks, logger } = await serve(t, store)
      t.onTestFinished(() => store.thaw())
      let isLost = false
      const work = locks.withLock('a', { ttl: 1_000 }, async ({ signal }) => {
        store.freeze()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        isLost = signal.reason.code === 'LockLostError'
      })
      await expect(work).rejects.toMatchObject({ code: 'LockLostError' })
      expect(isLost).toBe(true)
      await expect(locks.withLock('b', { ttl: 1_000 }, () => 'no')).rejects.toMatchObject({
        ...{ code: 'LockStoreError', status: 503 },
      })
      await expect(locks.check()).rejects.toThrow()
      store.thaw()
      // What the silent store carries out late is released again.
      await t.expect.poll(() => locks.withLock('b', { wait: 5_000 }, () => 'yes').catch(({ code }) => code)).toBe('yes')
      const said = logger.entries.map(({ message }) => message)
      expect(said.filter((one) => one?.includes('does not respond: work'))).toHaveLength(1)
      expect(said.filter((one) => one?.includes('responds again'))).toHaveLength(1)
    })

    test('a server that closes releases its locks at once', async (t) => {
      const [{ server, locks: one }, { locks: other }] = [await serve(t, shared, 6_000), await serve(t)]
      const begun = gate()
      const work = one.withLock('free', { ttl: 600_000 }, () => {
        begun.open()
        return new Promise(() => {})
      })
      void work.catch(() => {})
      await begun.opened
      await server.close()
      expect(await other.withLock('free', { wait: 60_000 }, () => 'free')).toBe('free')
    })
  })
})
