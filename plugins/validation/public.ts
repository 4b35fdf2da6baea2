// The names that `framework` has as well.
import type { PathParams, Query, Request } from '../../kernel/index.ts'
import type { OutputOf } from '../shared/schema/from-schema.ts'
import type { Validation } from './service.ts'

type BodyOf<Options> = Options extends { readonly body: infer Schema } ? OutputOf<Schema> : unknown

type QueryOf<Options> = Options extends { readonly query: infer Schema } ? OutputOf<Schema> : Query

type LowerCase<T> = { [Name in keyof T as Name extends string ? Lowercase<Name> : Name]: T[Name] }

type HeadersOf<Options> = Options extends { readonly headers: infer Schema }
  ? unknown extends OutputOf<Schema>
    ? Request['headers']
    : LowerCase<OutputOf<Schema>>
  : Request['headers']

type ParamsOf<Options, Path extends string> = Options extends { readonly params: infer Schema }
  ? OutputOf<Schema>
  : PathParams<Path>

type ValidatedOf<Options> = Options extends { readonly all: infer Schema } ? OutputOf<Schema> : unknown

export type { InputOf, OutputOf } from '../shared/schema/from-schema.ts'
export type {
  ValidationError,
  ValidationErrorCallback,
  ValidationErrorHandler,
  ValidationErrorOptions,
  ValidationIssue,
} from './validation-error.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Compiles schemas into checks, with the plugin `validation`. */
    validation: Validation
  }
}

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Schema of the body: JSON Schema, TypeBox, Zod, or another Standard Schema. Not for GET. */
    body?: object
    /** Schema of the query; strings are coerced to its types. */
    query?: object
    /** Schema of the headers, whose names are case-insensitive; strings are coerced. */
    headers?: object
    /** Schema of the parameters in the path; strings are coerced. */
    params?: object
    /** Schema of headers, query and body as one object, which is in `req.validated`. Not for GET. */
    all?: object
  }
  interface BodilessOptions {
    /** No schema: requests of this method have no body. Exists for the type checker only. */
    body: 'a request of this method has no body'
    /** No schema: requests of this method have no body. Exists for the type checker only. */
    all: 'a request of this method has no body: use headers and query'
  }
}

declare module '../../kernel/routing/params.ts' {
  interface RequestTypes<Options, Path extends string> {
    /** The parsed body, as the schema of the route leaves it; without a schema, `unknown`. */
    readonly body: BodyOf<Options>
    /** The query, as the schema of the route leaves it. */
    readonly query: QueryOf<Options>
    /** The headers, as the schema of the route leaves them. */
    readonly headers: HeadersOf<Options>
    /** The parameters of the path, as the schema of the route leaves them; without a schema, strings. */
    readonly params: ParamsOf<Options, Path>
    /** The result of the route's `all` schema for headers, query and body. */
    readonly validated: ValidatedOf<Options>
  }
}
