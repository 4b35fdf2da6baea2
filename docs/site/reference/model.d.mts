/** What a docstring says. */
export interface Docstring {
  readonly text: string
  readonly examples: readonly string[]
  readonly throws: readonly string[]
  readonly params: readonly string[]
  readonly returns: readonly string[]
  readonly deprecated: readonly string[]
  readonly isInternal: boolean
}

export interface Member {
  readonly name: string
  /** Relative to the project's folder. */
  readonly file: string
  readonly line: number
  readonly doc: Docstring
  /** The declaration as written, without docstring and body; several for a function with overloads. */
  readonly signatures: readonly string[]
  readonly members: readonly Member[]
}

export interface PublicName extends Member {
  readonly id: number
  readonly kind: 'class' | 'type' | 'function' | 'value'
  /** Where the name is exported, and as what; `isType`: exported as a type only. */
  readonly entryPoints: readonly { readonly specifier: string; readonly name: string; readonly isType: boolean }[]
  /** The ids of the public names to which its declaration refers. */
  readonly references: readonly number[]
}

/** A `{@link …}` in a docstring. */
export interface Link {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly isBroken: boolean
  /** The id of the public name to which it leads. */
  readonly target: number | undefined
}

export interface Reference {
  readonly names: readonly PublicName[]
  readonly links: readonly Link[]
}

export function readReference(): Reference
