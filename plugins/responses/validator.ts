import { isObject } from '../shared/schema/keywords.ts'
import { isStandardSchema, pathOf, type StandardSchema } from '../shared/schema/standard.ts'
import { Mismatch } from './mismatch.ts'
import { helpers, type Shape } from './writer-helpers.ts'

function run(schema: StandardSchema, value: unknown) {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new TypeError('its validator is asynchronous; responses need a synchronous one')
  return result
}

/** The shape of a validator, whose result is what is sent. */
export function shapeOfValidator(schema: StandardSchema): Shape {
  return (value) => {
    const result = run(schema, value)
    const issue = result.issues?.[0]
    if (issue !== undefined) throw new Mismatch(issue.message, pathOf(issue).map(String))
    return (result as { readonly value: unknown }).value
  }
}

/**
 * Picks the members that their own validators accept. A refused member is left out, even a scalar: the purpose of its
 * validator may be to hide a part of it, and it has not finished.
 */
export function pickByValidator(schema: unknown, value: unknown): unknown {
  if (!isStandardSchema(schema)) return undefined
  const result = run(schema, value)
  if (result.issues === undefined) return result.value
  // Where Zod and Valibot store the schemas of members and items, and the inner schema of an optional one.
  const { shape, entries, element, item, wrapped, unwrap } = schema as Readonly<Record<string, unknown>> &
    StandardSchema
  const members = shape ?? entries
  if (isObject(members) && isObject(value)) {
    const picked = {}
    for (const [name, member] of Object.entries(members)) {
      const part = pickByValidator(member, helpers.member(value, name))
      if (part !== undefined) helpers.put(picked, name, part)
    }
    return picked
  }
  const one = element ?? item
  if (one !== undefined && Array.isArray(value)) return value.map((each) => pickByValidator(one, each) ?? null)
  return pickByValidator(typeof unwrap === 'function' ? (unwrap.call(schema) as unknown) : wrapped, value)
}
