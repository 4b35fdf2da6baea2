import { readFile } from 'node:fs/promises'
import { cron } from 'framework'
import { systemClock } from 'framework/kernel'
import { CronService } from 'framework/plugins/cron'
import { testClock } from 'framework/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openSystemClock, type WallClock } from '../../../plugins/cron/schedule/system-clock.ts'
import { pause } from '../../support/kernel.ts'

const day = 86_400_000

describe('the clock of the machine', () => {
  let clock: WallClock
  beforeEach(async () => {
    // Loaded before time stands still.
    await import('node-schedule')
    vi.useFakeTimers({ now: Date.parse('2026-01-05T10:00:00Z') })
    // By the timers that are faked, as node-schedule does.
    vi.spyOn(systemClock, 'setTimeout').mockImplementation((run, ms) => setTimeout(run, ms))
    vi.spyOn(systemClock, 'setInterval').mockImplementation((run, ms) => setInterval(run, ms))
    vi.spyOn(systemClock, 'clear').mockImplementation((timer) => clearTimeout(timer as NodeJS.Timeout))
    vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now())
    clock = await openSystemClock()
  })
  afterEach(() => {
    clock.close?.()
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const wakes = (time: number) => {
    const woken: number[] = []
    const cancel = clock.at(time, () => void woken.push(Date.now()))
    return { woken, cancel }
  }

  test('wakes at its time, also after the 24.8 days of a timer', async () => {
    const start = Date.now()
    const soon = wakes(start + 5)
    const late = wakes(start + 26 * day)
    const called = wakes(start + 25 * day)
    await vi.advanceTimersByTimeAsync(5)
    expect(soon.woken).toEqual([start + 5])
    called.cancel()
    await vi.advanceTimersByTimeAsync(26 * day - 6)
    expect(late.woken).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(late.woken).toEqual([start + 26 * day])
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
    expect(Object.keys((await import('node-schedule')).default.scheduledJobs)).toEqual([])
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

describe('the clock of a test', () => {
  test('waits for runs with timers or I/O, and no longer than its patience for those that wait for the test', async () => {
    const clock = testClock('2026-01-05T12:00:00Z')
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
    const service = await CronService.run({ crons: [] })
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
    clock.restore()
  })

  /** Runs jobs for 30 days; returns how many runs there were, and the processor time. */
  async function month(patterns: readonly string[]) {
    const clock = testClock('2026-01-01T00:00:00Z')
    const jobs = patterns.map((pattern, i) => cron(pattern, { name: `job ${i}` }))
    let runs = 0
    for (const job of jobs) await job.start(() => void runs++)
    const service = await CronService.run({ crons: [], timezone: 'UTC' })
    // Of processor time, which a busy machine does not take more of.
    const before = process.cpuUsage()
    await clock.advance('30 days')
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1000
    const skipped = service.jobs().reduce((sum, { counts }) => sum + counts.skipped + counts.missed, 0)
    await service.stop()
    for (const job of jobs) job.destroy()
    clock.restore()
    return { runs, skipped, ms }
  }
  const tens = Array.from({ length: 10_000 }, (_, i) => {
    const at = new Date(Date.UTC(2026, 0, 1) + (i + 1) * 250_000)
    return `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
  })

  test.each([
    ['one job of every four minutes', ['*/4 * * * *'], 10_800, ['*/40 * * * *']],
    ['10 000 jobs of one run each', tens, 10_000, tens.slice(0, 1000)],
  ] as const)('30 days with 10 000 runs: %s', async (_what, patterns, runs, tenth) => {
    const few = await month(tenth)
    const { ms, ...result } = await month(patterns)
    expect(result).toEqual({ runs, skipped: 0 })
    // A second on a quiet machine. Ten times as many runs take ten times as long: with a search through all of them, it would be a hundred.
    expect(ms).toBeLessThan(few.ms * 40)
  })

  test('the result is the same each time', async () => {
    const patterns = ['*/7 * * * *', '0 3 * * *', '30 2 * * mon']
    const first = await month(patterns)
    for (let i = 0; i < 99; i++) {
      const { ms: _, ...again } = await month(patterns.slice(1))
      expect(again).toEqual({ runs: 34, skipped: 0 })
    }
    expect(first).toMatchObject({ runs: 6514, skipped: 0 })
  })

  test('five nights of a job that takes 20 ms are five runs', async () => {
    const clock = testClock('2026-03-26T12:00:00Z')
    const job = cron('30 2 * * *', { name: 'nightly', timezone: 'Europe/Rome' })
    await job.start(() => pause(20))
    const service = await CronService.run({ crons: [] })
    await clock.advance('5 days')
    expect(service.jobs()[0]!.counts).toMatchObject({ ok: 5, skipped: 0 })
    await service.stop()
    job.destroy()
    clock.restore()
  })
})
