import { presetHeaders } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

test('headers that were checked once are set as setHeader would: in place of existing ones, lists as lines', async () => {
  const preset = presetHeaders({ 'X-One': 1, 'x-two': 'b', 'Set-Cookie': ['a=1', 'b=2'] })
  const { kernel, router } = makeKernel()
  router.get('/first', (_req, res) => res.setHeaders(preset).setHeader('x-two', 'later').ok())
  router.get('/later', (_req, res) => res.setHeader('x-one', 'before').setHeaders(preset).removeHeader('x-two').ok())
  for (let i = 0; i < 2; i++) {
    const first = await send(kernel, '/first')
    expect(first.headers).toMatchObject({ 'x-one': '1', 'x-two': 'later', 'set-cookie': ['a=1', 'b=2'] })
    const later = await send(kernel, '/later')
    expect(later.headers).toMatchObject({ 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] })
    expect(later.headers).not.toHaveProperty('x-two')
  }
})

test('an invalid header is refused when the preset is made', () => {
  expect(() => presetHeaders({ 'x-a': 'a\r\nb: c' })).toThrow(expect.objectContaining({ code: 'HeaderValueError' }))
  expect(() => presetHeaders({ 'x a': 'b' })).toThrow(expect.objectContaining({ code: 'HeaderNameError' }))
})
