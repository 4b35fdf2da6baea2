import assert from 'node:assert/strict'
import { type CacheOptions, RouteCollection, Server } from 'framework'
import { memoryLogger, pause } from '../support/kernel.ts'
import { gate, until } from '../support/queues.ts'
import { type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

/** The options of the contract of a store of cached responses and data. */
export interface CacheStoreOptions extends ContractOptions {
  /** Whether two servers, as in two processes, share what is cached. Default true; false for `provider: 'memory'`. */
  readonly isShared?: boolean
}

/** Servers of an application, each as in a process of its own. */
async function open(make: Make<CacheOptions>) {
  const servers: Server[] = []
  return {
    async serve() {
      const server = new Server({
        ...{ gracefulShutdown: false, logger: memoryLogger(), router: new RouteCollection() },
        plugins: { cache: await make() },
      })
      servers.push(server)
      return { server, cache: server.services.get('cache') }
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  }
}

/**
 * Tests a Redis, or what speaks like one, as the store of the plugin `cache`: responses and data. The keys are new ones, so it need not be
 * empty. The tests run one after the other: what is being computed while a pattern is invalidated is not kept.
 *
 * @example
 * testCacheStore(() => ({ provider: 'redis', redis: 'redis://127.0.0.1:6379' }), { test })
 */
export function testCacheStore(make: Make<CacheOptions>, options: CacheStoreOptions): void {
  const { isShared = true } = options
  const contract = contractOf('a store of a cache', () => open(make), options)
  const two = async (serve: () => ReturnType<Awaited<ReturnType<typeof open>>['serve']>) => {
    const one = await serve()
    const other = isShared ? await serve() : one
    await Promise.all([one.server.ready(), other.server.ready()])
    return [one.cache, other.cache] as const
  }
  const never = () => assert.fail('it is computed again')

  contract('data is computed once for all who ask, and kept, of every kind that JSON has', async ({ serve }) => {
    const [one, other] = await two(serve)
    const key = uniqueName('once')
    const value = { text: 'ü#🎈', list: [1, { a: null }], nothing: null, no: false }
    let runs = 0
    const compute = async () => {
      runs++
      await pause(50)
      return value
    }
    const asked = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : other).getOrSet(key, { ttl: 60 }, compute))
    for (const seen of await Promise.all(asked)) assert.deepEqual(seen, value)
    assert.equal(runs, 1)
    assert.deepEqual(await other.getOrSet(key, { ttl: 60 }, never), value)
    assert.equal(await one.getOrSet(`${key} undefined`, { ttl: 60 }, () => undefined), undefined)
    assert.equal(await other.getOrSet(`${key} undefined`, { ttl: 60 }, never), undefined)
  })

  contract('data ends with its ttl', async ({ serve }) => {
    const [one, other] = await two(serve)
    const key = uniqueName('ttl')
    assert.equal(await one.getOrSet(key, { ttl: 1 }, () => 1), 1)
    await pause(1_100)
    assert.equal(await other.getOrSet(key, { ttl: 1 }, () => 2), 2)
  })

  contract('old data is returned while one caller renews it', async ({ serve }) => {
    const [one, other] = await two(serve)
    const key = uniqueName('stale')
    await one.getOrSet(key, { ttl: 1, stale: 60 }, () => 1)
    await pause(1_100)
    const renewed = gate()
    let runs = 0
    const renew = async () => {
      runs++
      await renewed.opened
      return 2
    }
    const asked = Array.from({ length: 10 }, (_, i) =>
      (i % 2 ? one : other).getOrSet(key, { ttl: 60, stale: 60 }, renew),
    )
    assert.deepEqual(new Set(await Promise.all(asked)), new Set([1]))
    renewed.open()
    await until(async () => (await other.getOrSet(key, { ttl: 60, stale: 60 }, renew)) === 2, 'the new data')
    assert.equal(runs, 1)
  })

  contract('data is removed by key, by tag and by pattern', async ({ serve }) => {
    const [one, other] = await two(serve)
    const key = uniqueName('remove')
    const tag = uniqueName('tag')
    const put = (name: string) => one.getOrSet(`${key}:${name}`, { ttl: 60, tags: [tag] }, () => name)
    for (const name of ['a', 'b', 'c']) await put(name)
    assert.deepEqual([await other.delete(`${key}:a`), await other.delete(`${key}:a`)], [true, false])
    assert.equal(await other.invalidate([tag]), 2)
    for (const name of ['a', 'b']) assert.equal(await one.getOrSet(`${key}:${name}`, { ttl: 60 }, () => 'new'), 'new')
    assert.equal(await other.invalidatePattern(`data:${key}:*`), 2)
    assert.equal(await one.getOrSet(`${key}:a`, { ttl: 60 }, () => 'newer'), 'newer')
  })

  contract('data that is removed while it is computed is not kept', async ({ serve }) => {
    const [one, other] = await two(serve)
    const [key, tag] = [uniqueName('race'), uniqueName('tag')]
    for (const remove of [() => other.invalidate([tag]), () => other.invalidatePattern(`data:${key}`)]) {
      const [begun, end] = [gate(), gate()]
      const first = one.getOrSet(key, { ttl: 60, tags: [tag] }, async () => {
        begun.open()
        await end.opened
        return 'old'
      })
      await begun.opened
      await remove()
      end.open()
      assert.equal(await first, 'old')
      assert.equal(await other.getOrSet(key, { ttl: 60, tags: [tag] }, () => 'new'), 'new')
      await other.delete(key)
    }
  })

  contract('a pattern means brackets and backslashes literally', async ({ serve }) => {
    const [one] = await two(serve)
    const key = uniqueName('pattern')
    await one.getOrSet(`${key}x`, { ttl: 60 }, () => 1)
    for (const pattern of [`data:${key}[xy]`, `data:\\${key}x`, `data:${key}`])
      assert.equal(await one.invalidatePattern(pattern), 0, pattern)
    assert.equal(await one.invalidatePattern(`data:${key}?`), 1)
  })

  contract('responses are replayed as they were: text, JSON, bytes, nothing', async ({ serve }) => {
    const made = [await serve(), ...(isShared ? [await serve()] : [])]
    const base = `/${uniqueName('responses')}`
    const bodies = {
      text: 'grüße 🎈\0',
      json: { a: [1, null] },
      bytes: Uint8Array.of(0xff, 0, 0xc3),
      nothing: undefined,
    }
    for (const { server } of made)
      for (const [name, body] of Object.entries(bodies))
        server.get(`${base}/${name}`, { cache: { ttl: 60, tags: [base] } }, (_req, res) =>
          res.header('x-own', name).send(body as string),
        )
    for (const name of Object.keys(bodies)) {
      const get = (server: Server) => server.inject.get(`${base}/${name}`)
      const first = await get(made[0]!.server)
      assert.equal(first.headers()['x-cache'], 'MISS', name)
      const again = await get(made.at(-1)!.server)
      assert.equal(again.headers()['x-cache'], 'HIT', name)
      assert.equal(again.statusCode(), first.statusCode(), name)
      assert.deepEqual([...again.raw()], [...first.raw()], name)
      assert.equal(again.headers()['content-type'], first.headers()['content-type'])
      assert.equal(again.headers()['x-own'], name)
    }
    assert.equal(await made.at(-1)!.cache.invalidate([base]), 4)
  })
}
