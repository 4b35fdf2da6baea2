import { systemClock } from 'framework/kernel'
import type { TestClock } from 'framework/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ShutdownParts, shutDown } from '../../../kernel/life/shutdown.ts'
import type { ContextHost } from '../../../kernel/plugin/context.ts'
import { LifeState } from '../../../kernel/support/life-state.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { moveSystemClock } from '../../support/system-clock.ts'

let time: TestClock

beforeEach(() => {
  time = moveSystemClock()
})
afterEach(() => {
  time.restore()
})

interface Closing {
  readonly drain?: readonly (() => void | Promise<void>)[]
  readonly close?: readonly ((timeLeft: number) => void | Promise<void>)[]
  /** Milliseconds that the requests need. Default: for ever. */
  readonly requestMs?: number
  readonly closeTimeout?: number
}

/** A server that closes with these hooks, given in order of registration. */
function closing({ drain = [], close = [], requestMs = Number.POSITIVE_INFINITY, closeTimeout = 10_000 }: Closing) {
  const logger = memoryLogger()
  const start = systemClock.monotonic()
  const at = () => Math.round(systemClock.monotonic() - start)
  const done = new Promise<void>((resolve) => {
    if (Number.isFinite(requestMs)) systemClock.setTimeout(resolve, requestMs)
  })
  const hooksOf = (phase: string, all: readonly unknown[]) =>
    all.map((run, index) => ({
      run,
      entry: {
        name: `${phase} ${index}`,
        times: { drain: 0, close: 0 },
        trace: (_phase: string, work: () => unknown) => work(),
      },
    }))
  let cutAt: number | undefined
  const state = new LifeState()
  const host = {
    server: { settings: { closeTimeout, drainWindow: 0 }, safeLogger: logger },
    lifeCycle: { onDrain: hooksOf('drain', drain), onClose: hooksOf('close', close) },
  } as unknown as ContextHost
  const parts = {
    state,
    adapter: {
      connections: () => 1,
      stop: () => done,
      cut() {
        cutAt = at()
        return 1
      },
    },
    startDraining() {},
    idle: () => done,
  } as unknown as ShutdownParts
  const closed = shutDown(host, parts).then((errors) => ({
    errors: errors.map(({ message }) => message),
    ...{ ended: at(), cut: cutAt, abandoned: state.abandoned },
    times: host.lifeCycle.onDrain.map(({ entry }) => entry.times.drain),
    log: logger.entries.map(({ message }) => message),
  }))
  return { closed, at }
}

/** Lets all of the closing time pass. */
const pass = () => time.advance(120_000)
const hang = () => new Promise<void>(() => {})
const takes = (ms: number) => () => new Promise<void>((resolve) => void systemClock.setTimeout(resolve, ms))

test('a request that hangs leaves the hooks the last tenth, and is cut at the deadline', async () => {
  const reported: number[] = []
  const { closed, at } = closing({ close: [(timeLeft) => void reported.push(at(), timeLeft)] })
  await pass()
  expect(reported).toEqual([9_000, 900])
  const { errors, ended, cut, log } = await closed
  expect([errors, ended, cut]).toEqual([[], 10_000, 10_000])
  expect(log).toEqual(['closing took longer than 10000 ms: 1 connections were cut'])
})

test.each([
  [60_000, 54_000],
  [10_000, 9_000],
  [5_000, 4_000],
  [4_000, 3_000],
  [2_000, 1_500],
])('of %d ms, work has %d: a tenth is left, at least a second, at most a quarter', async (closeTimeout, expected) => {
  const begun: number[] = []
  const { closed, at } = closing({ drain: [hang], close: [() => void begun.push(at())], requestMs: 0, closeTimeout })
  await pass()
  expect(begun).toEqual([expected])
  await closed
})

test('drain hooks are called at once, the last registered one first, and before any close hook', async () => {
  const calls: string[] = []
  const note = (what: string, ms: number) => async () => {
    calls.push(what)
    await takes(ms)()
    calls.push(`${what} done`)
  }
  const { closed } = closing({
    drain: [note('a', 3_000), note('b', 8_000), note('c', 1_000)],
    close: [() => void calls.push('close')],
    requestMs: 500,
  })
  await pass()
  expect(calls).toEqual(['c', 'b', 'a', 'c done', 'a done', 'b done', 'close'])
  expect(await closed).toEqual({
    ...{ errors: [], ended: 8_000, cut: undefined, abandoned: false, log: [] },
    times: [3_000, 8_000, 1_000],
  })
})

test('requests and drain hooks are waited for side by side, whichever takes longer', async () => {
  const { closed } = closing({ drain: [takes(2_000)], close: [() => {}], requestMs: 8_500 })
  await pass()
  expect(await closed).toMatchObject({ ended: 8_500, cut: undefined, abandoned: false })
})

test('a drain hook that never settles is named, and keeps no other waiting for more than its time', async () => {
  const { closed } = closing({ drain: [hang, takes(100)], close: [() => {}], requestMs: 0 })
  await pass()
  expect(await closed).toMatchObject({
    ...{ errors: [], ended: 9_000, abandoned: true, times: [9_000, 100] },
    log: [
      'the plugin "drain 0" was still working 9000 ms after it was asked to drain: closing no longer waits for it. Raise closeTimeout, or end the work when server.closing aborts',
    ],
  })
})

test('a drain hook that throws or rejects is an error of closing, and stops no other', async () => {
  const calls: string[] = []
  const { closed } = closing({
    drain: [
      () => void calls.push('drained'),
      () => Promise.reject(new Error('late')),
      () => {
        throw new Error('at once')
      },
    ],
    close: [() => void calls.push('closed')],
    requestMs: 0,
  })
  await pass()
  const { errors, abandoned } = await closed
  expect(errors.sort()).toEqual([
    'the drain hook of the plugin "drain 1" failed: late',
    'the drain hook of the plugin "drain 2" failed: at once',
  ])
  expect([calls, abandoned]).toEqual([['drained', 'closed'], false])
})

test('without close hooks nothing is reserved for them', async () => {
  const { closed } = closing({ drain: [takes(9_900)], requestMs: 0 })
  await pass()
  expect(await closed).toMatchObject({ ended: 9_900, abandoned: false })
})

test('a hook that hangs has half of the remaining time, the last one all of it', async () => {
  const reported: number[] = []
  const note = (timeLeft: number) => {
    reported.push(timeLeft)
    return hang()
  }
  const { closed } = closing({ close: [note, note, note] })
  await pass()
  // Nine tenths of 500, 250 and 250.
  expect(reported).toEqual([450, 225, 225])
  const { errors, ended } = await closed
  expect([errors.length, ended]).toEqual([3, 10_000])
})

test('a request that takes its time is waited for as long as the hooks have theirs', async () => {
  const reported: number[] = []
  const { closed, at } = closing({ close: [(timeLeft) => void reported.push(at(), timeLeft)], requestMs: 7_000 })
  await pass()
  expect(reported).toEqual([7_000, 2_700])
  expect((await closed).cut).toBeUndefined()
})

test('one that ends beside the hooks is not cut; without hooks it has the whole time', async () => {
  const { closed } = closing({ close: [() => {}], requestMs: 9_900 })
  await pass()
  expect(await closed).toMatchObject({ errors: [], ended: 9_900, cut: undefined, log: [] })
  const bare = closing({ requestMs: 9_900 })
  await pass()
  expect(await bare.closed).toMatchObject({ ended: 9_900, cut: undefined })
})

test('without requests a hook has half of the time at most', async () => {
  const reported: number[] = []
  const { closed } = closing({ close: [() => {}, (timeLeft) => void reported.push(timeLeft)], requestMs: 0 })
  await pass()
  await closed
  expect(reported).toEqual([4_500])
})
