import { readFile } from 'node:fs/promises'
import { cron } from 'framework'
import { CronService, memoryClock } from 'framework/plugins/cron'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { CronClock } from '../../../plugins/cron/schedule/clock.ts'
import { openSystemClock } from '../../../plugins/cron/schedule/system-clock.ts'

const day = 86_400_000

describe('the clock of the machine', () => {
  let clock: CronClock
  beforeEach(async () => {
    // Loaded before time stands still.
    await import('node-schedule')
    vi.useFakeTimers({ now: Date.parse('2026-01-05T10:00:00Z') })
    clock = await openSystemClock()
  })
  afterEach(() => {
    clock.close?.()
    vi.useRealTimers()
  })
  const wakes = (time: number) => {
    const woken: number[] = []
    const cancel = clock.at(time, () => void woken.push(Date.now()))
    return { woken, cancel }
  }

  test('wakes at its time, also after the 24.8 days of a timer', async () => {
    const start = Date.now()
    const soon = wakes(start + 5)
    const late = wakes(start + 60 * day)
    const called = wakes(start + 30 * day)
    await vi.advanceTimersByTimeAsync(5)
    expect(soon.woken).toEqual([start + 5])
    called.cancel()
    await vi.advanceTimersByTimeAsync(60 * day - 6)
    expect(late.woken).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(late.woken).toEqual([start + 60 * day])
    expect(called.woken).toEqual([])
  })

  test('a time that passes while it is handed over is not lost', async () => {
    const time = Date.now() + 100
    // The process was blocked after the first check.
    const now = vi
      .spyOn(Date, 'now')
      .mockReturnValueOnce(time - 100)
      .mockReturnValue(time + 50)
    const { woken } = wakes(time)
    now.mockRestore()
    await vi.advanceTimersByTimeAsync(200)
    expect(woken).toHaveLength(1)
  })

  test('a time in the past wakes at once', async () => {
    const { woken } = wakes(Date.now() - day)
    await vi.advanceTimersByTimeAsync(1)
    expect(woken).toHaveLength(1)
  })

  test('a machine that has slept through the time wakes within seconds', async () => {
    const { woken } = wakes(Date.now() + 3_600_000)
    // The timers stood still meanwhile.
    vi.setSystemTime(Date.now() + 6 * 3_600_000)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(woken).toHaveLength(1)
  })

  test('a clock that is set back wakes early, so that callers can check it', async () => {
    const { woken } = wakes(Date.now() + 3_600_000)
    vi.setSystemTime(Date.now() - 365 * day)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(woken).toHaveLength(1)
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })

  test('a clock that goes evenly is not disturbed by looking at it', async () => {
    const { woken } = wakes(Date.now() + 3_600_000)
    await vi.advanceTimersByTimeAsync(3_599_000)
    expect(woken).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(woken).toHaveLength(1)
    clock.close?.()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the clock in memory', () => {
  test('wakes in order, at the times themselves, and a cancelled timer does not wake', async () => {
    const clock = memoryClock(0)
    const seen: unknown[] = []
    for (const time of [30, 10, 20]) clock.at(time, () => void seen.push([time, clock.now()]))
    clock.at(15, () => void seen.push('never'))()
    clock.at(5, () => void clock.at(7, () => void seen.push(['within', clock.now()])))
    await clock.advance(25)
    expect(seen).toEqual([
      ['within', 7],
      [10, 10],
      [20, 20],
    ])
    expect(clock.now()).toBe(25)
    await clock.advanceTo(new Date(30))
    expect(seen.at(-1)).toEqual([30, 30])
    expect(() => memoryClock('yesterday')).toThrow('yesterday is not a time')
    for (const wrong of ['1h', Number.NaN, Number.POSITIVE_INFINITY, -1, undefined]) {
      await expect(clock.advance(wrong as number)).rejects.toThrow('advance takes milliseconds')
    }
  })
  test('waits for runs with timers or I/O, and no longer than its patience for those that wait for the test', async () => {
    const clock = memoryClock('2026-01-05T12:00:00Z')
    const io = cron('0 1 * * *', { name: 'with I/O' })
    const timed = cron('0 2 * * *', { name: 'with a timer' })
    const held = cron('0 3 * * *', { name: 'held' })
    await io.start(() => readFile(import.meta.filename))
    await timed.start(() => new Promise((resolve) => void setTimeout(resolve, 20)))
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await held.start(() => gate)
    const service = await CronService.run({ crons: [], clock })
    await clock.advanceTo('2026-01-10T12:00:00Z')
    const counts = service.jobs().map(({ name, state, counts: { ok, skipped } }) => [name, state, ok, skipped])
    expect(counts).toEqual([
      ['held', 'running', 0, 4],
      ['with I/O', 'scheduled', 5, 0],
      ['with a timer', 'scheduled', 5, 0],
    ])
    release()
    await service.stop()
    for (const job of [io, timed, held]) job.destroy()
  })
})
