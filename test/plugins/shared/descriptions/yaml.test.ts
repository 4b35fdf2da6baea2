import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { toYaml } from '../../../../plugins/shared/descriptions/yaml.ts'

const texts = [
  '',
  ' ',
  'a',
  'no',
  'Yes',
  'off',
  'null',
  '~',
  'y',
  '1:30',
  '0x1f',
  '1e3',
  'e1',
  '.inf',
  '2026-01-01',
  '<<',
  '=',
  'a: b',
  'a #b',
  '- a',
  '? a',
  '{a}',
  '[a',
  '&a',
  '*a',
  '!a',
  '%a',
  '@a',
  '`a',
  '|',
  '>',
  '"',
  "'",
  'a\nb\n',
  'a\r\nb',
  '\ta',
  'a\t',
  ' a ',
  '/users/{id}',
  '$ref',
  '#/components/schemas/A',
  'application/json; charset=utf-8',
  '\u0085\u2028\u2029\u007f\u009f\ufeff\uffff\ud800',
  'é 😀',
  '...',
  '---',
  'k'.repeat(1100),
]

test.each([
  '1.1',
  '1.2',
] as const)('every text is the same to a reader of YAML %s, as a value and as a name', (version) => {
  const data = {
    list: [...texts, [], {}, [[1], [{ a: 1, b: [2] }]], { a: { b: [] } }, null, true, 1.5, -0.1, 1e21],
    names: Object.fromEntries(texts.map((text) => [text, { [text]: text }])),
    empty: {},
    none: [],
  }
  expect(parse(toYaml(data), { version, merge: true, maxAliasCount: 0 })).toEqual(JSON.parse(JSON.stringify(data)))
})

test('plain values stay plain, in blocks', () => {
  expect(toYaml({ openapi: '3.1.1', paths: { '/a/{id}': { get: { tags: ['books'], required: true } } } })).toBe(
    `openapi: "3.1.1"\npaths:\n  /a/{id}:\n    get:\n      tags:\n        - books\n      required: true\n`,
  )
})
