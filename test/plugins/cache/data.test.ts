import { type CacheService, RouteCollection, Server } from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

let clock: TestClock
let server: Server<{ plugins: { cache: {} } }>
let cache: CacheService
const logger = memoryLogger()
const router = new RouteCollection()
router.get('/books', { cache: { tags: ['books'] } }, () => 'books')
beforeEach(async () => {
  clock = testClock('2030-01-01T00:00:00Z', { patience: 100 })
  logger.entries.length = 0
  server = new Server({ router, logger, closeTimeout: 2_000, plugins: { cache: { lockTimeout: 1_000 } } }) as never
  cache = server.services.get('cache')
  await server.ready()
})
afterEach(async () => {
  await server.close()
  clock.restore()
})

/** A function that counts its calls. */
function counting<Result>(result: (calls: number) => Result) {
  const counted = { calls: 0, run: () => result(++counted.calls) }
  return counted
}

test('computes once for callers that ask at once, and for the seconds of ttl', async () => {
  const one = counting(async (calls) => {
    await pause(10)
    return { calls }
  })
  const get = () => cache.getOrSet('a', { ttl: 10 }, one.run)
  const all = await Promise.all(Array.from({ length: 50 }, get))
  expect(all).toEqual(all.map(() => ({ calls: 1 })))
  // Each caller may change its own.
  expect(new Set(all).size).toBe(50)
  await clock.advance(9_999)
  expect(await get()).toEqual({ calls: 1 })
  await clock.advance(1)
  expect(await get()).toEqual({ calls: 2 })
})

test('an old result is returned while one caller renews it in the background', async () => {
  const one = counting(async (calls) => calls)
  const get = () => cache.getOrSet('a', { ttl: 10, stale: 20 }, one.run)
  await get()
  await clock.advance(15_000)
  expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1])
  await clock.advance(0)
  expect([await get(), one.calls]).toEqual([2, 2])
  await clock.advance(31_000)
  expect(await get()).toBe(3)
})

test('a renewal that fails is logged, rests for a second, and leaves the old result for its time', async () => {
  const one = counting(async (calls) => {
    if (calls > 1) throw new Error('away')
    return calls
  })
  const get = () => cache.getOrSet('a', { ttl: 10, stale: 20 }, one.run)
  await get()
  await clock.advance(15_000)
  for (let i = 0; i < 5; i++) {
    expect(await get()).toBe(1)
    await clock.advance(100)
  }
  expect(one.calls).toBe(2)
  await clock.advance(1_000)
  expect(await get()).toBe(1)
  await clock.advance(20_000)
  await expect(get()).rejects.toThrow('away')
  expect(logger.entries.map(({ level, fields, message }) => [level, fields.key, message])).toEqual([
    ['warn', 'a', 'cached data could not be renewed: the old result is returned until its time is over'],
    ['warn', 'a', 'cached data could not be renewed: the old result is returned until its time is over'],
  ])
})

test.each([undefined, null])('%s is kept as well, for its own time', async (nothing) => {
  const one = counting(() => nothing)
  const get = () => cache.getOrSet('a', { ttl: 100, negativeTtl: 5 }, one.run)
  expect([await get(), await get(), one.calls]).toEqual([nothing, nothing, 1])
  await clock.advance(5_000)
  expect([await get(), one.calls]).toEqual([nothing, 2])
})

test('an error goes to those who wait, and is not kept', async () => {
  const one = counting(async (calls) => {
    await pause(10)
    if (calls === 1) throw new Error('mine')
    return calls
  })
  const get = () => cache.getOrSet('a', {}, one.run)
  const all = await Promise.allSettled([get(), get(), get()])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await get()).toBe(2)
})

test('callers of a computation that takes longer than twice lockTimeout no longer wait for it', async () => {
  const one = counting((calls) => (calls === 1 ? new Promise<number>(() => {}) : calls))
  const get = () => cache.getOrSet('a', {}, one.run)
  void get()
  await pause(1)
  const others = Promise.all([get(), get(), get()])
  await clock.advance(2_500)
  expect([await others, one.calls]).toEqual([[2, 2, 2], 2])
})

describe('removing', () => {
  test('delete removes one key, also of a result that is being computed', async () => {
    const one = counting(async (calls) => {
      await pause(10)
      return calls
    })
    const get = () => cache.getOrSet('a', {}, one.run)
    await get()
    expect([await cache.delete('a'), await cache.delete('a'), await cache.delete('b')]).toEqual([true, false, false])
    const [before, waits] = [get(), get()]
    await pause(1)
    await cache.delete('a')
    const after = get()
    // Those that asked before may have the old one; it is not kept, and those that wait ask again.
    expect([await before, await after]).toEqual([2, 3])
    await waits
    expect([await get(), one.calls]).toEqual([3, 3])
  })

  test('invalidate removes data and responses with a tag, and invalidatePattern those whose key matches', async () => {
    const one = counting((calls) => calls)
    const get = (key: string, tags?: string[]) => cache.getOrSet(key, { ...(tags && { tags }) }, one.run)
    await server.inject.get('/books')
    await get('tagged', ['books'])
    await get('other')
    expect(await cache.invalidate(['books'])).toBe(2)
    expect([await get('tagged'), await get('other')]).toEqual([3, 2])
    await server.inject.get('/books')
    expect(await cache.invalidatePattern('cache:GET:*')).toBe(1)
    expect(await cache.invalidatePattern('data:oth?r')).toBe(1)
    expect(await cache.invalidatePattern('*')).toBe(1)
  })

  test('no key of data is that of a response', async () => {
    await server.inject.get('/books')
    const [key] = cache.store!.keys!(1)
    expect(await cache.getOrSet(key!, {}, () => 'data')).toBe('data')
    ;(await server.inject.get('/books')).assertHeader('x-cache', 'HIT').assertBodyDeepEqual('books')
    for (const other of ['a#b', 'a', 'a%23b']) expect(await cache.getOrSet(other, {}, () => other)).toBe(other)
    for (const other of ['a#b', 'a', 'a%23b']) expect(await cache.getOrSet(other, {}, () => '')).toBe(other)
  })
})

describe('results are JSON, the same whether they were computed or kept', () => {
  test.each([[{ a: [1, 'x', null, true, { b: [] }] }], [0], [''], ['text'], [false], [[]]])('%j', async (value) => {
    expect([await cache.getOrSet('a', {}, () => value), await cache.getOrSet('a', {}, () => 5)]).toEqual([value, value])
  })

  test('a member that is undefined is left out in both', async () => {
    for (let i = 0; i < 2; i++)
      expect(Object.keys(await cache.getOrSet('a', {}, () => ({ a: 1, b: undefined })))).toEqual(['a'])
  })

  const cycle = (): object => {
    const list: object[] = []
    list.push(list)
    return list
  }
  test.each<[what: string, () => unknown, string]>([
    ['a Date', () => ({ at: new Date(0) }), 'has an object of the kind Date at /at, which JSON would change'],
    ['NaN', () => [1, { n: Number.NaN }], 'has NaN at /1/n'],
    ['a Map', () => new Map(), 'is an object of the kind Map'],
    ['a Map inside', () => ({ a: new Map([[1, 2]]) }), 'has an object of the kind Map at /a'],
    ['a function', () => () => {}, 'is a function'],
    ['a function inside', () => ({ f: () => {} }), 'has a function at /f'],
    ['undefined in a list', () => [undefined], 'has undefined at /0'],
    ['a bigint', () => 1n, 'cannot be written as JSON'],
    ['a cycle', cycle, 'cannot be written as JSON'],
    ['a toJSON', () => ({ toJSON: () => 1 }), 'has a toJSON()'],
    ['bytes', () => Buffer.from('x'), 'has an object of the kind Uint8Array'],
  ])('%s is refused', async (_what, make, why) => {
    const failure = await cache.getOrSet('a', {}, make).catch((error: Error) => error)
    expect(failure).toMatchObject({ code: 'CacheValueError', status: 500 })
    expect((failure as Error).message).toContain(`the result for the key "a" ${why}`)
    expect(await cache.getOrSet('a', {}, () => 'good')).toBe('good')
  })
})

test('closing waits for a renewal, and aborts one that does not end', async () => {
  let signal: AbortSignal | undefined
  const forever = cache.getOrSet('a', {}, (work) => {
    signal = work.signal
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
  })
  await pause(1)
  await Promise.all([expect(forever).rejects.toThrow('the server closes'), server.close()])
  expect(signal!.aborted).toBe(true)
})

test.each([
  ['', {}, () => 1],
  ['a', {}, 5],
])('refuses the arguments %j, %j, %j', async (key, options, run) => {
  await expect(cache.getOrSet(key, options, run as never)).rejects.toMatchObject({ code: 'ArgumentsError' })
})

test.each([[{ ttl: 0 }], [{ stale: -1 }], [{ tags: 'a' }], [{ tll: 5 }]])('refuses the options %j', async (options) => {
  await expect(cache.getOrSet('a', options as never, () => 1)).rejects.toMatchObject({ code: 'OptionError' })
})
