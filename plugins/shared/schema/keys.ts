import { safely } from '../values/safely.ts'
import { flattened, inPlaceOf } from './flat.ts'
import { isObject } from './keywords.ts'
import { selfDescription } from './self-description.ts'
import { isStandardSchema, type StandardSchema } from './standard.ts'

/** The top-level keys that a schema names; `undefined` if it does not show them. */
export const keysOf = (schema: object): readonly string[] | undefined =>
  isStandardSchema(schema) ? standardKeys(schema) : jsonKeys(schema)

function standardKeys(schema: StandardSchema): readonly string[] | undefined {
  const { shape, entries } = schema as { shape?: unknown; entries?: unknown }
  for (const keys of [shape, entries]) {
    if (typeof keys === 'object' && keys !== null) return Object.keys(keys)
  }
  const keys = safely(() => jsonKeys(selfDescription(schema, 'input') as object), [])
  return keys.length > 0 ? keys : undefined
}

/** The keys of a JSON Schema, including those in its combinations and after references. */
function jsonKeys(schema: object): readonly string[] {
  const root = flattened(schema).schema
  const keys = new Set<string>()
  for (const node of inPlaceOf([root], root)) {
    for (const name of isObject(node.properties) ? Object.keys(node.properties) : []) keys.add(name)
    for (const name of Array.isArray(node.required) ? node.required : []) keys.add(String(name))
  }
  return [...keys]
}
