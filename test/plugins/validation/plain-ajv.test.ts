import { type ErrorObject, Ajv as Old, type Options } from 'ajv'
import { Ajv2020 as Modern } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { type Check, checkOf, type Mode, type Verdict } from '../../../plugins/shared/schema/check.ts'
import { Chance } from '../../support/chance.ts'
import { isLong } from '../../support/long.ts'
import { randomRoot, randomValue } from '../../support/random-schemas.ts'

type Json = { [keyword: string]: unknown }

/** What Ajv does for a mode when it is used as it comes. */
const options: { readonly [Name in Mode]: Options } = {
  exact: {},
  body: { removeAdditional: true, useDefaults: true },
  text: { removeAdditional: true, useDefaults: true, coerceTypes: 'array' },
  headers: {},
}

const quick: Options = { strict: false, logger: false, meta: false, validateSchema: false }

function plainAjv(schema: object, mode: Mode, allErrors: boolean) {
  const Ajv = /"(?:prefixItems|unevaluatedProperties)"/.test(JSON.stringify(schema))
    ? Modern
    : (Old as unknown as typeof Modern)
  const ajv = new Ajv({ ...options[mode], allErrors, ownProperties: true, ...quick })
  formats.default(ajv)
  return ajv.compile(schema)
}

/** Rules that only validation knows, here and there in a schema. */
function withRules(chance: Chance, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withRules(chance, one))
  if (typeof schema !== 'object' || schema === null) return schema
  const node: Json = {}
  for (const [name, one] of Object.entries(schema)) {
    const value = ['enum', 'const', 'default', 'required'].includes(name) ? one : withRules(chance, one)
    Object.defineProperty(node, name, { value, enumerable: true, configurable: true, writable: true })
  }
  const types = [node.type].flat()
  const add = (share: number, more: Json) => {
    if (chance.is(share)) for (const [name, one] of Object.entries(more)) node[name] ??= one
  }
  if (types.includes('string')) {
    add(0.1, { minLength: 2, maxLength: 9 })
    add(0.1, { pattern: '^[a-z]*$' })
    add(0.1, { format: chance.pick(['uri', 'email', 'date-time', 'uuid', 'url']) })
    add(0.05, { enum: ['Ada', '', ...Array.from({ length: 20 }, (_, i) => `v${i}`)] })
  }
  if (types.includes('integer') || types.includes('number')) {
    add(0.1, { minimum: 0, exclusiveMaximum: 100 })
    add(0.1, { multipleOf: 0.5 })
  }
  if (types.includes('array')) {
    add(0.3, { uniqueItems: true })
    add(0.1, { minItems: 1, maxItems: 2 })
    add(0.1, { contains: { type: 'string' } })
  }
  if (types.includes('object')) {
    add(0.1, { minProperties: 1, maxProperties: 3 })
    add(0.1, { propertyNames: { maxLength: 4 } })
    add(0.15, { additionalProperties: false })
    add(0.1, { dependencies: { id: ['name'], name: { required: ['id'] } } })
    add(0.05, { not: { required: ['A'] } })
    add(0.05, { if: { required: ['id'] }, else: { required: ['z'] } })
    add(0.05, { const: { a: [1], b: { c: null } } })
  }
  return node
}

function toJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Rows of both kinds as they are reported. What an item lacks that did not have to fit is not reported; and Ajv names other ones
 * of several equal items, and none that are of a wrong type as well.
 */
const pointer = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1')
const rowsOf = (errors: readonly ErrorObject[]) =>
  errors
    .filter(({ keyword, schemaPath }) => keyword !== 'uniqueItems' && !schemaPath.includes('/contains/'))
    .map(({ instancePath, keyword, message, params }) => {
      const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = params
      const member: string | undefined = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName
      const path = member === undefined ? instancePath : `${instancePath}/${pointer(member)}`
      return { path, keyword, message, params }
    })
const toldOf = (verdict: Verdict) =>
  verdict.ok ? [] : verdict.issues.filter(({ keyword }) => keyword !== 'uniqueItems')

/** Forms of the recursive part that mean the same. */
const forms: readonly ((schema: Json) => Json)[] = [
  (schema) => schema,
  (schema) => {
    if (schema.$defs === undefined) return schema
    const text = JSON.stringify(schema).replaceAll('"#/$defs/two"', '"two"')
    const named = JSON.parse(text) as { $defs: { two: Json } }
    named.$defs.two.$id = 'two'
    return named as unknown as Json
  },
  (schema) => {
    if (schema.$defs === undefined) return schema
    const text = JSON.stringify(schema).replaceAll('"#/$defs/two"', '"#two"')
    const named = JSON.parse(text) as { $defs: { two: Json } }
    named.$defs.two.$anchor = 'two'
    return named as unknown as Json
  },
]

/** Schemas of each kind: Ajv takes 20 ms for one. */
const schemas = isLong ? 120 : 30

test.each<Mode>(['exact', 'body', 'text'])('the verdict, the value and the issues are those of Ajv: %s', (mode) => {
  const chance = new Chance(9_137 + mode.length)
  const counts = { ok: 0, refused: 0, recursive: 0, compared: 0 }
  for (let i = 0; i < schemas; i++) {
    const root = randomRoot(chance, { free: true })
    const schema = withRules(chance, root) as Json
    const text = JSON.stringify(schema)
    // No one can compile an empty list of values, and a default that would be ignored is refused.
    if (text.includes('"enum":[]') || (/"default"/.test(text) && /"(anyOf|oneOf|if|not|\$ref)"/.test(text))) continue
    if ('default' in schema) continue
    const first = plainAjv(schema, mode, false)
    let all: ReturnType<typeof plainAjv> | undefined
    const check = checkOf(chance.pick(forms)(schema), mode)
    // A branch of Ajv that changes the value and fails leaves it changed.
    if (mode !== 'exact' && /"(anyOf|oneOf|if|not|contains)"/.test(text)) continue
    for (let n = 0; n < 12; n++) {
      const given = toJson(randomValue(chance, root, root, n < 4 ? 0 : 0.15))
      // Ajv itself throws where it compares an object that has such a member, and takes no number from 1e21 on for a multiple.
      const beyondAjv = text.includes('"multipleOf"') ? /"toString"|1e\+21/ : /"toString"/
      if (given === undefined || beyondAjv.test(JSON.stringify(given))) continue
      const [ours, theirs] = [structuredClone(given), structuredClone(given)]
      const verdict = check(ours) as Verdict
      const isTaken = first(theirs)
      expect([schema, given, verdict.ok]).toEqual([schema, given, isTaken])
      counts[isTaken ? 'ok' : 'refused']++
      if (text.includes('"#/$defs/two"')) counts.recursive++
      if (verdict.ok) expect([schema, given, verdict.value]).toEqual([schema, given, theirs])
      else {
        all ??= plainAjv(schema, mode, true)
        all(structuredClone(given))
        const [reported, rows] = [toldOf(verdict), rowsOf(all.errors!)]
        expect([schema, given, reported]).toEqual([schema, given, rows.slice(0, reported.length)])
        if (verdict.issues.length < 20) expect(reported).toHaveLength(rows.length)
        counts.compared++
      }
    }
  }
  for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeGreaterThan(schemas)
})

/** A schema in which some objects have fewer members and accept no others, and some members are strings. */
function varied(chance: Chance, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => varied(chance, one))
  if (typeof schema !== 'object' || schema === null) return schema
  const { default: _, ...node } = Object.fromEntries(
    Object.entries(schema).map(([name, one]) => [
      name,
      /^(enum|const|required)$/.test(name) ? one : varied(chance, one),
    ]),
  ) as Json
  if (node.type === 'integer' && chance.is(0.3)) return { type: 'string' }
  if (node.type !== 'object' || chance.is(0.5)) return node
  const properties = Object.entries((node.properties ?? {}) as Json).filter(() => chance.is(0.7))
  return { ...node, properties: Object.fromEntries(properties), additionalProperties: false }
}

test.each<Mode>(['body', 'text'])('a branch that fails changes nothing: %s', (mode) => {
  const chance = new Chance(5_113 + mode.length)
  const counts = { first: 0, second: 0, refused: 0 }
  for (let i = 0; i < schemas / 2; i++) {
    const root = randomRoot(chance, { free: true })
    const [one, other] = [1, 2].map((n) => ({ ...(withRules(chance, varied(chance, root)) as Json), $id: `part${n}` }))
    // A default in a union that would be ignored is refused.
    if (/"enum":\[\]|"default"/.test(JSON.stringify([one, other]))) continue
    const [first, second] = [checkOf(one!, mode), checkOf(other!, mode)]
    const unions = [
      { anyOf: [one, other] },
      { if: one, else: other },
      { oneOf: [{ allOf: [one, false] }, { anyOf: [one, other] }] },
    ].map((union) => checkOf(union, mode))
    const afterNot = checkOf({ not: one, allOf: [other] }, mode)
    for (let n = 0; n < 12; n++) {
      const given = toJson(randomValue(chance, root, root, n < 4 ? 0 : 0.15))
      if (given === undefined || JSON.stringify(given).includes('"toString"')) continue
      const run = (check: Check) => check(structuredClone(given)) as Verdict
      const [byFirst, bySecond] = [run(first!), run(second!)]
      const expected = byFirst.ok ? byFirst : bySecond
      const outcomes = [...unions, ...(byFirst.ok ? [] : [afterNot])].map(run)
      const shown = (verdict: Verdict) => (verdict.ok ? verdict : { ok: false })
      expect([one, other, given, ...outcomes.map(shown)]).toEqual([
        one,
        other,
        given,
        ...outcomes.map(() => shown(expected)),
      ])
      counts[byFirst.ok ? 'first' : bySecond.ok ? 'second' : 'refused']++
    }
  }
  expect(Math.min(counts.first, counts.second, counts.refused)).toBeGreaterThan(schemas / 4)
})

test('references between schemas with addresses and anchors lead where those of Ajv lead', () => {
  const chance = new Chance(4_242)
  const types = ['string', 'integer', 'boolean', 'null']
  const refs = [
    ...['x', 'y', 'y#', 'x#in', 'y#in', '#in', '#', '#/$defs/inner', 'x#/properties/v', '/d/x', '../d/y'],
    ...['https://a.test/d/x#/$defs/inner', '#top', 'https://a.test/d/root', 'root#top', 'z/w'],
  ]
  const counts = { checked: 0, refused: 0 }
  for (let i = 0; i < schemas; i++) {
    const ref = () => ({ $ref: chance.pick(refs), ...(chance.is(0.2) && { properties: { v: { type: 'string' } } }) })
    const scalar = () => ({ type: chance.pick(types) })
    const object = (more: object = {}) => ({
      type: 'object',
      properties: { v: chance.is(0.7) ? scalar() : ref(), n: ref(), m: chance.is(0.5) ? ref() : scalar() },
      ...(chance.is(0.3) && { required: ['v'] }),
      ...more,
    })
    const inner = () => (chance.is(0.5) ? { $anchor: 'in', ...scalar() } : object({ $anchor: 'in' }))
    const w = object({ $id: 'z/w', $defs: { inner: inner() } })
    const $defs = {
      inner: inner(),
      a: object({ $anchor: 'top' }),
      x: object({ $id: 'x', $defs: { inner: inner() } }),
      y: object({ $id: 'y', $defs: { inner: inner(), w } }),
    }
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const schema = object({ $schema, $id: 'https://a.test/d/root', $defs })
    const compile = <Result>(run: () => Result) => {
      try {
        return run()
      } catch {
        return undefined
      }
    }
    const theirs = compile(() => new Modern({ strict: false, validateSchema: false }).compile(schema))
    const ours = compile(() => checkOf(schema, 'exact'))
    expect([schema, ours === undefined]).toEqual([schema, theirs === undefined])
    if (theirs === undefined || ours === undefined) {
      counts.refused++
      continue
    }
    const value = (depth: number): unknown =>
      chance.is(depth > 2 ? 0.9 : 0.35)
        ? chance.pick(['s', 5, true, null])
        : Object.fromEntries(chance.some(['v', 'n', 'm'], 3).map((name) => [name, value(depth + 1)]))
    for (let n = 0; n < 25; n++) {
      const given = { v: value(1), n: value(1), m: value(1) }
      expect([schema, given, (ours(given) as Verdict).ok]).toEqual([schema, given, theirs(given)])
      counts.checked++
    }
  }
  expect(counts.checked).toBeGreaterThan(10 * schemas)
  expect(counts.refused).toBeGreaterThan(schemas / 5)
})

test('a value that Ajv refuses is refused, also where it fails to collect the other errors', async () => {
  const schema = {
    patternProperties: { '^x-': {} },
    required: ['id'],
    oneOf: [{ minProperties: 1, unevaluatedProperties: false }],
  }
  const value = { 'x-a': 1 }
  expect(plainAjv(schema, 'body', false)(value)).toBe(false)
  expect(await checkOf(schema, 'body')(value)).toMatchObject({ ok: false, issues: [{ keyword: 'invalid' }] })
})
