import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { compileShape } from '../../../plugins/responses/checked-copy.ts'
import { LenientShape } from '../../../plugins/responses/lenient.ts'
import { checkOf, type Mode, type Verdict } from '../../../plugins/shared/schema/check.ts'
import { quickest } from '../../support/quickest.ts'

/** Milliseconds of the processor that a body of the default limit may take, whatever is in it. */
const limit = 50
const size = 100_000

// Bodies as texts of at most the limit, which are quicker to make than to write out.
const fill = (one: string) =>
  `[${Array(Math.floor((size - 2) / (one.length + 1)))
    .fill(one)
    .join()}]`
function list(make: (i: number) => unknown): string {
  const items: string[] = []
  for (let left = size - 2; left > 0; left -= items.at(-1)!.length + 1) items.push(JSON.stringify(make(items.length)))
  return `[${items.slice(0, -1).join()}]`
}
function members(make: (i: number) => [name: string, value: unknown], most = size): string {
  const all: string[] = []
  for (let left = most - 2; left > 0; left -= all.at(-1)!.length + 1) {
    const [name, value] = make(all.length)
    all.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  }
  return `{${all.slice(0, -1).join()}}`
}
function nest(open: string, leaf: string, close: string, most = Number.POSITIVE_INFINITY): string {
  const levels = Math.min(most, Math.floor((size - leaf.length) / (open.length + close.length)))
  return open.repeat(levels) + leaf + close.repeat(levels)
}

const self = { $ref: '#' }
const names = (count: number, make: (i: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, make(i)]))
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const needy = object({ a: self }, { required: ['a', 'b', 'c'] })
/** Apart: nothing here is to be awaited. */
const then = (schema: object) => Object.fromEntries([['then', schema]])
/** A tree whose nodes are of several kinds, each known by a member. */
const kinds = (members: (kind: object) => object) => ({
  anyOf: [{ type: 'null' }, ...['a', 'b', 'c'].map((kind) => object(members({ const: kind }), { required: ['kind'] }))],
})
/** One whose nodes fit two branches as long as their leaves do. */
const twice = (leaf: object = { type: 'null' }) => ({ anyOf: [object({ n: self }), object({ n: self }), leaf] })
const shallow = (leaf: string) => nest('{"n":', leaf, '}', 25)

type Row = readonly [what: string, schema: object, body: () => string, expected: string, mode?: Mode]
const rows: readonly Row[] = [
  ['uniqueItems of objects', { uniqueItems: true }, () => list((i) => ({ a: i })), 'ok'],
  [
    'uniqueItems of objects in another order',
    { uniqueItems: true },
    () => list((i) => (i % 2 ? { a: i, b: 1 } : { b: 1, a: i + 1 })),
    'uniqueItems',
  ],
  ['uniqueItems of numbers', { uniqueItems: true, items: { type: 'integer' } }, () => list((i) => i), 'ok'],
  ['uniqueItems of texts', { uniqueItems: true, items: { type: 'string' } }, () => list((i) => `${i}`), 'ok'],
  ['uniqueItems of lists', { uniqueItems: true }, () => list((i) => [[i]]), 'ok'],
  [
    'uniqueItems of mixed types',
    { uniqueItems: true, items: { type: ['string', 'integer'] } },
    () => list((i) => (i % 2 ? i : `${i}`)),
    'ok',
  ],
  [
    'uniqueItems at each level',
    { type: 'array', uniqueItems: true, items: self },
    () => nest('[', '[]', ',1]', 500),
    'type',
  ],
  [
    'uniqueItems of objects with thousands of members',
    { uniqueItems: true },
    () => `[${members((i) => [`k${i}`, i], size / 2)},${members((i) => [`k${i}`, i + 1], size / 2)}]`,
    'ok',
  ],
  ['contains', { contains: { type: 'string' } }, () => fill('1'), 'contains'],
  [
    'contains after a reference',
    { contains: { $ref: '#/$defs/a' }, $defs: { a: needy } },
    () => fill('{}'),
    'contains',
  ],
  [
    'contains after a reference, in a branch',
    { anyOf: [{ contains: { $ref: '#/$defs/a' } }, {}], $defs: { a: needy } },
    () => fill('{}'),
    'ok',
  ],
  [
    'contains, counted',
    { contains: { type: 'integer' }, minContains: 40_000, maxContains: 45_000 },
    () => fill('1'),
    'contains',
  ],
  [
    'contains with unevaluatedItems',
    { contains: { type: 'integer' }, unevaluatedItems: false },
    () => fill('""'),
    'contains',
  ],
  ['items', { items: { type: 'string' } }, () => fill('1'), 'type'],
  ['items after a reference', { items: { $ref: '#/$defs/a' }, $defs: { a: needy } }, () => fill('{}'), 'required'],
  [
    'items that fit',
    { items: { $ref: '#/$defs/a' }, $defs: { a: { type: ['integer', 'array'], items: self } } },
    () => fill('1'),
    'ok',
  ],
  [
    'prefixItems',
    { items: { prefixItems: many(20, () => ({ type: 'string' })), items: false } },
    () => fill('[1]'),
    'type',
  ],
  [
    'unevaluatedItems',
    { anyOf: many(5, (i) => ({ prefixItems: many(i + 1, () => ({})) })), unevaluatedItems: { type: 'string' } },
    () => fill('1'),
    'type',
  ],
  [
    'patternProperties',
    { patternProperties: { '^a': { type: 'string' }, b$: { type: 'string' }, c: {} } },
    () => members((i) => [`a${i}b`, 1]),
    'type',
  ],
  [
    'patternProperties with unevaluatedProperties',
    { patternProperties: { '^a': needy }, unevaluatedProperties: false },
    () => members((i) => [`a${i}b`, {}]),
    'required',
  ],
  [
    'patternProperties in a branch',
    {
      anyOf: [{ patternProperties: { '^a': { $ref: '#/$defs/a' } } }, {}],
      unevaluatedProperties: false,
      $defs: { a: needy },
    },
    () => members((i) => [`a${i}b`, {}]),
    'unevaluatedProperties',
  ],
  ['propertyNames', { propertyNames: { maxLength: 1 } }, () => members((i) => [`a${i}b`, 1]), 'maxLength'],
  [
    'propertyNames of a format',
    { propertyNames: { anyOf: [{ format: 'uri' }, { format: 'email' }, {}] } },
    () => members((i) => [`http://a.${i}!`, 1]),
    'ok',
  ],
  [
    'additionalProperties: false, which removes',
    object({ a: {} }, { additionalProperties: false }),
    () => members((i) => [`a${i}`, 1]),
    'ok',
  ],
  [
    'additionalProperties: false with a hundred properties',
    object(
      names(100, () => ({})),
      { additionalProperties: false },
    ),
    () => members((i) => [`a${i}`, 1]),
    'ok',
  ],
  [
    'additionalProperties: false, which refuses',
    object({ a: {} }, { additionalProperties: false }),
    () => members((i) => [`a${i}`, 1]),
    'additionalProperties',
    'exact',
  ],
  [
    'additionalProperties with patterns',
    { patternProperties: { '^x': {}, '^y': {} }, additionalProperties: false },
    () => members((i) => [`a${i}`, 1]),
    'additionalProperties',
    'exact',
  ],
  ['additionalProperties', { additionalProperties: { type: 'string' } }, () => members((i) => [`a${i}`, 1]), 'type'],
  [
    'unevaluatedProperties',
    { anyOf: [object({ a: {} }), object({ b: {} })], unevaluatedProperties: { type: 'string' } },
    () => members((i) => [`a${i}`, 1]),
    'type',
  ],
  [
    'unevaluatedProperties, dynamic at each level',
    { allOf: [{ anyOf: [object({ n: self }), object({ m: {} })] }], unevaluatedProperties: false },
    () => nest('{"n":', '{"x":1}', '}', 1_000),
    'unevaluatedProperties',
  ],
  [
    'minProperties and maxProperties',
    { items: { minProperties: 2, maxProperties: 3 } },
    () => fill('{"a":1}'),
    'minProperties',
  ],
  ['required', { items: { anyOf: [{ required: many(300, (i) => `k${i}`) }, {}] } }, () => fill('{}'), 'ok'],
  ['required, all of them', { items: { required: many(300, (i) => `k${i}`) } }, () => fill('{}'), 'required'],
  ['dependencies', { items: { dependencies: { a: many(50, (i) => `k${i}`) } } }, () => fill('{"a":1}'), 'dependencies'],
  [
    'dependentRequired',
    { items: { dependentRequired: { a: many(50, (i) => `k${i}`) } } },
    () => fill('{"a":1}'),
    'dependentRequired',
  ],
  [
    'dependentSchemas at each level',
    { dependentSchemas: { a: object({ n: self }), b: object({ n: self }) } },
    () => nest('{"a":1,"b":1,"n":', '{}', '}', 25),
    'effort',
  ],
  ['default', { items: object(names(20, () => ({ type: 'array', default: [1, 2] }))) }, () => fill('{}'), 'effort'],
  ['const', { items: { anyOf: [{ const: names(1_000, (i) => i) }, { type: 'object' }] } }, () => fill('{}'), 'ok'],
  [
    'const, nearly equal',
    { items: { const: names(1_000, (i) => i) } },
    () => list(() => names(1_000, (i) => (i === 999 ? 0 : i))),
    'const',
  ],
  [
    'const at each level',
    { anyOf: [{ const: [[[[1]]]] }, { type: 'array', items: self }, { type: 'integer' }] },
    () => nest('[', '""', ']', 500),
    'const',
  ],
  ['enum of texts', { items: { enum: many(5_000, (i) => `v${i}`) } }, () => fill('"v4999"'), 'ok'],
  ['enum of a few texts', { items: { enum: many(16, (i) => `v${i}`) } }, () => fill('"v15"'), 'ok'],
  ['enum of objects', { items: { enum: many(1_000, (i) => ({ a: i })) } }, () => fill('{"a":999}'), 'ok'],
  [
    'minLength and maxLength in characters',
    { items: { anyOf: many(50, (i) => ({ minLength: 100_000 + i })) } },
    () => JSON.stringify(['😀'.repeat(24_000)]),
    'minLength',
  ],
  ['maxLength of short texts', { items: { minLength: 1, maxLength: 20 } }, () => fill('"ab"'), 'ok'],
  ['type', { items: { type: ['string', 'null', 'boolean', 'object'] } }, () => fill('1'), 'type'],
  ['multipleOf', { items: { multipleOf: 0.01 } }, () => fill('0.015'), 'multipleOf'],
  ['multipleOf of large numbers', { items: { multipleOf: 0.01 } }, () => fill('1e300'), 'ok'],
  [
    'multipleOf of what is too large for a number',
    { items: { anyOf: [{ multipleOf: 0.01 }, {}] } },
    () => fill('1e400'),
    'ok',
  ],
  ['minimum and maximum', { items: { minimum: 0, exclusiveMaximum: 1 } }, () => fill('-1e308'), 'minimum'],
  [
    'anyOf of sixty',
    { items: { anyOf: many(60, (i) => object({ kind: { const: i } }, { required: ['kind'] })) } },
    () => fill('1'),
    'type',
  ],
  [
    'anyOf of sixty references',
    { items: { anyOf: many(60, (i) => ({ $ref: `#/$defs/k${i}` })) }, $defs: names(60, () => needy) },
    () => fill('{}'),
    'required',
  ],
  [
    'anyOf of sixty, of which the last fits',
    { items: { anyOf: [...many(60, () => ({ $ref: '#/$defs/a' })), {}] }, $defs: { a: needy } },
    () => fill('{}'),
    'effort',
  ],
  [
    'oneOf in oneOf in oneOf',
    {
      items: {
        oneOf: many(3, (i) => ({
          oneOf: many(3, (j) => ({ oneOf: many(3, (k) => ({ const: i * 100 + j * 10 + k })) })),
        })),
      },
    },
    () => fill('222'),
    'ok',
  ],
  [
    'a tree of several kinds',
    kinds((kind) => ({ kind, l: self, r: self })),
    () => nest('{"kind":"c","l":', 'null', '}', 1_500),
    'ok',
  ],
  [
    'a tree of several kinds that are named last',
    kinds((kind) => ({ l: self, r: self, kind })),
    () => nest('{"kind":"c","l":', 'null', '}', 1_500),
    'ok',
  ],
  [
    'a tree of several kinds with a wrong leaf',
    kinds((kind) => ({ kind, l: self, r: self })),
    () => nest('{"kind":"c","l":', '5', '}', 8),
    'type',
  ],
  [
    'a tree of several kinds, deep',
    kinds((kind) => ({ kind, l: self, r: self })),
    () => nest('{"kind":"c","l":', '5', '}'),
    'depth',
  ],
  ['anyOf that fits twice', twice(), () => shallow('5'), 'effort'],
  [
    'anyOf that fits twice, before a long text',
    twice({ type: 'string', maxLength: 5 }),
    () => shallow(`"${'x'.repeat(90_000)}"`),
    'effort',
  ],
  [
    'anyOf that fits twice, before a format',
    twice({ type: 'string', format: 'uri' }),
    () => shallow(`"http://a.${'&'.repeat(4_000)}\\n"`),
    'effort',
  ],
  [
    'anyOf that fits twice, before a pattern',
    twice({ type: 'string', pattern: '^x*$' }),
    () => shallow(`"${'x'.repeat(90_000)}y"`),
    'effort',
  ],
  [
    'anyOf that fits twice, before thousands of members',
    twice({ type: 'object', maxProperties: 2, not: { required: ['n'] } }),
    () => shallow(members((i) => [`k${i}`, 1], 90_000)),
    'ok',
  ],
  [
    'anyOf that fits twice, before a long list',
    twice({ items: { type: 'integer' }, type: 'array' }),
    () => shallow(`${fill('1').slice(0, 90_000)}1,""]`),
    'effort',
  ],
  [
    'anyOf that fits twice, before unique items',
    twice({ uniqueItems: true, type: 'array' }),
    () => shallow(`${fill('1').slice(0, 90_000)}1,1]`),
    'effort',
  ],
  [
    'oneOf that fits twice',
    { oneOf: [object({ n: self }, { required: ['n'] }), object({ n: self, m: {} }), { type: 'null' }] },
    () => shallow('5'),
    'effort',
  ],
  ['allOf of the same', { allOf: [object({ n: self }), object({ n: self })] }, () => shallow('{}'), 'effort'],
  ['if and then of the same', { if: object({ n: self }), ...then(object({ n: self })) }, () => shallow('{}'), 'effort'],
  ['not within not', { not: object({ n: self }, { required: ['n'] }) }, () => nest('{"n":', '{}', '}', 1_000), 'ok'],
  ['lists in lists', { type: 'array', items: self }, () => nest('[', '1', ']', 1_000), 'type'],
  ['lists in lists, deeper than any stack', { type: 'array', items: self }, () => nest('[', '', ']'), 'depth'],
  ['objects in objects, deeper than any stack', object({ n: self }), () => nest('{"n":', '{}', '}'), 'depth'],
  [
    'unique items, deeper than any stack',
    { uniqueItems: true },
    () => `[1,${nest('[', '', ']').slice(8, -8)}]`,
    'depth',
  ],
  ['a wide tree', { type: 'array', items: self }, () => fill('[[1]]'), 'type'],
  [
    'a query, coerced',
    object({ a: { items: { type: 'number' } } }),
    () => `{"a":${fill('"1"').slice(0, 16_001)}"x"]}`,
    'type',
    'text',
  ],
  [
    'a query, coerced in branches',
    object({ a: { items: { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }] } } }),
    () => `{"a":${fill('"1.5"').slice(0, 16_003)}"x"]}`,
    'type',
    'text',
  ],
]

/** The cost of a body, at the quickest, and the result. */
async function costOf(check: ReturnType<typeof checkOf>, text: string) {
  // Each value is changed by the check of it.
  return await quickest(
    (value) => check(value) as Verdict,
    5,
    limit,
    () => JSON.parse(text) as unknown,
  )
}

describe(`a body of ${size / 1000} kB takes less than ${limit} ms`, () => {
  test.each(rows.map((row) => [row[0], row] as const))('%s', async (_what, [, schema, body, expected, mode]) => {
    const text = body()
    expect(text.length).toBeLessThanOrEqual(size + 100)
    const { ms, result } = await costOf(checkOf(schema, mode ?? 'body'), text)
    expect(result.ok ? 'ok' : result.issues[0]!.keyword).toBe(expected)
    expect(ms).toBeLessThan(limit)
  })

  test('every keyword of Ajv that checks something is among them', () => {
    const require = createRequire(import.meta.url)
    const { Ajv2019 } = require('ajv/dist/2019.js') as { Ajv2019: new () => { RULES: { all: object } } }
    const { Ajv2020 } = require('ajv/dist/2020.js') as { Ajv2020: new () => { RULES: { all: object } } }
    const known = new Set([new Ajv2019(), new Ajv2020()].flatMap(({ RULES }) => Object.keys(RULES.all)))
    const tried = new Set<string>(['format'])
    JSON.stringify(
      rows.map(([, schema]) => schema),
      (name, value: unknown) => {
        tried.add(name)
        return value
      },
    )
    // Names and notes of a schema, one that is only a parent of others, and dynamic references, which are resolved before.
    const others = [
      '$async',
      '$id',
      '$schema',
      '$comment',
      '$vocabulary',
      'id',
      'nullable',
      'definitions',
      '$dynamicAnchor',
      '$dynamicRef',
      '$recursiveAnchor',
      '$recursiveRef',
      'then',
      'else',
      'additionalItems',
      'exclusiveMinimum',
      'maximum',
      'minItems',
      'maxItems',
      'maxContains',
    ]
    expect([...known].filter((keyword) => !tried.has(keyword) && !others.includes(keyword))).toEqual([])
  })
})

describe(`so does a body of texts of each format`, () => {
  const starts = [
    '',
    'a',
    'a@',
    'http://',
    'http://a',
    'http://a.',
    'http://[',
    '2020-01-01T',
    'P',
    '/',
    '#/',
    '{',
    '0/',
    '::',
    '%',
  ]
  const repeated = [
    'a',
    '1',
    '-',
    '.',
    '/',
    ':',
    '@',
    '%',
    '(',
    '[',
    '[]',
    '~',
    ' ',
    'a.',
    '1:',
    '::',
    '%41',
    '{a}',
    'é',
    'a-',
    'a@',
    '(?:',
    '\\d',
    '|',
    '{1,9}',
    '&',
    'AAAA',
    '/@a.bc',
  ]
  const ends = ['', '!', '\n', ' ', '.', '@']
  const formats = [
    'date',
    'time',
    'date-time',
    'iso-time',
    'iso-date-time',
    'duration',
    'uri',
    'uri-reference',
    'uri-template',
    'url',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'regex',
    'uuid',
    'json-pointer',
    'json-pointer-uri-fragment',
    'relative-json-pointer',
    'byte',
    'password',
    'binary',
  ]

  test.each(formats)('%s', async (format) => {
    const check = checkOf({ type: 'string', format }, 'body')
    const lengths = [4, 16, 120, 250, 500, 2_000, 4_000]
    // By the clock, to find those that are worth a whole body.
    const timed: { text: string; share: number }[] = []
    for (const length of lengths) {
      for (const start of starts) {
        for (const middle of repeated) {
          const end = ends[timed.length % ends.length]!
          const text = start + middle.repeat(Math.max(1, (length - start.length) / middle.length)) + end
          const before = performance.now()
          check(text)
          timed.push({ text, share: (performance.now() - before) / (text.length + 3) })
        }
      }
    }
    timed.sort((a, b) => b.share - a.share)
    // Each is tried, whether one before it fits or not.
    const all = checkOf({ type: 'array', items: { anyOf: [{ type: 'string', format }, {}] } }, 'body')
    for (const { text } of timed.slice(0, 4)) {
      const { ms } = await costOf(all, fill(JSON.stringify(text)))
      expect([format, text.slice(0, 40), text.length, Math.min(ms, limit)]).toEqual([
        format,
        text.slice(0, 40),
        text.length,
        ms,
      ])
    }
  })

  test('numbers of a format', async () => {
    for (const format of ['int32', 'int64', 'float', 'double']) {
      const { ms } = await costOf(checkOf({ items: { type: 'number', format } }, 'body'), fill('1e300'))
      expect(ms).toBeLessThan(limit)
    }
  })

  test('a URL is recognised as before, and no slower because of its content', async () => {
    const { fullFormats } = createRequire(import.meta.url)('ajv-formats/dist/formats.js') as {
      fullFormats: { url: RegExp }
    }
    const check = checkOf({ type: 'string', format: 'url' }, 'exact')
    const parts = [
      'http://',
      'https://',
      'ftp://',
      'a',
      'a.bc',
      '10.0.0.1',
      '8.8.8.8',
      ':',
      ':80',
      '@',
      'u:p@',
      '/',
      '/x@y',
      '?q=1',
      ' ',
      '-',
      '.',
      'é',
      '\n',
    ]
    let state = 7
    const pick = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return parts[Math.floor((state / 2 ** 32) * parts.length)]!
    }
    const [expected, found]: [string[], string[]] = [[], []]
    for (let i = 0; i < 4_000; i++) {
      const text = (i % 2 === 0 ? 'http://' : '') + Array.from({ length: 1 + (i % 6) }, pick).join('')
      if (fullFormats.url.test(text)) expected.push(text)
      if ((check(text) as Verdict).ok) found.push(text)
    }
    expect(found).toEqual(expected)
    expect(expected.length).toBeGreaterThan(100)
  })
})

describe('so does a response', () => {
  const parse = (text: string) => JSON.parse(text) as unknown
  const answers: readonly (readonly [what: string, schema: object, value: () => unknown])[] = [
    [
      'a tree of several kinds that are named last',
      kinds((kind) => ({ l: self, r: self, kind })),
      () => parse(nest('{"kind":"c","l":', 'null', '}', 300)),
    ],
    ['anyOf that fits twice', twice(), () => parse(shallow('5'))],
    ['anyOf that fits twice, and does', twice(), () => parse(shallow('null'))],
    [
      'allOf of the same',
      { allOf: [object({ n: self, a: {} }), object({ n: self, b: {} })] },
      () => parse(shallow('{}')),
    ],
    [
      'if and then of the same',
      object({}, { if: object({ n: self }), ...then(object({ n: self })) }),
      () => parse(shallow('{}')),
    ],
    [
      'a reference beside the same',
      { $ref: '#/$defs/a', properties: { n: self }, $defs: { a: object({ n: self }) } },
      () => parse(shallow('{}')),
    ],
    ['enum of objects', { items: { enum: many(1_000, (i) => ({ a: i })) } }, () => parse(fill('{"a":999}'))],
    [
      'a deep tree with a wrong leaf',
      kinds((kind) => ({ l: self, kind })),
      () => parse(nest('{"kind":"c","l":', '5', '}', 300)),
    ],
    [
      'additionalProperties',
      { type: 'object', additionalProperties: self, patternProperties: { '^x': self } },
      () => parse(members((i) => [`a${i}`, {}])),
    ],
  ]

  test.each(answers)('%s', async (_what, schema, value) => {
    const given = value()
    const shape = compileShape(schema)
    const strict = await quickest(
      () => {
        try {
          return JSON.stringify(shape(given))
        } catch (error) {
          return error
        }
      },
      5,
      limit,
    )
    expect(strict.ms).toBeLessThan(limit)
    const lenient = new LenientShape(schema)
    expect((await quickest(() => lenient.pick(given), 5, limit)).ms).toBeLessThan(limit)
  })
})

describe('bounded keywords keep their meaning', () => {
  const verdictOf = (schema: object, value: unknown) => checkOf(schema, 'exact')(value) as Verdict

  test('a branch that fails 20 times does not let a later branch pass', () => {
    const schema = {
      anyOf: [{ type: 'array', items: { type: 'number' } }, { $ref: '#/$defs/n' }],
      $defs: { n: object({ a: { $ref: '#/$defs/n' } }) },
    }
    for (let count = 15; count < 25; count++) {
      expect([count, verdictOf(schema, Array(count).fill('x')).ok]).toEqual([count, false])
    }
  })

  test.each<[string, unknown, unknown, boolean]>([
    ['members in another order', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, true],
    ['another member', { a: 1 }, { a: 1, b: 1 }, false],
    ['lists in another order', [1, 2], [2, 1], false],
    ['text and number', '1', 1, false],
    ['text and object', '{"a":1}', { a: 1 }, false],
    ['a text with a quote and an object', '"{', {}, false],
    ['an object and a list', {}, [], false],
    ['null and an object', null, {}, false],
    ['-0 and 0', -0, 0, true],
    [
      'members that every object has',
      { toString: 1, valueOf: { constructor: 1 } },
      { valueOf: { constructor: 1 }, toString: 1 },
      true,
    ],
    ['names with quotes', { 'a":1,"b': 2 }, { a: 1, b: 2 }, false],
    ['a lone surrogate', ['\ud800'], ['\\ud800'], false],
  ])('uniqueItems, const and enum: %s', (_what, one, other, isSame) => {
    expect(verdictOf({ uniqueItems: true }, [one, other]).ok).toBe(!isSame)
    expect(verdictOf({ uniqueItems: true }, [1e9, one, 'between', other]).ok).toBe(!isSame)
    expect(verdictOf({ const: one }, other).ok).toBe(isSame)
    expect(verdictOf({ enum: ['x', one, ...many(20, (i) => `v${i}`)] }, other).ok).toBe(isSame)
  })

  test('the last duplicate is named, with the nearest before it', () => {
    const verdict = verdictOf({ uniqueItems: true }, [{ a: 1 }, 2, { a: 1 }, { a: 1 }, 2, 3])
    expect(verdict).toMatchObject({ ok: false, issues: [{ path: '', keyword: 'uniqueItems', params: { i: 4, j: 1 } }] })
  })

  test('a large body with few kinds of parts is no work to speak of: it is checked to its end', () => {
    const schema = {
      type: 'array',
      items: { $ref: '#/$defs/a' },
      $defs: { a: object({ list: { type: 'array', items: { $ref: '#/$defs/a' } } }) },
    }
    const large = Array.from({ length: 100_000 }, () => ({ list: [{}, {}] }))
    expect(verdictOf(schema, large).ok).toBe(true)
    ;(large[99_999]!.list as unknown[]).push(5)
    expect(verdictOf(schema, large)).toMatchObject({ ok: false, issues: [{ path: '/99999/list/2', keyword: 'type' }] })
  })

  test('20 issues are reported, in the order of a check that collects all of them', () => {
    const schema = {
      type: 'array',
      items: object({ a: { type: 'integer' }, b: { type: 'integer' } }, { required: ['c'] }),
    }
    const verdict = verdictOf(schema, Array(50).fill({ a: 'x', b: 'x' }))
    expect(verdict.ok ? [] : verdict.issues.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual(
      many(
        20,
        (i) =>
          [`/${Math.floor(i / 3)}/c required`, `/${Math.floor(i / 3)}/a type`, `/${Math.floor(i / 3)}/b type`][i % 3],
      ),
    )
  })
})
