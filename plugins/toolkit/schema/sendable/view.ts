/**
 * What a schema takes, as far as it can be decided before any value comes. `anything` stands for what cannot: a function
 * decides there, or the schema does not tell.
 */
export type View =
  | { readonly is: 'anything' | 'text' }
  /** Neither text nor made of others: a number, a date. `remedy` is the schema to take in its place. */
  | { readonly is: 'value'; readonly what: string; readonly inJson: boolean; readonly remedy: string }
  | { readonly is: 'object'; readonly members: readonly (readonly [name: string, view: Lazy])[] }
  /** `items` are those that cannot be left out as soon as one is there. */
  | { readonly is: 'list'; readonly items: readonly Lazy[]; readonly mayBeEmpty: boolean }
  | { readonly is: 'either' | 'both'; readonly parts: readonly Lazy[] }
  | { readonly is: 'optional'; readonly inner: Lazy }

/** A part of a schema, looked at only where it matters: schemas may hold themselves. */
export interface Lazy {
  /** What tells it from others: the schema itself. */
  readonly of: unknown
  view(): View
}

export const anything: View = { is: 'anything' }
export const text: View = { is: 'text' }

/** What JSON has no form for. */
export const notInJson = (what: string, remedy: string): View => ({ is: 'value', what, inJson: false, remedy })

/** What JSON has and text has not. */
export const notText = (what: string, remedy: string): View => ({ is: 'value', what, inJson: true, remedy })

const scalarNames: { readonly [type: string]: string } = {
  number: 'a number',
  boolean: 'a boolean',
  bigint: 'a bigint',
}

/** The view of a schema that takes exactly these values. */
export function viewOfValues(values: readonly unknown[], remedy: string): View {
  if (values.length === 0 || values.some((value) => typeof value === 'string' || value === undefined)) return text
  const [first] = values
  return notText(scalarNames[typeof first] ?? `${first}`, remedy)
}

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
