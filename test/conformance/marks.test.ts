import { describe, expect, test } from 'vitest'
import { resultOf, runtimeKinds } from './targets.ts'

describe('what a schema marks is hidden in the log', () => {
  test.each(runtimeKinds.map((target) => [target.name, target] as const))('on %s', async (_name, target) => {
    expect(await resultOf(target, 'marks.mjs', [])).toEqual({
      status: 500,
      leaks: 0,
      greeting: ['greets [redacted]', '[redacted]', ['[redacted]']],
    })
  })
})
