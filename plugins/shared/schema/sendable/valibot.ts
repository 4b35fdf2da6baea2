import { isObject } from '../../values/json.ts'
import { notInJson, notText, viewer, viewOfValues } from './view.ts'

/** The part of a Valibot schema that is used here; its members depend on `type`. A pipe has the type of its first step. */
interface ValibotSchema {
  readonly kind: 'schema'
  readonly type: string
  readonly fallback?: unknown
  readonly wrapped?: unknown
  readonly entries?: object
  readonly item?: unknown
  readonly items?: readonly unknown[]
  /** The schemas of a union, or the values of a picklist. */
  readonly options?: readonly unknown[]
  readonly enum?: object
  readonly literal?: unknown
}

export function isValibot(schema: unknown): schema is ValibotSchema {
  return isObject(schema) && schema.kind === 'schema' && typeof schema.type === 'string' && '~standard' in schema
}

/** Kinds that differ only in what no view shows, such as how unknown members are treated. */
const sameAs: { readonly [type: string]: string } = {
  loose_object: 'object',
  strict_object: 'object',
  object_with_rest: 'object',
  loose_tuple: 'tuple',
  strict_tuple: 'tuple',
  tuple_with_rest: 'tuple',
  variant: 'union',
  nullish: 'optional',
  exact_optional: 'optional',
  undefinedable: 'optional',
  non_nullable: 'non_optional',
  non_nullish: 'non_optional',
}

function definitionOf(schema: unknown): ValibotSchema | undefined {
  if (!isValibot(schema) || 'fallback' in schema) return undefined
  return Object.hasOwn(sameAs, schema.type) ? { ...schema, type: sameAs[schema.type]! } : schema
}

const byTransform = (to: string) => `v.pipe(v.string(), v.transform(${to}))`

/** The valid values of a Valibot schema. */
export const viewOfValibot = viewer('v', definitionOf, (within) => ({
  number: notText('a number', `${byTransform('Number')} with v.number() after it`),
  boolean: notText('a boolean', `v.pipe(v.picklist(['true', 'false']), v.transform((text) => text === 'true'))`),
  bigint: notInJson('a bigint', byTransform('BigInt')),
  date: notInJson('a date', `v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))`),
  picklist: ({ options = [] }) => viewOfValues(options, 'a picklist of strings'),
  enum: (schema) => viewOfValues(Object.values(schema.enum ?? {}), 'an enum of strings'),
  literal: ({ literal }) => viewOfValues([literal], 'v.literal() of a string'),
  object: ({ entries }) => within.object(entries),
  array: ({ item }) => within.list(item),
  tuple: ({ items }) => within.tuple(items),
  union: ({ options }) => within.either(options),
  intersect: ({ options }) => within.both(options),
  nullable: ({ wrapped }) => within.nullable(wrapped),
  optional: ({ wrapped }) => within.optional(wrapped),
  non_optional: ({ wrapped }) => within.required(wrapped),
}))
