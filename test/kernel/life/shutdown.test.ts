import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ShutdownParts, shutDown } from '../../../kernel/life/shutdown.ts'
import { memoryLogger } from '../../support/kernel.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A server that closes with these hooks, the last to run first, and whose requests need so many milliseconds. */
function closing(hooks: readonly ((timeLeft: number) => void | Promise<void>)[], requestMs: number) {
  const logger = memoryLogger()
  const start = performance.now()
  const at = () => Math.round(performance.now() - start)
  const done = new Promise<void>((resolve) => {
    if (Number.isFinite(requestMs)) setTimeout(resolve, requestMs)
  })
  let cutAt: number | undefined
  const parts = {
    adapter: {
      connections: () => 1,
      stop: () => done,
      cut() {
        cutAt = at()
        return 1
      },
    },
    hooks: hooks.map((run, index) => ({ run, entry: { name: `hook ${index}`, times: { close: 0 } } })),
    closeTimeout: 10_000,
    drainWindow: 0,
    logger,
    startDraining() {},
    stopIntake: () => done,
  } as unknown as ShutdownParts
  const closed = shutDown(parts).then((errors) => ({ errors, ended: at(), cut: cutAt, log: logger.entries }))
  return { closed, at }
}

const hang = () => new Promise<void>(() => {})

test('a request that hangs leaves the hooks the last quarter, and is cut at the deadline', async () => {
  const reported: number[] = []
  const { closed, at } = closing([(timeLeft) => void reported.push(at(), timeLeft)], Number.POSITIVE_INFINITY)
  await vi.runAllTimersAsync()
  expect(reported).toEqual([7_500, 2_250])
  const { errors, ended, cut, log } = await closed
  expect([errors, ended, cut]).toEqual([[], 10_000, 10_000])
  expect(log).toMatchObject([{ message: 'closing took longer than 10000 ms: 1 connections were cut' }])
})

test('a hook that hangs has half of the remaining time, the last one all of it', async () => {
  const reported: number[] = []
  const note = (timeLeft: number) => {
    reported.push(timeLeft)
    return hang()
  }
  const { closed } = closing([note, note, note], Number.POSITIVE_INFINITY)
  await vi.runAllTimersAsync()
  // Nine tenths of 1250, 625 and 625.
  expect(reported).toEqual([1_125, 562, 562])
  const { errors, ended } = await closed
  expect([errors.length, ended]).toEqual([3, 10_000])
})

test('a request that takes its time is waited for as long as the hooks have theirs', async () => {
  const reported: number[] = []
  const { closed, at } = closing([(timeLeft) => void reported.push(at(), timeLeft)], 7_000)
  await vi.runAllTimersAsync()
  expect(reported).toEqual([7_000, 2_700])
  expect((await closed).cut).toBeUndefined()
})

test('one that ends beside the hooks is not cut; without hooks it has the whole time', async () => {
  const { closed } = closing([() => {}], 9_900)
  await vi.runAllTimersAsync()
  expect(await closed).toMatchObject({ errors: [], ended: 9_900, cut: undefined, log: [] })
  const bare = closing([], 9_900)
  await vi.runAllTimersAsync()
  expect(await bare.closed).toMatchObject({ ended: 9_900, cut: undefined })
})

test('without requests a hook has half of the time at most', async () => {
  const reported: number[] = []
  const { closed } = closing([() => {}, (timeLeft) => void reported.push(timeLeft)], 0)
  await vi.runAllTimersAsync()
  await closed
  expect(reported).toEqual([4_500])
})
