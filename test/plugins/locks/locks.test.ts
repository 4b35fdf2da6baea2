import { type HeldLock, type LockService, RouteCollection, Server } from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

let clock: TestClock
let server: Server<{ plugins: { locks: {} } }>
let locks: LockService
const logger = memoryLogger()
beforeEach(async () => {
  clock = testClock('2030-01-01T00:00:00Z', { patience: 100 })
  logger.entries.length = 0
  server = new Server({ router: new RouteCollection(), logger, closeTimeout: 2_000, plugins: { locks: {} } }) as never
  locks = server.services.get('locks')
  await server.ready()
})
afterEach(async () => {
  await server.close()
  clock.restore()
})

/** Work that ends when the test says so. */
function work() {
  let end!: (value?: unknown) => void
  let held: HeldLock | undefined
  const ended = new Promise((resolve) => (end = resolve))
  const run = (given: HeldLock) => {
    held = given
    return ended
  }
  return { run, end, held: () => held! }
}
const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error) => error.code,
  )

test('returns the result of the work, or its error, and frees the lock for the next with a higher fence', async () => {
  const first = await locks.withLock('a', {}, ({ fence }) => fence)
  await expect(locks.withLock('a', {}, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  await expect(
    locks.withLock('a', {}, () => {
      throw new Error('mine')
    }),
  ).rejects.toThrow('mine')
  expect(await locks.withLock('a', {}, async ({ fence }) => fence)).toBeGreaterThan(first)
})

test('a held lock is refused with 423, at once, and other keys are not', async () => {
  const one = work()
  const first = locks.withLock('a', {}, one.run)
  await settle()
  await expect(locks.withLock('a', {}, () => 'no')).rejects.toMatchObject({
    ...{ code: 'LockHeldError', status: 423 },
    message: 'LOCK_HELD: the lock "a" is held, and the caller does not wait for it. Try again later, or set wait',
  })
  expect(await locks.withLock('b', {}, () => 'yes')).toBe('yes')
  one.end('done')
  expect(await first).toBe('done')
})

test('callers that wait are served in their order, at once, and none overtakes them', async () => {
  const one = work()
  const order: unknown[] = []
  const all = [locks.withLock('a', {}, one.run)]
  for (const n of [1, 2, 3]) {
    all.push(
      locks.withLock('a', { wait: 60_000 }, async () => {
        order.push(n)
        await settle()
      }),
    )
    await settle()
  }
  one.end()
  expect(await codeOf(locks.withLock('a', {}, () => 'overtakes'))).toBe('LockHeldError')
  await Promise.all(all)
  expect(order).toEqual([1, 2, 3])
})

test('waiting ends after its time, for each place in line', async () => {
  const one = work()
  const first = locks.withLock('a', {}, one.run)
  await settle()
  const waiting = [
    codeOf(locks.withLock('a', { wait: 3_000 }, () => {})),
    codeOf(locks.withLock('a', { wait: 2_000 }, () => {})),
  ]
  const last = locks.withLock('a', { wait: 20_000 }, () => 'last')
  await clock.advance(4_000)
  expect(await Promise.all(waiting)).toEqual(['LockHeldError', 'LockHeldError'])
  one.end()
  await first
  await clock.advance(1_000)
  expect(await last).toBe('last')
})

test('a lock is renewed while its work runs', async () => {
  const one = work()
  const first = locks.withLock('a', { ttl: 1_000 }, one.run)
  await settle()
  await clock.advance(60_000)
  expect(one.held().signal.aborted).toBe(false)
  expect(await codeOf(locks.withLock('a', {}, () => {}))).toBe('LockHeldError')
  one.end(1)
  expect(await first).toBe(1)
})

test('a lock stays with its holder when the clock of the machine is set, forward or back', async () => {
  const one = work()
  const first = locks.withLock('a', { ttl: 1_000 }, one.run)
  await settle()
  for (const time of ['2030-01-02T00:00:00Z', '2029-01-01T00:00:00Z']) {
    await clock.set(time)
    expect(await codeOf(locks.withLock('a', {}, () => {}))).toBe('LockHeldError')
  }
  one.end()
  await first
  expect(await codeOf(locks.withLock('a', {}, () => {}))).toBe('ok')
})

test('a process that was blocked for longer than the ttl has lost the lock: its signal aborts and the call rejects', async () => {
  const one = work()
  const first = codeOf(locks.withLock('a', { ttl: 1_000 }, one.run))
  await settle()
  // No timer fires on the way.
  const later = performance.now() + 300_000
  Object.assign(clock, { monotonic: () => later })
  expect(await locks.withLock('a', { wait: 1_000 }, ({ fence }) => fence)).toBeGreaterThan(one.held().fence)
  await clock.advance(1_000)
  expect(one.held().signal.reason).toMatchObject({ code: 'LockLostError' })
  one.end('too late')
  expect(await first).toBe('LockLostError')
  expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(1)
})

describe('closing', () => {
  test('waits for work under locks, and for those that wait for one', async () => {
    const one = work()
    const first = locks.withLock('a', {}, one.run)
    const second = locks.withLock('a', { wait: 5_000 }, () => 'second')
    await settle()
    const closed = server.close()
    await pause(100)
    expect(one.held().signal.aborted).toBe(false)
    one.end('first')
    expect([await first, await second]).toEqual(['first', 'second'])
    await closed
    expect(await codeOf(locks.withLock('a', {}, () => {}))).toBe('LocksClosedError')
  })

  test('aborts what remains in the end, refuses those that wait, and releases the lock', async () => {
    const one = work()
    const first = locks.withLock('a', {}, one.run)
    const others = [locks.withLock('a', { wait: 1e6 }, () => 'no'), locks.withLock('a', { wait: 1e6 }, () => 'no')].map(
      codeOf,
    )
    await settle()
    await server.close()
    expect(one.held().signal.reason).toMatchObject({ code: 'LocksClosedError' })
    expect(await Promise.all(others)).toEqual(['LocksClosedError', 'LocksClosedError'])
    expect(logger.entries.at(-1)?.message).toBe(
      'closing no longer waits for the work under the locks a, which are released',
    )
    one.end('late')
    expect(await first).toBe('late')
  })
})

test.each([
  ['', {}, () => {}],
  [5, {}, () => {}],
  ['a', {}, undefined],
])('refuses the arguments %j, %j', async (key, options, run) => {
  await expect(locks.withLock(key as never, options, run as never)).rejects.toMatchObject({ code: 'ArgumentsError' })
})

test.each([
  [{ ttl: 10 }],
  [{ wait: -1 }],
  [{ waits: 5 }],
  [{ ttl: '5s' }],
])('refuses the options %j', async (options) => {
  await expect(locks.withLock('a', options as never, () => {})).rejects.toMatchObject({ code: 'OptionError' })
})
