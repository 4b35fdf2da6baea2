import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import type { TypedMiddleware } from './middleware.ts'
import type { PathParams } from './pattern.ts'

/**
 * Members of the request that the handlers after a list of middlewares find in addition. Only certain ones count: of a union of two
 * lists or of two middlewares, those that both add; of a list whose length is unknown, none.
 */
export type ExtensionOf<Middlewares> = Middlewares extends readonly [infer First, ...infer Rest]
  ? ExtensionOfOne<First> & ExtensionOf<Rest>
  : // `[...guards, user]`: the last one is certain.
    Middlewares extends readonly [...infer Others, infer Last]
    ? ExtensionOf<Others> & ExtensionOfOne<Last>
    : {}

type ExtensionOfOne<One> = One extends TypedMiddleware<infer Extension> ? Extension : {}

/**
 * What the options of a route say about the members of its request: `body` by its schema, for example. A plugin merges
 * its lines; the names of the type parameters are the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface RequestTypes<Options, Path extends string> {}

/** What the options of a route say about the members of its response. */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface ResponseTypes<Options> {}

/**
 * Members that the options of a route add to its request for its handler, by the name of the option: a policy proves that there is a
 * user, for example.
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
    : // Each by itself: of an option that is one of two, only what both add is certain.
      { [Name in keyof RequestExtensions<{}>]: (one: RequestExtensions<Options>[Name]) => void }[keyof Options &
          keyof RequestExtensions<{}>] extends (all: infer All) => void
      ? All
      : {})

/** What the options of a route say about its handler: in `returns`, what it may return. */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface HandlerTypes<Options> {}

/** The type that a handler may return; anything where no plugin restricts it. */
export type Returned<Options> = HandlerTypes<Options> extends { readonly returns: infer Returns } ? Returns : unknown

// Without type parameters: computed once and not for each route.
type BareRequest = Omit<Request, 'params' | keyof RequestTypes<{}, string>>
type BareResponse = Omit<Response, keyof ResponseTypes<{}>>
export type OwnParams<Path extends string> = 'params' extends keyof RequestTypes<{}, string>
  ? {}
  : { readonly params: PathParams<Path> }

/** A request whose members are known: `{ body: { title: string }, params: { id: string }, … }`. */
export type TypedRequest<Members, Extension = {}> = BareRequest & Members & Extension

/** The request of one route: its path's parameters, what its options say, and what its middlewares add. */
export type RouteRequest<Path extends string, Extension = {}, Options = {}> = TypedRequest<
  OwnParams<Path> & { [Name in keyof RequestTypes<Options, Path>]: RequestTypes<Options, Path>[Name] },
  Extension
>

/** The response of one route: its shorthands by the `responses` of its options, where a plugin declares them. */
export type RouteResponse<Options = {}> = BareResponse & ResponseTypes<Options>
