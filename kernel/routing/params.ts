import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import type { TypedMiddleware } from './middleware.ts'
import type { PathParams } from './pattern.ts'

/**
 * The members that a list of middlewares adds to the request for the handlers after it. Only members that are certain count: for a union
 * of two lists or of two middlewares, those that both add; for a list whose length is unknown, none.
 */
export type ExtensionOf<Middlewares> = Middlewares extends readonly [infer First, ...infer Rest]
  ? ExtensionOfOne<First> & ExtensionOf<Rest>
  : // `[...guards, user]`: the last one is certain.
    Middlewares extends readonly [...infer Others, infer Last]
    ? ExtensionOf<Others> & ExtensionOfOne<Last>
    : {}

type ExtensionOfOne<One> = One extends TypedMiddleware<infer Extension> ? Extension : {}

/**
 * What the options of a route say about the members of its request, such as the type of `body` from its schema. A plugin
 * merges its lines; the names of the type parameters are the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface RequestTypes<Options, Path extends string> {}

/** What the options of a route say about the members of its response. */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface ResponseTypes<Options> {}

/**
 * The members that the options of a route add to the request for its handler, by the name of the option. For example, a policy proves
 * that there is a user.
 */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface RequestExtensions<Options> {}

/** Members that the middlewares and the other options of a route add to its request. */
export type OptionsExtension<Options> = (Options extends { readonly middlewares: infer List }
  ? ExtensionOf<List>
  : {}) &
  ([keyof Options & keyof RequestExtensions<{}>] extends [never]
    ? {}
    : // Each by itself: for an option that is one of two, only what both add is certain.
      { [Name in keyof RequestExtensions<{}>]: (one: RequestExtensions<Options>[Name]) => void }[keyof Options &
          keyof RequestExtensions<{}>] extends (all: infer All) => void
      ? All
      : {})

/** What the options of a route say about its handler: in `returns`, what it may return. */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface HandlerTypes<Options> {}

/** The type that a handler may return; `unknown` where no plugin restricts it. */
export type Returned<Options> = HandlerTypes<Options> extends { readonly returns: infer Returns } ? Returns : unknown

// Without type parameters: computed once and not for each route.
type BareRequest = Omit<Request, 'params' | keyof RequestTypes<{}, string>>
type BareResponse = Omit<Response, keyof ResponseTypes<{}>>
export type OwnParams<Path extends string> = 'params' extends keyof RequestTypes<{}, string>
  ? {}
  : { readonly params: PathParams<Path> }

/** A request with known members: `{ body: { title: string }, params: { id: string }, … }`. */
export type TypedRequest<Members, Extension = {}> = BareRequest & Members & Extension

/** The request of one route: its path's parameters, what its options say, and what its middlewares add. */
export type RouteRequest<Path extends string, Extension = {}, Options = {}> = TypedRequest<
  OwnParams<Path> & { [Name in keyof RequestTypes<Options, Path>]: RequestTypes<Options, Path>[Name] },
  Extension
>

/** The response of one route, whose shorthands have the types of its option `responses`, where a plugin declares them. */
export type RouteResponse<Options = {}> = BareResponse & ResponseTypes<Options>
