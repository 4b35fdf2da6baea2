import { changeSchemas, modernKeywords } from '../../shared/schema/keywords.ts'
import { isObject, type Json, mapMembers, put } from '../../shared/values/json.ts'

/** Keywords that are missing from draft 7 and cannot be expressed by its other keywords. */
const unknown: ReadonlySet<string> = new Set([...modernKeywords, 'contentSchema', 'xml'])

/** Converts a JSON Schema 2020-12 to draft 7, on which the schemas of AsyncAPI are based. */
export function toDraft7(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toDraft7)
  if (!isObject(schema)) return schema
  const { prefixItems, items, dependentRequired, dependentSchemas, discriminator, example, $ref, ...rest } = schema
  const draft: Json = {}
  for (const [keyword, value] of Object.entries(rest)) {
    if (!unknown.has(keyword)) put(draft, keyword, changeSchemas(keyword, value, toDraft7))
  }
  if (Array.isArray(prefixItems)) {
    draft.items = prefixItems.map(toDraft7)
    if (items !== undefined) draft.additionalItems = toDraft7(items)
  } else if (items !== undefined) draft.items = toDraft7(items)
  if (isObject(dependentRequired) || isObject(dependentSchemas))
    draft.dependencies = dependencies(dependentRequired, dependentSchemas)
  if (isObject(discriminator) && typeof discriminator.propertyName === 'string')
    draft.discriminator = discriminator.propertyName
  if (example !== undefined) draft.examples ??= [example]
  if ($ref === undefined) return draft
  // Draft 7 ignores members next to a reference.
  if (Object.keys(draft).length === 0) return { $ref }
  const all = Array.isArray(draft.allOf) ? draft.allOf : []
  return { ...draft, allOf: [{ $ref }, ...all] }
}

/** Returns which members must exist, and which schemas must be met, if a certain member exists. */
function dependencies(required: unknown, schemas: unknown): Json {
  const all = mapMembers(isObject(schemas) ? schemas : {}, toDraft7)
  for (const [name, one] of Object.entries(isObject(required) ? required : {})) {
    put(all, name, Object.hasOwn(all, name) ? { allOf: [all[name], { required: one }] } : one)
  }
  return all
}
