import { isObject } from '../../values/json.ts'
import { anything, type Lazy, notInJson, notText, text, type View, viewOfValues } from './view.ts'

/** The part of a definition of Zod 4 that is used here; its members depend on `type`. */
interface Definition {
  readonly type: string
  readonly coerce?: boolean
  readonly innerType?: ZodSchema
  readonly in?: ZodSchema
  readonly left?: ZodSchema
  readonly right?: ZodSchema
  readonly options?: readonly ZodSchema[]
  readonly items?: readonly ZodSchema[]
  readonly element?: ZodSchema
  readonly shape?: { readonly [name: string]: ZodSchema }
  readonly entries?: { readonly [name: string]: unknown }
  readonly values?: readonly unknown[]
}

export interface ZodSchema {
  readonly _zod: { readonly def: Definition; readonly innerType?: ZodSchema }
}

export const isZod = (schema: unknown): schema is ZodSchema =>
  isObject((schema as Partial<ZodSchema> | null)?._zod) && typeof (schema as ZodSchema)._zod.def?.type === 'string'

const ofJson = 'a type that JSON has'

/** Types that are neither strings nor combinations, and what to use instead. */
const values: { readonly [type: string]: View } = {
  number: notText('a number', 'z.coerce.number()'),
  boolean: notText('a boolean', 'z.stringbool()'),
  null: notText('null', 'a string that stands for it'),
  bigint: notInJson('a bigint', 'z.coerce.bigint()'),
  date: notInJson('a date', 'z.coerce.date(), or z.iso.datetime() for the text as it is'),
  map: notInJson('a Map', 'z.record()'),
  set: notInJson('a Set', 'z.array()'),
  file: notInJson('a file', 'the route option "upload", whose files are at req.files'),
  nan: notInJson('NaN', ofJson),
  symbol: notInJson('a symbol', ofJson),
}

const lazy = (of: ZodSchema | undefined): Lazy => ({ of, view: () => viewOfZod(of) })
const lazily = (schemas: readonly ZodSchema[] | undefined): Lazy[] => (schemas ?? []).map(lazy)
const nothing: Lazy = { of: 'null', view: () => values.null! }

/** The valid values of a Zod schema: for a transform, its input. */
export function viewOfZod(schema: ZodSchema | undefined): View {
  if (!isZod(schema)) return anything
  const { def } = schema._zod
  const { type, innerType } = def
  if (def.coerce === true) return anything
  if (Object.hasOwn(values, type)) return values[type]!
  switch (type) {
    case 'string':
    case 'template_literal':
      return text
    case 'enum':
      return viewOfValues(Object.values(def.entries ?? {}), 'an enum of strings')
    case 'literal':
      return viewOfValues(def.values ?? [], 'z.literal() of a string')
    case 'object':
      return {
        is: 'object',
        members: Object.entries(def.shape ?? {}).map(([name, one]) => [name, lazy(one)]),
      }
    case 'record':
      return { is: 'object', members: [] }
    case 'array':
      return { is: 'list', items: lazily(def.element && [def.element]), mayBeEmpty: true }
    case 'tuple':
      return { is: 'list', items: lazily(def.items), mayBeEmpty: def.items?.length === 0 }
    case 'union':
      return { is: 'either', parts: lazily(def.options) }
    case 'intersection':
      return { is: 'both', parts: [lazy(def.left), lazy(def.right)] }
    case 'nullable':
      return { is: 'either', parts: [lazy(innerType), nothing] }
    case 'optional':
    case 'default':
    case 'prefault':
      return { is: 'optional', inner: lazy(innerType) }
    case 'nonoptional': {
      const view = viewOfZod(innerType)
      return view.is === 'optional' ? view.inner.view() : view
    }
    case 'readonly':
      return viewOfZod(innerType)
    case 'lazy':
      // Zod keeps this one: each call of the getter may make another.
      return viewOfZod(schema._zod.innerType)
    case 'pipe':
      return viewOfZod(def.in)
    default:
      // A transform, a custom check, `catch`, which accepts everything: any value may be valid.
      return anything
  }
}
