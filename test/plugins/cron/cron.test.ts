import {
  CronService,
  type CronServiceOptions,
  cronJob as cron,
  memoryCronLock,
  setCronGlobalErrorHandler,
} from 'framework/plugins/cron'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { block, memoryLogger } from '../../support/kernel.ts'

const minute = 60_000
const services: CronService[] = []

let time: TestClock | undefined

/** Several jobs here never end, and are not waited for long. */
function takeClock(): TestClock {
  time ??= testClock('2026-01-05T10:00:00Z', { patience: 100 })
  return time
}

/** A service, closed by `afterEach`. */
async function run(options: CronServiceOptions = {}) {
  const clock = takeClock()
  const logger = memoryLogger()
  const service = await CronService.run({ crons: [], timezone: 'UTC', logger, ...options })
  services.push(service)
  return { service, clock, log: logger.entries, at: () => new Date(clock.now()).toISOString().slice(11, 19) }
}

const handles: { destroy(): void }[] = []
const declare = (...args: Parameters<typeof cron>) => {
  const handle = cron(...args)
  handles.push(handle)
  return handle
}

afterEach(async () => {
  for (const service of services.splice(0)) await service.stop({ timeout: 100 })
  for (const handle of handles.splice(0)) handle.destroy()
  setCronGlobalErrorHandler(undefined)
  time?.restore()
  time = undefined
})

describe('a handle', () => {
  test('start passes the job on, ticks come, stop ends them, start continues', async () => {
    const { service, clock, at } = await run()
    const seen: string[] = []
    const job = declare('*/10 * * * *', { name: 'ten' })
    await job.start(
      ({ name, scheduledAt }) => void seen.push(`${name} ${scheduledAt.toISOString().slice(11, 16)} ${at()}`),
    )
    await clock.advance(25 * minute)
    expect(seen).toEqual(['ten 10:10 10:10:00', 'ten 10:20 10:20:00'])
    job.stop()
    expect(service.jobs()).toMatchObject([{ name: 'ten', state: 'stopped', next: undefined }])
    await clock.advance(60 * minute)
    expect(seen).toHaveLength(2)
    await job.start(() => void seen.push('again'))
    await clock.advance(10 * minute)
    expect(seen.slice(2)).toEqual(['again'])
    expect(service.jobs()).toMatchObject([{ state: 'scheduled', counts: { ok: 3, skipped: 0, missed: 0 } }])
  })

  test('started twice it rejects with the sentence of the contract', async () => {
    const job = declare('* * * * *', { name: 'clean' })
    await job.start(() => {})
    await expect(job.start(() => {})).rejects.toThrow(new Error('Cron job "clean" is already started'))
    const unnamed = declare(' 5 * * * * ')
    await unnamed.start(() => {})
    await expect(unnamed.start(() => {})).rejects.toThrow('Cron job "5 * * * *" is already started')
  })

  test('start without a handler keeps the previous one', async () => {
    const { clock } = await run()
    const job = declare('* * * * *', { name: 'paused' })
    let runs = 0
    await expect(job.start()).rejects.toThrow('start of the cron job "paused" takes a function')
    await job.start(() => void runs++)
    await expect(job.start()).rejects.toThrow('Cron job "paused" is already started')
    job.stop()
    await clock.advance(5 * minute)
    await job.start()
    await clock.advance(minute)
    expect(runs).toBe(1)
    job.stop()
    await expect(job.start('handler' as never)).rejects.toThrow(TypeError)
    job.destroy()
    await expect(job.start()).rejects.toMatchObject({ code: 'CronDestroyedError' })
  })

  test('destroyed it says so, and is gone', async () => {
    const { service } = await run()
    const job = declare('* * * * *', { name: 'gone' })
    await job.start(() => {})
    job.destroy()
    job.destroy()
    job.stop()
    await expect(job.start(() => {})).rejects.toMatchObject({
      code: 'CronDestroyedError',
      message: expect.stringContaining('"gone" was destroyed'),
    })
    expect(service.jobs()).toEqual([])
    const never = declare('* * * * *')
    never.stop()
    never.destroy()
    await expect(never.start(() => {})).rejects.toMatchObject({ code: 'CronDestroyedError' })
  })

  test('without a handler it is a TypeError, and not started', async () => {
    const job = declare('* * * * *', { name: 'idle' })
    await expect(job.start(undefined as never)).rejects.toThrow(TypeError)
    await job.start(() => {})
  })

  test('nothing runs without a service; the first one that starts later takes waiting jobs', async () => {
    let runs = 0
    await declare('* * * * *').start(() => void runs++)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const first = await run()
    const second = await run()
    await first.clock.advance(minute)
    expect(runs).toBe(1)
    expect(second.service.jobs()).toEqual([])
    await first.service.stop()
    await first.clock.advance(minute)
    expect(runs).toBe(2)
  })

  test('two of one name are an error at the start', async () => {
    const { service, clock } = await run()
    let runs = 0
    const first = declare('* * * * *', { name: 'same' })
    const second = declare('* * * * *', { name: 'same' })
    await first.start(() => void runs++)
    await expect(second.start(() => void runs++)).rejects.toMatchObject({ code: 'CronNameError' })
    first.stop()
    await second.start(() => void runs++)
    await clock.advance(minute)
    expect([runs, service.jobs().length]).toEqual([1, 1])
  })

  test('those without a name have different ones: the pattern, and after it a number', async () => {
    const { service } = await run()
    const ran: string[] = []
    const jobs = [1, 2, 3].map((minute) => ({ job: declare('7 7 * * *'), minute }))
    // Not those that are only decorators.
    declare('7 7 * * *')
    for (const { job, minute } of jobs) await job.start(() => void ran.push(`${minute}`))
    expect(jobs.map(({ job }) => job.name)).toEqual(['7 7 * * *', '7 7 * * * #2', '7 7 * * * #3'])
    expect(service.jobs().map(({ name }) => name)).toEqual(['7 7 * * *', '7 7 * * * #2', '7 7 * * * #3'])
    expect(await service.trigger('7 7 * * * #2')).toBe(true)
    expect(ran).toEqual(['2'])
    await expect(declare('8 8 * * *', { name: '7 7 * * * #3' }).start(() => {})).rejects.toMatchObject({
      code: 'CronNameError',
    })
    // Stopped and started again it is still the same.
    jobs[1]!.job.stop()
    await jobs[1]!.job.start(() => void ran.push('again'))
    expect(await service.trigger('7 7 * * * #2')).toBe(true)
    expect(ran).toEqual(['2', 'again'])
  })

  test('two waiting ones of one name fail the start of the service, which can be repeated', async () => {
    const first = declare('* * * * *', { name: 'same' })
    await first.start(() => {})
    await declare('* * * * *', { name: 'same' }).start(() => {})
    takeClock()
    const service = new CronService({ crons: [] })
    await expect(service.start()).rejects.toMatchObject({ code: 'CronNameError' })
    first.stop()
    await service.start()
    expect(service.jobs()).toHaveLength(1)
    await service.stop()
  })

  test('start, stop, start … destroy a thousand times leaves no timer', async () => {
    const service = await CronService.run({ crons: [] })
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    for (let i = 0; i < 1000; i++) {
      const job = cron('*/5 * * * * *', { name: 'again' })
      await job.start(() => {})
      job.stop()
      await job.start(() => {})
      job.destroy()
    }
    await service.stop()
    await new Promise((resolve) => setImmediate(resolve))
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    expect(after).toBeLessThanOrEqual(before)
    const { default: schedule } = await import('node-schedule')
    expect(Object.keys(schedule.scheduledJobs)).toEqual([])
  })

  test.each([
    [{ nonsense: 1 }, 'OptionError', 'cron.nonsense'],
    [() => {}, 'OptionError', 'cron(pattern).start(handler)'],
    [{ name: ' ' }, 'OptionError', 'cron.name'],
    [{ name: 'half \ud800' }, 'OptionError', 'cron.name'],
    [{ name: 'nul \0' }, 'OptionError', 'cron.name'],
    [{ timezone: 'Europe/Atlantis' }, 'OptionError', 'cron.timezone'],
    [{ overlap: 'maybe' }, 'OptionError', 'cron.overlap'],
    [{ missed: 'all' }, 'OptionError', 'cron.missed'],
    [{ onFailed: 'log' }, 'OptionError', 'cron.onFailed'],
    [{ lock: {} }, 'OptionError', 'cron.lock'],
    [7, 'OptionError', 'cron'],
  ])('refuses the options %j', (options, code, text) => {
    expect(() => cron('* * * * *', options as never)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(text) }),
    )
  })
})

describe('overlap', () => {
  /** A job of every second that takes 2.6. */
  async function slow(overlap?: 'skip' | 'queue' | 'allow') {
    const around = await run()
    let most = 0
    let now = 0
    const began: string[] = []
    const job = declare('* * * * * *', { name: 'slow', ...(overlap === undefined ? {} : { overlap }) })
    await job.start(async ({ scheduledAt }) => {
      began.push(scheduledAt.toISOString().slice(17, 19))
      most = Math.max(most, ++now)
      await around.clock.sleep(2600)
      now--
    })
    await around.clock.advance(10_000)
    job.stop()
    await around.clock.advance(10_000)
    return { ...around, most, began, counts: around.service.jobs()[0]!.counts }
  }

  test('skip, the default: one at a time, skipped ticks are counted, and reported once for each run', async () => {
    const { most, began, counts, log } = await slow()
    expect({ most, began }).toEqual({ most: 1, began: ['01', '04', '07', '10'] })
    expect(counts).toMatchObject({ ok: 4, skipped: 6 })
    expect(log.filter(({ message }) => message?.includes('still running'))).toHaveLength(3)
  })

  test('queue: one at a time, and one waits', async () => {
    const { most, began, counts } = await slow('queue')
    expect(most).toBe(1)
    expect(began.slice(0, 4)).toEqual(['01', '02', '04', '07'])
    expect(counts.ok).toBe(began.length)
    expect(counts.skipped).toBeGreaterThan(3)
  })

  test('allow: side by side', async () => {
    const { most, began, counts } = await slow('allow')
    expect(most).toBe(3)
    expect(began).toHaveLength(10)
    expect(counts).toMatchObject({ ok: 10, skipped: 0 })
  })
})

describe('failures', () => {
  test.each([
    [
      'a throw',
      () => {
        throw new Error('broken')
      },
      'broken',
    ],
    [
      'a rejection',
      async () => {
        throw new Error('broken')
      },
      'broken',
    ],
    ['no error', () => Promise.reject('only text'), 'only text'],
    ['nothing', () => Promise.reject(), 'undefined'],
    ['what cannot be written', () => Promise.reject(Object.create(null)), 'something that cannot be written as text'],
    [
      'an endless recursion',
      function again(): unknown {
        return [again()]
      },
      'Maximum call stack size exceeded',
    ],
  ] as [
    string,
    () => unknown,
    string,
  ][])('%s is reported and logged, and the job continues', async (_what, handler, text) => {
    const reports: unknown[] = []
    setCronGlobalErrorHandler((error, { name }) => void reports.push(['global', name, error]))
    const { service, clock, log } = await run()
    const onFailed = (error: unknown) => void reports.push(['own', error])
    await declare('* * * * *', { name: 'bad', onFailed }).start(handler)
    await clock.advance(2 * minute)
    expect(reports.map((one) => (one as string[])[0])).toEqual(['own', 'global', 'own', 'global'])
    expect(log.filter(({ message }) => message === 'the cron job "bad" failed')).toHaveLength(2)
    expect(service.jobs()[0]).toMatchObject({
      counts: { ok: 0, failed: 2 },
      runs: [{ outcome: 'failed', error: text }, { outcome: 'failed' }],
    })
  })

  test('handlers of failures that fail themselves are logged, and do not affect the other handlers', async () => {
    const reports = vi.fn(() => Promise.reject(new Error('worse')))
    setCronGlobalErrorHandler(reports)
    const { clock, log } = await run()
    const onFailed = () => {
      throw new Error('bad too')
    }
    await declare('* * * * *', { name: 'bad', onFailed }).start(() => Promise.reject(new Error('bad')))
    await clock.advance(minute)
    expect(reports).toHaveBeenCalledOnce()
    expect(log.map(({ message }) => message)).toEqual([
      'the cron job "bad" failed',
      'onFailed of the cron job "bad" itself failed',
      'the global error handler of the cron job "bad" itself failed',
    ])
  })

  test('the global handler is a function or none', () => {
    expect(() => setCronGlobalErrorHandler('log' as never)).toThrow(TypeError)
  })
})

test('an error that cannot be written stops nothing', async () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('no member')
      },
    },
  )
  const written: string[] = []
  const logger = memoryLogger()
  const strict = {
    ...logger,
    error: (fields: { err?: unknown }, message: string) => void written.push(`${String(fields.err ?? '')}${message}`),
    child: () => strict,
  }
  const { service, clock } = await run({ logger: strict } as object)
  await declare('* * * * *', { name: 'hostile' }).start(() => Promise.reject(hostile))
  await clock.advance(2 * minute)
  expect(service.jobs()[0]!.counts.failed).toBe(2)
  expect(written).toEqual(Array(2).fill('the cron job "hostile" failed'))
})

test('the history is bounded, the newest first', async () => {
  const { service, clock } = await run({ history: 3 })
  await declare('* * * * *').start(() => {})
  await clock.advance(10 * minute)
  const [{ runs, counts, next } = { runs: [] }] = service.jobs()
  expect(runs.map((one) => one.scheduledAt.getUTCMinutes())).toEqual([10, 9, 8])
  expect(counts).toMatchObject({ ok: 10 })
  expect(next).toEqual(new Date('2026-01-05T10:11:00Z'))
})

describe('trigger', () => {
  test('runs a job now, once', async () => {
    const { service, clock } = await run()
    let end = () => {}
    await declare('0 0 1 1 *', { name: 'yearly' }).start(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    expect(await service.trigger('yearly')).toBe(true)
    expect(service.jobs()[0]!.state).toBe('running')
    expect(await service.trigger('yearly')).toBe(false)
    end()
    await service.idle()
    expect(service.jobs()[0]).toMatchObject({ state: 'scheduled', runs: [{ scheduledAt: new Date(clock.now()) }] })
  })

  test('not while the service stops', async () => {
    const { service } = await run()
    let end = () => {}
    await declare('0 0 1 1 *', { name: 'long' }).start(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    let runs = 0
    await declare('0 0 1 1 *', { name: 'other' }).start(() => void runs++)
    await service.trigger('long')
    const stopping = service.stop()
    expect(await service.trigger('other')).toBe(false)
    end()
    expect(await stopping).toEqual([])
    expect(runs).toBe(0)
  })

  test('of an unknown name suggests the nearest', async () => {
    const { service } = await run()
    await declare('* * * * *', { name: 'cleaning' }).start(() => {})
    await expect(service.trigger('cleanning')).rejects.toMatchObject({
      code: 'CronNameError',
      message: expect.stringContaining('Did you mean "cleaning"?'),
    })
  })
})

describe('a job that goes to the next service', () => {
  /** Two services by one clock, a job that runs in the first while that is stopping, and how the run is ended. */
  async function handedOver(overlap: 'skip' | 'queue' | 'allow') {
    const first = await run()
    const second = await run()
    const ends: (() => void)[] = []
    await declare('* * * * *', { name: 'long', overlap }).start(
      () => new Promise<void>((resolve) => ends.push(resolve)),
    )
    await first.clock.advance(minute)
    const stopped = first.service.stop()
    return { ...second, ends, stopped }
  }

  test('respects its overlap while the last run continues', async () => {
    const skip = await handedOver('skip')
    await skip.clock.advance(2 * minute)
    expect([skip.ends.length, skip.service.jobs()[0]?.counts.skipped]).toEqual([1, 2])
    skip.ends[0]!()
    await skip.stopped
    await skip.clock.advance(minute)
    expect(skip.ends).toHaveLength(2)
    for (const end of skip.ends) end()
  })

  test.each([
    ['queue', 2],
    ['allow', 3],
  ] as const)('%s', async (overlap, runs) => {
    const { clock, ends, stopped } = await handedOver(overlap)
    await clock.advance(2 * minute)
    expect(ends).toHaveLength(overlap === 'queue' ? 1 : 3)
    ends[0]!()
    await stopped
    await clock.advance(1000)
    expect(ends).toHaveLength(runs)
    for (const end of ends) end()
  })

  test('does not wait for an abandoned run', async () => {
    const first = await run()
    await run()
    let runs = 0
    await declare('* * * * *', { name: 'hung' }).start(() => {
      runs++
      return runs === 1 ? new Promise(() => {}) : undefined
    })
    await first.clock.advance(minute)
    await first.service.stop({ timeout: 10 })
    await first.clock.advance(minute)
    expect(runs).toBe(2)
  })

  test('and cannot run there is an error at its start', async () => {
    const first = await run()
    await run({ lock: memoryCronLock() })
    await expect(declare('7 7 7 7 *').start(() => {})).rejects.toMatchObject({ code: 'CronNameError' })
    expect(first.service.jobs()).toMatchObject([{ state: 'stopped' }])
  })
})

describe('stop', () => {
  test('aborts the signal, waits, and lets nothing begin', async () => {
    const { service, clock } = await run()
    const seen: unknown[] = []
    await declare('* * * * *', { name: 'long' }).start(async ({ signal }) => {
      seen.push('begun')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.push((signal.reason as Error).message)
    })
    await clock.advance(minute)
    expect(await service.stop()).toEqual([])
    expect(seen).toEqual(['begun', 'the cron jobs are stopping'])
    await clock.advance(10 * minute)
    expect(seen).toHaveLength(2)
    expect(service.jobs()).toEqual([])
  })

  test('does not wait longer than its timeout, and names the running jobs', async () => {
    const { service, clock, log } = await run()
    await declare('* * * * *', { name: 'endless' }).start(() => new Promise(() => {}))
    await clock.advance(minute)
    expect(await service.stop({ timeout: 20 })).toEqual(['endless'])
    expect(log.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('endless') })
  })

  test('while it starts leaves nothing running', async () => {
    let runs = 0
    await declare('* * * * *').start(() => void runs++)
    const clock = takeClock()
    const service = new CronService({ crons: [] })
    const starting = service.start()
    await service.stop()
    await starting
    await clock.advance(10 * minute)
    expect(runs).toBe(0)
    await service.start()
    await clock.advance(minute)
    expect(runs).toBe(1)
    await service.stop()
  })

  test('a job may stop itself', async () => {
    const { clock } = await run()
    let runs = 0
    const job = declare('* * * * *')
    await job.start(() => {
      if (++runs === 2) job.stop()
    })
    await clock.advance(10 * minute)
    expect(runs).toBe(2)
  })
})

test('the clock of the machine: seconds, not early, not twice', async () => {
  const service = await CronService.run({ crons: [] })
  services.push(service)
  const seen: { at: number; tick: number }[] = []
  await declare('* * * * * *', { name: 'second' }).start(({ scheduledAt }) => {
    seen.push({ at: Date.now(), tick: scheduledAt.getTime() })
  })
  await vi.waitUntil(() => seen.length >= 3, { timeout: 20_000, interval: 20 })
  await service.stop()
  for (const { at, tick } of seen) {
    expect(tick % 1000).toBe(0)
    expect(at).toBeGreaterThanOrEqual(tick)
  }
  expect(new Set(seen.map(({ tick }) => tick)).size).toBe(seen.length)
})

test('a process that was blocked runs missed ticks once, without a burst', async () => {
  const logger = memoryLogger()
  const service = await CronService.run({ crons: [], logger })
  services.push(service)
  const seen: number[] = []
  await declare('* * * * * *', { name: 'second' }).start(({ scheduledAt }) => void seen.push(scheduledAt.getTime()))
  await vi.waitUntil(() => seen.length >= 1, { timeout: 20_000, interval: 20 })
  const count = seen.length
  block(3_300)
  const end = Date.now()
  await vi.waitUntil(() => seen.length > count, { timeout: 20_000, interval: 1 })
  // Of those that were due meanwhile only the latest.
  expect(end - seen[count]!).toBeLessThan(2_000)
  expect(service.jobs()[0]!.counts.missed).toBeGreaterThanOrEqual(2)
  await service.stop()
})
