import type { PathParams, Query, Request } from '../../kernel/index.ts'
import type { OutputOf } from '../shared/schema/from-schema.ts'

export type BodyOf<Options> = Options extends { readonly body: infer Schema } ? OutputOf<Schema> : unknown

export type QueryOf<Options> = Options extends { readonly query: infer Schema } ? OutputOf<Schema> : Query

type LowerCase<T> = { [Name in keyof T as Name extends string ? Lowercase<Name> : Name]: T[Name] }

export type HeadersOf<Options> = Options extends { readonly headers: infer Schema }
  ? unknown extends OutputOf<Schema>
    ? Request['headers']
    : LowerCase<OutputOf<Schema>>
  : Request['headers']

export type ParamsOf<Options, Path extends string> = Options extends { readonly params: infer Schema }
  ? OutputOf<Schema>
  : PathParams<Path>

export type ValidatedOf<Options> = Options extends { readonly all: infer Schema } ? OutputOf<Schema> : unknown
