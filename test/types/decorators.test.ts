import { expect, test } from 'vitest'
import { runTsc } from '../support/typescript.ts'

// The run over this whole folder compiles the same files for the protocol of the standard.
test('the types of decorators apply under experimentalDecorators as well', () => {
  const { ok, errors, output } = runTsc(['-p', 'test/types/legacy'])
  const ours = [...errors].filter(([file]) => file.startsWith('test/types/') || file === '')
  expect(ours.flatMap(([, messages]) => messages)).toEqual([])
  expect(ok || errors.size > 0, output).toBe(true)
})
