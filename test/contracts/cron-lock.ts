import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CronClaim, CronLock } from 'framework/plugins/cron'
import { pause } from '../support/kernel.ts'
import { type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

/**
 * Tests a lock of cron jobs. The jobs have names of their own, so the store need not be empty, and the tests can run at the same time.
 *
 * @example
 * testCronLock(() => new EtcdLock('http://127.0.0.1:2379'), { test })
 */
export function testCronLock(make: Make<CronLock>, options: ContractOptions): void {
  const contract = contractOf('a lock of jobs', make, options)
  const run = uniqueName('job')
  const tickNow = () => Math.floor(Date.now() / 1000) * 1000
  const wish = (job: string, tick: number | undefined, more: Partial<CronClaim> = {}): CronClaim => ({
    ...{ job: `${run} ${job}`, tick, owner: randomUUID(), ttl: 60_000, exclusive: true },
    ...more,
  })

  contract('a tick is claimed once, and stays taken when its run has ended', async (lock) => {
    const tick = tickNow()
    const [first, second] = [wish('once', tick), wish('once', tick)]
    assert.equal(await lock.claim(first), 'claimed')
    assert.equal(await lock.claim(second), 'taken')
    assert.equal(await lock.claim(first), 'claimed')
    await lock.release(first)
    assert.equal(await lock.claim(second), 'taken')
    assert.equal(await lock.claim(wish('once', tick - 60_000)), 'taken')
    assert.equal(await lock.claim(wish('once', tick + 1000)), 'claimed')
  })

  contract('of many that ask at the same time one gets it', async (lock) => {
    const tick = tickNow()
    for (let i = 0; i < 20; i++) {
      const exclusive = i % 2 === 0
      const asked = Array.from({ length: 12 }, () => lock.claim(wish('many', tick + i, { exclusive })))
      const answers = await Promise.all(asked)
      if (exclusive && i > 0) assert.ok(answers.filter((one) => one === 'claimed').length <= 1)
      else assert.equal(answers.filter((one) => one === 'claimed').length, 1)
    }
  })

  contract('a job that is still running is busy, and its tick is gone; one that may wait stays', async (lock) => {
    const tick = tickNow()
    const running = wish('busy', tick)
    assert.equal(await lock.claim(running), 'claimed')
    assert.equal(await lock.claim(wish('busy', tick + 1)), 'busy')
    assert.equal(await lock.claim(wish('busy', tick + 1)), 'taken')
    const waiting = wish('busy', tick + 2, { exclusive: 'wait' })
    assert.equal(await lock.claim(waiting), 'busy')
    assert.equal(await lock.claim(wish('busy', undefined)), 'busy')
    await lock.release(running)
    assert.equal(await lock.claim(waiting), 'claimed')
    await lock.release(waiting)
    assert.equal(await lock.claim(wish('busy', undefined)), 'claimed')
  })

  contract('side by side where that is allowed, but each tick once', async (lock) => {
    const tick = tickNow()
    assert.equal(await lock.claim(wish('side', tick, { exclusive: false })), 'claimed')
    assert.equal(await lock.claim(wish('side', tick, { exclusive: false })), 'taken')
    assert.equal(await lock.claim(wish('side', tick + 1, { exclusive: false })), 'claimed')
  })

  contract('a holder that dies frees the job after its time, and one that was too slow is notified', async (lock) => {
    const tick = tickNow()
    const dead = wish('dead', tick, { ttl: 300 })
    assert.equal(await lock.claim(dead), 'claimed')
    assert.equal(await lock.renew(dead), true)
    await pause(400)
    const next = wish('dead', tick + 1)
    assert.equal(await lock.claim(next), 'claimed')
    assert.equal(await lock.renew(dead), false)
    await lock.release(dead)
    assert.equal(await lock.renew(next), true)
    assert.equal(await lock.claim(wish('dead', tick + 2)), 'busy')
  })

  contract('a slow holder without a competitor continues', async (lock) => {
    const slow = wish('slow', tickNow(), { ttl: 100 })
    await lock.claim(slow)
    await pause(200)
    assert.equal(await lock.renew({ ...slow, ttl: 5000 }), true)
    assert.equal(await lock.claim(wish('slow', tickNow() + 1000)), 'busy')
  })

  contract('a clock that is a few seconds ahead is taken, one that is minutes ahead is not', async (lock) => {
    assert.equal(await lock.claim(wish('ahead', tickNow() + 3_600_000)), 'early')
    assert.equal(await lock.claim(wish('ahead', tickNow() + 5_000)), 'claimed')
  })

  for (const name of ['a:b', '{x}', "' or 1=1 --", '名前', 'a\u0001b', 'x'.repeat(200)])
    contract(`names are only names: ${JSON.stringify(name)}`, async (lock) => {
      const tick = tickNow()
      assert.equal(await lock.claim(wish(name, tick)), 'claimed')
      assert.equal(await lock.claim(wish(name, tick)), 'taken')
    })
}
