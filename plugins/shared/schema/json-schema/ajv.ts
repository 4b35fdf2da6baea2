import { createRequire } from 'node:module'
import type { Ajv, Format, Options, ValidateFunction } from 'ajv'
import { madeIn } from '../../values/memoize.ts'
import { isObject, jsonTypes, type Node } from '../keywords.ts'
import type { Mode } from '../verdict.ts'
import { boundKeywords, type Generating } from './bounds.ts'
import { spend } from './budget.ts'

/**
 * The longest string for which a format is tested: longer than any valid one. Within these bounds, no format
 * takes more than 30 ms for 100 kB.
 */
const bounds: Record<string, number> = {
  url: 2_048,
  regex: 512,
  email: 320,
  hostname: 253,
  date: 128,
  time: 128,
  'date-time': 128,
  'iso-time': 128,
  'iso-date-time': 128,
}
const usualBound = 4_096
/** Formats that are checked in one pass over the string, and meant for long ones. */
const unbounded = new Set(['byte', 'binary', 'password'])

/** The same format, but refusing a string that is longer than any valid one. */
function bounded(name: string, format: Format): Format {
  const limit = bounds[name] ?? usualBound
  if (unbounded.has(name)) return format
  if (format instanceof RegExp) return guard(limit, name === 'url' ? urlTest(format) : (text) => format.test(text))
  if (typeof format === 'function') return guard(limit, name === 'regex' ? regexTest(format as Test) : (format as Test))
  if (typeof format !== 'object' || format.type === 'number') return format
  const { validate } = format
  const test = validate instanceof RegExp ? (text: string) => validate.test(text) : validate
  return typeof test === 'function' ? ({ ...format, validate: guard(limit, test as Test) } as Format) : format
}

type Test = (text: string) => boolean

const guard =
  (limit: number, validate: Test): Test =>
  (text) =>
    text.length <= limit && validate(text)

/**
 * The regular expression takes 9 ms for 2 kB of colons, since the part before the `@` can be split in so many ways. It is
 * equivalent without that split. And a string with blanks is not a URL, which the expression would find anew after each `@`.
 */
function urlTest({ source, flags }: RegExp): Test {
  const linear = new RegExp(source.replace('(?:\\S+(?::\\S*)?@)?', '(?:\\S+@)?'), flags)
  return (text) => !/\s/.test(text) && linear.test(text)
}

/** Counts the cost of the test: an invalid expression costs an error with its stack, 5 µs. */
function regexTest(validate: Test): Test {
  return (text) => {
    spend(50)
    const isValid = validate(text)
    if (!isValid) spend(450)
    return isValid
  }
}

// Ajv takes 34 ms to load. It is loaded with `require` and not `import()`: a route that is registered late is compiled synchronously.
const require = createRequire(import.meta.url)

/** Keywords of OpenAPI and API descriptions, which validate nothing. Any other is an error: a misspelt one would accept anything. */
const annotations = ['example', 'externalDocs', 'xml', 'discriminator', 'sensitive', 'secret']

const changing: Options = { removeAdditional: true, useDefaults: true }
const optionsOf: Record<Mode, Options> = {
  body: changing,
  text: { ...changing, coerceTypes: 'array', code: { process: withoutInfinity } },
  headers: { ...changing, coerceTypes: 'array', code: { process: withoutInfinity } },
  exact: {},
}

export type Draft = 'draft-07' | '2019-09' | '2020-12'

/** The properties that distinguish the instances of Ajv. */
export interface Dialect {
  readonly mode: Mode
  readonly draft: Draft
  /** Whether the schema has names like `constructor`: inherited members must not count as given. */
  readonly ownProperties: boolean
  /** Whether all errors are collected instead of only the first one. */
  readonly allErrors: boolean
}

/** `meta` is the instance that checks schemas themselves. */
const instances = new Map<string, Ajv>()

/** Compiles one flat schema; the instances are made when they are first needed. */
export function compileWithAjv(schema: Node, dialect: Dialect): ValidateFunction {
  const key = `${dialect.mode} ${dialect.draft} ${dialect.ownProperties} ${dialect.allErrors}`
  const $defs = Object.fromEntries(Object.entries(schema.$defs ?? {}).map(([name, one]) => [name, withoutDefault(one)]))
  // The name of the schema, with which Ajv resolves `#`.
  return madeIn(instances, key, () => makeAjv(dialect)).compile({ ...schema, $defs, $id: 'schema:' })
}

/** A definition in the form for Ajv. Each reference to it also has its default, which is filled in there. */
function withoutDefault(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { default: _, ...rest } = schema
  return rest
}

const isText = (value: unknown) => typeof value === 'string'
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
// Copies have `undefined` in place of holes, which methods pass over.
const isSet = (value: unknown) => Array.isArray(value) && [...new Set(value)].filter(isText).length === value.length
const every = (all: unknown, is: (it: unknown) => boolean) => Array.isArray(all) && all.length > 0 && [...all].every(is)
/** The members of an object, also those that are not enumerable; `undefined` if it may have inherited ones. */
const membersOf = (value: object) =>
  [Object.prototype, null].includes(Object.getPrototypeOf(value)) ? Object.getOwnPropertyNames(value) : undefined

/** The usual keywords, and what is valid for them in every draft. */
const usual = new Map<string, (value: unknown) => boolean>([
  ...['title', 'description', 'format'].map((name) => [name, isText] as const),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [name, Number.isFinite] as const),
  ...['minLength', 'maxLength', 'minItems', 'maxItems'].map((name) => [name, isCount] as const),
  ...['items', 'additionalProperties'].map((name) => [name, isUsual] as const),
  ...['allOf', 'anyOf', 'oneOf'].map((name) => [name, (value: unknown) => every(value, isUsual)] as const),
  ...['const', 'default'].map((name) => [name, () => true] as const),
  ['type', (value) => jsonTypes.has(value) || (isSet(value) && every(value, (one) => jsonTypes.has(one)))],
  ['required', isSet],
  ['enum', (value) => isSet(value) && every(value, isText)],
  ['properties', (value) => isObject(value) && membersOf(value)?.every((name) => isUsual(value[name])) === true],
])

/** Whether a schema is certainly valid: for most, Ajv does not have to compile the schema of schemas, which takes 40 ms. */
function isUsual(schema: unknown): boolean {
  if (!isObject(schema)) return typeof schema === 'boolean'
  // TypeBox marks its schemas with names that begin with a tilde.
  return membersOf(schema)?.every((name) => name[0] === '~' || usual.get(name)?.(schema[name]) === true) === true
}

/** Checks a schema itself. @throws for a schema that is invalid in that draft, with the mistake and its place. */
export function checkSchema(schema: object, draft: Draft): void {
  if (isUsual(schema)) return
  const ajv = madeIn(instances, draft as string, () =>
    withFormats(new (moduleOf(draft).Ajv)({ logger: false, verbose: true, code: { optimize: false } })),
  )
  if (ajv.validateSchema(schema) === true) return
  // The other errors follow from the first one: an unknown type, for example, is also reported as an invalid list of types.
  const { instancePath = '', message = 'is not valid', data, params } = ajv.errors?.[0] ?? {}
  const allowed: unknown = params?.allowedValues
  const why = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : message
  const given = isObject(data) ? '' : `, and is ${JSON.stringify(data)}`
  throw new Error(`it is not a valid JSON Schema: ${instancePath || 'the value'} ${why}${given}`)
}

function moduleOf(draft: Draft): { readonly Ajv: typeof Ajv } & Generating {
  if (draft === 'draft-07') return require('ajv') as typeof import('ajv')
  const modern = require(draft === '2020-12' ? 'ajv/dist/2020.js' : 'ajv/dist/2019.js') as Generating & {
    default: unknown
  }
  return { ...modern, Ajv: modern.default as typeof Ajv }
}

function makeAjv({ mode, draft, ownProperties, allErrors }: Dialect): Ajv {
  const { Ajv: Constructor, ...generating } = moduleOf(draft)
  const ajv = new Constructor({
    ...optionsOf[mode],
    // Not optimised by Ajv: that takes as long as compiling, and V8 does it as well.
    code: { ...optionsOf[mode].code, optimize: false },
    ownProperties,
    allErrors,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    // All schemas have the same name, and none must be visible to another.
    addUsedSchema: false,
    // Schemas are validated by one instance for all of them: compiling the schema of schemas takes 40 ms.
    validateSchema: false,
    logger: false,
  })
  boundKeywords(ajv, generating)
  ajv.addVocabulary(annotations)
  return withFormats(ajv)
}

function withFormats(ajv: Ajv): Ajv {
  const { fullFormats } = require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, bounded(name, format))
  return ajv
}

/** A string of the generated code, which stays unchanged, or the comparison that tests whether a string is a number. */
const comparison = /"(?:[^"\\]|\\.)*"|\b(?<text>data\d*) == \+\k<text>/g

/** Changes the generated code of Ajv where strings become numbers: `Infinity` is not one. */
function withoutInfinity(code: string): string {
  return code.replace(comparison, (match, text: string | undefined) =>
    text === undefined ? match : `${text} == +${text} && isFinite(${text})`,
  )
}
