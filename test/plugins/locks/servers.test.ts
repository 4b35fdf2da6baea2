import { type LockService, RouteCollection, Server } from 'framework'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { gate } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

describe.each([
  ['redis', hasRedis, startRedis],
  ['postgres', hasPostgres, startPostgres],
] as const)('servers with one %s', (kind, isThere, start) => {
  describe.skipIf(!isThere)('', () => {
    let store: OwnServer
    const servers: Server[] = []
    const logger = memoryLogger()
    beforeAll(async () => {
      store = await start()
    })
    afterAll(() => store.stop())
    afterEach(async () => {
      store.thaw()
      await Promise.all(servers.splice(0).map((server) => server.close()))
      logger.entries.length = 0
    })
    const serve = async (closeTimeout = 2_000): Promise<LockService> => {
      const plugins = { locks: { store: { [kind]: store.url } as { redis: string } } }
      const server = new Server({ router: new RouteCollection(), logger, closeTimeout, plugins })
      servers.push(server as never)
      await server.ready()
      return server.services.get('locks')
    }

    test('a lock is held once, with fences that rise from server to server', async () => {
      const [one, other] = [await serve(), await serve()]
      const fences: number[] = []
      for (const locks of [one, other, one]) {
        fences.push(
          await locks.withLock('a', {}, async ({ fence }) => {
            for (const each of [one, other])
              await expect(each.withLock('a', {}, () => {})).rejects.toMatchObject({ code: 'LockHeldError' })
            return fence
          }),
        )
      }
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    })

    test('a server that takes a lock again and again does not shut out another one', async () => {
      const [greedy, other] = [await serve(), await serve()]
      let isOver = false
      let times = 0
      const again = async () => {
        while (!isOver) {
          await greedy.withLock('a', { wait: 60_000 }, () => pause(20))
          times++
        }
      }
      const all = Promise.all([again(), again(), again()])
      await expect.poll(() => times).toBeGreaterThan(3)
      for (let i = 0; i < 4; i++) await other.withLock('a', { wait: 60_000 }, () => {})
      isOver = true
      await all
    })

    test('while the store is silent, work that has a lock loses it, and no other begins', async () => {
      const locks = await serve()
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
      await expect.poll(() => locks.withLock('b', { wait: 5_000 }, () => 'yes').catch(({ code }) => code)).toBe('yes')
      const said = logger.entries.map(({ message }) => message)
      expect(said.filter((one) => one?.includes('does not respond: work'))).toHaveLength(1)
      expect(said.filter((one) => one?.includes('responds again'))).toHaveLength(1)
    })

    test('a server that closes releases its locks at once', async () => {
      const [one, other] = [await serve(6_000), await serve()]
      const begun = gate()
      const work = one.withLock('a', { ttl: 600_000 }, () => {
        begun.open()
        return new Promise(() => {})
      })
      void work.catch(() => {})
      await begun.opened
      await servers.shift()!.close()
      expect(await other.withLock('a', { wait: 60_000 }, () => 'free')).toBe('free')
    })
  })
})
