import { CronService, type CronServiceOptions, cronJob as cron, memoryCronLock } from 'framework/plugins/cron'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { lastTime, nextTime } from '../../../plugins/shared/schedule/calendar.ts'
import { parsePattern } from '../../../plugins/shared/schedule/pattern.ts'
import { zoneByName } from '../../../plugins/shared/schedule/zone.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

/** The next times of a pattern after an instant, as UTC. */
function times(pattern: string, zone: string, after: string, count: number): string[] {
  const [parsed, where] = [parsePattern(pattern), zoneByName(zone)]
  const list: string[] = []
  for (let time = Date.parse(after); list.length < count; ) {
    const next = nextTime(parsed, where, time)
    if (next === undefined) break
    expect(next).toBeGreaterThan(time)
    time = next
    list.push(new Date(time).toISOString().replace('T', ' ').replace(':00.000Z', ''))
  }
  return list
}

describe('an invalid pattern throws where it is declared, naming itself and the field', () => {
  test.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['*', 'has 1 field'],
    ['* * * *', 'has 4 fields'],
    ['* * * * * * *', 'has 7 fields'],
    ['2026-12-24', 'has 1 field'],
    ['61 * * * *', '"61" as minute: it takes numbers from 0 to 59'],
    ['60 * * * * *', '"60" as second'],
    ['* 24 * * *', '"24" as hour: it takes numbers from 0 to 23'],
    ['* * 0 * *', '"0" as day-of-month: it takes numbers from 1 to 31'],
    ['* * 32 * *', '"32" as day-of-month'],
    ['* * * 13 *', '"13" as month: it takes numbers from 1 to 12, or one of jan feb'],
    ['* * * foo *', '"foo" as month'],
    ['* * * * 8', '"8" as day-of-week: it takes numbers from 0 to 7, or one of sun mon'],
    ['* * * * monday', '"monday" as day-of-week'],
    ['*/0 * * * *', '"*/0" as minute: a step is a number from 1 to 60'],
    ['*/61 * * * *', '"*/61" as minute'],
    ['*/x * * * *', '"*/x" as minute'],
    ['1/2/3 * * * *', '"1/2/3" as minute'],
    ['/5 * * * *', '"/5" as minute'],
    ['5-1 * * * *', '"5-1" as minute: the range ends before it starts'],
    ['1- * * * *', '"1-" as minute'],
    ['-1 * * * *', '"-1" as minute'],
    ['1-2-3 * * * *', '"1-2-3" as minute: a range needs a start and an end'],
    ['1,,2 * * * *', '"" as minute'],
    ['1.5 * * * *', '"1.5" as minute'],
    ['0x1 * * * *', '"0x1" as minute'],
    ['٣ * * * *', '"٣" as minute'],
    ['L * * * *', '"L" as minute'],
    ['0 0 15W * *', '"15W" as day-of-month'],
    ['0 0 * * 1#2', '"1#2" as day-of-week'],
    ['0 0 30 2 *', 'has a day-of-month that does not exist in any of its months'],
    ['0 0 31 4,6,9,11 *', 'has a day-of-month that does not exist in any of its months'],
    ['@never', 'is not a shorthand; the shorthands are @yearly'],
    ['__proto__', 'has 1 field'],
    ['constructor * * * *', '"constructor" as minute'],
  ])('%s', async (pattern, why) => {
    expect(() => cron(pattern)).toThrow(
      expect.objectContaining({
        code: 'CronPatternError',
        message: expect.stringContaining(JSON.stringify(pattern.trim().slice(0, 20)).slice(0, -1)),
      }),
    )
    expect(() => cron(pattern)).toThrow(why)
    const refused = await quickest(() => {
      try {
        cron(pattern)
      } catch {}
    })
    expect(refused.ms).toBeLessThan(50)
  })

  test.each([
    ['a million letters', 'x'.repeat(1_000_000)],
    ['a million items', `${'*/1,'.repeat(250_000)}* * * * *`],
    ['a million blanks', ' '.repeat(1_000_000)],
  ])('%s, at once', async (_what, pattern) => {
    const refused = await quickest(() => expect(() => cron(pattern)).toThrow('is longer than 500 characters'))
    expect(refused.ms).toBeLessThan(50)
  })

  test.each([[undefined], [null], [5], [new Date()], [['* * * * *']]])('%s', (pattern) => {
    expect(() => cron(pattern as never)).toThrow(expect.objectContaining({ code: 'CronPatternError' }))
  })
})

describe('patterns', () => {
  const from = '2026-01-05T10:00:00Z' // a Monday
  test.each([
    ['* * * * *', ['2026-01-05 10:01', '2026-01-05 10:02']],
    ['*/15 * * * *', ['2026-01-05 10:15', '2026-01-05 10:30']],
    ['5/20 * * * *', ['2026-01-05 10:05', '2026-01-05 10:25', '2026-01-05 10:45', '2026-01-05 11:05']],
    ['0 9-17/4 * * *', ['2026-01-05 13:00', '2026-01-05 17:00', '2026-01-06 09:00']],
    ['0 0 * * MON-fri', ['2026-01-06 00:00', '2026-01-07 00:00']],
    ['0 0 * * 7', ['2026-01-11 00:00', '2026-01-18 00:00']],
    ['0 0 * * 0', ['2026-01-11 00:00', '2026-01-18 00:00']],
    ['0 0 * * sat-sun', ['2026-01-10 00:00', '2026-01-11 00:00', '2026-01-17 00:00']],
    ['0 0 1 JAN,jul ?', ['2026-07-01 00:00', '2027-01-01 00:00']],
    ['0 0 31 * *', ['2026-01-31 00:00', '2026-03-31 00:00', '2026-05-31 00:00']],
    ['0 0 L * *', ['2026-01-31 00:00', '2026-02-28 00:00', '2026-03-31 00:00']],
    ['0 0 15,L * *', ['2026-01-15 00:00', '2026-01-31 00:00', '2026-02-15 00:00']],
    ['0 0 * * 5L', ['2026-01-30 00:00', '2026-02-27 00:00']],
    ['0 0 13 * 5', ['2026-01-09 00:00', '2026-01-13 00:00', '2026-01-16 00:00']],
    ['0 0 29 2 *', ['2028-02-29 00:00', '2032-02-29 00:00']],
    ['@daily', ['2026-01-06 00:00', '2026-01-07 00:00']],
    ['@HOURLY', ['2026-01-05 11:00', '2026-01-05 12:00']],
    ['@weekly', ['2026-01-11 00:00']],
    ['@monthly', ['2026-02-01 00:00']],
    ['@yearly', ['2027-01-01 00:00']],
    ['\t30  12\n* * * ', ['2026-01-05 12:30']],
  ])('%s', (pattern, expected) => {
    expect(times(pattern, 'UTC', from, expected.length)).toEqual(expected)
  })

  test('leading seconds', () => {
    expect(times('*/20 59 23 * * *', 'UTC', from, 4)).toEqual([
      '2026-01-05 23:59',
      '2026-01-05 23:59:20.000Z',
      '2026-01-05 23:59:40.000Z',
      '2026-01-06 23:59',
    ])
  })

  test('strictly after, whatever the millisecond', () => {
    expect(times('* * * * * *', 'UTC', '2026-01-05T10:00:00.001Z', 1)).toEqual(['2026-01-05 10:00:01.000Z'])
    expect(times('* * * * * *', 'UTC', '2026-01-05T10:00:00.999Z', 1)).toEqual(['2026-01-05 10:00:01.000Z'])
    expect(times('0 0 29 2 *', 'UTC', '1896-03-01T00:00:00Z', 1)).toEqual(['1904-02-29 00:00'])
  })
})

describe('clock changes', () => {
  test('forward, a time that is left out comes as much later; backward, the first of two counts', () => {
    const pattern = '30 2 * * *'
    expect(times(pattern, 'Europe/Rome', '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28 01:30',
      '2026-03-29 01:30',
      '2026-03-30 00:30',
    ])
    expect(times(pattern, 'Europe/Rome', '2026-10-24T00:00:00Z', 3)).toEqual([
      '2026-10-24 00:30',
      '2026-10-25 00:30',
      '2026-10-26 01:30',
    ])
  })

  test('several times that are left out keep their distances, and fall on no other twice', () => {
    expect(times('0,40 2 * * *', 'Europe/Rome', '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29 01:00',
      '2026-03-29 01:40',
      '2026-03-30 00:00',
    ])
    expect(times('30 2,3 * * *', 'Europe/Rome', '2026-03-29T00:00:00Z', 2)).toEqual([
      '2026-03-29 01:30',
      '2026-03-30 00:30',
    ])
  })

  test.each([
    // Clocks go from 02:00 to 02:30, and from 01:00 to 03:00.
    [
      '10,35 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03',
      ['2026-10-03 15:35', '2026-10-03 15:40', '2026-10-04 15:10'],
    ],
    ['10,40 2 * * *', 'Australia/Lord_Howe', '2026-10-03', ['2026-10-03 15:40', '2026-10-04 15:10']],
    ['30 2,3 * * *', 'Antarctica/Troll', '2026-03-29', ['2026-03-29 01:30', '2026-03-29 02:30', '2026-03-30 00:30']],
    ['15 1-4 * * *', 'Antarctica/Troll', '2026-03-29', ['2026-03-29 01:15', '2026-03-29 02:15', '2026-03-29 23:15']],
  ])('%s in %s runs at a time that exists, also before one that is left out', (pattern, zone, day, expected) => {
    expect(times(pattern, zone, `${day}T00:59:00Z`, expected.length)).toEqual(expected)
  })

  test('a job of every half minute of an hour that is left out has each once', () => {
    const all = times('*/30 * 2 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 121)
    expect([all[0], all[119], all[120]]).toEqual(['2026-03-29 01:00', '2026-03-29 01:59:30.000Z', '2026-03-30 00:00'])
    expect(new Set(all).size).toBe(121)
  })

  test('a job of every hour goes by elapsed time', () => {
    expect(times('*/30 * * * *', 'Europe/Rome', '2026-10-24T23:45:00Z', 5)).toEqual([
      '2026-10-25 00:00',
      '2026-10-25 00:30',
      '2026-10-25 01:00',
      '2026-10-25 01:30',
      '2026-10-25 02:00',
    ])
    expect(times('30 * * * *', 'Europe/Rome', '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29 00:30',
      '2026-03-29 01:30',
      '2026-03-29 02:30',
    ])
  })

  test('of half an hour, at midnight, and of a whole day', () => {
    expect(times('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00:00Z', 2)).toEqual([
      '2026-10-03 15:45',
      '2026-10-04 15:15',
    ])
    expect(times('0 0 * * *', 'Africa/Cairo', '2026-04-22T23:00:00Z', 3)).toEqual([
      '2026-04-23 22:00',
      '2026-04-24 21:00',
      '2026-04-25 21:00',
    ])
    expect(times('0 12 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', 1)).toEqual(['2011-12-30 22:00'])
  })

  test.each([
    'Europe/Rome',
    'America/New_York',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
  ])('every day of ten years has one run, in %s', (zone) => {
    const days = new Set<string>()
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
    const [pattern, where] = [parsePattern('30 2 * * *'), zoneByName(zone)]
    let count = 0
    for (let time = Date.parse('2020-01-01T12:00:00Z'); time < Date.parse('2030-01-01T12:00:00Z'); count++) {
      time = nextTime(pattern, where, time)!
      days.add(format.format(time))
    }
    expect([days.size, count]).toEqual([3654, 3654])
  })

  test('the zone of the process', () => {
    const before = process.env.TZ
    try {
      process.env.TZ = 'Europe/Rome'
      const next = nextTime(parsePattern('30 2 * * *'), zoneByName(undefined), Date.parse('2026-03-29T00:00:00Z'))
      expect(new Date(next!).toISOString()).toBe('2026-03-29T01:30:00.000Z')
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    }
  })

  test('the last time before an instant, however long ago the first was', () => {
    const [pattern, zone] = [parsePattern('* * 2 * * *'), zoneByName('UTC')]
    const due = Date.parse('2020-01-01T02:00:00Z')
    const before = process.cpuUsage()
    expect(new Date(lastTime(pattern, zone, due, Date.parse('2026-01-05T10:00:00Z'))).toISOString()).toBe(
      '2026-01-05T02:59:59.000Z',
    )
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
    expect(lastTime(pattern, zone, due, due + 500)).toBe(due)
  })
})

describe('a clock that does not go on evenly', () => {
  const services: CronService[] = []
  const handles: { destroy(): void }[] = []
  let clock: TestClock
  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop()
    for (const handle of handles.splice(0)) handle.destroy()
    clock.restore()
  })
  const isOfSeconds = (pattern: string) => pattern.split(' ').length === 6
  async function daily(options: Parameters<typeof cron>[1], start: string, pattern = '30 2 * * *') {
    clock = testClock(start)
    const settings: CronServiceOptions = { crons: [], timezone: 'UTC' }
    const service = await CronService.run({ ...settings, logger: memoryLogger() })
    services.push(service)
    const seen: string[] = []
    const job = cron(pattern, options)
    handles.push(job)
    await job.start(
      ({ scheduledAt }) => void seen.push(scheduledAt.toISOString().slice(5, isOfSeconds(pattern) ? 19 : 16)),
    )
    return { seen, counts: () => service.jobs()[0]!.counts }
  }

  test('set forward over a tick, it runs once, late; set back after it, not again', async () => {
    const { seen } = await daily({}, '2026-01-05T02:00:00Z')
    await clock.set('2026-01-05T03:00:00Z')
    expect(seen).toEqual(['01-05T02:30'])
    await clock.set('2026-01-05T02:00:00Z')
    await clock.advance(3_600_000)
    expect(seen).toEqual(['01-05T02:30'])
    await clock.advanceTo('2026-01-06T03:00:00Z')
    expect(seen).toEqual(['01-05T02:30', '01-06T02:30'])
  })

  test.each([
    ['run-once', ['01-08T02:30', '01-09T02:30'], 2],
    ['skip', ['01-09T02:30'], 3],
  ] as const)('asleep for three days, with %s', async (missed, expected, count) => {
    const { seen, counts } = await daily({ missed }, '2026-01-05T12:00:00Z')
    await clock.set('2026-01-08T09:00:00Z')
    await clock.advanceTo('2026-01-09T03:00:00Z')
    expect(seen).toEqual(expected)
    expect(counts().missed).toBe(count)
  })

  test('a tick that is less than a minute late is served whatever the rule', async () => {
    const { seen, counts } = await daily({ missed: 'skip' }, '2026-01-05T02:29:50Z')
    await clock.set('2026-01-05T02:30:50Z')
    expect([seen, counts().missed]).toEqual([['01-05T02:30'], 0])
  })

  test('an hour forward is not a burst, an hour back no second run', async () => {
    const { seen } = await daily({}, '2026-01-05T10:00:30Z', '* * * * *')
    await clock.set('2026-01-05T11:00:30Z')
    expect(seen).toEqual(['01-05T11:00'])
    await clock.set('2026-01-05T10:00:30Z')
    await clock.advance(30 * 60_000)
    expect(seen).toEqual(['01-05T11:00'])
    await clock.advanceTo('2026-01-05T11:02:00Z')
    expect(seen).toEqual(['01-05T11:00', '01-05T11:01', '01-05T11:02'])
  })

  test.each([
    ['* * * * * *', 2_000, '2026-01-05T09:00:00.500Z', ['10:00:01', '10:00:02', '09:00:02', '09:00:03']],
    // A correction of some seconds does not run the same second again, and a due tick is not lost.
    ['*/20 * * * * *', 21_000, '2026-01-05T10:00:15Z', ['10:00:20', '10:00:40']],
    // One that names its hours goes by the clock on the wall.
    ['* * 10 * * *', 2_000, '2026-01-05T10:00:00.500Z', ['10:00:01', '10:00:02', '10:00:03']],
  ])('set back, a job of seconds goes on after an interval: %s', async (pattern, before, back, expected) => {
    const { seen } = await daily({}, '2026-01-05T10:00:00Z', pattern)
    await clock.advance(before)
    await clock.set(back)
    await clock.advance(pattern.startsWith('*/20') ? 30_000 : 2_500)
    expect(seen.map((time) => time.slice(6))).toEqual(expected)
  })

  test('set back, with a lock, no second runs twice', async () => {
    clock = testClock('2026-01-05T10:00:00Z')
    const settings: CronServiceOptions = { crons: [], timezone: 'UTC', lock: memoryCronLock() }
    const service = await CronService.run({ ...settings, logger: memoryLogger() })
    services.push(service)
    const seen: number[] = []
    const job = cron('* * * * * *', { name: 'locked' })
    handles.push(job)
    await job.start(({ scheduledAt }) => void seen.push(scheduledAt.getTime()))
    await clock.advance(3_000)
    await clock.set('2026-01-05T09:59:58.500Z')
    await clock.advance(10_000)
    expect(seen).toHaveLength(8)
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('one that was a year ahead begins anew when it is corrected', async () => {
    const { seen } = await daily({}, '2027-01-05T10:00:30Z', '* * * * *')
    await clock.advance(60_000)
    await clock.set('2026-01-05T10:00:30Z')
    await clock.advance(60_000)
    expect(seen).toEqual(['01-05T10:01', '01-05T10:01'])
  })

  test('years asleep with a job of every second take no time', async () => {
    const { seen, counts } = await daily({}, '2020-01-05T10:00:00Z', '* * * * * *')
    const before = process.cpuUsage()
    await clock.set('2026-01-05T10:00:00.500Z')
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
    expect([seen.length, counts().missed]).toEqual([1, 1000])
  })

  test('over both clock changes a job of every night runs once a night', async () => {
    const { seen } = await daily({ timezone: 'Europe/Rome' }, '2026-03-27T12:00:00Z')
    await clock.advanceTo('2026-03-31T12:00:00Z')
    expect(seen).toEqual(['03-28T01:30', '03-29T01:30', '03-30T00:30', '03-31T00:30'])
    await clock.advanceTo('2026-10-23T12:00:00Z')
    seen.length = 0
    await clock.advanceTo('2026-10-26T12:00:00Z')
    expect(seen).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30'])
  })

  test('a yearly job waits longer than a timer can', async () => {
    const { seen } = await daily({}, '2026-01-05T10:00:00Z', '0 0 1 1 *')
    await clock.advanceTo('2029-01-05T10:00:00Z')
    expect(seen).toEqual(['01-01T00:00', '01-01T00:00', '01-01T00:00'])
  })
})
