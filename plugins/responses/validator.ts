import { isObject } from '../toolkit/schema/keywords.ts'
import { Mismatch } from './mismatch.ts'
import { helpers, type Shape } from './writer-helpers.ts'

/** The used part of a validator that follows Standard Schema. */
export interface Validator {
  readonly '~standard': {
    readonly validate: (value: unknown) => { value?: unknown; issues?: readonly { message: string; path?: unknown }[] }
  }
}

export function isValidator(schema: unknown): schema is Validator {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  return typeof (schema as Partial<Validator>)['~standard']?.validate === 'function'
}

function run(schema: Validator, value: unknown) {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new TypeError('its validator is asynchronous; answers need a synchronous one')
  return result
}

/** The validator decides what is sent: its result. */
export function shapeOfValidator(schema: Validator): Shape {
  return (value) => {
    const result = run(schema, value)
    const issue = result.issues?.[0]
    if (issue === undefined) return result.value
    const mismatch = new Mismatch(issue.message)
    const path = Array.isArray(issue.path) ? (issue.path as (PropertyKey | { key: PropertyKey })[]) : []
    mismatch.path.push(...path.map((part) => String(typeof part === 'object' ? part.key : part)))
    throw mismatch
  }
}

/** Where Zod and Valibot store the schemas of members, of items, and the inner one of an optional schema. */
interface Inside {
  shape?: unknown
  entries?: unknown
  element?: unknown
  item?: unknown
  wrapped?: unknown
  unwrap?: unknown
}

/**
 * Picks the members that their own validators accept. A refused one is left out, also a scalar: its
 * validator may be there to hide a part of it, and has not finished.
 */
export function pickByValidator(schema: unknown, value: unknown): unknown {
  if (!isValidator(schema)) return undefined
  const result = run(schema, value)
  if (result.issues === undefined) return result.value
  const { shape, entries, element, item, wrapped, unwrap } = schema as Inside
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
