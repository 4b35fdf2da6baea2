import assert from 'node:assert/strict'
import type { RateLimitStore } from 'framework/plugins/rateLimit'
import { pause } from '../support/kernel.ts'
import { type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

/**
 * Tests a store of rate limits, and its `take()` if it has one. It need not be empty, and the tests can run at the same time.
 *
 * @example
 * testRateLimitStore(() => new PostgresLimits(pool), { test })
 */
export function testRateLimitStore(make: Make<RateLimitStore>, options: ContractOptions): void {
  const contract = contractOf('a store of rate limits', make, options)
  const minute = 60_000

  contract('each of many requests at the same time counts, once', async (store) => {
    const key = uniqueName('GET /many 192.0.2.1')
    const hits = await Promise.all(Array.from({ length: 100 }, () => store.hit(key, minute)))
    assert.deepEqual(
      hits.map(({ count }) => count).sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, i) => i + 1),
    )
  })

  contract('the window begins with the first request, and later ones do not extend it', async (store) => {
    const key = uniqueName('window')
    const first = await store.hit(key, minute)
    assert.equal(first.count, 1)
    // The difference of two times with fractions can be a little more than the window.
    assert.ok(first.resetMs > minute - 5_000 && first.resetMs < minute + 1, `resetMs is ${first.resetMs}`)
    await pause(100)
    const second = await store.hit(key, minute)
    assert.ok(second.resetMs > 0 && second.resetMs <= first.resetMs - 50, `${second.resetMs}, after ${first.resetMs}`)
  })

  contract('a window that is over begins anew, and not earlier', async (store) => {
    const key = uniqueName('over')
    for (const round of ['first', 'second']) {
      const start = performance.now()
      assert.equal((await store.hit(key, 500)).count, 1, round)
      const { count } = await store.hit(key, 500)
      // A busy machine may take longer than the window.
      assert.ok(count === 2 || performance.now() - start >= 500, `count is ${count}`)
      await pause(600)
    }
  })

  contract('of requests at the same time after its end one begins the window', async (store) => {
    const key = uniqueName('at once')
    await store.hit(key, 200)
    await pause(300)
    const hits = await Promise.all(Array.from({ length: 20 }, () => store.hit(key, minute)))
    assert.deepEqual(
      hits.map(({ count }) => count).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i + 1),
    )
  })

  const keys = ['a b', 'a', '{a}', "' or 1=1 --", '* 2001:db8::/64', 'POST /名前/:id 192.0.2.1', 'x'.repeat(1_000)]
  contract('keys are only keys, and have nothing to do with each other', async (store) => {
    const own = keys.map((key) => `${uniqueName('key')} ${key}`)
    for (const key of [...own, ...own]) await store.hit(key, minute)
    for (const key of own) assert.equal((await store.hit(key, minute)).count, 3, key)
  })

  contract('counts the key "health", by which a server asks whether the store works', async (store) => {
    const { count, resetMs } = await store.hit('health', 1_000)
    assert.ok(Number.isInteger(count) && count >= 1, `count is ${count}`)
    // The sum and the difference of times with fractions are rounded.
    assert.ok(resetMs > 0 && resetMs < 1_001, `resetMs is ${resetMs}`)
  })

  const take = (name: string, run: (store: Required<RateLimitStore>, key: string) => Promise<void>) =>
    contract(name, async (store) => {
      if (store.take !== undefined) await run(store as Required<RateLimitStore>, uniqueName('GET /take 192.0.2.1'))
    })
  take('of many costs at the same time, a window takes no more than its limit', async (store, key) => {
    const windows = [
      { limit: 10, windowMs: minute },
      { limit: 1_000, windowMs: 2 * minute },
    ]
    const all = await Promise.all(Array.from({ length: 20 }, () => store.take(key, 3, windows)))
    assert.equal(all.filter(({ accepted }) => accepted).length, 3)
    const { accepted, windows: states } = await store.take(key, 1, windows)
    assert.ok(accepted, 'what was refused must not count in any window')
    assert.deepEqual(
      states.map(({ count }) => count),
      [10, 10],
    )
    assert.ok(states[0]!.resetMs > 0 && states[0]!.resetMs < minute + 1, `resetMs is ${states[0]!.resetMs}`)
  })

  take('a bucket holds its burst, which comes back evenly', async (store, key) => {
    const windows = [{ limit: 4, windowMs: 8_000, burst: 1 }]
    const start = performance.now()
    assert.ok((await store.take(key, 1, windows)).accepted)
    const { accepted, windows: states } = await store.take(key, 1, windows)
    // A busy machine may take longer than the two seconds.
    if (performance.now() - start < 2_000)
      assert.ok(!accepted && states[0]!.count > 0 && states[0]!.count <= 1.001, JSON.stringify({ accepted, states }))
    await pause(2_100)
    assert.ok((await store.take(key, 1, windows)).accepted)
  })

  take('a cost of 0 takes nothing', async (store, key) => {
    assert.ok((await store.take(key, 0, [{ limit: 10, windowMs: minute }])).accepted)
    assert.equal((await store.take(key, 0, [{ limit: 10, windowMs: minute }])).windows[0]!.count, 0)
  })
}
