import { isObject } from '../../values/json.ts'
import { anything, type Lazy, notInJson, notText, text, type View, viewOfValues } from './view.ts'

/** The part of a Valibot schema that is used here; its members depend on `type`. A pipe has the type of its first step. */
export interface ValibotSchema {
  readonly kind: 'schema'
  readonly type: string
  readonly fallback?: unknown
  readonly wrapped?: ValibotSchema
  readonly entries?: { readonly [name: string]: ValibotSchema }
  readonly item?: ValibotSchema
  readonly items?: readonly ValibotSchema[]
  /** The schemas of a union, or the values of a picklist. */
  readonly options?: readonly unknown[]
  readonly enum?: object
  readonly literal?: unknown
}

export function isValibot(schema: unknown): schema is ValibotSchema {
  return isObject(schema) && schema.kind === 'schema' && typeof schema.type === 'string' && '~standard' in schema
}

const byTransform = (to: string) => `v.pipe(v.string(), v.transform(${to}))`
const ofJson = 'a type that JSON has'

const values: { readonly [type: string]: View } = {
  number: notText('a number', `${byTransform('Number')} with v.number() after it`),
  boolean: notText('a boolean', `v.pipe(v.picklist(['true', 'false']), v.transform((text) => text === 'true'))`),
  null: notText('null', 'a string that stands for it'),
  bigint: notInJson('a bigint', byTransform('BigInt')),
  date: notInJson('a date', `v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))`),
  map: notInJson('a Map', 'v.record()'),
  set: notInJson('a Set', 'v.array()'),
  file: notInJson('a file', 'the route option "upload", whose files are at req.files'),
  blob: notInJson('a Blob', 'the route option "upload", whose files are at req.files'),
  nan: notInJson('NaN', ofJson),
  symbol: notInJson('a symbol', ofJson),
}

const lazy = (of: unknown): Lazy => ({ of, view: () => viewOfValibot(of) })
const lazily = (schemas: readonly unknown[] | undefined): Lazy[] => (schemas ?? []).map(lazy)
const nothing: Lazy = { of: 'null', view: () => values.null! }

/** The valid values of a Valibot schema. */
export function viewOfValibot(schema: unknown): View {
  if (!isValibot(schema) || 'fallback' in schema) return anything
  const { type, wrapped } = schema
  if (Object.hasOwn(values, type)) return values[type]!
  switch (type) {
    case 'string':
      return text
    case 'picklist':
      return viewOfValues(schema.options ?? [], 'a picklist of strings')
    case 'enum':
      return viewOfValues(Object.values(schema.enum ?? {}), 'an enum of strings')
    case 'literal':
      return viewOfValues([schema.literal], 'v.literal() of a string')
    case 'object':
    case 'loose_object':
    case 'strict_object':
    case 'object_with_rest':
      return {
        is: 'object',
        members: Object.entries(schema.entries ?? {}).map(([name, one]) => [name, lazy(one)]),
      }
    case 'record':
      return { is: 'object', members: [] }
    case 'array':
      return { is: 'list', items: lazily(schema.item && [schema.item]), mayBeEmpty: true }
    case 'tuple':
    case 'loose_tuple':
    case 'strict_tuple':
    case 'tuple_with_rest':
      return { is: 'list', items: lazily(schema.items), mayBeEmpty: schema.items?.length === 0 }
    case 'union':
    case 'variant':
      return { is: 'either', parts: lazily(schema.options) }
    case 'intersect':
      return { is: 'both', parts: lazily(schema.options) }
    case 'nullable':
      return { is: 'either', parts: [lazy(wrapped), nothing] }
    case 'nullish':
    case 'optional':
    case 'exact_optional':
    case 'undefinedable':
      return { is: 'optional', inner: lazy(wrapped) }
    case 'non_nullable':
    case 'non_nullish':
    case 'non_optional': {
      const view = viewOfValibot(wrapped)
      return view.is === 'optional' ? view.inner.view() : view
    }
    default:
      return anything
  }
}
