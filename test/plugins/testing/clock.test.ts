import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { memoryQueue, RouteCollection, Server } from 'framework'
import { clock, virtualClock } from 'framework/kernel'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

let time: TestClock
const take = (...args: Parameters<typeof testClock>) => {
  time = testClock(...args)
  return time
}
afterEach(() => time.restore())

test('it stands still until it is moved, and shows the machine its time again afterwards', async () => {
  take('2026-03-28T00:00:00Z')
  const before = clock.monotonic()
  await pause(5)
  expect(clock.now()).toBe(Date.UTC(2026, 2, 28))
  expect(clock.monotonic()).toBe(before)
  await time.advance('1.5 hours')
  expect(clock.now()).toBe(Date.UTC(2026, 2, 28, 1, 30))
  expect(clock.monotonic()).toBe(before + 5_400_000)
  time.restore()
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000)
})

test('timers run at their time and in order, also those that timers set', async () => {
  take(0)
  const seen: [string, number][] = []
  const note = (name: string) => void seen.push([name, clock.now()])
  clock.setTimeout(() => note('second'), 20)
  clock.setTimeout(() => {
    note('first')
    clock.setTimeout(() => note('inner'), 5)
  }, 10)
  const interval = clock.setInterval(() => note('every'), 15)
  await time.advance(30)
  expect(seen).toEqual([
    ['first', 10],
    ['every', 15],
    ['inner', 15],
    ['second', 20],
    ['every', 30],
  ])
  clock.clear(interval)
  await time.advance('1 day')
  expect(seen).toHaveLength(5)
})

test('it waits for work that has begun, which takes real time', async () => {
  take(0)
  const seen: number[] = []
  clock.setInterval(async () => {
    await pause(20)
    seen.push(clock.now())
  }, 1000)
  await time.advance('5 s')
  expect(seen).toEqual([1000, 2000, 3000, 4000, 5000])
})

test('work that waits for the clock does not stop it', async () => {
  take(0)
  const seen: string[] = []
  clock.setTimeout(async () => {
    await clock.hold(async () => {
      await clock.sleep(50)
      seen.push(`slept until ${clock.now()}`)
    })
  }, 10)
  clock.setTimeout(() => seen.push(`between ${clock.now()}`), 30)
  await time.advance(100)
  expect(seen).toEqual(['between 30', 'slept until 60'])
})

test('work that hangs stops it once, for as long as its patience', async () => {
  take(0, { patience: 30 })
  clock.setTimeout(() => new Promise(() => {}), 10)
  let ticks = 0
  clock.setInterval(() => ticks++, 1)
  await time.advance(100)
  expect(ticks).toBe(100)
})

test('a timer that fails rejects the call that has moved the clock', async () => {
  take()
  clock.setTimeout(() => {
    throw new Error('at once')
  }, 1)
  await expect(time.advance(1)).rejects.toThrow('at once')
  clock.setTimeout(async () => {
    await pause(1)
    throw new Error('later')
  }, 1)
  await expect(time.advance(1)).rejects.toThrow('later')
  await time.advance('1 h')
})

test('a sleep ends when its signal aborts', async () => {
  take()
  const ended = new AbortController()
  const asleep = clock.sleep(1000, ended.signal)
  ended.abort(new Error('enough'))
  await expect(asleep).rejects.toThrow('enough')
  await expect(clock.sleep(1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
})

test('setting it back or ahead moves no timer', async () => {
  take('2026-01-01T00:00:00Z')
  const seen: string[] = []
  clock.setTimeout(() => seen.push(new Date(clock.now()).toISOString()), 1000)
  await time.set('2020-01-01T00:00:00Z')
  await time.advance(999)
  expect(seen).toEqual([])
  await time.advance(1)
  expect(seen).toEqual(['2020-01-01T00:00:01.000Z'])
})

test('wrong arguments and a second clock are refused', async () => {
  take('2026-01-01T00:00:00Z')
  await expect(time.advance('soon')).rejects.toThrow('such as "30 days", not "soon"')
  await expect(time.advance(Number.NaN)).rejects.toThrow('not NaN')
  await expect(time.advance(-1)).rejects.toThrow('not -1')
  await expect(time.advanceTo('2025-01-01')).rejects.toThrow('Use set to go back')
  await expect(time.advanceTo('tomorrow')).rejects.toThrow('"tomorrow" is not a time')
  await expect(Promise.all([time.advance(1), time.advance(1)])).rejects.toThrow('already moving')
  expect(() => testClock()).toThrow('restore it before the next one is created')
  expect(() => testClock('never')).toThrow('"never" is not a time')
  expect(() => testClock(0, { patiense: 3 } as object)).toThrow('Did you mean')
  time.restore()
  await expect(time.advance(1)).rejects.toThrow('is restored')
})

test('a queue whose messages wait for the clock is not drained, and says so', async () => {
  take()
  const queue = memoryQueue<number>('waits-for-the-clock')
  const seen: number[] = []
  const { unsubscribe } = await queue.subscribe((n) => void seen.push(n))
  await queue.publish(1, { delay: 1000 })
  await expect(queue.drained()).rejects.toThrow('a message is delayed, and the test clock stands still')
  await Promise.all([queue.drained(), time.advance('1 s')])
  expect(seen).toEqual([1])
  await unsubscribe()
})

test('timers of the machine stay there, and can be cancelled', async () => {
  const fired: string[] = []
  const cancelled = clock.setTimeout(() => fired.push('cancelled'), 10)
  clock.setTimeout(() => fired.push('soon'), 10)
  const late = clock.setTimeout(() => fired.push('late'), 600_000)
  take()
  clock.clear(cancelled)
  await time.advance('1 day')
  await expect.poll(() => fired).toEqual(['soon'])
  clock.clear(late)
})

test('work of its own goes on, and does not let the clock pass the work that has begun it', async () => {
  take(0)
  const seen: number[] = []
  clock.setTimeout(async () => {
    // A worker that waits for a second between two emails.
    void clock.hold(() => clock.sleep(1000), true)
    await pause(20)
    seen.push(clock.now())
  }, 10)
  await time.advance('5 s')
  expect(seen).toEqual([10])
})

test('a long queue of slow work is not work that hangs', async () => {
  take(0, { patience: 400 })
  const queue = memoryQueue<number>('long-and-slow')
  const seen: number[] = []
  const { unsubscribe } = await queue.subscribe(async () => {
    await pause(100)
    seen.push(clock.now())
  })
  clock.setTimeout(() => queue.publishMany([1, 2, 3, 4, 5]), 10)
  await time.advance('1 day')
  expect(seen).toEqual([10, 10, 10, 10, 10])
  await unsubscribe()
})

test('a failure after a sleep is that of the call that moves the clock', async () => {
  take()
  clock.setTimeout(async () => {
    await clock.sleep(10)
    throw new Error('after the sleep')
  }, 1)
  await expect(time.advance('1 s')).rejects.toThrow('after the sleep')
})

test('set wakes in the order of the times, and not what was cancelled meanwhile', async () => {
  take(0)
  const virtual = virtualClock()!
  const seen: string[] = []
  virtual.at(300, () => seen.push('third'))
  const cancel = virtual.at(200, () => seen.push('second'))
  virtual.at(100, () => {
    seen.push('first')
    cancel()
  })
  await time.set(1000)
  expect(seen).toEqual(['first', 'third'])
})

test('it cannot be moved by a handler that it waits for, and is not moved any more once it is restored', async () => {
  take(0)
  clock.setTimeout(() => clock.hold(() => time.advance(1)), 1)
  await expect(time.advance(1)).rejects.toThrow(/already moving|cannot move/)
  let ticks = 0
  clock.setInterval(() => {
    if (++ticks === 5) time.restore()
  }, 1)
  await time.advance(100)
  expect(ticks).toBe(5)
})

test('a timer keeps the context of the code that set it', async () => {
  take()
  const request = new AsyncLocalStorage<string>()
  onTestFinished(() => request.disable())
  const seen: unknown[] = []
  request.run('a request', () => clock.setTimeout(() => seen.push(request.getStore()), 1))
  await time.advance(1)
  expect(seen).toEqual(['a request'])
})

test('a server has its time limits again when the clock is restored', async () => {
  const server = new Server({ router: new RouteCollection(), requestTimeout: 30, logger: memoryLogger() })
  server.get('/', async () => {
    await pause(1)
    return 'fast'
  })
  server.get('/hangs', () => new Promise(() => {}))
  take()
  ;(await server.inject.get('/')).assertStatus(200)
  time.restore()
  ;(await server.inject.get('/hangs')).assertStatus(503)
  await server.close()
})
