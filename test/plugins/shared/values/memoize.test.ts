import { expect, test } from 'vitest'
import { Memoized, memoizedIn } from '../../../../plugins/shared/values/memoize.ts'

test('a value is made when it is first needed, once for all callers', async () => {
  const made: string[] = []
  const map = new Map<string, Promise<string>>()
  const get = (key: string) =>
    memoizedIn(map, key, async () => {
      made.push(key)
      return key.toUpperCase()
    })
  expect(made).toEqual([])
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['A', 'A', 'B'])
  await get('a')
  expect(made).toEqual(['a', 'b'])
})

test('after a failure the next caller makes it again, and all waiting callers receive the error', async () => {
  let times = 0
  const one = new Memoized(async () => {
    if (++times === 1) throw new Error('no')
    return times
  })
  expect((await Promise.allSettled([one.get(), one.get()])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  expect(await one.get()).toBe(2)
})

test('a failure of a forgotten value does not affect a later one', async () => {
  const ends: ((error?: Error) => void)[] = []
  const one = new Memoized(
    () =>
      new Promise<number>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve(ends.length)))),
  )
  const first = one.get()
  expect(one.release()).toBe(first)
  expect(one.release()).toBeUndefined()
  const second = one.get()
  ends[0]!(new Error('late'))
  await expect(first).rejects.toThrow('late')
  expect(one.get()).toBe(second)
})
