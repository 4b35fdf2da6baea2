/** Options of every builder. */
export interface EnvValueOptions<Value> {
  /** The value of a variable that is absent or empty. */
  default?: Value
  /** `false`: an absent or empty variable is an error, unless there is a default. `true` is for a value that may be `undefined`. */
  optional?: false
  /** Keeps messages of a `custom` function out of errors, since they may quote the value. Default false. */
  secret?: boolean
}

/** Options of every builder for a value that may be `undefined`, always or in some environments. */
export interface EnvOptionalOptions {
  /** Whether the variable may be absent or empty; its value is then `undefined`. */
  optional: boolean
  /** Must be omitted: a value with a default is never absent, so `optional` would have no meaning. */
  default?: undefined
  /** Keeps messages of a `custom` function out of errors, since they may quote the value. Default false. */
  secret?: boolean
}

/** The type of a variable, as made by the builders. */
export interface EnvType<out Value> {
  /** What the variable must be, in words, for messages. */
  readonly expected: string
  /** Whether the variable may be absent or empty. */
  readonly optional: boolean
  /** The value of an absent or empty variable; `undefined` for none. */
  readonly default: unknown
  /** Whether errors reveal nothing about the value. */
  readonly secret: boolean
  /** @internal */
  read(raw: unknown, path: string, report: (path: string, problem: string) => void, secret: boolean): Value | undefined
  /** Never set: it only carries the type that `get` returns. */
  readonly value?: () => Value
}

/** The type of a builder's values. */
export type EnvValue<Type> = Type extends { readonly value?: () => infer Value } ? Value : never

/** The type that `get` returns for each name of a schema. */
export type EnvValues<Types> = { readonly [Name in keyof Types]: EnvValue<Types[Name]> }

/** Makes the type of a variable, required or optional. */
export interface EnvBuilder<Value> {
  (options?: EnvValueOptions<Value>): EnvType<Value>
  (options: EnvOptionalOptions): EnvType<Value | undefined>
}

/** Makes the type of a list, with elements of any type or of one type. */
export interface EnvArrayBuilder extends EnvBuilder<unknown[]> {
  <Element>(element: EnvType<Element>, options?: EnvValueOptions<Element[]>): EnvType<Element[]>
  <Element>(element: EnvType<Element>, options: EnvOptionalOptions): EnvType<Element[] | undefined>
}

/** The builders that `createEnvSchema` passes to its function. */
export interface EnvSchema {
  /** A string, taken as it is. */
  readonly string: EnvBuilder<string>
  /** A decimal number; an exponent is allowed. */
  readonly number: EnvBuilder<number>
  /** `true`, `false`, `1`, `0`, `yes`, `no`, `on` or `off`, in upper or lower case. */
  readonly boolean: EnvBuilder<boolean>
  /** One of these values. */
  enum<const Value extends string | number>(
    values: readonly Value[],
    options?: EnvValueOptions<NoInfer<Value>>,
  ): EnvType<Value>
  enum<const Value extends string | number>(
    values: readonly Value[],
    options: EnvOptionalOptions,
  ): EnvType<Value | undefined>
  /** Values separated by commas, or a JSON array. */
  readonly array: EnvArrayBuilder
  /** A JSON object with these members; other members are dropped. */
  object<const Members extends { readonly [name: string]: EnvType<unknown> }>(
    members: Members,
    options?: EnvValueOptions<EnvValues<Members>>,
  ): EnvType<EnvValues<Members>>
  object<const Members extends { readonly [name: string]: EnvType<unknown> }>(
    members: Members,
    options: EnvOptionalOptions,
  ): EnvType<EnvValues<Members> | undefined>
  /** The result of a function for the string; the function throws to refuse it. Receives non-string values of a JSON file as JSON. */
  custom<Value>(convert: (raw: string) => Value, options?: EnvValueOptions<NoInfer<Value>>): EnvType<Value>
  custom<Value>(convert: (raw: string) => Value, options: EnvOptionalOptions): EnvType<Value | undefined>
}

/** The result of a schema function. */
export interface EnvTypes {
  readonly [name: string]: EnvType<unknown>
}

/** The type that `get` returns for each name of a schema function. */
export type EnvOf<Build extends (schema: EnvSchema) => object> = EnvValues<ReturnType<Build>>

/**
 * The types of the variables in `services.env`; an application adds its own by declaration merging.
 *
 * @example
 * import type { EnvOf, EnvSchema } from 'framework'
 *
 * export const variables = (schema: EnvSchema) => ({ PORT: schema.number({ default: 3000 }) })
 * declare module 'framework' {
 *   interface EnvVariables extends EnvOf<typeof variables> {}
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface EnvVariables {}
