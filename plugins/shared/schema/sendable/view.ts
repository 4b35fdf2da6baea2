/**
 * The valid values of a schema, as far as they are known before any value arrives. `anything` stands for the rest, where a function
 * decides or the schema does not show it.
 */
export type View =
  | { readonly is: 'anything' | 'text' }
  /** Neither a string nor a combination: a number, a date. `remedy` is the schema to use instead. */
  | { readonly is: 'value'; readonly what: string; readonly inJson: boolean; readonly remedy: string }
  | { readonly is: 'object'; readonly members: readonly (readonly [name: string, view: Lazy])[] }
  /** `items` are the items that are required as soon as there is one. */
  | { readonly is: 'list'; readonly items: readonly Lazy[]; readonly mayBeEmpty: boolean }
  | { readonly is: 'either' | 'both'; readonly parts: readonly Lazy[] }
  | { readonly is: 'optional'; readonly inner: Lazy }

/** A part of a schema, read only where it is needed: schemas may contain themselves. */
export interface Lazy {
  /** Its identity: the schema itself. */
  readonly of: unknown
  view(): View
}

export const anything: View = { is: 'anything' }
export const text: View = { is: 'text' }

/** A value without a form in JSON. */
export const notInJson = (what: string, remedy: string): View => ({ is: 'value', what, inJson: false, remedy })

/** A value with a form in JSON, but not in strings. */
export const notText = (what: string, remedy: string): View => ({ is: 'value', what, inJson: true, remedy })

const scalarNames: { readonly [type: string]: string } = {
  number: 'a number',
  boolean: 'a boolean',
  bigint: 'a bigint',
}

/** The view of a schema with exactly these values. */
export function viewOfValues(values: readonly unknown[], remedy: string): View {
  if (values.length === 0 || values.some((value) => typeof value === 'string' || value === undefined)) return text
  const [first] = values
  return notText(scalarNames[typeof first] ?? `${first}`, remedy)
}

/** Kinds of the schemas of a library by its names for them: their view, or how to read it from their definition. */
type Kinds<Definition> = { readonly [type: string]: View | ((definition: Definition) => View) }

/** The functions that make views of the schemas within a schema. */
type Within = ReturnType<typeof within>

function within(viewOf: (schema: unknown) => View) {
  const lazy = (of: unknown): Lazy => ({ of, view: () => viewOf(of) })
  const lazily = (schemas: readonly unknown[] = []) => schemas.map(lazy)
  const object = (members: object = {}): View => ({
    is: 'object',
    members: Object.entries(members).map(([name, one]) => [name, lazy(one)]),
  })
  return {
    viewOf,
    object,
    list: (item: unknown): View => ({ is: 'list', items: item === undefined ? [] : [lazy(item)], mayBeEmpty: true }),
    tuple: (items?: readonly unknown[]): View => ({
      is: 'list',
      items: lazily(items),
      mayBeEmpty: items?.length === 0,
    }),
    either: (schemas?: readonly unknown[]): View => ({ is: 'either', parts: lazily(schemas) }),
    both: (schemas?: readonly unknown[]): View => ({ is: 'both', parts: lazily(schemas) }),
    nullable: (inner: unknown): View => ({ is: 'either', parts: [lazy(inner), { of: 'null', view: () => nothing }] }),
    optional: (inner: unknown): View => ({ is: 'optional', inner: lazy(inner) }),
    required(inner: unknown): View {
      const view = viewOf(inner)
      return view.is === 'optional' ? view.inner.view() : view
    },
  }
}

const nothing = notText('null', 'a string that stands for it')
const ofJson = 'a type that JSON has'
const inUpload = 'the route option "upload", whose files are at req.files'

/**
 * The view of the schemas of a library. `name` is how its functions are written. For every other kind, such as a transform or a custom
 * check, any value may be valid.
 */
export function viewer<Definition extends { readonly type: string }>(
  name: string,
  definitionOf: (schema: unknown) => Definition | undefined,
  kindsOf: (within: Within) => Kinds<Definition>,
): (schema: unknown) => View {
  const viewOf = (schema: unknown): View => {
    const definition = definitionOf(schema)
    if (definition === undefined || !Object.hasOwn(kinds, definition.type)) return anything
    const kind = kinds[definition.type]!
    return typeof kind === 'function' ? kind(definition) : kind
  }
  const kinds: Kinds<Definition> = {
    string: text,
    record: { is: 'object', members: [] },
    null: nothing,
    map: notInJson('a Map', `${name}.record()`),
    set: notInJson('a Set', `${name}.array()`),
    file: notInJson('a file', inUpload),
    blob: notInJson('a Blob', inUpload),
    nan: notInJson('NaN', ofJson),
    symbol: notInJson('a symbol', ofJson),
    ...kindsOf(within(viewOf)),
  }
  return viewOf
}
