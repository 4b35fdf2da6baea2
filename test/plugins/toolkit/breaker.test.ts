import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Breaker } from '../../../plugins/toolkit/breaker.ts'

const changes: unknown[] = []
const onChange = (isDown: boolean, error?: unknown) => void changes.push(isDown ? error : 'up')
beforeEach(() => {
  vi.useFakeTimers()
  changes.splice(0)
})
afterEach(() => {
  vi.useRealTimers()
})

describe('with a probe', () => {
  test('it is open until the probe is answered, and reports each change once', async () => {
    let isUp = false
    const probe = vi.fn(async () => {
      if (!isUp) throw new Error('no answer')
    })
    const breaker = new Breaker({ restMs: 100, probe, onChange })
    const ran = vi.fn()
    breaker.worked()
    breaker.failed('first')
    breaker.failed('second')
    breaker.whenClosed(ran)
    await vi.advanceTimersByTimeAsync(1_050)
    expect([breaker.isOpen, probe.mock.calls.length, changes]).toEqual([true, 10, ['first']])
    isUp = true
    await vi.advanceTimersByTimeAsync(100)
    expect([breaker.isOpen, changes, ran.mock.calls.length]).toEqual([false, ['first', 'up'], 1])
    await vi.advanceTimersByTimeAsync(1_000)
    expect([probe.mock.calls.length, vi.getTimerCount()]).toEqual([11, 0])
    breaker.failed('again')
    expect([breaker.isOpen, changes.at(-1)]).toEqual([true, 'again'])
    breaker.stop()
  })

  test('a probe that is not answered is waited for, and no other is sent', async () => {
    const probe = vi.fn(() => new Promise(() => {}))
    const breaker = new Breaker({ restMs: 100, probe })
    breaker.failed('x')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(probe).toHaveBeenCalledTimes(1)
    breaker.stop()
  })

  test('stopped, it asks for nothing more and reports nothing', async () => {
    const probe = vi.fn(async () => {})
    const breaker = new Breaker({ restMs: 100, probe, onChange })
    breaker.failed('x')
    breaker.stop()
    breaker.failed('y')
    await vi.advanceTimersByTimeAsync(1_000)
    expect([probe.mock.calls.length, changes]).toEqual([0, ['x']])
  })
})

test('without a probe the first caller after a rest tries', async () => {
  const breaker = new Breaker({ restMs: 100, onChange })
  breaker.failed('x')
  expect(breaker.isOpen).toBe(true)
  await vi.advanceTimersByTimeAsync(101)
  expect(breaker.isOpen).toBe(false)
  breaker.failed('y')
  expect([breaker.isOpen, changes]).toEqual([true, ['x']])
  await vi.advanceTimersByTimeAsync(101)
  breaker.worked()
  expect([breaker.isOpen, changes]).toEqual([false, ['x', 'up']])
})
