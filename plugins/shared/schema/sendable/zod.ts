import { isObject } from '../../values/json.ts'
import { notInJson, notText, text, viewer, viewOfValues } from './view.ts'

/** The part of a definition of Zod 4 that is used here; its members depend on `type`. */
interface Definition {
  readonly type: string
  readonly coerce?: boolean
  readonly innerType?: unknown
  readonly in?: unknown
  readonly left?: unknown
  readonly right?: unknown
  readonly options?: readonly unknown[]
  readonly items?: readonly unknown[]
  readonly element?: unknown
  readonly shape?: object
  readonly entries?: object
  readonly values?: readonly unknown[]
}

interface ZodSchema {
  readonly _zod: { readonly def: Definition; readonly innerType?: unknown }
}

export const isZod = (schema: unknown): schema is ZodSchema =>
  isObject((schema as Partial<ZodSchema> | null)?._zod) && typeof (schema as ZodSchema)._zod.def?.type === 'string'

function definitionOf(schema: unknown): Definition | undefined {
  if (!isZod(schema) || schema._zod.def.coerce === true) return undefined
  const { def, innerType } = schema._zod
  // Zod keeps the schema of `lazy`: each call of its getter may make another.
  return def.type === 'lazy' ? { type: 'readonly', innerType } : def
}

/** The valid values of a Zod schema: for a transform, its input. */
export const viewOfZod = viewer('z', definitionOf, (within) => ({
  number: notText('a number', 'z.coerce.number()'),
  boolean: notText('a boolean', 'z.stringbool()'),
  bigint: notInJson('a bigint', 'z.coerce.bigint()'),
  date: notInJson('a date', 'z.coerce.date(), or z.iso.datetime() for the text as it is'),
  template_literal: text,
  enum: ({ entries = {} }) => viewOfValues(Object.values(entries), 'an enum of strings'),
  literal: ({ values = [] }) => viewOfValues(values, 'z.literal() of a string'),
  object: ({ shape }) => within.object(shape),
  array: ({ element }) => within.list(element),
  tuple: ({ items }) => within.tuple(items),
  union: ({ options }) => within.either(options),
  intersection: ({ left, right }) => within.both([left, right]),
  nullable: ({ innerType }) => within.nullable(innerType),
  optional: ({ innerType }) => within.optional(innerType),
  default: ({ innerType }) => within.optional(innerType),
  prefault: ({ innerType }) => within.optional(innerType),
  nonoptional: ({ innerType }) => within.required(innerType),
  readonly: ({ innerType }) => within.viewOf(innerType),
  pipe: (definition) => within.viewOf(definition.in),
}))
