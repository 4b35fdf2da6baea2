import { createRequire } from 'node:module'
import type { Ajv, Options, ValidateFunction } from 'ajv'
import type { Mode } from './check.ts'
import { bounded } from './formats.ts'
import { maxIssues } from './issue.ts'

// Ajv takes 34 ms to load. By `require` and not `import()`: a route that is registered late is compiled in between.
const require = createRequire(import.meta.url)

/** Keywords of OpenAPI and of API descriptions, which validate nothing. Any other unknown one is an error: a misspelt keyword would let everything pass. */
const annotations = ['example', 'externalDocs', 'xml', 'discriminator']

const changing: Options = { removeAdditional: true, useDefaults: true }
const optionsOf: Record<Mode, Options> = {
  body: changing,
  text: { ...changing, coerceTypes: 'array' },
  headers: { ...changing, coerceTypes: 'array' },
  exact: {},
}

const instances = new Map<string, Ajv>()

/** How an instance differs from the others. */
export interface Dialect {
  readonly mode: Mode
  /** JSON Schema 2020-12, else draft-07. */
  readonly modern: boolean
  /** Names like `constructor` are in the schema: inherited members must not count as given. */
  readonly ownProperties: boolean
}

/** Compiles one schema; the instances are made when they are first needed. */
export function compileWithAjv(schema: object, dialect: Dialect): ValidateFunction {
  const key = `${dialect.mode} ${dialect.modern} ${dialect.ownProperties}`
  let ajv = instances.get(key)
  if (ajv === undefined) {
    ajv = makeAjv(dialect)
    instances.set(key, ajv)
  }
  return ajv.compile(schema)
}

function makeAjv({ mode, modern, ownProperties }: Dialect): Ajv {
  const { Ajv: Constructor } = modern
    ? { Ajv: (require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020 as unknown as typeof Ajv }
    : (require('ajv') as typeof import('ajv'))
  const ajv = new Constructor({
    ...optionsOf[mode],
    ownProperties,
    allErrors: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    // Two routes may use one `$id`; the plugin itself refuses schemas that share one and differ.
    addUsedSchema: false,
    code: { process: hardened },
    logger: false,
  })
  const { fullFormats } = require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, bounded(name, format))
  ajv.addVocabulary(annotations)
  return ajv
}

/** A string of the generated code, which is left alone, or one of the three expressions that are changed. */
const expressions =
  /"(?:[^"\\]|\\.)*"|vErrors\.push\((?<pushed>err\d+)\);|vErrors\.concat\(|\b(?<text>data\d*) == \+\k<text>/g

/**
 * Changes the code that Ajv generates in two points. It keeps no more errors than are told: Ajv would collect a hundred
 * thousand, and for a `$ref` copy the whole list at each one, which kept it busy for minutes. And the text `Infinity`
 * is no number.
 */
function hardened(code: string): string {
  return code.replace(expressions, (match, pushed: string | undefined, text: string | undefined) => {
    if (pushed !== undefined) return `if(vErrors.length<${maxIssues})vErrors.push(${pushed});`
    if (text !== undefined) return `${text} == +${text} && isFinite(${text})`
    return match.startsWith('"') ? match : `(vErrors.length>=${maxIssues})?vErrors:vErrors.concat(`
  })
}
