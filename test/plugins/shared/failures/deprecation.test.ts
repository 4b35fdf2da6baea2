import { expect, test, vi } from 'vitest'
import { deprecation } from '../../../../plugins/shared/failures/deprecation.ts'

test('a deprecated form is reported by its first use alone, each form by itself', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const [first, second] = [
    deprecation('FRAMEWORK_DEP9001', 'write b, not a'),
    deprecation('FRAMEWORK_DEP9002', 'write d, not c'),
  ]
  expect(warned).not.toHaveBeenCalled()
  first()
  second()
  first()
  expect(warned.mock.calls).toEqual([
    ['write b, not a', { type: 'DeprecationWarning', code: 'FRAMEWORK_DEP9001' }],
    ['write d, not c', { type: 'DeprecationWarning', code: 'FRAMEWORK_DEP9002' }],
  ])
  warned.mockRestore()
})
