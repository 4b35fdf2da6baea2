import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LockClaim, LockStore } from '../../../plugins/shared/locks/contract.ts'
import { memoryLocks } from '../../../plugins/shared/locks/memory.ts'
import { openPostgresLocks } from '../../../plugins/shared/locks/postgres.ts'
import { redisLocks } from '../../../plugins/shared/locks/redis.ts'
import { connectRedis } from '../../../plugins/shared/stores/redis-client.ts'
import { pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

const wish = (key: string, more: Partial<LockClaim> = {}): LockClaim => ({
  key,
  owner: randomUUID(),
  ttl: 5_000,
  ...more,
})

/** What every store of locks promises, side by side, as some wait. Each call of `open` opens it as another process does. */
function promises(open: () => Promise<LockStore>) {
  let store: LockStore
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close?.())

  test('one of many acquires a lock, each with a higher fence than the last one', async () => {
    const fences: number[] = []
    for (let i = 0; i < 20; i++) {
      const wishes = Array.from({ length: 8 }, () => wish('many'))
      const all = await Promise.all(wishes.map((one) => store.acquire(one, 0)))
      const got = all.filter((one) => one !== undefined)
      expect(got).toHaveLength(1)
      fences.push(...got)
      for (const one of wishes) await store.release(one)
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    expect(fences.every(Number.isSafeInteger)).toBe(true)
  })

  test('a lost response does no harm: the same owner acquires it again, with a higher fence', async () => {
    const one = wish('again')
    const first = await store.acquire(one, 0)
    expect(await store.acquire(one, 0)).toBeGreaterThan(first!)
    expect(await store.acquire(wish('again'), 0)).toBeUndefined()
    await store.release(one)
  })

  test('a holder that dies frees the lock after its ttl, and cannot renew or release it then', async () => {
    const dead = wish('dead', { ttl: 200 })
    const start = performance.now()
    const fence = (await store.acquire(dead, 0))!
    const isRenewed = await store.renew({ ...dead, fence })
    // A busy machine may take longer than the ttl.
    expect(isRenewed || performance.now() - start > 200).toBe(true)
    await pause(300)
    const next = wish('dead')
    expect(await store.acquire(next, 0)).toBeGreaterThan(fence)
    expect(await store.renew({ ...dead, fence })).toBe(false)
    await store.release(dead)
    expect(await store.acquire(wish('dead'), 0)).toBeUndefined()
    await store.release(next)
    expect(await store.renew({ ...next, fence })).toBe(false)
  })

  test('a lock is renewed for longer than its ttl', async () => {
    const one = wish('long', { ttl: 5_000 })
    const fence = (await store.acquire(one, 0))!
    for (let i = 0; i < 3; i++) {
      await pause(1_700)
      expect(await store.renew({ ...one, fence })).toBe(true)
    }
    expect(await store.acquire(wish('long'), 0)).toBeUndefined()
    await store.release(one)
  })

  test('a claimed tick belongs to one caller, who may ask twice, and older ones are gone', async () => {
    const tick = Date.now()
    const [one, other] = [randomUUID(), randomUUID()]
    const ask = async (owner: string, at = tick) =>
      (await store.claim({ key: 'once', tick: at, owner, ttl: 1, exclusive: false })) === 'claimed'
    expect((await Promise.all([ask(one), ask(one)])).every(Boolean)).toBe(true)
    expect(await ask(other)).toBe(false)
    expect(await ask(other, tick - 1)).toBe(false)
    expect(await ask(other, tick + 1)).toBe(true)
  })

  test.each(['a:b', '{x}', "' or 1=1 --", '名前', 'x'.repeat(500)])('keys are only keys: %j', async (key) => {
    const one = wish(key)
    expect(await store.acquire(one, 0)).toBeTypeOf('number')
    expect(await store.acquire(wish(key), 0)).toBeUndefined()
    await store.release(one)
    expect(await store.acquire(wish(key), 0)).toBeTypeOf('number')
  })
}

/** What stores for several processes promise besides. */
function promisesOfProcesses(open: () => Promise<LockStore>) {
  test('the one that waits is next, even if another one asks first, until it no longer asks', async () => {
    const store = await open()
    const [holder, waits, other] = [wish('next'), wish('next'), wish('next')]
    await store.acquire(holder, 0)
    expect(await store.acquire(waits, 20_000)).toBeUndefined()
    expect(await store.acquire(other, 20_000)).toBeUndefined()
    await store.release(holder)
    expect(await store.acquire(holder, 0)).toBeUndefined()
    expect(await store.acquire(other, 20_000)).toBeUndefined()
    expect(await store.acquire(waits, 20_000)).toBeTypeOf('number')
    expect(await store.acquire(other, 20_000)).toBeUndefined()
    await store.release(waits)
    expect(await store.acquire(holder, 0)).toBeUndefined()
    await store.leave(other)
    expect(await store.acquire(holder, 0)).toBeTypeOf('number')
    expect(await store.acquire(waits, 200)).toBeUndefined()
    await store.release(holder)
    await pause(300)
    expect(await store.acquire(other, 0)).toBeTypeOf('number')
    await store.close?.()
  })

  test('fences go on after a restart of the process', async () => {
    const fences: number[] = []
    for (let i = 0; i < 3; i++) {
      const store = await open()
      const one = wish('restart')
      fences.push((await store.acquire(one, 0))!)
      await store.release(one)
      await store.close?.()
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
  })
}

describe.concurrent('in memory', () => promises(async () => memoryLocks()))

describe('in Redis', { concurrent: true, skip: !hasRedis }, () => {
  let redis: OwnServer
  const client = ({ url } = redis) => connectRedis({ url }, { feature: 'a test', commandTimeout: 20_000 })
  const open = async (server = redis) => {
    const own = await client(server)
    return redisLocks(own, 'locks', () => own.disconnect())
  }
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  promises(open)
  promisesOfProcesses(open)

  test('fences rise after the loss of all data, and no key stays for ever', async ({ onTestFinished }) => {
    const emptied = await startRedis()
    onTestFinished(() => emptied.stop())
    const store = await open(emptied)
    const own = await client(emptied)
    const fence = (await store.acquire(wish('lost'), 0))!
    await own.flushall()
    const next = (await store.acquire(wish('lost'), 0))!
    expect(next).toBeGreaterThan(fence)
    for (const key of await own.keys('*')) expect(await own.pttl(key)).toBeGreaterThan(0)
    // As after the clock of Redis was set back by an hour.
    await own.set('locks:{back}:fence', String(next + 3_600_000_000))
    expect(await store.acquire(wish('back'), 0)).toBe(next + 3_600_000_001)
    expect(await own.pttl('locks:{back}:fence')).toBeGreaterThan(3_500_000)
    own.disconnect()
    await store.close?.()
  })
})

describe('in Postgres', { concurrent: true, skip: !hasPostgres }, () => {
  let postgres: OwnServer
  const open = (more: object = {}) =>
    openPostgresLocks(
      { client: undefined, url: postgres.url, table: 'framework_locks', max: 8, ...more } as never,
      'a test',
    )
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  promises(open)
  promisesOfProcesses(open)

  test('a pool that uses another session for each statement, as a pooler does', async () => {
    const { default: pg } = await import('pg')
    const query = async (text: string, values?: unknown[]) => {
      const client = new pg.Client({ connectionString: postgres.url })
      await client.connect()
      try {
        return await client.query(text, values)
      } finally {
        await client.end()
      }
    }
    const store = await open({ client: { query } })
    const one = wish('pooled')
    const fence = (await store.acquire(one, 0))!
    expect(await store.acquire(wish('pooled'), 0)).toBeUndefined()
    expect(await store.renew({ ...one, fence })).toBe(true)
    await store.release(one)
    expect(await store.acquire(wish('pooled'), 0)).toBeGreaterThan(fence)
  })

  test('rows that no one has used for an hour are removed, apart from remembered ticks', async (t) => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    const table = 'swept'
    const store = await open({ table })
    await store.claim({ key: 'tick', tick: Date.now(), owner: 'a', ttl: 1, exclusive: false })
    for (const key of ['old', 'new']) {
      const one = wish(key)
      await store.acquire(one, 0)
      await store.release(one)
    }
    await client.query(`update ${table} set until = now() - interval '2 hours' where job <> 'new'`)
    await store.close?.()
    const again = await open({ table })
    await again.acquire(wish('new'), 0)
    const jobs = async () => (await client.query(`select job from ${table} order by job`)).rows.map(({ job }) => job)
    await t.expect.poll(jobs).toEqual(['new', 'tick'])
    await again.close?.()
    await client.end()
  })
})
