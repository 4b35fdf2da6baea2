import type { Response, RouteResponse, Statuses, StatusName } from '../../kernel/index.ts'
import type { InputOf } from '../validation/index.ts'

type SchemasOf<Options> = Options extends { readonly responses: infer Schemas } ? Schemas : undefined

/** The schema of a status; the key is a number, or a string of digits. */
type SchemaOf<Schemas, Status extends number> = Status extends keyof Schemas
  ? Schemas[Status]
  : `${Status}` extends keyof Schemas
    ? Schemas[`${Status}`]
    : undefined

/** `HttpError` instead of a schema: that failure is thrown, so that it has the format of the server. */
interface FailureSchema {
  readonly '~standard': { readonly vendor: 'framework' }
}

/** The arguments of the shorthand for a status: the body that the schema allows, or any body if the route declares no responses. */
export type BodyArguments<Options, Status extends number> =
  SchemasOf<Options> extends infer Schemas
    ? Schemas extends undefined
      ? [body?: unknown]
      : SchemaOf<Schemas, Status> extends infer Schema
        ? Schema extends undefined
          ? [body?: unknown] & `status ${Status} is not among the responses of this route`
          : Schema extends FailureSchema
            ? [body?: unknown] & `throw new HttpError(${Status}, …): the responses of this route say so`
            : undefined extends InputOf<Schema>
              ? [body?: InputOf<Schema>]
              : [body: InputOf<Schema>]
        : never
    : never

/** The argument of `res.json` without a status before it: the body of any of the responses, or any body if the route declares none. */
export type AnyBodyArguments<Options> =
  SchemasOf<Options> extends infer Schemas
    ? Schemas extends undefined
      ? [body?: unknown]
      : [
          body?: {
            [Status in keyof Schemas]: Schemas[Status] extends FailureSchema ? never : InputOf<Schemas[Status]>
          }[keyof Schemas],
        ]
    : never

/** The shorthands of a response, each with the body that the route's schema for its status describes. */
export type TypedShorthands<Options> = {
  [Name in StatusName]: (...body: BodyArguments<Options, Statuses[Name]>) => Response
}

interface StatusChosen<Options, Status extends number> {
  json(...body: BodyArguments<Options, Status>): Response
  send(...body: BodyArguments<Options, Status>): Response
  header(...given: Parameters<Response['header']>): WithStatus<Options, Status>
  setHeader(...given: Parameters<Response['setHeader']>): WithStatus<Options, Status>
  setHeaders(...given: Parameters<Response['setHeaders']>): WithStatus<Options, Status>
  type(...given: Parameters<Response['type']>): WithStatus<Options, Status>
}

/** A response with a chosen status. */
export type WithStatus<Options, Status extends number> = number extends Status
  ? RouteResponse<Options> & Pick<Response, 'json' | 'send'>
  : Status extends ResponseStatus<Options, Status>
    ? Omit<RouteResponse<Options>, keyof StatusChosen<Options, Status>> & StatusChosen<Options, Status>
    : RouteResponse<Options>

type StatusOf<Key> = Key extends number ? Key : Key extends `${infer Status extends number}` ? Status : never

/** A status that a route's responses may have: that of one of its responses, if it declares any. */
export type ResponseStatus<Options, Status> =
  SchemasOf<Options> extends infer Schemas
    ? Schemas extends undefined
      ? Status
      : number extends Status
        ? Status
        : Status extends StatusOf<keyof Schemas>
          ? Status
          : StatusOf<keyof Schemas>
    : never

type SuccessKey<Key> = Key extends number | string ? (`${Key}` extends `2${string}` ? Key : never) : never

/** The schema of a handler's return value: that of 200, otherwise that of the only success. */
type ReturnedSchema<Schemas> = 200 extends keyof Schemas
  ? Schemas[200]
  : '200' extends keyof Schemas
    ? Schemas['200']
    : IsUnion<SuccessKey<keyof Schemas>> extends true
      ? never
      : Schemas[SuccessKey<keyof Schemas>]

type IsUnion<Keys, All = Keys> = [Keys] extends [never]
  ? true
  : Keys extends unknown
    ? [All] extends [Keys]
      ? false
      : true
    : never

/** Return values without a schema: nothing, for a handler that responds through `res`, and values that are sent as they are. */
type Unshaped =
  | void
  | undefined
  | Response
  | globalThis.Response
  | Blob
  | Uint8Array
  | ReadableStream
  | AsyncIterable<unknown>

/** The type that a handler may return; any type where no schema defines a success. */
export type ReturnsOf<Options> = Options extends { readonly responses: infer Schemas }
  ? ReturnedSchema<Schemas> extends infer Schema
    ? [Schema] extends [never]
      ? unknown
      : InputOf<Schema> | Unshaped | Promise<InputOf<Schema> | Unshaped>
    : never
  : unknown
