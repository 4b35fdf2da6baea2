import { answerWithin, isInTime, within } from 'framework/kernel'
import { expect, test } from 'vitest'

const never = new Promise<never>(() => {})
const later = <Value>(value: Value) => new Promise<Value>((resolve) => setImmediate(resolve, value))

test('a promise that settles in time settles the same', async () => {
  expect(await within(later('here'), 10_000, () => 'late')).toBe('here')
  await expect(within(Promise.reject(new Error('no')), 10_000, () => 'late')).rejects.toThrow('no')
  expect(await isInTime(later('here'), 10_000)).toBe(true)
  await expect(isInTime(Promise.reject(new Error('no')), 10_000)).rejects.toThrow('no')
})

test('a late one settles with the result or error of `late`', async () => {
  expect(await within(never, 1, () => 'late')).toBe('late')
  expect(await isInTime(never, 1)).toBe(false)
  await expect(answerWithin(never, 1)).rejects.toThrow('no response within 1 ms')
  await expect(
    within(never, 1, () => {
      throw new Error('too late')
    }),
  ).rejects.toThrow('too late')
})

test('a failure after that ends nothing', async () => {
  const lost: unknown[] = []
  const listen = (error: unknown) => void lost.push(error)
  process.on('unhandledRejection', listen)
  let fail!: (error: Error) => void
  const failing = new Promise<never>((_, reject) => {
    fail = reject
  })
  expect(await within(failing, 1, () => 'late')).toBe('late')
  fail(new Error('no one hears of this'))
  await later(1)
  await later(1)
  process.off('unhandledRejection', listen)
  expect(lost).toEqual([])
})

test('no timer is left', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  await within(later(1), 100_000, () => 2)
  // Those of earlier files of the process may have ended.
  expect(timers()).toBeLessThanOrEqual(before)
})
