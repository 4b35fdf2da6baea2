import { afterEach, expect, it, vi } from 'vitest'
import { DenoAdapter } from '../../../kernel/runtime/deno.ts'

afterEach(() => vi.restoreAllMocks())

const abortThrows = (error: Error) =>
  vi.spyOn(AbortController.prototype, 'abort').mockImplementationOnce(() => {
    throw error
  })

it('cuts connections where Deno has closed the listener before', () => {
  abortThrows(Object.assign(new Error('Bad resource ID'), { name: 'BadResource' }))
  expect(new DenoAdapter().cut()).toBe(0)
})

it('throws other errors while it cuts connections', () => {
  abortThrows(new Error('something else'))
  expect(() => new DenoAdapter().cut()).toThrow('something else')
})
