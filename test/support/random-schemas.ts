import type { Chance } from './chance.ts'

const plainNames = ['id', 'name', 'email', 'total', 'items', 'a-b', 'snake_case', '0', '17', 'z', 'A']
const oddNames = [
  'constructor',
  'toString',
  'hasOwnProperty',
  '__proto__',
  'toJSON',
  'with space',
  'quote"',
  "it's",
  'back\\slash',
  'line\nbreak',
  '\u2028',
  '`$' + '{1}`',
  '*/',
  'ü',
  '',
]
const texts = [
  '',
  'Ada',
  'a "quoted" \\ text',
  'line\nbreak\u0000\u001f',
  '\ud800',
  '\udc00x',
  '😀',
  '\u2028',
  'l'.repeat(60),
  `${'l'.repeat(60)}"`,
  'x'.repeat(6_000),
]
const numbers = [0, -0, 1, -7, 1.5, 1e21, 5e-324, 2 ** 53, -1e-7, 0.1 + 0.2]
const wrong = [
  undefined,
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  5n,
  () => 1,
  Symbol('s'),
  /regexp/,
  new Date(0),
  new Date(Number.NaN),
  new Map([['a', 1]]),
  new String('boxed'),
  { toJSON: () => 'from toJSON' },
  { toJSON: () => undefined },
  { toString: () => 'from toString' },
  Object.create(null),
]

/** A value for places without a schema; where `free` places are left out, it must never be found in a response. */
export const secret = 'hunter2'

export interface SchemaChoices {
  /** Also places that accept everything. */
  readonly free: boolean
}

type Json = { [keyword: string]: unknown }

/** A schema of at most `depth` levels. */
export function randomSchema(chance: Chance, choices: SchemaChoices, depth = 4, refs: readonly string[] = []): Json {
  const deeper = () => randomSchema(chance, choices, depth - 1, refs)
  const kind = depth === 0 ? chance.below(5) : chance.below(14)
  if (refs.length > 0 && chance.is(0.1)) {
    // Keywords beside a reference apply as well.
    const beside = chance.is(0.3) && depth > 0 ? randomObject(chance, choices, deeper) : {}
    return { $ref: chance.pick(refs), ...beside }
  }
  switch (kind) {
    case 0:
      return typed(
        chance,
        'string',
        chance.is(0.2) ? { format: chance.pick(['date', 'date-time', 'time', 'email']) } : {},
      )
    case 1:
      return typed(chance, 'integer')
    case 2:
      return typed(chance, 'number')
    case 3:
      return typed(chance, 'boolean')
    case 4:
      return chance.pick<() => Json>([
        () => ({ enum: chance.some([1, 'a', null, true], 4) }),
        () => ({ const: chance.pick([1, 'a', null, true]) }),
        () => ({ type: ['string', 'integer'] }),
        () => ({ type: 'null' }),
        () => typed(chance, 'string', { default: 'x' }),
        () => (choices.free ? {} : { type: 'string' }),
      ])()
    case 5:
    case 6:
    case 7:
      return typed(chance, 'array', chance.is(0.1) && choices.free ? {} : { items: deeper() })
    case 8:
      return chance.pick<() => Json>([
        () => ({ anyOf: [deeper(), deeper()] }),
        () => ({ oneOf: [deeper(), { type: 'null' }] }),
        () => ({ allOf: [randomObject(chance, choices, deeper), randomObject(chance, choices, deeper)] }),
        () => ({ type: 'array', prefixItems: [deeper(), deeper()], items: false }),
      ])()
    default:
      return randomObject(chance, choices, deeper)
  }
}

function typed(chance: Chance, type: string, more: Json = {}): Json {
  if (chance.is(0.1)) return { type: [type, 'null'], ...more }
  return chance.is(0.1) ? { type, nullable: true, ...more } : { type, ...more }
}

function randomObject(chance: Chance, choices: SchemaChoices, deeper: () => Json): Json {
  const names = [...chance.some(plainNames, 6), ...(chance.is(0.25) ? chance.some(oddNames, 3) : [])]
  const properties: Json = {}
  for (const name of names) Object.defineProperty(properties, name, { value: deeper(), enumerable: true })
  const more: Json = {}
  if (chance.is(0.1)) more.additionalProperties = choices.free ? true : { type: 'integer' }
  if (chance.is(0.05)) more.patternProperties = { '^x-': deeper() }
  return typed(chance, 'object', { properties, required: names.filter(() => chance.is(0.4)), ...more })
}

/** A schema with definitions that it refers to, also recursively. */
export function randomRoot(chance: Chance, choices: SchemaChoices): Json {
  if (!chance.is(0.3)) return randomSchema(chance, choices)
  const refs = ['#/$defs/one', '#/$defs/two']
  const two = typed(chance, 'object', { properties: { id: { type: 'integer' }, self: { $ref: '#/$defs/two' } } })
  const schema = randomSchema(chance, choices, 3, refs)
  return { ...schema, $defs: { one: randomSchema(chance, choices, 2), two } }
}

/** A value for a schema; `errors` is the share of mismatching places. */
export function randomValue(chance: Chance, schema: unknown, root: Json, errors: number, depth = 8): unknown {
  const node = schema as Json
  const inside = (one: unknown) => randomValue(chance, one, root, errors, depth - 1)
  if (depth === 0) return null
  if (chance.is(errors)) {
    return chance.pick<() => unknown>([
      () => chance.pick(wrong),
      () => ({ secret, id: { secret }, toString: { secret } }),
      () => [{ secret }, [{ secret }]],
      () => chance.pick(texts),
      () => chance.pick(numbers),
    ])()
  }
  if (typeof node.$ref === 'string') {
    const { $ref, ...beside } = node
    const value = inside((root.$defs as Json)[$ref.slice('#/$defs/'.length)])
    const more = Object.keys(beside).length === 0 ? undefined : inside(beside)
    return isPlain(value) && isPlain(more) ? { ...value, ...more } : value
  }
  if ('const' in node) return node.const
  if (Array.isArray(node.enum)) return chance.pick(node.enum)
  if (Array.isArray(node.anyOf)) return inside(chance.pick(node.anyOf))
  if (Array.isArray(node.oneOf)) return inside(chance.pick(node.oneOf))
  if (Array.isArray(node.allOf)) {
    const parts = node.allOf.map(inside)
    // Not by assigning: a member `__proto__` would become the prototype.
    const merged = (all: object, part: unknown) => ({ ...all, ...(part as object) })
    return parts.every((part) => typeof part === 'object' && part !== null) ? parts.reduce(merged, {}) : parts[0]
  }
  const types = Array.isArray(node.type) ? (node.type as string[]) : [node.type]
  switch (node.nullable === true && chance.is(0.3) ? 'null' : chance.pick(types)) {
    case 'string':
      return chance.is(0.1) ? new Date(chance.below(1e12)) : chance.pick(texts)
    case 'integer':
      return chance.pick(numbers.filter(Number.isInteger))
    case 'number':
      return chance.pick(numbers)
    case 'boolean':
      return chance.is(0.5)
    case 'null':
      return null
    case 'array': {
      if (Array.isArray(node.prefixItems)) return node.prefixItems.map(inside)
      const length = chance.is(0.05) ? 150 : chance.below(4)
      return Array.from({ length }, () => (node.items === undefined ? chance.pick(wrong) : inside(node.items)))
    }
    case 'object':
      return objectFor(chance, node, inside)
    default:
      return chance.pick([...wrong, ...texts, ...numbers])
  }
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

function objectFor(chance: Chance, node: Json, inside: (one: unknown) => unknown): unknown {
  const value: Json = chance.is(0.1) ? Object.create({ inherited: secret }) : {}
  const put = (name: string, one: unknown) =>
    Object.defineProperty(value, name, { value: one, enumerable: true, configurable: true, writable: true })
  const required = new Set(node.required as string[])
  for (const [name, one] of Object.entries((node.properties as Json) ?? {})) {
    if (required.has(name) || chance.is(0.7)) put(name, inside(one))
  }
  if (chance.is(0.5)) put('password', { secret })
  if (node.patternProperties !== undefined) put('x-1', inside((node.patternProperties as Json)['^x-']))
  const { additionalProperties: rest } = node
  if (rest !== undefined) put('more', rest === true ? chance.pick(wrong) : inside(rest))
  return value
}
