import { expect, test } from 'vitest'
import { frameIn, placeIn } from '../../../kernel/index.ts'

test.each([
  ['    at lend (/x/app (copy)/src/a.ts:2:42)', 'lend', '/x/app (copy)/src/a.ts:2:42'],
  ['    at /x/sp ace ü/a.ts:1:2', '', '/x/sp ace ü/a.ts:1:2'],
  ['    at async file:///x/a%20(b)/c.mjs:1:2', '', '/x/a (b)/c.mjs:1:2'],
  ['    at async go (file:///x/y.js?v=2:1:1)', 'go', '/x/y.js:1:1'],
  [
    '    at Object.<anonymous> (C:\\Users\\Ann Smith\\a.ts:1:2)',
    'Object.<anonymous>',
    'C:\\Users\\Ann Smith\\a.ts:1:2',
  ],
  ['    at /orders (/x/y.ts:1:2)', '/orders', '/x/y.ts:1:2'],
  ['    at eval (eval at x (file:///a/b.js:1:2), <anonymous>:1:1)', 'eval (eval at x', '/a/b.js:1:2'],
  ['    at https://a.example/b.ts:1:2', '', 'https://a.example/b.ts:1:2'],
  ['file:///x/my%20app/y.ts:3', '', '/x/my app/y.ts:3:0'],
])('the place of the frame %s', (text, name, place) => {
  expect(frameIn(text)).toMatchObject({ name, place })
})

test.each([
  '    at new Foo (node:internal/x:1:2)',
  '    at node:internal/x:1:2',
  '    at native:1:11',
  '    at ext:core/01_core.js:1:2',
  '    at Array.map (<anonymous>)',
  '    at async Promise.all (index 0)',
  '    at file:///x/a%zz.ts:1:2',
  `    at x (/${'y'.repeat(1000)}:1:2)`,
])('the frame %s names no file', (text) => {
  expect(frameIn(text)).toBe(undefined)
})

test('the first place outside the framework is whole where the application and its packages are in a folder with spaces and parentheses', () => {
  const at = (file: string) => `    at run (/home/ann/my app (1)/${file}:3:8)`
  const stack = ['Error: x', '    at node:internal/x:1:2', at('node_modules/a/index.js'), at('src/jobs.ts')].join('\n')
  expect(placeIn(stack, '/node_modules/')).toBe('/home/ann/my app (1)/src/jobs.ts:3:8')
})

test('a long line that looks like a frame takes no time', () => {
  const start = performance.now()
  for (let times = 0; times < 100; times++) frameIn(`    at ${' (/'.repeat(5000)}`)
  expect(performance.now() - start).toBeLessThan(1000)
})
