import { isObject } from '../../values/json.ts'
import { anything, type Lazy, notInJson, notText, text, type View } from './view.ts'

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

/** The valid values of a Zod schema: for a transform, its input. For other kinds, such as a custom check, any value may be valid. */
export function viewOfZod(schema: unknown): View {
  const definition = definitionOf(schema)
  if (definition === undefined || !Object.hasOwn(kinds, definition.type)) return anything
  const kind = kinds[definition.type]!
  return typeof kind === 'function' ? kind(definition) : kind
}

const lazy = (of: unknown): Lazy => ({ of, view: () => viewOfZod(of) })

const scalarNames: { readonly [type: string]: string } = {
  number: 'a number',
  boolean: 'a boolean',
  bigint: 'a bigint',
}

/** The view of a schema with exactly these values. */
function viewOfValues(values: readonly unknown[], remedy: string): View {
  if (values.length === 0 || values.some((value) => typeof value === 'string' || value === undefined)) return text
  const [first] = values
  return notText(scalarNames[typeof first] ?? `${first}`, remedy)
}

const nothing = notText('null', 'a string that stands for it')
const ofJson = 'a type that JSON has'
const optional = ({ innerType }: Definition): View => ({ is: 'optional', inner: lazy(innerType) })

const kinds: { readonly [type: string]: View | ((definition: Definition) => View) } = {
  string: text,
  template_literal: text,
  null: nothing,
  number: notText('a number', 'z.coerce.number()'),
  boolean: notText('a boolean', 'z.stringbool()'),
  bigint: notInJson('a bigint', 'z.coerce.bigint()'),
  date: notInJson('a date', 'z.coerce.date(), or z.iso.datetime() for the text as it is'),
  map: notInJson('a Map', 'z.record()'),
  set: notInJson('a Set', 'z.array()'),
  file: notInJson('a file', 'the route option "upload", whose files are at req.files'),
  nan: notInJson('NaN', ofJson),
  symbol: notInJson('a symbol', ofJson),
  enum: ({ entries = {} }) => viewOfValues(Object.values(entries), 'an enum of strings'),
  literal: ({ values = [] }) => viewOfValues(values, 'z.literal() of a string'),
  record: { is: 'object', members: [] },
  object: ({ shape = {} }) => ({
    is: 'object',
    members: Object.entries(shape).map(([name, one]) => [name, lazy(one)]),
  }),
  array: ({ element }) => ({ is: 'list', items: [lazy(element)], mayBeEmpty: true }),
  tuple: ({ items = [] }) => ({ is: 'list', items: items.map(lazy), mayBeEmpty: items.length === 0 }),
  union: ({ options = [] }) => ({ is: 'either', parts: options.map(lazy) }),
  intersection: ({ left, right }) => ({ is: 'both', parts: [lazy(left), lazy(right)] }),
  nullable: ({ innerType }) => ({ is: 'either', parts: [lazy(innerType), { of: 'null', view: () => nothing }] }),
  optional,
  default: optional,
  prefault: optional,
  nonoptional({ innerType }) {
    const view = viewOfZod(innerType)
    return view.is === 'optional' ? view.inner.view() : view
  },
  readonly: ({ innerType }) => viewOfZod(innerType),
  pipe: (definition) => viewOfZod(definition.in),
}
