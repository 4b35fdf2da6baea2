import { createRequire } from 'node:module'
import type { Ajv, Options, ValidateFunction } from 'ajv'
import { boundKeywords, type Generating } from './bounds.ts'
import type { Mode } from './check.ts'
import { bounded } from './formats.ts'
import { isObject, type Node } from './keywords.ts'

// Ajv takes 34 ms to load. By `require` and not `import()`: a route that is registered late is compiled in between.
const require = createRequire(import.meta.url)

/** Keywords of OpenAPI and of API descriptions, which validate nothing. Any other unknown one is an error: a misspelt keyword would let everything pass. */
const annotations = ['example', 'externalDocs', 'xml', 'discriminator']

const changing: Options = { removeAdditional: true, useDefaults: true }
const optionsOf: Record<Mode, Options> = {
  body: changing,
  text: { ...changing, coerceTypes: 'array', code: { process: withoutInfinity } },
  headers: { ...changing, coerceTypes: 'array', code: { process: withoutInfinity } },
  exact: {},
}

export type Draft = 'draft-07' | '2019-09' | '2020-12'

/** How an instance differs from the others. */
export interface Dialect {
  readonly mode: Mode
  readonly draft: Draft
  /** Names like `constructor` are in the schema: inherited members must not count as given. */
  readonly ownProperties: boolean
  /** All errors, in place of the first one. */
  readonly allErrors: boolean
}

/** `meta` is the instance that knows what a schema may be. */
const instances = new Map<string, Ajv>()

/** Compiles one flat schema; the instances are made when they are first needed. */
export function compileWithAjv(schema: Node, dialect: Dialect): ValidateFunction {
  const key = `${dialect.mode} ${dialect.draft} ${dialect.ownProperties} ${dialect.allErrors}`
  const $defs = Object.fromEntries(Object.entries(schema.$defs ?? {}).map(([name, one]) => [name, withoutDefault(one)]))
  // A name of its own: Ajv knows `#` by it.
  return instanceOf(key, () => makeAjv(dialect)).compile({ ...schema, $defs, $id: 'schema:' })
}

/** A definition as Ajv takes it. Its default stands beside each reference to it as well, where it is filled in. */
function withoutDefault(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { default: _, ...rest } = schema
  return rest
}

/** @throws where a value cannot be a schema of that draft, and says what is wrong in which place. */
export function checkSchema(schema: object, draft: Draft): void {
  const ajv = instanceOf(draft, () => withFormats(new (moduleOf(draft).Ajv)({ logger: false, verbose: true })))
  if (ajv.validateSchema(schema) === true) return
  // The others follow from the first one: of a type that does not exist, for example, that it is not a list of types either.
  const { instancePath = '', message = 'is not valid', data, params } = ajv.errors?.[0] ?? {}
  const allowed: unknown = params?.allowedValues
  const why = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : message
  const given = isObject(data) ? '' : `, and is ${JSON.stringify(data)}`
  throw new Error(`it is not a valid JSON Schema: ${instancePath || 'the value'} ${why}${given}`)
}

function instanceOf(key: string, make: () => Ajv): Ajv {
  let ajv = instances.get(key)
  if (ajv === undefined) {
    ajv = make()
    instances.set(key, ajv)
  }
  return ajv
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
    ownProperties,
    allErrors,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    // All schemas have the same name, and none is known to another.
    addUsedSchema: false,
    // Once, by an instance for all of them: it takes 15 ms to compile what a schema may be.
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

/** A string of the generated code, which is left alone, or the comparison that tells whether text is a number. */
const comparison = /"(?:[^"\\]|\\.)*"|\b(?<text>data\d*) == \+\k<text>/g

/** Changes the code that Ajv generates where text becomes a number: `Infinity` is not one. */
function withoutInfinity(code: string): string {
  return code.replace(comparison, (match, text: string | undefined) =>
    text === undefined ? match : `${text} == +${text} && isFinite(${text})`,
  )
}
