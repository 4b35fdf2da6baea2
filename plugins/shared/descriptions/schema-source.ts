import { type Direction, selfDescription } from '../schema/self-description.ts'
import { isStandardSchema } from '../schema/standard.ts'
import { isObject } from '../values/json.ts'

/** A schema as JSON Schema, or why there is none. */
export type Source = { readonly schema: unknown } | { readonly why: string }

/** The JSON Schema for a schema of any kind; for a Standard Schema, it comes from the schema's own method. */
export function jsonSchemaOf(schema: unknown, direction: Direction): Source {
  if (typeof schema === 'boolean') return { schema }
  if (!isStandardSchema(schema)) return isObject(schema) ? { schema } : { why: 'it is not a schema' }
  try {
    return { schema: selfDescription(schema, direction) }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}
