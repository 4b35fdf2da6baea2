import process from 'node:process'
import { expect, test } from 'vitest'
import { compileShape } from '../../../plugins/responses/checked-copy.ts'
import { LenientShape } from '../../../plugins/responses/lenient.ts'
import { Mismatch } from '../../../plugins/responses/mismatch.ts'
import { type Write, writerName, writerOf } from '../../../plugins/responses/writer.ts'
import { Chance } from '../../support/chance.ts'
import { isLong } from '../../support/long.ts'
import { randomRoot, randomValue, secret } from '../../support/random-schemas.ts'

/** The result of a writer for a value: a text, or why there is none. */
function outcome(shape: (value: unknown) => unknown, write: Write, value: unknown): string {
  try {
    return `text ${String(write(shape(value)))}`
  } catch (error) {
    return `failure ${error instanceof Mismatch || error instanceof Error ? error.message : String(error)}`
  }
}

/** Both writers for one schema, with their results for a list of values. */
function compare(schema: object, values: readonly unknown[]) {
  const shape = compileShape(schema)
  const native = writerOf(schema, 'JSON.stringify')
  const other = writerOf(schema, 'fast-json-stringify')
  expect(native).toBe(JSON.stringify)
  return values.map((value) => ({
    usesOther: other !== native,
    native: outcome(shape, native, value),
    other: outcome(shape, other, value),
  }))
}

const integer = { type: 'integer' }
const string = { type: 'string' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const thing = object({ id: integer, name: string })
const taken: [string, object, unknown[]][] = [
  [
    'an object',
    thing,
    [{ id: 1, name: 'a' }, { name: 'a', id: 1 }, {}, { id: '1' }, [], 'a', null, undefined, { id: null }],
  ],
  [
    'required members after others',
    object({ a: string, b: string }, { required: ['b'] }),
    [{ a: 'a', b: 'b' }, { b: 'b' }, {}],
  ],
  [
    'required members before others',
    object({ a: string, b: string }, { required: ['a'] }),
    [{ a: 'a', b: 'b' }, { a: 'a' }, { b: 'b' }],
  ],
  ['a required member without a schema', object({ a: string }, { required: ['x'] }), [{ a: 'a', x: 1 }, { a: 'a' }]],
  ['numbers as names', object({ b: string, 1: string, a: string, 0: string }), [{ b: 'b', 1: '1', a: 'a', 0: '0' }]],
  [
    'a default',
    object({ a: { type: 'string', default: 'x' } }, { required: ['a'] }),
    [{}, { a: 'b' }, { a: undefined }],
  ],
  [
    'texts',
    object({ a: string }),
    ['"\\\n', '\ud800', '😀', '\u2028', 'x'.repeat(60), 'x'.repeat(9_999)].map((a) => ({ a })),
  ],
  [
    'numbers',
    object({ a: { type: 'number' } }),
    [-0, 1e21, 5e-324, Number.NaN, 1 / 0, 5n, '5', new Number(5)].map((a) => ({ a })),
  ],
  ['booleans', object({ a: { type: 'boolean' } }), [true, false, 1, 'true', null].map((a) => ({ a }))],
  [
    'dates',
    object({ a: { ...string, format: 'date' }, b: string }),
    [{ a: new Date(0), b: new Date(0) }, { a: new Date(Number.NaN) }],
  ],
  [
    'toJSON',
    object({ a: thing, b: string }),
    [{ a: { toJSON: () => ({ id: 1, secret }) }, b: { toJSON: () => 'b' } }, { toJSON: () => null }],
  ],
  [
    'null',
    object({ a: { type: ['string', 'null'] }, b: { ...thing, nullable: true } }),
    [{ a: null, b: null }, { b: { id: 1 } }],
  ],
  [
    'lists',
    object({ a: { type: 'array', items: thing } }),
    [{ a: [] }, { a: [{ id: 1 }, {}] }, { a: [undefined] }, { a: new Array(1) }, { a: {} }],
  ],
  [
    'a long list',
    { type: 'array', items: integer },
    [Array.from({ length: 5_000 }, (_, i) => i), [1, 'x'], [1.5], [1]],
  ],
  [
    'a tuple inside',
    object({ a: { type: 'array', items: [string, integer] } }),
    [{ a: ['a', 1] }, { a: ['a'] }, { a: ['a', 1, 2] }],
  ],
  [
    'a free place inside',
    object({ a: object({ free: {} }), id: integer }),
    [{ a: { free: () => 1 }, id: 1 }, { a: { free: [1n] } }, { a: {} }],
  ],
  [
    'odd names inside',
    object({ a: object({ 'it\'s "x"\n': string, constructor: string }), id: integer }),
    [{ a: { 'it\'s "x"\n': 'x' }, id: 1 }],
  ],
  [
    'references',
    object({ a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } }, { $defs: { a: thing } }),
    [{ a: { id: 1 }, b: { id: 2 } }],
  ],
  [
    'a recursive schema',
    object({ id: integer, next: { $ref: '#' } }),
    [
      { id: 1, next: { id: 2, next: { id: 3 } } },
      { id: 1, next: 5 },
    ],
  ],
]
test.each(taken)('both writers write the same: %s', (_what, schema, values) => {
  for (const { usesOther, native, other } of compare(schema, values)) {
    expect(usesOther).toBe(true)
    expect(other).toBe(native)
  }
})

const left: [string, object, unknown[]][] = [
  ['a free schema', {}, [1, 'a', { a: 1 }, () => 1, undefined]],
  [
    'a free member',
    object({ a: {} }),
    [{ a: () => 1 }, { a: undefined }, { a: { toJSON: () => undefined } }, { a: 1 }],
  ],
  ['a member that every object has', object({ constructor: string, toString: string }), [{}, { constructor: 'a' }]],
  [
    '__proto__',
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as object,
    [{}, JSON.parse('{"__proto__":"a"}')],
  ],
  ['a member toJSON', object({ toJSON: {} }), [{ toJSON: 1 }, {}]],
  [
    'names that are code',
    object({ "'];throw 1;//": string, '\u2028': string }),
    [{ "'];throw 1;//": 'a', '\u2028': 'b' }],
  ],
  ['additional members', object({ a: string }, { additionalProperties: string }), [{ a: 'a', b: 'b' }, { b: 1 }]],
  ['patterns', object({}, { patternProperties: { '^x/': string } }), [{ 'x/': 'a', y: 'b' }]],
  ['anyOf', { anyOf: [thing, string] }, [{ id: 1, secret }, 'a', 5]],
  [
    'if',
    { ...thing, if: object({ id: { const: 1 } }), else: object({ other: string }) },
    [{ id: 2, other: 'a' }, { id: 1 }],
  ],
  ['several types', { type: ['string', 'integer'] }, ['a', 1, null]],
]
test.each(left)('is left to JSON.stringify: %s', (_what, schema, values) => {
  for (const { usesOther, native, other } of compare(schema, values)) {
    expect(usesOther).toBe(false)
    expect(other).toBe(native)
  }
})

test('a schema that is nested more deeply than fast-json-stringify takes', () => {
  let schema: object = thing
  let value: unknown = { id: 1 }
  for (let i = 0; i < 150; i++) {
    schema = object({ a: schema })
    value = { a: value }
  }
  const { native, other } = compare(schema, [value])[0]!
  expect(other).toBe(native)
  expect(native).toContain('{"id":1}')
})

test('a getter is read once, so that no other value is written than the one that was checked', () => {
  let reads = 0
  const value = {
    get name() {
      reads++
      return reads === 1 ? 'a' : { secret }
    },
  }
  const write = writerOf(thing, 'fast-json-stringify')
  expect(write(compileShape(thing)(value))).toBe('{"name":"a"}')
  expect(reads).toBe(1)
})

const seed = 20_240_607

const schemas = isLong ? 700 : 150

test('both writers write the same of hundreds of schemas and values, or both fail', () => {
  const chance = new Chance(seed)
  const counts = { other: 0, text: 0, failure: 0 }
  for (let i = 0; i < schemas; i++) {
    const schema = randomRoot(chance, { free: true })
    const values = Array.from({ length: 8 }, (_, k) => randomValue(chance, schema, schema, k < 5 ? 0 : 0.05))
    for (const { usesOther, native, other } of compare(schema, values)) {
      expect(other, JSON.stringify(schema)).toBe(native)
      if (usesOther) counts.other++
      counts[native.startsWith('text') ? 'text' : 'failure']++
    }
  }
  // That much is compared at all.
  expect(counts.other).toBeGreaterThan(2 * schemas)
  expect(counts.text).toBeGreaterThan(2 * schemas)
  expect(counts.failure).toBeGreaterThan(schemas / 2)
})

test('nothing that a schema does not name leaves, of values that fit and of those that do not', () => {
  const chance = new Chance(seed + 1)
  const counts = { strict: 0, lenient: 0 }
  for (let i = 0; i < schemas; i++) {
    const schema = randomRoot(chance, { free: false })
    const shape = compileShape(schema)
    const lenient = new LenientShape(schema)
    for (let k = 0; k < 8; k++) {
      const value = randomValue(chance, schema, schema, k < 3 ? 0 : 0.1)
      const strict = outcome(shape, writerOf(schema), value)
      expect(strict, JSON.stringify(schema)).not.toContain(secret)
      const picked = JSON.stringify(lenient.pick(value)) as string | undefined
      expect(String(picked), JSON.stringify(schema)).not.toContain(secret)
      if (strict.startsWith('text')) counts.strict++
      else if (picked !== undefined) counts.lenient++
      // Of a matching value, the lenient mode picks the same.
      if (strict.startsWith('text')) expect(`text ${picked}`).toBe(strict)
    }
  }
  expect(counts.strict).toBeGreaterThan(2 * schemas)
  expect(counts.lenient).toBeGreaterThan(schemas / 2)
})

test('the writer is chosen by the engine', () => {
  const isOld = process.versions.node.startsWith('20.') && process.versions.bun === undefined
  expect(writerName).toBe(isOld ? 'fast-json-stringify' : 'JSON.stringify')
})
