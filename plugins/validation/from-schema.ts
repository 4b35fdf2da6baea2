/** How a type is read: what a validator lets through, defaults filled in; or what may be given to it. */
export type Direction = 'output' | 'input'

/** Nesting that is looked into; deeper is `unknown`, so that a recursive schema ends. */
type MaxDepth = 12

type Flat<T> = { [Key in keyof T]: T[Key] } & {}

type Primitive<Name, S, D> = Name extends 'string'
  ? D extends 'input'
    ? S extends { readonly format: 'date-time' | 'date' | 'time' }
      ? string | Date
      : string
    : string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

/** Keys that are certainly there: the required ones, and behind a validator those that it fills in. */
type SureKey<Properties, S, D> = {
  [Key in keyof Properties]: Key extends RequiredOf<S>
    ? Key
    : D extends 'output'
      ? Properties[Key] extends { readonly default: {} | null }
        ? Key
        : never
      : never
}[keyof Properties]

type ObjectOf<S, Root, D extends Direction, Depth extends unknown[]> = S extends {
  readonly properties: infer Properties
}
  ? Flat<
      {
        -readonly [Key in keyof Properties as Key extends SureKey<Properties, S, D> ? Key : never]: From<
          Properties[Key],
          Root,
          D,
          [...Depth, 0]
        >
      } & {
        -readonly [Key in keyof Properties as Key extends SureKey<Properties, S, D> ? never : Key]?: From<
          Properties[Key],
          Root,
          D,
          [...Depth, 0]
        >
      }
    > &
      (S extends { readonly additionalProperties: true | object } ? { [name: string]: unknown } : unknown)
  : S extends { readonly patternProperties: infer Patterns }
    ? { [name: string]: From<Patterns[keyof Patterns], Root, D, [...Depth, 0]> }
    : S extends { readonly additionalProperties: infer Rest }
      ? Rest extends false
        ? {}
        : { [name: string]: From<Rest, Root, D, [...Depth, 0]> }
      : { [name: string]: unknown }

type TupleOf<Items extends readonly unknown[], Root, D extends Direction, Depth extends unknown[]> = {
  -readonly [Index in keyof Items]: From<Items[Index], Root, D, [...Depth, 0]>
}

type ArrayOf<S, Root, D extends Direction, Depth extends unknown[]> = S extends {
  readonly prefixItems: infer Items extends readonly unknown[]
}
  ? TupleOf<Items, Root, D, Depth>
  : S extends { readonly items: infer Items }
    ? Items extends readonly unknown[]
      ? TupleOf<Items, Root, D, Depth>
      : From<Items, Root, D, [...Depth, 0]>[]
    : unknown[]

type Typed<Name, S, Root, D extends Direction, Depth extends unknown[]> = Name extends 'object'
  ? ObjectOf<S, S extends { readonly $id: string } ? S : Root, D, Depth>
  : Name extends 'array'
    ? ArrayOf<S, Root, D, Depth>
    : Primitive<Name, S, D>

type TypePart<S, Root, D extends Direction, Depth extends unknown[]> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Name }
      ? Typed<Name extends readonly (infer One)[] ? One : Name, S, Root, D, Depth>
      : S extends { readonly properties: object }
        ? ObjectOf<S, Root, D, Depth>
        : unknown

type AllOf<List, Root, D extends Direction, Depth extends unknown[]> = List extends readonly [
  infer First,
  ...infer Rest,
]
  ? From<First, Root, D, [...Depth, 0]> & AllOf<Rest, Root, D, Depth>
  : unknown

type Combined<S, Root, D extends Direction, Depth extends unknown[]> = (S extends {
  readonly allOf: infer List
}
  ? AllOf<List, Root, D, Depth>
  : unknown) &
  (S extends { readonly anyOf: readonly (infer One)[] } ? From<One, Root, D, [...Depth, 0]> : unknown) &
  (S extends { readonly oneOf: readonly (infer One)[] } ? From<One, Root, D, [...Depth, 0]> : unknown)

/** By pointer, by the name of a definition as TypeBox has them, or by the name of the whole. */
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

/** The type that a JSON Schema describes. Bounded in depth; what it does not know it calls `unknown`. */
export type From<S, Root, D extends Direction, Depth extends unknown[]> = Depth['length'] extends MaxDepth
  ? unknown
  : S extends { readonly '~unsafe': infer Type }
    ? Type
    : S extends { readonly $ref: infer Ref }
      ? // A schema with definitions of its own is what they are known in, also within a larger one.
        From<Definition<Ref, RootOf<S, Root>>, RootOf<S, Root>, D, [...Depth, 0]> &
          (S extends { readonly properties: object } ? ObjectOf<S, Root, D, Depth> : unknown)
      : S extends false
        ? never
        :
            | (TypePart<S, Root, D, Depth> & Combined<S, Root, D, Depth>)
            | (S extends { readonly nullable: true } ? null : never)

type OfStandard<Types, D extends Direction> = [Types] extends [
  { readonly input: infer Input; readonly output: infer Output },
]
  ? D extends 'output'
    ? Output
    : Input
  : unknown

type Of<S, D extends Direction> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? OfStandard<NonNullable<Types>, D>
  : // The first TypeBox package carries the type in a member that exists for the type checker only.
    S extends { readonly static: unknown; readonly params: unknown[] }
    ? (S & { params: [] })['static']
    : From<S, S, D, []>

/** What is there after a value was validated by a schema of any kind. */
export type OutputOf<Schema> = Of<Schema, 'output'>

/** What may be given to a schema of any kind. */
export type InputOf<Schema> = Of<Schema, 'input'>
