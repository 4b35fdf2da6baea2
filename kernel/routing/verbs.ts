import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import { UpgradeRequiredError } from '../support/errors.ts'
import { isPromise } from '../support/within.ts'
import { GroupArgumentsError, readRouteArguments, readUpgradeArguments } from './arguments.ts'
import { type Middleware, middlewareMistake, type Next } from './middleware.ts'
import type { BodilessOptions, OptionChecks, RouteDescription, RouteOptions } from './options.ts'
import type {
  ExtensionOf,
  OptionsExtension,
  OwnParams,
  RequestTypes,
  Returned,
  RouteResponse,
  TypedRequest,
} from './params.ts'
import { joinPaths, type Method, methods, type PathParams, parsePattern } from './pattern.ts'

/** Answers a request; a value it returns is sent as the body with status 200. */
export type Handler<Path extends string = string, Extension = {}, Options = {}> = (
  // Spelt out, so that an editor shows the resulting members and not the schemas that they come from. Without NoInfer the
  // compiler would look for `Options` in each of them, 500 instantiations for each route.
  req: TypedRequest<
    NoInfer<OwnParams<Path> & { [Name in keyof RequestTypes<Options, Path>]: RequestTypes<Options, Path>[Name] }>,
    Extension
  >,
  res: RouteResponse<Options>,
) => Returned<Options>

// biome-ignore lint/suspicious/noEmptyInterface: for its place in the union
interface OlderForm {}
/** The second of three arguments: options, or middlewares in the older form. */
type RouteOptionsOrMiddlewares = RouteOptions | readonly Middleware[] | (Middleware & OlderForm)

/**
 * The type that options are checked against, so that the compiler reports the member that is wrong: a name that no plugin knows, or a
 * value that another member forbids. `& RouteOptions` would compare a Zod schema member by member, 7000 instantiations for each route.
 */
// The first branch is never taken. `Options` is inferred from it: with the second alone, literals become `string`.
// For a value that cannot be options at all, `Options` is the union itself, which stays as it is.
export type CheckedOptions<Options, Refused> = [Options] extends [never]
  ? Options
  : [Middleware] extends [Options]
    ? Options
    : Options extends Function | readonly unknown[]
      ? Options
      : { readonly [Name in keyof Options]: CheckedMember<Options, Name, Refused> }

type CheckedMember<Options, Name extends keyof Options, Refused> = Name extends keyof Refused
  ? undefined extends Options[Name]
    ? RouteOptions[Name & keyof RouteOptions]
    : Refused[Name]
  : Name extends keyof RouteOptions
    ? Name extends keyof OptionChecks<Options>
      ? OptionChecks<Options>[Name]
      : RouteOptions[Name]
    : `${Name & string} is not a route option`

/** A path with its prefix; without a prefix, the path itself, so that functions that are generic over the path may call a verb. */
type Prefixed<Prefix extends string, Path extends string> = Prefix extends '' ? NoInfer<Path> : `${Prefix}${Path}`

/**
 * The call form of the verb for connections that a plugin takes over. The plugin merges its signature; the names of the type
 * parameters are the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface UpgradeVerb<Extension, Prefix extends string> {}

/** What `define` of a group returns. A promise, which has a `then`, is refused: its routes would come after the boot. */
type Defined = void | null | boolean | number | string | (object & { readonly then?: never })

/**
 * The call forms of one verb; `Prefix` is what the groups around it add before the path, `Refused` lists options that it must not
 * have.
 */
export interface Verb<Extension = {}, Prefix extends string = '', Refused = {}> {
  <const Path extends string>(path: Path, handler: Handler<Prefixed<Prefix, Path>, Extension>): void
  // One signature for options and the older form: the compiler reports only the last of several, and on the wrong line.
  <const Path extends string, const Options extends RouteOptionsOrMiddlewares>(
    path: Path,
    options: CheckedOptions<Options, Refused>,
    // Conditional, so that the compiler knows the options before it looks at the return value: otherwise literals become `string`.
    // They would also be inferred from a handler whose type is declared elsewhere, as no options at all.
    handler: [Options] extends [never]
      ? never
      : Handler<Prefixed<Prefix, Path>, Extension & SecondExtension<NoInfer<Options>>, SecondOptions<NoInfer<Options>>>,
    apidoc?: Options extends Function | readonly unknown[] ? RouteDescription : 'apidoc is a member of the options',
  ): void
}

type SecondExtension<Given> = Given extends readonly unknown[]
  ? ExtensionOf<Given>
  : Given extends Function
    ? ExtensionOf<readonly [Given]>
    : OptionsExtension<Given>
type SecondOptions<Given> = Given extends Function | readonly unknown[] ? {} : Given

/** A middleware that knows the parameters of its group. */
type MiddlewareAt<Path extends string> = {
  run(req: Omit<Request, 'params'> & { readonly params: PathParams<Path> }, res: Response, next: Next): unknown
}['run']

/** Everything that routes can be registered on: a collection, a group of one, a server, a plugin's context. */
export interface Routes<Extension = {}, Prefix extends string = ''> {
  /**
   * Registers a route for GET: a path, options or middlewares if there are any, and a handler whose returned value is the
   * answer. The route also answers HEAD, without the body.
   *
   * @example
   * router.get('/users/:id', (req) => ({ id: req.params.id }))
   */
  readonly get: Verb<Extension, Prefix, BodilessOptions>
  /** Registers a route for HEAD alone; without one, the route for GET answers HEAD. */
  readonly head: Verb<Extension, Prefix, BodilessOptions>
  /**
   * Registers a route for POST.
   *
   * @example
   * router.post('/users', (req, res) => res.status(201).json({ created: req.body }))
   */
  readonly post: Verb<Extension, Prefix>
  /** Registers a route for PUT, which replaces the resource at the path. */
  readonly put: Verb<Extension, Prefix>
  /** Registers a route for PATCH, which changes a part of the resource at the path (RFC 5789). */
  readonly patch: Verb<Extension, Prefix>
  /** Registers a route for DELETE; the request may have a body, which many clients and proxies drop. */
  readonly delete: Verb<Extension, Prefix>
  /** Registers a route for QUERY, which is safe like GET, with the query in the body (RFC 10008). */
  readonly query: Verb<Extension, Prefix>
  /** Registers a route for OPTIONS; without one, and without the plugin `cors`, the response to OPTIONS is 405. */
  readonly options: Verb<Extension, Prefix, BodilessOptions>
  /** Registers the route for every method; a route for one method at the same path takes precedence, whatever their order. */
  readonly any: Verb<Extension, Prefix>
  /** Registers a websocket: short for `get` with the option `websocket` and a handler that answers 426 to other requests. */
  readonly ws: UpgradeVerb<Extension, Prefix>
  /**
   * Registers everything that `define` registers, under a prefix and after middlewares.
   *
   * @example
   * router.group('/admin', (admin) => {
   *   admin.get('/stats', () => ({ users: 7 }))
   * })
   */
  group<const Path extends string>(
    prefix: Path,
    define: (routes: Routes<Extension, `${Prefix}${NoInfer<Path>}`>) => Defined,
  ): void
  group<
    const Path extends string,
    const Middlewares extends readonly Middleware[] = readonly MiddlewareAt<`${Prefix}${Path}`>[],
  >(
    prefix: Path,
    // A mapped type, because both compilers infer each of its members by itself.
    middlewares: { readonly [Index in keyof Middlewares]: Middlewares[Index] },
    define: (routes: Routes<Extension & ExtensionOf<Middlewares>, `${Prefix}${NoInfer<Path>}`>) => Defined,
  ): void
}

/** One route to add: method, path, options, handler, the middlewares of the groups around it, and whether `any` added it. */
export type AddRoute = [
  method: Method,
  path: string,
  options: RouteOptions,
  handler: Function,
  groups?: readonly (readonly Middleware[])[],
  isAny?: boolean,
]
type Register = (...route: AddRoute) => void

/** Makes the verbs for one way of registering; those of a group only have a longer prefix. */
function routesOver(register: Register, prefix = '', groups: readonly (readonly Middleware[])[] = []): Routes {
  const verb =
    (...names: Method[]): Verb =>
    (path: string, ...rest: unknown[]) => {
      const { options, handler } = readRouteArguments(names[0]!, path, rest)
      if (typeof path === 'string' && path.startsWith('/')) parsePattern(path)
      for (const name of names) register(name, joinPaths(prefix, path), options, handler, groups, names.length > 1)
    }
  const verbs = Object.fromEntries(methods.map((method) => [method.toLowerCase(), verb(method)]))
  return {
    ...(verbs as { readonly [Name in Lowercase<Method>]: Verb }),
    // The route for GET answers HEAD.
    any: verb(...methods.filter((method) => method !== 'HEAD')),
    ws: (path: string, ...rest: unknown[]) => verbs.get!(path, readUpgradeArguments(path, rest), upgradeRequired),
    group(path: string, ...rest: unknown[]) {
      if (rest.length > 2) throw GroupArgumentsError(String(path), `it received ${rest.length + 1} arguments`)
      const define = rest.at(-1)
      const middlewares = rest.length > 1 ? rest[0] : []
      if (typeof define !== 'function') throw GroupArgumentsError(String(path), 'the last argument is not a function')
      if (!Array.isArray(middlewares)) throw GroupArgumentsError(String(path), 'the middlewares are not an array')
      const wrong = middlewareMistake(middlewares)
      if (wrong !== undefined) throw GroupArgumentsError(String(path), `middleware ${wrong.place} ${wrong.why}`)
      if (parsePattern(path)[0]?.segments.at(-1)?.kind === 'wildcard')
        throw GroupArgumentsError(path, 'a prefix cannot end in a wildcard')
      const made: unknown = define(routesOver(register, joinPaths(prefix, path), [...groups, middlewares]))
      if (!isPromise(made)) return
      // Its failure would otherwise end the process as an unhandled rejection.
      made.then(undefined, () => {})
      throw GroupArgumentsError(path, 'define is asynchronous, so its routes would come after boot. Await before it')
    },
  }
}

/** A mark on the handler, because the command line may have another copy of this package. */
const upgradeAlone = Symbol.for('framework.upgradeAlone')

/**
 * Whether a route was registered by `ws`. Such a route refuses all other requests, so it is not part of an API over HTTP.
 *
 * @example
 * ctx.onRoute((route) => {
 *   if (!isUpgradeAlone(route)) ctx.log.info({ path: route.path }, 'a route over HTTP')
 * })
 */
export const isUpgradeAlone = ({ handler }: { readonly handler: object }): boolean => upgradeAlone in handler

function upgradeRequired(_req: Request, res: Response): never {
  // RFC 9110 section 7.8: a sender of Upgrade also names it in Connection.
  res.setHeader('connection', 'upgrade')
  res.setHeader('upgrade', 'websocket')
  throw UpgradeRequiredError('this path accepts websockets only')
}
upgradeRequired[upgradeAlone] = true

export interface RouteVerbs<Prefix extends string = ''> extends Routes<{}, Prefix> {}

/** The verbs as members, over one way of adding a route: what collections, servers and contexts have in common. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor takes the members from the one place that makes them
// biome-ignore lint/correctness/noUnusedVariables: an interface and a class of one name have the same parameters
export abstract class RouteVerbs<Prefix extends string = ''> {
  constructor() {
    Object.assign(
      this,
      routesOver((...route) => this.addRoute(...route)),
    )
  }

  /** Receives every route that the verbs register. */
  protected abstract addRoute(...route: AddRoute): void
}
