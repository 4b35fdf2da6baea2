import type { Direction } from './self-description.ts'

/** The next level of nesting. Below the last one, everything is `unknown`, so that a recursive schema ends. */
type Deeper = readonly [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, never]
type Level = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11

type Flat<T> = { [Key in keyof T]: T[Key] } & {}

interface Primitives {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type Primitive<Name, S, D> = Name extends keyof Primitives
  ? [Name, D, S] extends ['string', 'input', { readonly format: 'date-time' | 'date' | 'time' }]
    ? string | Date
    : Primitives[Name]
  : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

/** The keys among these that a validator fills in. */
type FilledIn<Properties, Key extends keyof Properties> = {
  [Name in Key]: Properties[Name] extends { readonly default: {} | null } ? Name : never
}[Key]

/** Keys that may be missing. After a validator, the keys that it fills in exist. */
type MissingKey<Properties, Key extends keyof Properties, D> = [Key] extends [never]
  ? never
  : D extends 'output'
    ? Exclude<Key, FilledIn<Properties, Key>>
    : Key

/** The members: one mapped type where all are alike; otherwise two, and a third that merges them. */
type Members<Properties, Missing extends keyof Properties, Root, D extends Direction, Depth extends Level> = [
  Missing,
] extends [never]
  ? { -readonly [Key in keyof Properties]: From<Properties[Key], Root, D, Deeper[Depth]> }
  : [keyof Properties] extends [Missing]
    ? { -readonly [Key in keyof Properties]?: From<Properties[Key], Root, D, Deeper[Depth]> }
    : Flat<
        {
          -readonly [Key in Exclude<keyof Properties, Missing>]: From<Properties[Key], Root, D, Deeper[Depth]>
        } & {
          -readonly [Key in Missing]?: From<Properties[Key], Root, D, Deeper[Depth]>
        }
      >

type ObjectOf<S, Root, D extends Direction, Depth extends Level> = S extends { readonly properties: infer Properties }
  ? S extends { readonly additionalProperties: true | object }
    ? Members<Properties, MissingKey<Properties, Exclude<keyof Properties, RequiredOf<S>>, D>, Root, D, Depth> & {
        [name: string]: unknown
      }
    : Members<Properties, MissingKey<Properties, Exclude<keyof Properties, RequiredOf<S>>, D>, Root, D, Depth>
  : S extends { readonly patternProperties: infer Patterns }
    ? { [name: string]: From<Patterns[keyof Patterns], Root, D, Deeper[Depth]> }
    : S extends { readonly additionalProperties: infer Rest }
      ? Rest extends false
        ? {}
        : { [name: string]: From<Rest, Root, D, Deeper[Depth]> }
      : { [name: string]: unknown }

type TupleOf<Items extends readonly unknown[], Root, D extends Direction, Depth extends Level> = {
  -readonly [Index in keyof Items]: From<Items[Index], Root, D, Deeper[Depth]>
} extends infer Tuple extends unknown[]
  ? D extends 'input'
    ? Readonly<Tuple>
    : Tuple
  : never

/** Input is read and never changed. */
type ListOf<Item, D extends Direction> = D extends 'input' ? readonly Item[] : Item[]

type ArrayOf<S, Root, D extends Direction, Depth extends Level> = S extends {
  readonly prefixItems: infer Items extends readonly unknown[]
}
  ? TupleOf<Items, Root, D, Depth>
  : S extends { readonly items: infer Items }
    ? Items extends readonly unknown[]
      ? TupleOf<Items, Root, D, Depth>
      : ListOf<From<Items, Root, D, Deeper[Depth]>, D>
    : ListOf<unknown, D>

type Typed<Name, S, Root, D extends Direction, Depth extends Level> = Name extends 'object'
  ? ObjectOf<S, S extends { readonly $id: string } ? S : Root, D, Depth>
  : Name extends 'array'
    ? ArrayOf<S, Root, D, Depth>
    : Primitive<Name, S, D>

type TypePart<S, Root, D extends Direction, Depth extends Level> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Name }
      ? Typed<Name extends readonly (infer One)[] ? One : Name, S, Root, D, Depth>
      : S extends { readonly properties: object }
        ? ObjectOf<S, Root, D, Depth>
        : unknown

type AllOf<List, Root, D extends Direction, Depth extends Level> = List extends readonly [infer First, ...infer Rest]
  ? From<First, Root, D, Deeper[Depth]> & AllOf<Rest, Root, D, Depth>
  : unknown

type Combined<S, Root, D extends Direction, Depth extends Level> = (S extends { readonly allOf: infer List }
  ? AllOf<List, Root, D, Depth>
  : unknown) &
  (S extends { readonly anyOf: readonly (infer One)[] } ? From<One, Root, D, Deeper[Depth]> : unknown) &
  (S extends { readonly oneOf: readonly (infer One)[] } ? From<One, Root, D, Deeper[Depth]> : unknown)

/** The target of a reference: by pointer, by the name of a definition in TypeBox's form, or by the name of the whole. */
type Definition<Ref, Root> = Ref extends '#'
  ? Root
  : Ref extends `#/${infer Group}/${infer Name}`
    ? Group extends keyof Root
      ? Name extends keyof Root[Group]
        ? Root[Group][Name]
        : {}
      : {}
    : Root extends { readonly $id: Ref }
      ? Root
      : Root extends { readonly $defs: infer Definitions }
        ? Ref extends keyof Definitions
          ? Definitions[Ref]
          : {}
        : {}

type RootOf<S, Root> = S extends { readonly $defs: object } ? S : Root

/** Rare keywords, tested together before the separate tests, each of which costs time. */
type Rare =
  | false
  | { readonly '~unsafe': unknown }
  | { readonly $ref: unknown }
  | { readonly anyOf: unknown }
  | { readonly oneOf: unknown }
  | { readonly allOf: unknown }
  | { readonly nullable: true }

type RareOf<S, Root, D extends Direction, Depth extends Level> = S extends { readonly '~unsafe': infer Type }
  ? Type
  : S extends { readonly $ref: infer Ref }
    ? // A schema with definitions of its own resolves names in them, even within a larger one.
      From<Definition<Ref, RootOf<S, Root>>, RootOf<S, Root>, D, Deeper[Depth]> &
        (S extends { readonly properties: object } ? ObjectOf<S, Root, D, Depth> : unknown)
    : S extends false
      ? never
      :
          | (TypePart<S, Root, D, Depth> & Combined<S, Root, D, Depth>)
          | (S extends { readonly nullable: true } ? null : never)

/** Kinds of TypeBox 1 that need no further test. */
interface Kinds {
  String: string
  Integer: number
  Number: number
  Boolean: boolean
  Null: null
}

/** The keys of TypeBox 1 that may be missing: `required` contains the same information, but is expensive to compute. */
type OptionalKey<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends { readonly '~optional': true } ? Key : never
}[keyof Properties]

/** A schema of TypeBox 1, by its mark. */
type OfKind<Kind, S, Root, D extends Direction, Depth extends Level> = Kind extends keyof Kinds
  ? Kinds[Kind]
  : Kind extends 'Object'
    ? S extends { readonly properties: infer Properties }
      ? Members<
          Properties,
          MissingKey<Properties, OptionalKey<Properties>, D>,
          S extends { readonly $id: string } ? S : Root,
          D,
          Depth
        >
      : never
    : Json<S, Root, D, Depth>

type Json<S, Root, D extends Direction, Depth extends Level> = S extends Rare
  ? RareOf<S, Root, D, Depth>
  : TypePart<S, Root, D, Depth>

/** The type that a JSON Schema describes. Limited in depth; an unknown part is `unknown`. */
export type From<S, Root, D extends Direction, Depth extends Level> = [Depth] extends [never]
  ? unknown
  : S extends { readonly '~kind': infer Kind }
    ? OfKind<Kind, S, Root, D, Depth>
    : Json<S, Root, D, Depth>

type OfStandard<Types, D extends Direction> = [Types] extends [{ readonly input: unknown; readonly output: unknown }]
  ? Types[D]
  : unknown

/** `Direction` has the names of these types in Standard Schema and Zod. */
type Of<S, D extends Direction> =
  // Zod recomputes the member of Standard Schema for each type, which costs as much as all the rest.
  S extends { readonly _zod: { readonly output: unknown; readonly input: unknown } }
    ? S['_zod'][D]
    : S extends { readonly '~standard': { readonly types?: infer Types } }
      ? OfStandard<NonNullable<Types>, D>
      : // The first TypeBox package carries the type in a member that exists for the type checker only.
        S extends { readonly static: unknown; readonly params: unknown[] }
        ? (S & { params: [] })['static']
        : From<S, S, D, 0>

/** The type of a value after a schema of any kind has validated it. */
export type OutputOf<Schema> = Of<Schema, 'output'>

/** The type of a valid input for a schema of any kind. */
export type InputOf<Schema> = Of<Schema, 'input'>
