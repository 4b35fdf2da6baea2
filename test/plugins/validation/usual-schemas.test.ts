import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { checkSchema } from '../../../plugins/shared/schema/json-schema/ajv.ts'
import { Chance } from '../../support/chance.ts'
import { randomRoot } from '../../support/random-schemas.ts'

const drafts = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 }
const keywords = [
  ...['type', 'format', 'title', 'enum', 'const', 'default', 'required', 'properties', 'items', 'additionalProperties'],
  ...['minimum', 'exclusiveMaximum', 'minLength', 'maxItems', 'minProperties', 'multipleOf', 'pattern'],
  ...['uniqueItems', 'readOnly'],
  ...['allOf', 'anyOf', 'oneOf', 'not', '$ref', '$id', 'unknown'],
]
const values = [
  ...[undefined, null, true, false, 0, -1, 1.5, 7, Number.NaN, Number.POSITIVE_INFINITY, 1e21, '', 'string', '[', '#'],
  ...[
    [],
    [1],
    ['a'],
    ['a', 'a'],
    ['string', 'null'],
    ['null', 'null'],
    [{}],
    [{ type: 'x' }],
    {},
    { a: 1 },
    { a: true },
    { type: 'x' },
  ],
]

/** A schema in which one value was replaced or added. */
function changed(chance: Chance, schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || chance.is(0.05)) return chance.pick(values)
  const copy: object = Array.isArray(schema) ? [...schema] : { ...schema }
  const names = Object.keys(copy)
  const name = names.length === 0 || chance.is(0.2) ? chance.pick(keywords) : chance.pick(names)
  const value = changed(chance, (schema as { [name: string]: unknown })[name])
  return Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true })
}

test.each(Object.entries(drafts))('a schema is refused where the schema of schemas refuses it: %s', (draft, Draft) => {
  const ajv = new Draft({ logger: false })
  formats.default(ajv)
  const chance = new Chance(6_203 + draft.length)
  const counts = [0, 0]
  // Each comparison by `expect` takes longer than both checks.
  const wrong: string[] = []
  for (let i = 0; i < 3_000; i++) {
    const schema = changed(chance, randomRoot(chance, { free: true }))
    if (typeof schema !== 'object' || schema === null) continue
    const isValid = ajv.validateSchema(schema) === true
    let message = ''
    try {
      checkSchema(schema, draft as never)
    } catch (error) {
      message = String(error)
    }
    if (isValid ? message !== '' : !message.includes('it is not a valid JSON Schema'))
      wrong.push(`${JSON.stringify(schema)}: ${isValid}, ${message}`)
    counts[Number(isValid)]!++
  }
  expect(wrong).toEqual([])
  expect(Math.min(...counts)).toBeGreaterThan(200)
})

const hidden = Object.defineProperty({}, 'type', { value: 'strng' })
test.each([
  ['an inherited keyword', Object.create({ type: 'strng' })],
  ['a keyword that is not enumerable', { type: 'object', properties: { a: hidden } }],
  ['a list of names with a hole', { required: new Array(1) }],
  ['a list of schemas with a hole', { allOf: new Array(1) }],
])('what only Ajv sees is not usual: %s', (_, schema) => {
  expect(() => checkSchema(schema, 'draft-07')).toThrow('it is not a valid JSON Schema')
})
