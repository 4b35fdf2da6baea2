import { isObject, type Json } from '../json.ts'

/** Whether a schema describes what is sent to the server, or what it answers: defaults and transforms differ. */
export type Direction = 'input' | 'output'

/** A schema as JSON Schema, or why there is none. */
export type Source = { readonly schema: unknown } | { readonly why: string }

interface Standard {
  readonly vendor?: unknown
  /** Standard JSON Schema: what a validator says of itself. */
  readonly jsonSchema?: { readonly [direction in Direction]?: (options: object) => unknown }
}

interface Described {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string; readonly catchall?: unknown } } }
  readonly jsonSchema: Json
}

/** What Zod says differs from what JSON carries in these points. */
function correct({ zodSchema, jsonSchema }: Described): void {
  const { type, catchall } = zodSchema._zod.def
  if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
  if (type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // Of an object that strips what it does not know: so that one schema is one component, for requests and answers alike.
  if (type === 'object' && catchall === undefined) delete jsonSchema.additionalProperties
}

const zodOptions = { unrepresentable: 'any', override: correct }
const target = 'draft-2020-12'

function standardOf(schema: unknown): Standard | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined
  const standard = (schema as { '~standard'?: unknown })['~standard']
  return isObject(standard) && typeof standard.validate === 'function' ? standard : undefined
}

/** The JSON Schema of a schema of any kind: a Standard Schema is asked for it. */
export function jsonSchemaOf(schema: unknown, direction: Direction): Source {
  if (typeof schema === 'boolean') return { schema }
  const standard = standardOf(schema)
  if (standard === undefined) return isObject(schema) ? { schema } : { why: 'it is no schema' }
  const vendor = typeof standard.vendor === 'string' ? standard.vendor : 'unknown'
  try {
    const describe = standard.jsonSchema?.[direction]
    if (describe !== undefined) {
      // Each vendor reads its own options only.
      return { schema: describe({ target, ...(vendor === 'zod' && { libraryOptions: zodOptions }) }) }
    }
    const since = vendor === 'zod' ? ', which Zod has since 4.2' : ''
    return { why: `a schema of "${vendor}" without Standard JSON Schema${since}` }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}
