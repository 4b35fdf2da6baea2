import { Server } from 'framework'
import { expect, test } from 'vitest'
import { describeFailure } from '../../cli/typescript/failure.ts'

test('options that are wrong are all in the description of a failed import', () => {
  let thrown: unknown
  try {
    new Server({ plugins: { overload: { retryAfter: -1, sampleInterval: 1 } } } as never)
  } catch (error) {
    thrown = error
  }
  const [first, ...list] = describeFailure(thrown).split('\n')
  expect(first).toMatch(/2 options are wrong.*:$/)
  expect(list).toEqual([expect.stringContaining('retryAfter'), expect.stringContaining('sampleInterval')])
})

test('a message that ends with a colon and has no list is whole', () => {
  const error = Object.assign(new Error('the address is sqlite::memory:'), { stack: '' })
  expect(describeFailure(error)).toBe('the address is sqlite::memory:')
})
