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
