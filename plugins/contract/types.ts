import type { PathParams } from '../../kernel/routing/pattern.ts'
import type { InputOf, OutputOf } from '../shared/schema/from-schema.ts'
import type { CallOptions, FailureStatus, HeaderValues, IsSuccess, SuccessStatus } from './calls.ts'
import type { OnceOptions } from './once.ts'

type Flat<T> = { [Name in keyof T]: T[Name] } & {}

/** Values of a path segment: the values of the schema that are strings, numbers or booleans. */
type ParamInput<Schema, Name> = Schema extends object
  ? Name extends keyof InputOf<Schema>
    ? Scalar<InputOf<Schema>[Name]>
    : string | number
  : Name extends '*'
    ? string
    : string | number
type Scalar<Value> = Value extends string | number | boolean ? Value : string | number

type ParamsInput<Route, Path extends string> = {
  readonly [Name in keyof PathParams<Path>]: ParamInput<MemberOf<Route, 'params'>, Name>
}
type MemberOf<Route, Name extends string> = Route extends { readonly [Member in Name]: infer Value } ? Value : undefined

/** A member of the input, which is optional if all its own members are. */
type Part<Name extends string, Value> = {} extends Value
  ? { readonly [Member in Name]?: Value }
  : { readonly [Member in Name]: Value }

type OptionsOf<Route> = Route extends { readonly idempotency: true } ? OnceOptions : CallOptions

/** The argument of a call of one route: the `params` of its path, and `query`, `headers` and `body` as its schemas accept them. */
export type CallInput<Route> = Flat<
  (Route extends { readonly path: infer Path extends string }
    ? [keyof PathParams<Path>] extends [never]
      ? {}
      : Part<'params', Flat<ParamsInput<Route, Path>>>
    : {}) &
    (Route extends { readonly query: infer Schema } ? Part<'query', InputOf<Schema>> : {}) &
    (Route extends { readonly headers: infer Schema } ? Part<'headers', InputOf<Schema> & HeaderValues> : {}) &
    (Route extends { readonly body: infer Schema }
      ? undefined extends InputOf<Schema>
        ? { readonly body?: InputOf<Schema> }
        : { readonly body: InputOf<Schema> }
      : {}) &
    Omit<OptionsOf<Route>, Route extends { readonly headers: unknown } ? 'headers' : never>
>

/** The type of a value after a round trip through JSON: a `Date` becomes a string. */
export type JsonOf<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends void
      ? undefined
      : Value extends { toJSON(): infer Made }
        ? JsonOf<Made>
        : Value extends bigint | symbol | Function
          ? never
          : { -readonly [Name in keyof Value]: JsonOf<Value[Name]> }

/** A response with a status that the contract declares. */
export interface Answer<Status, Body> {
  /** Whether the status is 2xx. */
  readonly ok: IsSuccess<Status>
  /** The status, through which the compiler narrows the type of the body. */
  readonly status: Status
  /**
   * The body: JSON is parsed, text is a string, events are a stream, everything else is a `Blob`. The contract determines its type, which
   * the client does not check.
   */
  readonly body: Body
  /** The headers of the response. */
  readonly headers: Headers
}

/** A response with a status that is not among the `Declared` ones; its body may be anything. */
export interface OtherAnswer<Declared> {
  /** Whether the status is 2xx. */
  readonly ok: true extends IsSuccess<Declared> ? false : boolean
  /** The status, through which the compiler narrows the type of the body. */
  readonly status: Exclude<true extends IsSuccess<Declared> ? FailureStatus : SuccessStatus | FailureStatus, Declared>
  /** The body, read as in `Answer`; it may be anything, because the contract does not declare it. */
  readonly body: unknown
  /** The headers of the response. */
  readonly headers: Headers
}

type StatusOf<Key> = Key extends number ? Key : Key extends `${infer Status extends number}` ? Status : never

type BodyOf<Verb, Status, Schema> = Verb extends 'HEAD'
  ? undefined
  : Status extends 204 | 205 | 304
    ? undefined
    : JsonOf<OutputOf<Schema>>

/** The result of a call of one route: a union by status. */
export type AnswerOf<Route> = Route extends { readonly method: infer Verb; readonly responses: infer Responses }
  ?
      | {
          [Key in keyof Responses]: Answer<StatusOf<Key>, BodyOf<Verb, StatusOf<Key>, Responses[Key]>>
        }[keyof Responses]
      | OtherAnswer<StatusOf<keyof Responses>>
  : OtherAnswer<never>

type Call<Route> =
  {} extends CallInput<Route>
    ? (input?: CallInput<Route>) => Promise<AnswerOf<Route>>
    : (input: CallInput<Route>) => Promise<AnswerOf<Route>>

/** The client of a contract: one function for each of its routes. */
export type ContractClient<Routes> = { readonly [Name in keyof Routes]: Call<Routes[Name]> }
