import type { TestClock } from 'framework/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Breaker } from '../../../../plugins/shared/stores/breaker.ts'
import { moveSystemClock } from '../../../support/system-clock.ts'

const changes: unknown[] = []
const onChange = (state: string, error?: unknown) => void changes.push(error === undefined ? state : [state, error])
const opened: Breaker[] = []

function breakerWith(probe: () => unknown, timeout?: number): Breaker {
  const breaker = new Breaker({ name: 'the store', probe, onChange, timeout })
  opened.push(breaker)
  return breaker
}

let time: TestClock
beforeEach(() => {
  time = moveSystemClock()
  changes.splice(0)
})
afterEach(() => {
  for (const breaker of opened.splice(0)) breaker.stop()
  time.restore()
})

const ok = async () => 'ok'

test('a service that fails is not called until its probe is answered; each change is reported once', async () => {
  let isUp = false
  const probe = vi.fn(async () => {
    if (!isUp) throw new Error('no response')
  })
  const breaker = breakerWith(probe)
  const cause = new Error('first')
  await expect(breaker.run(() => Promise.reject(cause))).rejects.toMatchObject({
    message: 'the store failed: first',
    cause,
  })
  breaker.failed('second')
  const ran = vi.fn()
  breaker.whenUp(ran)
  const called = vi.fn(ok)
  await time.advance(2_600)
  await expect(breaker.run(called)).rejects.toThrow('the store does not respond')
  expect([called.mock.calls.length, probe.mock.calls.length, changes]).toEqual([0, 5, [['down', cause]]])
  isUp = true
  await time.advance(500)
  expect(await breaker.run(called)).toBe('ok')
  expect([changes.at(-1), ran.mock.calls.length]).toEqual(['up', 1])
  await time.advance(5_000)
  expect(probe).toHaveBeenCalledTimes(6)
})

test('a throw and a rejection with nothing are failures', async () => {
  for (const fail of [() => Promise.reject(undefined), () => JSON.parse('{') as unknown]) {
    await expect(breakerWith(ok).run(fail)).rejects.toThrow('the store failed')
  }
})

test('a refusal is reported once a minute, and the service is called again', async () => {
  const breaker = breakerWith(ok)
  const refusal = Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' })
  for (let i = 0; i < 3; i++) await expect(breaker.run(() => Promise.reject(refusal))).rejects.toThrow('OOM')
  expect(changes).toEqual([['refused', refusal]])
  expect(await breaker.run(ok)).toBe('ok')
})

test('a probe that is not answered is waited for, and no other is sent', async () => {
  const probe = vi.fn(() => new Promise(() => {}))
  const breaker = breakerWith(probe)
  breaker.failed('x')
  await time.advance(10_000)
  expect(probe).toHaveBeenCalledTimes(1)
})

test('a check asks the probe', async () => {
  const probe = vi.fn(ok)
  await breakerWith(probe).check()
  expect(probe).toHaveBeenCalledTimes(1)
  await expect(breakerWith(() => Promise.reject(new Error('away'))).check()).rejects.toThrow('away')
})

test('stopped, it asks for nothing more and reports nothing', async () => {
  const probe = vi.fn(ok)
  const breaker = breakerWith(probe)
  breaker.failed('x')
  breaker.stop()
  breaker.failed('y')
  await time.advance(1_000)
  expect([probe.mock.calls.length, changes]).toEqual([0, [['down', 'x']]])
})

describe('with a timeout', () => {
  test('silence is a failure, of calls and of probes', async () => {
    let silent = true
    const probe = vi.fn(() => (silent ? new Promise(() => {}) : undefined))
    const breaker = breakerWith(probe, 100)
    const asked = breaker.run(() => new Promise(() => {})).catch((error: Error) => error.message)
    await time.advance(150)
    expect(await asked).toBe('the store failed: no response within 100 ms')
    await time.advance(1_500)
    expect(probe.mock.calls.length).toBeGreaterThan(1)
    silent = false
    await time.advance(1_500)
    expect(changes.at(-1)).toBe('up')
  })
})
