import { RouteCollection, Server } from 'framework'
import {
  BaseCron,
  type CronLock,
  type CronLockOption,
  type CronRun,
  CronService,
  cronJob as cron,
  memoryCronLock,
} from 'framework/plugins/cron'
import { type TestClock, testClock } from 'framework/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openLock } from '../../../plugins/cron/locks/guard.ts'
import { cronServiceOptions } from '../../../plugins/cron/options.ts'
import { testCronLock } from '../../contracts/cron-lock.ts'
import { memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

/** The lock that an option means. */
async function lockOf(lock: CronLockOption) {
  return (await openLock(cronServiceOptions.parse({ lock }, 'cron').lock!)).lock
}

/** A lock whose client has connected, which it does by itself. */
async function connected(option: CronLockOption) {
  const lock = await lockOf(option)
  const ready = { job: 'ready', tick: 0, owner: 'me', ttl: 1, exclusive: false } as const
  const claim = () => lock.claim(ready).then(Boolean, () => false)
  await vi.waitUntil(claim, 20_000)
  return lock
}

const minute = 60_000

describe('the lock in memory', () => testCronLock(() => memoryCronLock(), { test }))

describe.skipIf(!hasRedis)('the lock in Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  testCronLock(() => connected({ redis: redis.url }), { test })

  test('with a client of the application, which stays open', async () => {
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    const lock = await lockOf({ redis: { client, prefix: 'mine' } })
    expect(await lock.claim({ job: 'j', tick: 5, owner: 'me', ttl: 1000, exclusive: true })).toBe('claimed')
    await lock.close?.()
    expect((await client.keys('mine:*')).sort()).toEqual(['mine:{j}:run', 'mine:{j}:tick'])
    for (const key of await client.keys('mine:*')) expect(await client.pttl(key)).toBeGreaterThan(0)
    client.disconnect()
  })
})

describe.skipIf(!hasPostgres)('the lock in Postgres', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  testCronLock(() => lockOf({ postgres: { url: postgres.url, max: 8 } }), { test })

  test('a table that version 0.1.0 has made is used as it is', async () => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    const columns = 'job text primary key, tick bigint, tick_owner text, owner text, until timestamptz'
    await client.query(`create table earlier (${columns})`)
    await client.end()
    const lock = await lockOf({ postgres: { url: postgres.url, table: 'earlier' } })
    const claim = { job: 'j', tick: 5, owner: 'me', ttl: 1000, exclusive: true } as const
    expect([await lock.claim(claim), await lock.renew(claim)]).toEqual(['claimed', true])
    await lock.release(claim)
    expect(await lock.claim({ ...claim, tick: undefined, owner: 'other' })).toBe('claimed')
    await lock.close?.()
  })

  test('instances that make the table at the same moment do not fail', async () => {
    const table = 'public.made_together'
    const locks = await Promise.all(Array.from({ length: 8 }, () => lockOf({ postgres: { url: postgres.url, table } })))
    const claims = locks.map((lock, i) => lock.claim({ job: 'j', tick: 5, owner: `${i}`, ttl: 1000, exclusive: true }))
    const answers = await Promise.all(claims)
    expect(answers.filter((one) => one === 'claimed')).toHaveLength(1)
    for (const lock of locks) await lock.close?.()
  })
})

/** The behaviour of a service with a store that stops answering without closing a connection. */
async function survivesSilence(store: OwnServer, lock: CronLockOption): Promise<void> {
  const logger = memoryLogger()
  const ticks: number[] = []
  class Seconds extends BaseCron {
    @cron('* * * * * *', { name: 'second' })
    tick({ scheduledAt }: CronRun) {
      ticks.push(scheduledAt.getTime())
    }
  }
  const service = await CronService.run({ crons: [Seconds], logger, lock })
  try {
    await vi.waitUntil(() => ticks.length >= 1, 20_000)
    store.freeze()
    const messages = () => logger.entries.map(({ message }) => message)
    await vi.waitUntil(() => messages().some((one) => one?.includes('cannot be reached')), 20_000)
    store.thaw()
    const before = ticks.length
    await vi.waitUntil(() => ticks.length >= before + 2, 20_000)
    expect(new Set(ticks).size).toBe(ticks.length)
    store.freeze()
    const start = performance.now()
    await service.stop({ timeout: 500 })
    expect(performance.now() - start).toBeLessThan(20_000)
  } finally {
    store.thaw()
    await service.stop({ timeout: 100 })
    await store.stop()
  }
}

describe.concurrent('a store that stops answering holds nothing up, and no tick runs twice', () => {
  test.skipIf(!hasRedis)('Redis', async () => {
    const redis = await startRedis()
    await survivesSilence(redis, { redis: redis.url })
  })
  test.skipIf(!hasPostgres)('Postgres', async () => {
    const postgres = await startPostgres()
    await survivesSilence(postgres, { postgres: postgres.url })
  })
})

describe('a service with a lock', () => {
  const stop: (() => unknown)[] = []
  let clock: TestClock
  beforeEach(() => {
    // Several jobs here never end, and are not waited for long.
    clock = testClock('2026-01-05T10:00:00Z', { patience: 100 })
  })
  afterEach(async () => {
    for (const one of stop.splice(0).reverse()) await one()
    clock.restore()
  })
  async function instance(lock: CronLock) {
    const logger = memoryLogger()
    const service = await CronService.run({ crons: [], timezone: 'UTC', logger, lock })
    stop.push(() => service.stop({ timeout: 50 }))
    return { service, log: logger.entries }
  }
  const declare = (...args: Parameters<typeof cron>) => {
    const job = cron(...args)
    stop.push(() => job.destroy())
    return job
  }

  test('needs names, by which instances know the jobs', async () => {
    await instance(memoryCronLock())
    await expect(declare('* * * * *').start(() => {})).rejects.toMatchObject({
      code: 'CronNameError',
      message: expect.stringContaining('a job with a lock needs a name'),
    })
    await declare('* * * * *', { lock: false }).start(() => {})
  })

  test('a tick that another instance has served is counted as that', async () => {
    const lock = memoryCronLock()
    const { service } = await instance(lock)
    let runs = 0
    await declare('* * * * *', { name: 'j' }).start(() => void runs++)
    const other = { job: 'j', owner: 'other', ttl: 1000, exclusive: true } as const
    clock.setTimeout(
      () => lock.claim({ ...other, tick: clock.now() + 500 }).then(() => lock.release({ ...other, tick: 0 })),
      minute - 500,
    )
    await clock.advance(2 * minute)
    expect([runs, service.jobs()[0]!.counts]).toEqual([1, expect.objectContaining({ ok: 1, elsewhere: 1 })])
  })

  test('while the lock cannot be reached nothing runs; a tick waits for it a while; each change is logged once', async () => {
    const real = memoryCronLock()
    let isDown = true
    const lock: CronLock = {
      ...real,
      claim: (claim) => (isDown ? Promise.reject(new Error('connection refused')) : real.claim(claim)),
    }
    const { service, log } = await instance(lock)
    const ran: number[] = []
    await declare('*/10 * * * *', { name: 'j' }).start(({ scheduledAt }) => void ran.push(scheduledAt.getUTCMinutes()))
    await clock.advance(15 * minute)
    expect([ran, service.jobs()[0]!.counts.unlocked]).toEqual([[], 1])
    await clock.advance(5 * minute + 10_000)
    isDown = false
    await clock.advance(10_000)
    expect(ran).toEqual([20])
    isDown = true
    await clock.advance(10 * minute)
    expect(log.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'error the lock of the cron jobs cannot be reached: their ticks wait for it and do not run',
      'warn the lock of the cron jobs can be reached again',
      'error the lock of the cron jobs cannot be reached: their ticks wait for it and do not run',
    ])
  })

  test('a lock that throws, or never answers, does no harm', async () => {
    const lock: CronLock = {
      claim: () => {
        throw new Error('not even a promise')
      },
      renew: async () => true,
      release: async () => {},
    }
    const { service } = await instance(lock)
    await declare('* * * * *', { name: 'j' }).start(() => {})
    await clock.advance(3 * minute)
    expect(service.jobs()[0]!.counts).toMatchObject({ ok: 0, unlocked: 2 })
  })

  test('a run renews its lock, and the signal of one that has lost it aborts', async () => {
    const lock = memoryCronLock()
    const { log } = await instance(lock)
    let signal: AbortSignal | undefined
    await declare('0 * * * *', { name: 'long' }).start((run) => {
      signal = run.signal
      return new Promise((resolve) => run.signal.addEventListener('abort', resolve))
    })
    const other = (tick: number) => lock.claim({ job: 'long', tick, owner: 'other', ttl: 60_000, exclusive: true })
    await clock.advance(100 * minute)
    expect(await other(clock.now())).toBe('busy')
    expect(signal?.aborted).toBe(false)
    // As when this process was blocked for longer than it had claimed.
    vi.spyOn(lock, 'renew').mockResolvedValueOnce(false)
    await clock.advance(minute)
    expect(signal?.reason).toMatchObject({ code: 'CronLockLostError' })
    expect(log.at(-1)?.message).toContain('the lock of the cron job "long" was lost')
  })

  test('a run that ends while its lock is renewed releases it for good', async () => {
    const lock = memoryCronLock()
    const { service } = await instance(lock)
    let end = () => {}
    await declare('0 * * * *', { name: 'short' }).start(() => new Promise<void>((resolve) => (end = resolve)))
    const { renew } = lock
    let carryOut = () => {}
    const renewed = vi.spyOn(lock, 'renew').mockImplementation(async (claim) => {
      await new Promise<void>((resolve) => (carryOut = resolve))
      return renew(claim)
    })
    await clock.advance(60 * minute + 10_000)
    expect(renewed).toHaveBeenCalledTimes(1)
    end()
    await pause(1)
    carryOut()
    await service.idle()
    const other = { job: 'short', tick: undefined, owner: 'other', ttl: 60_000, exclusive: true } as const
    expect(await lock.claim(other)).toBe('claimed')
    await lock.release(other)
    await clock.advance(10_000)
    expect(renewed).toHaveBeenCalledTimes(1)
  })

  test('a service that no longer waits for a run no longer renews its lock', async () => {
    const lock = memoryCronLock()
    const { service } = await instance(lock)
    await declare('0 * * * *', { name: 'stuck' }).start(() => new Promise(() => {}))
    const renewed = vi.spyOn(lock, 'renew')
    await clock.advance(60 * minute + 10_000)
    expect(renewed).toHaveBeenCalledTimes(1)
    expect(await service.stop({ timeout: 1 })).toEqual(['stuck'])
    await clock.advance(minute)
    expect(renewed).toHaveBeenCalledTimes(1)
    const other = { job: 'stuck', tick: undefined, owner: 'other', ttl: 60_000, exclusive: true } as const
    expect(await lock.claim(other)).toBe('claimed')
  })

  test('a claim that the lock grants only after the service has stopped begins no run, and is released', async () => {
    const lock = memoryCronLock()
    const { service } = await instance(lock)
    let runs = 0
    await declare('0 * * * *', { name: 'late' }).start(() => void runs++)
    let grant = () => {}
    const asked = new Promise<void>((resolve) => {
      grant = resolve
    })
    const claim = lock.claim.bind(lock)
    vi.spyOn(lock, 'claim').mockImplementation((wish) => asked.then(() => claim(wish)))
    await clock.advance(60 * minute)
    expect(await service.stop({ timeout: 1 })).toEqual(['late'])
    grant()
    await expect.poll(() => lock.claim).toHaveBeenCalled()
    await new Promise((resolve) => setImmediate(resolve))
    expect(runs).toBe(0)
    const other = { job: 'late', tick: undefined, owner: 'other', ttl: 60_000, exclusive: true } as const
    expect(await claim(other)).toBe('claimed')
  })

  test('the lock of a run is released although its error handler never ends', async () => {
    const lock = memoryCronLock()
    const { log } = await instance(lock)
    let runs = 0
    const options = { name: 'stuck', timeout: 20, onFailed: () => new Promise(() => {}) }
    await declare('* * * * *', options).start(() => {
      runs++
      throw new Error('no')
    })
    await clock.advance(minute + 20)
    expect(log.map(({ message }) => message)).toContain('onFailed of the cron job "stuck" itself failed')
    await clock.advance(minute)
    expect(runs).toBe(2)
  })

  test('a tick that waits for another instance runs when that ends', async () => {
    const lock = memoryCronLock()
    await instance(lock)
    const ran: string[] = []
    await declare('*/10 * * * *', { name: 'q', overlap: 'queue' }).start(
      () => void ran.push(new Date(clock.now()).toISOString().slice(11, 19)),
    )
    const other = { job: 'q', tick: undefined, owner: 'other', ttl: 3_600_000, exclusive: true } as const
    await lock.claim(other)
    await clock.advance(12 * minute)
    expect(ran).toEqual([])
    await lock.release(other)
    await clock.advance(minute)
    expect(ran).toEqual(['10:12:01'])
  })

  test('a clock that is far ahead runs nothing, and it is said once', async () => {
    const { service, log } = await instance(memoryCronLock(() => Date.parse('2026-01-04T10:00:00Z')))
    await declare('* * * * *', { name: 'j' }).start(() => {})
    await clock.advance(3 * minute)
    expect(service.jobs()[0]!.counts).toMatchObject({ ok: 0, unlocked: 3 })
    expect(log.filter(({ message }) => message?.includes('more than a minute ahead'))).toHaveLength(1)
  })

  test.each([
    ['memory'],
    [{}],
    [{ redis: 5 }],
    [{ redis: 'redis://x', postgres: 'postgres://x' }],
    [{ redis: 'redis://x', ttl: 10 }],
    [{ redis: 'redis://x', timeout: 10 }],
    [{ redis: 'localhost' }],
    [{ redis: { hots: 'a' } }],
    [{ redis: { client: {} } }],
    [{ postgres: { url: 'mysql://x' } }],
    [{ postgres: { pasword: 'a' } }],
    [{ postgres: { table: 'a; drop table b' } }],
    [null],
  ])('refuses %j', (lock) => {
    expect(() => new CronService({ lock: lock as never })).toThrow(
      expect.objectContaining({ code: 'OptionError', message: expect.stringContaining('cron.lock') }),
    )
  })

  test('lets the options of the packages through, and lists none of their passwords', () => {
    const ofPool = { host: 'db', user: 'a', password: 'hunter2', min: 1, max: 2, idleTimeoutMillis: 5, ssl: {} }
    const { lock } = cronServiceOptions.parse({ lock: { postgres: ofPool } }, 'cron')
    expect(lock).toEqual({ postgres: { ...ofPool, table: 'framework_cron' }, ttl: 30_000 })
    for (const given of [{ postgres: ofPool }, { redis: { host: 'db', password: 'hunter2', sentinels: [] } }]) {
      const server = new Server({ router: new RouteCollection(), plugins: { cron: { crons: [], lock: given } } })
      expect(JSON.stringify(server.plugins)).not.toContain('hunter2')
    }
  })
})
