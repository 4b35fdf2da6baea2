import { isObject, mapMembers } from '../values/json.ts'

/** One object of a JSON Schema. */
export type Node = { readonly [keyword: string]: unknown }

export { isObject }

/** Keywords with one schema, of any draft from 4 on. Older drafts have a list of them in `items`. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'items',
  'contains',
  'propertyNames',
  'contentSchema',
  'not',
  'if',
  'then',
  'else',
])

/** Keywords with schemas under names. */
export const mapKeywords: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
])

/** Keywords with definitions, which check nothing by themselves. */
export const definitionKeywords: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Keywords with a list of schemas. */
export const listKeywords: ReadonlySet<string> = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf'])

/** Keywords whose schemas apply to the value itself and not to a part of it. */
export const inPlaceKeywords: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
])

/** Keywords that only JSON Schema 2019-09 and later have. */
export const modernKeywords: readonly string[] = [
  'prefixItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'dependentRequired',
  'dependentSchemas',
  'minContains',
  'maxContains',
]

/** The types that values have in JSON. */
export const jsonTypes = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** The schemas directly within a schema, without definitions and without `true` and `false`. */
export function* schemasWithin(node: Node): Iterable<readonly [keyword: string, schema: Node]> {
  for (const [keyword, value] of Object.entries(node)) {
    const isPlain = schemaKeywords.has(keyword) || listKeywords.has(keyword)
    const all = isPlain ? [value].flat() : mapKeywords.has(keyword) && isObject(value) ? Object.values(value) : []
    for (const one of all) if (isObject(one)) yield [keyword, one]
  }
}

/** The value of a keyword with each schema in it changed: those by name, in a list, or itself. Any other value stays as it is. */
export function changeSchemas(keyword: string, value: unknown, change: (schema: unknown) => unknown): unknown {
  if (mapKeywords.has(keyword)) return isObject(value) ? mapMembers(value, (one) => change(one)) : value
  if (!schemaKeywords.has(keyword) && !listKeywords.has(keyword)) return value
  return Array.isArray(value) ? value.map((one) => change(one)) : change(value)
}
