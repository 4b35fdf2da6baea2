import { describe, expect, test } from 'vitest'
import { withDeclarations } from '../../cli/scaffold/environment/schema-text.ts'

const added = (text: string) =>
  withDeclarations(text, [{ name: 'ROOT', type: 'string()', example: '' }])?.replace(
    '  ROOT: schema.string(),\n',
    '<here>',
  )
const opening = 'export const env = createEnvSchema((schema) => ({\n'
const schema = (lines: string) => `${opening}${lines}}))\n`

describe('a variable is added to the schema, and nowhere else', () => {
  test.each([
    [
      'a helper with the same form',
      'const duration = (raw: string) => ({ ms: Number(raw) })\n\n',
      '  A: schema.number(),\n',
    ],
    [
      'an example in a comment',
      '/** `export const env = createEnvSchema((schema) => ({ A: 1 }))` */\n',
      '  A: schema.number(),\n',
    ],
    [
      'an example in a text',
      'const about = "export const env = createEnvSchema((schema) => ({"\n',
      '  A: schema.number(),\n',
    ],
    ['a declaration in a comment', '', '  A: schema.number(),\n  // ROOT: schema.string(),\n'],
    ['a declaration in a text', '', "  A: schema.string({ default: ' ROOT: })' }),\n"],
    ['an emoji in a comment', '', '  A: schema.number(), // 👋 }\n'],
  ])('%s', (_, before, lines) => {
    expect(added(before + schema(lines))).toBe(before + schema(`${lines}<here>`))
  })

  test.each([
    'export const env: Env = createEnvSchema((schema: Schema) => ({\n',
    'export const env = createEnvSchema(\n  schema => ({\n',
  ])('%j', (line) => expect(added(`${line}}), { file: "x" })\n`)).toBe(`${line}<here>}), { file: "x" })\n`))
})

test.each([
  ['a regular expression with //', schema('  A: schema.custom((raw) => /^https?:\\/\\//.test(raw)),\n')],
  ['a regular expression with a quote', schema("  A: schema.custom((raw) => /'/.test(raw)),\n")],
  ['a regular expression before it', `const quote = /["]/\n${schema('')}`],
  ['another function', 'export const env = make((schema) => ({\n}))\n'],
  ['no end', opening],
  ['another end', 'export const env = createEnvSchema((schema) => ({\n}]))\n'],
])('nothing is added to a module with a form of its own: %s', (_, text) => expect(added(text)).toBeUndefined())
