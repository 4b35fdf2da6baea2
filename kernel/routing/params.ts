import type { Request } from '../http/request.ts'
import type { TypedMiddleware } from './middleware.ts'

type Segments<Path extends string> = Path extends `${infer Head}/${infer Tail}` ? Head | Segments<Tail> : Path

type ParamName<Segment> = Segment extends `:${string}?` ? never : Segment extends `:${infer Name}` ? Name : never
type OptionalParamName<Segment> = Segment extends `:${infer Name}?` ? Name : never

/**
 * The parameters that a path names: `'/posts/:id?'` gives `{ id?: string }`, a `*` gives `{ '*': string }`.
 *
 * A path that is only known as `string` gives an open record.
 */
export type PathParams<Path extends string> = string extends Path
  ? { readonly [name: string]: string | undefined }
  : {
      readonly [Name in ParamName<Segments<Path>>]: string
    } & {
      readonly [Name in OptionalParamName<Segments<Path>>]?: string
    } & ('*' extends Segments<Path> ? { readonly '*': string } : {})

/** What the handlers behind a list of middlewares find on the request in addition. */
export type ExtensionOf<Middlewares> = Middlewares extends readonly (infer One)[]
  ? UnionToIntersection<One extends TypedMiddleware<infer Extension> ? Extension : {}>
  : {}

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : {}

/** The request of one route: its path's parameters and what its middlewares add. */
export type RouteRequest<Path extends string, Extension = {}> = Omit<Request, 'params'> & {
  readonly params: PathParams<Path>
} & Extension
