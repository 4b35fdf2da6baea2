import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { RouteCollection, Server } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { freshName } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

const script = join(import.meta.dirname, '../fixtures/cache-data-instance.mjs')

interface Ask {
  readonly key: string
  readonly callers: number
  readonly options: object
  readonly ms: number
}

describe.skipIf(!hasRedis)('data in Redis', () => {
  let redis: OwnServer
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })

  describe('of several processes', () => {
    let processes: ChildProcess[]
    const message = (child: ChildProcess, name: string) =>
      new Promise<never>((resolve) => {
        const listen = (given: object) => {
          if (!(name in given)) return
          child.off('message', listen)
          resolve((given as Record<string, unknown>)[name] as never)
        }
        child.on('message', listen)
      })
    const ask = (child: ChildProcess, what: Ask): Promise<number[]> => {
      const results = message(child, 'results')
      child.send(what)
      return results
    }
    // The last test ends one of them.
    beforeAll(async () => {
      processes = Array.from({ length: 4 }, () => fork(script, [redis.url], { execArgv: [] }))
      await Promise.all(processes.map((child) => message(child, 'ready')))
    })
    afterAll(() => {
      for (const child of processes) child.kill('SIGKILL')
    })
    const all = async (what: Ask) => (await Promise.all(processes.map((child) => ask(child, what)))).flat()
    const runs = (key: string) => client.get(`runs ${key}`)

    test('4 processes with 50 callers each compute it once; when it is old, one of them renews it', async () => {
      const ask = { callers: 50, options: { ttl: 2, stale: 60 }, ms: 200 }
      let what: Ask
      let began: number
      do {
        what = { ...ask, key: freshName('one') }
        began = performance.now()
        expect(await all(what)).toEqual(Array.from({ length: 200 }, () => 1))
        // On a busy machine the last callers may find it old already.
      } while (performance.now() - began > 1_900)
      expect(await runs(what.key)).toBe('1')
      await pause(2_100)
      // It takes long enough for all to ask meanwhile.
      expect(new Set(await all({ ...what, options: { ttl: 60, stale: 60 }, ms: 2_000 }))).toEqual(new Set([1]))
      await expect.poll(() => runs(what.key)).toBe('2')
      await expect.poll(async () => [...new Set(await all(what))]).toEqual([2])
      expect(await runs(what.key)).toBe('2')
    })

    test('when the one that computes is killed, another one computes after lockTimeout', async () => {
      const what = { key: 'killed', callers: 5, options: { ttl: 60 }, ms: 60_000 }
      const [first, ...others] = processes
      const computes = message(first!, 'computes')
      void ask(first!, what)
      await computes
      const waiting = others.map((child) => ask(child, { ...what, ms: 10 }))
      await pause(200)
      first!.kill('SIGKILL')
      expect([...new Set((await Promise.all(waiting)).flat())]).toEqual([2])
      expect(await runs('killed')).toBe('2')
    })
  })

  describe('in one process', () => {
    const logger = memoryLogger()
    const start = async () => {
      const plugins = { cache: { provider: 'redis', redis: { url: redis.url, timeout: 2_000, prefix: 'p:' } } } as const
      const server = new Server({ router: new RouteCollection(), logger, plugins })
      await server.ready()
      return server
    }

    test('is found after a restart, by key and by tag, and leaves nothing without an end', async () => {
      const first = await start()
      const book = { title: 'ü#🎈', none: null }
      expect(await first.services.get('cache').getOrSet('a#1', { ttl: 60, tags: ['books'] }, () => book)).toEqual(book)
      await first.services.get('cache').getOrSet('nothing', { ttl: 60 }, () => undefined)
      await first.close()
      const second = await start()
      const cache = second.services.get('cache')
      const fail = () => expect.unreachable()
      expect(await cache.getOrSet('a#1', {}, fail)).toEqual(book)
      expect(await cache.getOrSet('nothing', {}, fail)).toBeUndefined()
      expect([await cache.delete('nothing'), await cache.delete('nothing')]).toEqual([true, false])
      expect(await cache.invalidate(['books'])).toBe(1)
      expect(await cache.getOrSet('a#1', {}, () => 'new')).toBe('new')
      expect(await cache.invalidatePattern('data:a*')).toBe(1)
      for (const key of await client.keys('p:*')) expect(await client.pttl(key)).toBeGreaterThan(0)
      await second.close()
    })

    test.each([
      'killed',
      'frozen',
    ])('while Redis is %s, each caller has a result, and it is logged once', async (how) => {
      const server = await start()
      const cache = server.services.get('cache')
      await cache.getOrSet('down', {}, () => 'kept')
      logger.entries.length = 0
      if (how === 'killed') await redis.kill()
      else redis.freeze()
      let computed = 0
      for (let i = 0; i < 3; i++) {
        const asked = Array.from({ length: 10 }, () =>
          cache.getOrSet('down', {}, async () => {
            await pause(20)
            return `computed ${++computed}`
          }),
        )
        expect(new Set(await Promise.all(asked))).toEqual(new Set([`computed ${i + 1}`]))
      }
      await expect(cache.getOrSet('down', {}, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
      await expect(cache.delete('down')).rejects.toThrow()
      expect(logger.entries.map(({ message }) => message)).toEqual([
        'Redis does not respond: requests are served uncached',
      ])
      await redis.restart()
      await expect
        .poll(async () => {
          const before = computed
          await cache.getOrSet('up', {}, () => ++computed)
          return computed - before
        })
        .toBe(0)
      await server.close()
    })
  })
})
